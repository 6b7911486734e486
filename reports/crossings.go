package reports

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// NotPossible is the status of a point that its algorithm cannot do; Problem says why.
const NotPossible = document.NotPossible

// Race compares algorithms along an axis, such as the size.
type Race document.Race

// Crossing is where another algorithm becomes the fastest.
type Crossing = document.Crossing

// Races groups the points by all axes but two: that over algorithms and the one along
// which they are compared.
func Races(points []Point, algorithms, along string) []Race {
	var races []Race
	place := map[string]int{}
	for i := range points {
		others := without(without(points[i].Axes, algorithms), along)
		key := fmt.Sprintf("%q", others)
		k, ok := place[key]
		if !ok {
			k = len(races)
			place[key] = k
			races = append(races, Race{Axes: others, Along: along})
		}
		races[k].note(axisValue(&points[i], along), axisValue(&points[i], algorithms))
	}
	for k := range races {
		r := &races[k]
		byMagnitude(r.Values)
		for range r.Values {
			r.Points = append(r.Points, slices.Repeat([]int{-1}, len(r.Algorithms)))
		}
	}
	for i := range points {
		others := without(without(points[i].Axes, algorithms), along)
		r := &races[place[fmt.Sprintf("%q", others)]]
		r.Points[slices.Index(r.Values, axisValue(&points[i], along))][slices.Index(r.Algorithms, axisValue(&points[i], algorithms))] = i
	}
	for k := range races {
		races[k].run(points)
	}
	return races
}

func axisValue(p *Point, name string) string {
	v, _ := p.Axis(name)
	return v
}

// note makes room for a value and an algorithm.
func (r *Race) note(value, algorithm string) {
	if !slices.Contains(r.Values, value) {
		r.Values = append(r.Values, value)
	}
	if !slices.Contains(r.Algorithms, algorithm) {
		r.Algorithms = append(r.Algorithms, algorithm)
	}
}

// byMagnitude sorts values by the numbers that they are, if all are.
func byMagnitude(values []string) {
	n := map[string]float64{}
	for _, v := range values {
		x, ok := magnitude(v)
		if !ok {
			return
		}
		n[v] = x
	}
	slices.SortStableFunc(values, func(a, b string) int { return cmp.Compare(n[a], n[b]) })
}

// time returns how long an algorithm took at a value; 0 when it did not end ok.
func (r *Race) time(points []Point, value, algorithm int) engine.Duration {
	i := r.Points[value][algorithm]
	if i < 0 || points[i].Status != result.OK {
		return 0
	}
	return points[i].Elapsed
}

// run finds the fastest at each value, and where it changes.
func (r *Race) run(points []Point) {
	last := -1 // value before which some algorithm was ok
	for v := range r.Values {
		best := -1
		for a := range r.Algorithms {
			if t := r.time(points, v, a); t > 0 && (best < 0 || t < r.time(points, v, best)) {
				best = a
			}
		}
		if best >= 0 && last >= 0 && r.time(points, v, r.Fastest[last]) == r.time(points, v, best) {
			best = r.Fastest[last] // a tie is no change
		}
		r.Fastest = append(r.Fastest, best)
		if best < 0 {
			continue
		}
		if last >= 0 && r.Fastest[last] != best {
			r.between(points, last, v)
		}
		last = v
	}
}

// between follows the fastest line from one value to the next: another algorithm than
// those that are the fastest at the ends may lie below both between them.
func (r *Race) between(points []Point, low, high int) {
	from, at := r.Fastest[low], 0.0
	for range r.Algorithms { // a line is below all others once at most
		var next *Crossing
		to := -1
		for a := range r.Algorithms {
			c := r.crossing(points, low, high, from, a)
			if c.At != "" && c.Share >= at && (next == nil || c.Share < next.Share || c.Share == next.Share && c.AfterHigh < next.AfterHigh) {
				next, to = &c, a
			}
		}
		if next == nil {
			break
		}
		if len(r.Crossings) > 0 || next.Share > 0 {
			r.Crossings = append(r.Crossings, *next)
		} else {
			r.Fastest[low] = to // equal at the beginning: that one is the first
		}
		from, at = to, next.Share
	}
	if best := r.Fastest[high]; from != best { // it was not possible at the low value, or the other one is not at the high one
		r.Crossings = append(r.Crossings, r.crossing(points, low, high, from, best))
	}
}

