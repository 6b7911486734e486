package document

import (
	"fmt"
	"slices"

	"pldperf/engine"
	"pldperf/hw/result"
)

// Band is what a run gives when the parameters that are known only within limits are
// drawn from between them, all at once.
type Band struct {
	Seed   uint64      `json:"seed"`
	Params []BandParam `json:"parameters"`
	Draws  []Draw      `json:"draws,omitempty"` // of a run; the points of a sweep have their own
}

// BandParam is a parameter that was drawn, with its value in each draw of a run.
type BandParam struct {
	Path  string   `json:"path"`  // in the machine, such as fabric.mesh.latency
	Low   string   `json:"low"`   // as the machine's file has it
	Value string   `json:"value"` // of the nominal run
	High  string   `json:"high"`  //
	Draws []string `json:"draws,omitempty"`
}

// Draw is how a run ended with one draw of the parameters.
type Draw struct {
	Status  result.Status   `json:"status"`
	Elapsed engine.Duration `json:"elapsed_ps"`
	Algbw   engine.Rate     `json:"algbw_bytes_per_s"`
	Busbw   engine.Rate     `json:"busbw_bytes_per_s"`
}

// Stability is how firm a choice is when the machine is another one within its bands.
type Stability struct {
	Draws  int             `json:"draws"`             // in which every candidate ended ok
	Wins   []Win           `json:"wins"`              // the most first
	Stable bool            `json:"stable"`            // the nominal choice wins four in five
	Behind engine.Fraction `json:"behind_millionths"` // of the nominal choice, behind the best of a draw, at most
}

// Win is how often a value is the one to take over the draws of a band.
type Win struct {
	Value string `json:"value"`
	Draws int    `json:"draws"`
}

// Of returns in how many draws a value wins.
func (s *Stability) Of(value string) int {
	for _, w := range s.Wins {
		if w.Value == value {
			return w.Draws
		}
	}
	return 0
}

// Check says what does not fit together, if anything.
func (b *Band) Check() error {
	if b == nil {
		return nil
	}
	for i := range b.Params {
		if p := &b.Params[i]; len(p.Draws) != len(b.Draws) {
			return fmt.Errorf("the band has %d draws, but %d of %s", len(b.Draws), len(p.Draws), p.Path)
		}
	}
	return nil
}

// OK reports whether every draw ended ok.
func (b *Band) OK() bool { return len(Failed(b.Draws)) == 0 }

// Failed lists the draws that did not end ok, in words.
func Failed(draws []Draw) (out []string) {
	for k := range draws {
		if draws[k].Status != result.OK {
			out = append(out, fmt.Sprintf("draw %d: %s", k, draws[k].Status))
		}
	}
	return out
}

// Range is how far a figure spreads over the draws of a band. Low and High are the tenth
// and the ninetieth percentile, or the nominal value where that lies beyond: low <=
// nominal <= high.
type Range struct {
	Least, Low, Median, High, Most int64
	Tenth, Ninetieth               int64 // percentiles
	Draws                          int   // that ended ok
}

// Spanned returns the range of a figure over the draws that ended ok; false without any.
// Percentiles are by nearest rank, alike from both ends, so that those of a rate are
// those of its time.
func Spanned(draws []Draw, nominal int64, figure func(*Draw) int64) (r Range, ok bool) {
	var v []int64
	for i := range draws {
		if draws[i].Status == result.OK {
			v = append(v, figure(&draws[i]))
		}
	}
	if len(v) == 0 {
		return r, false
	}
	slices.Sort(v)
	last := len(v) - 1
	tenth := (last + 5) / 10
	r = Range{Least: v[0], Most: v[last], Median: v[last/2] + (v[last-last/2]-v[last/2])/2, Draws: len(v), Tenth: v[tenth], Ninetieth: v[last-tenth]}
	r.Low, r.High = min(nominal, r.Tenth), max(nominal, r.Ninetieth)
	return r, true
}

// The figures of a draw, for Spanned.
func (d *Draw) elapsed() int64 { return int64(d.Elapsed) }
func (d *Draw) algbw() int64   { return int64(d.Algbw) }
func (d *Draw) busbw() int64   { return int64(d.Busbw) }

// ElapsedOf, AlgbwOf and BusbwOf are figures for Spanned.
var ElapsedOf, AlgbwOf, BusbwOf = (*Draw).elapsed, (*Draw).algbw, (*Draw).busbw

// Span returns the range of the point's elapsed time in its band; false without one.
func (p *Point) Span() (Range, bool) { return Spanned(p.Draws, int64(p.Elapsed), ElapsedOf) }

// AlgbwSpan is Span of algbw.
func (p *Point) AlgbwSpan() (Range, bool) { return Spanned(p.Draws, int64(p.Algbw), AlgbwOf) }

// BusbwSpan is Span of busbw.
func (p *Point) BusbwSpan() (Range, bool) { return Spanned(p.Draws, int64(p.Busbw), BusbwOf) }
