package page

import (
	"strconv"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports"
	"pldperf/reports/document"
)

// sweepView is a sweep in columns: a value a point in each list. Of 4,320 points that is a
// tenth of the document.
type sweepView struct {
	Inputs  []document.KV   `json:"inputs"`
	Config  []document.Leaf `json:"config,omitempty"`
	Axis    string          `json:"axis"`
	Axes    []axisView      `json:"axes"`
	Roofs   []roofView      `json:"roofs,omitempty"`
	Notes   []string        `json:"notes,omitempty"`
	Band    *document.Band  `json:"band,omitempty"`
	Advice  []adviceView    `json:"advice,omitempty"`
	Picks   []int           `json:"picks,omitempty"` // points that are recommended
	Words   []string        `json:"words"`           // of Status, BoundBy, Limits, Problem, Outside
	Causes  []string        `json:"causes"`          // of Parts
	Status  []int           `json:"status"`
	Problem []int           `json:"problem"`
	Outside []int           `json:"outside"`
	Elapsed []int64         `json:"elapsed_ps"`
	Low     []int64         `json:"low_ps,omitempty"` // of the band; 0: none
	High    []int64         `json:"high_ps,omitempty"`
	BusLow  []int64         `json:"busbw_low,omitempty"`
	BusHigh []int64         `json:"busbw_high,omitempty"`
	Bound   []int64         `json:"bound_ps"`
	BoundBy []int           `json:"bound_by"`
	Limits  []int           `json:"limited_by"`
	Algbw   []int64         `json:"algbw"`
	Busbw   []int64         `json:"busbw"`
	Wire    []int64         `json:"wire"`
	Size    []int64         `json:"size_bytes"`
	PeakSQ  []int64         `json:"peak_sq"`
	SQDepth []int64         `json:"sq_depth"`
	Parts   [][]int64       `json:"parts"` // by point: cause, time, cause, time ...; they add up to the elapsed time
	Digest  []string        `json:"digest"`
}

// axisView is an axis: its values as they are written, as numbers, and which one each
// point has.
type axisView struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit,omitempty"` // B, s or none
	Values []string  `json:"values"`
	At     []float64 `json:"at,omitempty"` // none: the values are no numbers
	Points []int     `json:"points"`
}

// adviceView is a recommendation as a sentence, and the points that it is for: what they
// have in common; "": all.
type adviceView struct {
	For  string `json:"for,omitempty"`
	Text string `json:"text"`
}

type roofView struct {
	Name string `json:"name"`
	Rate int64  `json:"bytes_per_s"`
}

// roofPrefix begins the inputs of a sweep that are rates which no point exceeds.
const roofPrefix = "roof: "

func viewSweep(s *document.Sweep) *sweepView {
	v := &sweepView{Inputs: s.Inputs, Config: s.Config, Axis: s.Axis, Notes: s.Notes, Band: s.Band}
	var words, causes index[string]
	words.of("")
	for i := range s.Points {
		v.add(&s.Points[i], &words, &causes)
	}
	if !v.banded(s.Points) {
		v.Low, v.High, v.BusLow, v.BusHigh = nil, nil, nil, nil
	}
	v.Words, v.Causes = words.list, causes.list
	v.Axes = axes(s.Points)
	for _, kv := range s.Inputs {
		var r engine.Rate
		if name, ok := strings.CutPrefix(kv.Key, roofPrefix); ok && r.UnmarshalText([]byte(kv.Value)) == nil {
			v.Roofs = append(v.Roofs, roofView{name, int64(r)})
		}
	}
	for _, c := range (*reports.Comparison)(s).Choices() {
		var common []string
		for _, kv := range c.Axes {
			common = append(common, kv.Key+" "+kv.Value)
		}
		v.Advice = append(v.Advice, adviceView{strings.Join(common, ", "), c.Text})
		if c.Pick >= 0 {
			v.Picks = append(v.Picks, c.Rows[c.Pick].Point)
		}
	}
	return v
}

func (v *sweepView) banded(points []document.Point) bool {
	for i := range points {
		if len(points[i].Draws) > 0 {
			return true
		}
	}
	return false
}

func (v *sweepView) add(p *document.Point, words, causes *index[string]) {
	v.Status, v.Problem = append(v.Status, words.of(string(p.Status))), append(v.Problem, words.of(p.Problem))
	v.Outside = append(v.Outside, words.of(document.OutsideText(p.Outside)))
	v.BoundBy, v.Limits = append(v.BoundBy, words.of(p.BoundBy)), append(v.Limits, words.of(p.Limits))
	v.Elapsed, v.Bound = append(v.Elapsed, int64(p.Elapsed)), append(v.Bound, int64(p.Bound))
	v.Algbw, v.Busbw, v.Wire = append(v.Algbw, int64(p.Algbw)), append(v.Busbw, int64(p.Busbw)), append(v.Wire, int64(p.Wire))
	v.Size, v.PeakSQ, v.SQDepth = append(v.Size, int64(p.Size)), append(v.PeakSQ, p.PeakSQ), append(v.SQDepth, p.SQDepth)
	v.Digest = append(v.Digest, p.Digest)
	t, _ := p.Span()
	v.Low, v.High = append(v.Low, t.Low), append(v.High, t.High)
	b, _ := p.BusbwSpan()
	v.BusLow, v.BusHigh = append(v.BusLow, b.Low), append(v.BusHigh, b.High)
	parts, ok := p.PathParts()
	if !ok {
		parts = p.Parts()
	}
	packed := []int64{}
	if p.Status == result.OK || p.Status == result.Hazardous || p.Status == result.WrongData {
		for _, x := range parts {
			packed = append(packed, int64(causes.of(x.Name)), int64(x.Time))
		}
	}
	v.Parts = append(v.Parts, packed)
}

// axes lists the axes of points in the sweep's order, with their values in the order in
// which they come.
func axes(points []document.Point) (out []axisView) {
	var names index[string]
	for i := range points {
		for _, kv := range points[i].Axes {
			names.of(kv.Key)
		}
	}
	for _, name := range names.list {
		a, values := axisView{Name: name}, index[string]{}
		for i := range points {
			text, _ := points[i].Axis(name)
			a.Points = append(a.Points, values.of(text))
		}
		a.Values = values.list
		a.Unit, a.At = numbers(a.Values)
		out = append(out, a)
	}
	return out
}

// numbers reads values as numbers, bytes or times; none when not all of them are the same.
func numbers(values []string) (unit string, out []float64) {
	for _, kind := range []struct {
		unit string
		read func(string) (float64, bool)
	}{
		{"", func(s string) (float64, bool) { x, err := strconv.ParseFloat(s, 64); return x, err == nil }},
		{"B", func(s string) (float64, bool) {
			var b engine.Bytes
			return number(s, b.UnmarshalText, func() float64 { return float64(b) })
		}},
		{"s", func(s string) (float64, bool) {
			var d engine.Duration
			return number(s, d.UnmarshalText, func() float64 { return float64(d) / 1e12 })
		}},
	} {
		if out, ok := all(values, kind.read); ok {
			return kind.unit, out
		}
	}
	return "", nil
}

func number(s string, read func([]byte) error, value func() float64) (float64, bool) {
	if read([]byte(s)) != nil {
		return 0, false
	}
	return value(), true
}

func all(values []string, read func(string) (float64, bool)) (out []float64, ok bool) {
	for _, s := range values {
		x, ok := read(s)
		if !ok {
			return nil, false
		}
		out = append(out, x)
	}
	return out, true
}
