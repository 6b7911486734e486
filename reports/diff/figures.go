package diff

import (
	"math/bits"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// Elapsed is the figure that is attributed.
const Elapsed = "elapsed_ps"

// scalars are the figures of every run, with the word that tolerances have for them.
var scalars = []struct {
	name, group string
	of          func(*document.Point) int64
}{
	{Elapsed, "elapsed", func(p *document.Point) int64 { return int64(p.Elapsed) }},
	{"algbw_bytes_per_s", "algbw", func(p *document.Point) int64 { return int64(p.Algbw) }},
	{"busbw_bytes_per_s", "busbw", func(p *document.Point) int64 { return int64(p.Busbw) }},
	{"wire_bytes_per_s", "wire", func(p *document.Point) int64 { return int64(p.Wire) }},
	{"bound_ps", "bound", func(p *document.Point) int64 { return int64(p.Bound) }},
	{"size_bytes", "size", func(p *document.Point) int64 { return int64(p.Size) }},
	{"peak_sq_wqebb", "peak_sq", func(p *document.Point) int64 { return p.PeakSQ }},
	{"events", "events", func(p *document.Point) int64 { return int64(p.Events) }},
}

// texts are the words of every run. Those that only put figures into words, or identify
// a run, count where nothing may differ.
var texts = []struct {
	name   string
	always bool
	of     func(*document.Point) string
}{
	{"status", true, func(p *document.Point) string { return string(p.Status) }},
	{"problem", false, func(p *document.Point) string { return p.Problem }},
	{"bound_by", false, func(p *document.Point) string { return p.BoundBy }},
	{"limited_by", false, func(p *document.Point) string { return p.Limits }},
	{"digest", false, func(p *document.Point) string { return p.Digest }},
	{"digest_of_events", false, func(p *document.Point) string { return p.Order }},
}

// figures lists the numbers of two runs that are not zero in both.
func figures(a, b *document.Point, t Tolerances) (out []document.Figure) {
	add := func(name string, x, y int64, groups ...string) {
		if x == 0 && y == 0 && name != Elapsed {
			return
		}
		f := document.Figure{Name: name, A: x, B: y, Change: y - x, Equal: within(x, y, t.of(groups...))}
		if s, ok := share(f.Change, x); ok && x > 0 {
			f.Share = &s
		}
		out = append(out, f)
	}
	for _, s := range scalars {
		add(s.name, s.of(a), s.of(b), s.group)
	}
	for k := range result.NumCounters {
		add(k.String(), a.Counters[k], b.Counters[k], k.String(), "counters")
	}
	for _, x := range Attribute(boundParts(a), boundParts(b)) {
		add(x.Name, int64(x.A), int64(x.B), "bound")
	}
	for _, x := range Attribute(busiest(a), busiest(b)) {
		add(x.Name, int64(x.A), int64(x.B), "resources")
	}
	return out
}

func boundParts(p *document.Point) (out []document.Part) {
	for _, b := range p.Bounds {
		out = append(out, document.Part{Name: "bound_of_" + b.Name + "_ps", Time: b.Time})
	}
	return out
}

func busiest(p *document.Point) (out []document.Part) {
	for _, r := range p.Busiest {
		out = append(out, document.Part{Name: "busiest_" + strings.ReplaceAll(r.Kind, " ", "_") + "_ps", Time: r.Busy})
	}
	return out
}

// words lists the texts of two runs.
func words(a, b *document.Point, t Tolerances) (out []document.Word) {
	for _, x := range texts {
		if w := (document.Word{Name: x.name, A: x.of(a), B: x.of(b), Counts: x.always || t.exact()}); w.A != "" || w.B != "" {
			out = append(out, w)
		}
	}
	return out
}

// within reports whether two numbers are no further apart than a share of the one that
// is further from zero, exactly.
func within(a, b int64, tolerance engine.Fraction) bool {
	if a == b {
		return true
	}
	if (a < 0) != (b < 0) {
		return false
	}
	x, y := size(a), size(b)
	hi, lo := bits.Mul64(max(x, y)-min(x, y), uint64(engine.One))
	limitHi, limitLo := bits.Mul64(max(x, y), uint64(tolerance))
	return hi < limitHi || hi == limitHi && lo <= limitLo
}