func (r *Race) crossing(points []Point, low, high, before, after int) Crossing {
	c := Crossing{
		Low: r.Values[low], High: r.Values[high], Before: r.Algorithms[before], After: r.Algorithms[after],
		BeforeLow: r.time(points, low, before), AfterLow: r.time(points, low, after),
		BeforeHigh: r.time(points, high, before), AfterHigh: r.time(points, high, after),
	}
	interpolate(&c)
	return c
}

// interpolate finds where the line of After falls below that of Before, both straight
// between logarithms, as the plot draws them.
func interpolate(c *Crossing) {
	x0, ok0 := magnitude(c.Low)
	x1, ok1 := magnitude(c.High)
	if !ok0 || !ok1 || x0 <= 0 || x1 <= x0 || min(c.BeforeLow, c.AfterLow, c.BeforeHigh, c.AfterHigh) == 0 {
		return
	}
	lead := math.Log(float64(c.AfterLow) / float64(c.BeforeLow))     // of Before at the low value
	behind := math.Log(float64(c.BeforeHigh) / float64(c.AfterHigh)) // at the high one
	if lead < 0 || behind < 0 || lead+behind <= 0 {
		return
	}
	c.Share = lead / (lead + behind)
	c.X = x0 * math.Pow(x1/x0, c.Share)
	c.Y = float64(c.BeforeLow) / 1e6 * math.Pow(float64(c.BeforeHigh)/float64(c.BeforeLow), c.Share)
	c.At = like(c.Low, c.X)
}

