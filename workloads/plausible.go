package workloads

import (
	"pldperf/configs"
	"pldperf/engine"
)

// What a machine's values may be: far beyond any hardware, and near enough that no
// sum of them over a run can leave the range of simulated time (106 days).
const (
	longest = engine.Second
	slowest = engine.Rate(1_000_000)  // bytes a second
	lowest  = engine.Hertz(1_000_000) // cycles a second

	latest = 1000 * engine.Second // start of a rank, or length of a compute item
)

// implausible reports machine values that can only be a slip of a unit.
func implausible(doc *configs.Doc) error {
	var out configs.Problems
	for _, p := range doc.Params("machine") {
		var d engine.Duration
		var r engine.Rate
		var f engine.Hertz
		text := []byte(p.Value)
		at := doc.At(p.Path)
		switch {
		case d.UnmarshalText(text) == nil && d > longest:
			out = append(out, at.Fault("%s is above %v, the longest time of a machine's part", p.Value, longest)...)
		case r.UnmarshalText(text) == nil && r < slowest:
			out = append(out, at.Fault("%s is below %v, the slowest rate of a machine's part", p.Value, slowest)...)
		case f.UnmarshalText(text) == nil && f < lowest:
			out = append(out, at.Fault("%s is below %v, the slowest clock", p.Value, lowest)...)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
