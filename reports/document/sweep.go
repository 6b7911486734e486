package document

import (
	"errors"
	"fmt"

	"pldperf/engine"
)

// Sweep is the points of a sweep. Axis is what is recommended, say "core_num"; when no
// point has it, the points are ranked together.
type Sweep struct {
	Title     string          `json:"title"`
	Inputs    []KV            `json:"inputs"`           // for people: what the points have in common
	Config    []Leaf          `json:"config,omitempty"` // for programs: every value of the first run
	Axis      string          `json:"axis"`
	Tolerance engine.Fraction `json:"tolerance_millionths"` // of the recommendation; 0 is 2 %
	Points    []Point         `json:"points"`
	Compare   string          `json:"compare,omitempty"` // the axis over algorithms, if the sweep compares them
	Along     string          `json:"along,omitempty"`   // the axis along which it does, such as the size; "" is none
	Brief     bool            `json:"brief"`             // text and markdown show one row a group instead of one a point
	Notes     []string        `json:"notes"`
	Band      *Band           `json:"band,omitempty"` // what was drawn for the points' draws; none: nothing
}

// ConfigOf returns every value of a point of the sweep but for its axes.
func (s *Sweep) ConfigOf(p *Point) (out []Leaf) {
	own := make(map[string]*Leaf, len(p.Config))
	for i := range p.Config {
		own[p.Config[i].Path] = &p.Config[i]
	}
	keep := func(l *Leaf) {
		if _, axis := p.Axis(l.Path); !axis && !l.Absent {
			out = append(out, *l)
		}
	}
	for i := range s.Config {
		l := &s.Config[i]
		if x, ok := own[l.Path]; ok {
			delete(own, l.Path)
			l = x
		}
		keep(l)
	}
	for i := range p.Config {
		if l := &p.Config[i]; own[l.Path] == l {
			keep(l)
		}
	}
	return out
}

// Check says what is wrong with a sweep, if anything is.
func (s *Sweep) Check() error {
	if len(s.Points) == 0 {
		return errors.New("a comparison needs at least one point")
	}
	if s.Tolerance < 0 || s.Tolerance > engine.One {
		return fmt.Errorf("a tolerance of %d millionths", s.Tolerance)
	}
	for i := range s.Points {
		if err := s.Points[i].Check(); err != nil {
			return fmt.Errorf("point %d: %w", i, err)
		}
	}
	return s.Band.Check()
}

// Choice compares the points of a sweep that differ on one axis only.
type Choice struct {
	Axes  []KV        `json:"axes"`           // what the points have in common
	Rows  []ChoiceRow `json:"rows"`           // by the axis, ascending
	Best  int         `json:"best"`           // row of the quickest; -1 when no run was ok
	Pick  int         `json:"pick"`           // row of the recommendation; -1 when there is none
	Flat  bool        `json:"flat"`           // the axis hardly matters: slowest/quickest is below 1 + tolerance
	Runs  int         `json:"runs"`           // that were ok
	Range string      `json:"range"`          // slowest/quickest of them, e.g. "1.374"; "" below two
	Text  string      `json:"text"`           // the recommendation as a sentence
	Band  *Stability  `json:"band,omitempty"` // none: the points have no draws
}

// ChoiceRow is one point of a Choice.
type ChoiceRow struct {
	Point  int             `json:"point"` // index
	Value  string          `json:"value"` // on the axis
	Place  int             `json:"place"` // 1 is the quickest; equals share a place; 0 is not ranked, as its run was not ok
	Behind engine.Fraction `json:"behind_millionths"`
}

// Race compares algorithms along an axis, such as the size: points that differ only in
// these two.
type Race struct {
	Axes       []KV       `json:"axes"` // what the points have in common
	Along      string     `json:"along"`
	Values     []string   `json:"values"`     // on that axis, ascending
	Algorithms []string   `json:"algorithms"` // in the sweep's order
	Points     [][]int    `json:"points"`     // by value and algorithm: index of the point, -1 where there is none
	Fastest    []int      `json:"fastest"`    // by value: index of the algorithm, -1 when none was ok
	Crossings  []Crossing `json:"crossings"`
}

// Crossing is where another algorithm becomes the fastest: between two neighbouring
// values of the axis. A time is 0 where the algorithm is not possible there.
type Crossing struct {
	Low        string          `json:"low"`  // the value up to which Before is the fastest
	High       string          `json:"high"` // the value from which After is
	Before     string          `json:"before"`
	After      string          `json:"after"`
	BeforeLow  engine.Duration `json:"before_at_low_ps"`
	AfterLow   engine.Duration `json:"after_at_low_ps"`
	BeforeHigh engine.Duration `json:"before_at_high_ps"`
	AfterHigh  engine.Duration `json:"after_at_high_ps"`
	At         string          `json:"at"` // where their times are equal, interpolated between logarithms; "" when a time is missing
	X          float64         `json:"-"`  // the same as a number on the axis
	Y          float64         `json:"-"`  // the time there in us
	Share      float64         `json:"-"`  // of the way from Low to High, between logarithms
}