// like prints a number to three digits in the unit of a value.
func like(value string, x float64) string {
	var size engine.Bytes
	var span engine.Duration
	switch text := []byte(value); {
	case plainNumber(value):
		return strconv.FormatInt(int64(x+0.5), 10)
	case size.UnmarshalText(text) == nil:
		unit, names := 0, []string{"B", "KiB", "MiB", "GiB", "TiB"}
		for ; x >= 1024 && unit < len(names)-1; unit++ {
			x /= 1024
		}
		return strconv.FormatFloat(x, 'g', 3, 64) + " " + names[unit]
	case span.UnmarshalText(text) == nil:
		return strconv.FormatFloat(x/1e6, 'g', 3, 64) + " us"
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

func plainNumber(s string) bool {
	_, err := strconv.ParseInt(s, 10, 64)
	return err == nil
}

// CommonOp returns "op/" when all algorithms are of one operation, else "".
func (r *Race) CommonOp() string {
	op, _, _ := strings.Cut(r.Algorithms[0], "/")
	for _, a := range r.Algorithms {
		if !strings.HasPrefix(a, op+"/") {
			return ""
		}
	}
	return op + "/"
}

// fastestMark stands behind the time of the fastest algorithm.
const fastestMark = "<"

// raceTable has the time of each algorithm at each value.
func (c *Comparison) raceTable(p *page, r *Race, bands [][]Race, race int) {
	head, op := []string{">" + r.Along}, r.CommonOp()
	for _, a := range r.Algorithms {
		head = append(head, ">"+strings.TrimPrefix(a, op))
	}
	title := "time by algorithm, us; " + fastestMark + " is the fastest"
	if op != "" {
		title = strings.TrimSuffix(op, "/") + ": " + title
	}
	if len(r.Axes) > 0 {
		title = label(r.Axes) + "; " + title
	}
	wide := len(r.Algorithms) > 5
	if bands != nil {
		head = append(head, ">fastest: low us", ">high us", ">wins")
	}
	if !wide {
		head = append(head, "~the fastest is limited by")
	}
	t := p.table(title, head...)
	for v, value := range r.Values {
		cells, limits := []string{value}, ""
		for a := range r.Algorithms {
			text := "-"
			if d := r.time(c.Points, v, a); d > 0 {
				text = c.time(r.Points[v][a]) + "  "
			} else if i := r.Points[v][a]; i >= 0 && c.Points[i].Status != NotPossible {
				text = string(c.Points[i].Status)
			}
			if a == r.Fastest[v] {
				text = c.time(r.Points[v][a]) + " " + fastestMark
				limits = c.Points[r.Points[v][a]].Limits
			}
			cells = append(cells, text)
		}
		if a := r.Fastest[v]; bands != nil && a >= 0 {
			low, high := spanText(&c.Points[r.Points[v][a]])
			cells = append(cells, low, high, winsAt(bands, race, v, a))
		} else if bands != nil {
			cells = append(cells, "", "", "")
		}
		if !wide {
			cells = append(cells, limits)
		}
		t.add(cells...)
	}
	t.notes = c.impossible(r)
}

// impossible says which points no run can give, and why: one line for each algorithm
// and reason.
func (c *Comparison) impossible(r *Race) (notes []string) {
	type why struct{ algorithm, kind string }
	var order []why
	at, first := map[why][]string{}, map[why]string{}
	for v, value := range r.Values {
		for a, name := range r.Algorithms {
			i := r.Points[v][a]
			if i < 0 || c.Points[i].Status == result.OK {
				continue
			}
			reason := cmp.Or(c.Points[i].Problem, string(c.Points[i].Status))
			w := why{name, numbers.ReplaceAllString(reason, "#")} // reasons that differ in a size are one
			if at[w] == nil {
				order, first[w] = append(order, w), reason
			}
			at[w] = append(at[w], value)
		}
	}
	for _, w := range order {
		where := fmt.Sprintf("at %s to %s", at[w][0], at[w][len(at[w])-1])
		if len(at[w]) == len(r.Values) {
			where = "anywhere here"
		} else if len(at[w]) == 1 {
			where = "at " + at[w][0]
		}
		notes = append(notes, fmt.Sprintf("- %s is not possible %s: %s", w.algorithm, where, first[w]))
	}
	return notes
}

var numbers = regexp.MustCompile(`\d+`)

// crossingTable lists the switch-over points of all races.
func (c *Comparison) crossingTable(p *page, races []Race, bands [][]Race) {
	head := []string{"for", ">between", ">and", ">equal at", "~fastest before", ">us", ">us", "~fastest after", ">us", ">us"}
	if bands != nil {
		head = slices.Insert(head, 4, "~across the band")
	}
	t := p.table("Switch-over points: where another algorithm becomes the fastest", head...)
	for i := range races {
		r := &races[i]
		op := r.CommonOp()
		for _, x := range r.Crossings {
			cells := []string{label(r.Axes), x.Low, x.High, cmp.Or(x.At, notAvailable), strings.TrimPrefix(x.Before, op), orNone(x.BeforeLow), orNone(x.BeforeHigh),
				strings.TrimPrefix(x.After, op), orNone(x.AfterLow), orNone(x.AfterHigh)}
			if bands != nil {
				cells = slices.Insert(cells, 4, crossingSpan(bands, i, &x))
			}
			t.add(cells...)
		}
		if len(r.Crossings) == 0 {
			t.notes = append(t.notes, r.steady())
		}
	}
	if len(t.rows) > 0 {
		t.notes = append(t.notes, "The two times of an algorithm are at the two values; equal at: where the two lines of the plot cross, straight between the logarithms of neighbouring points")
	}
}

// steady says which algorithm is the fastest everywhere.
func (r *Race) steady() string {
	i := slices.IndexFunc(r.Fastest, func(a int) bool { return a >= 0 })
	if i < 0 {
		return label(r.Axes) + ": no run ended ok"
	}
	return fmt.Sprintf("%s: no switch-over; %s is the fastest from %s %s to %s", label(r.Axes), r.Algorithms[r.Fastest[i]], r.Along, r.Values[0], r.Values[len(r.Values)-1])
}

func orNone(d engine.Duration) string {
	if d == 0 {
		return "-"
	}
	return us(d)
}
