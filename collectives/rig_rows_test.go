package collectives_test

import (
	"math/rand/v2"

	"pldperf/collectives"
)

func init() {
	more["all_to_all_v"] = rowsCalls
	// Counts are published with Set, which nobody waits for but by the barrier behind it.
	fewerWaits["all_to_all_v v0"], fewerWaits["all_to_all_v v1"] = true, true
}

// rowsCalls are the older wire rules, INT8 rows, spare columns of the signal, and counts
// that have to be clamped.
func rowsCalls(a *collectives.Algorithm, size int) (out []*collectives.Call) {
	for i, wire := range []string{"v0", "v1", "v2", "v3", "v4"} {
		for _, ranks := range []int{2, 4} {
			r := rand.New(rand.NewPCG(uint64(ranks), uint64(i)))
			c := &collectives.Call{
				Op: a.Op, Form: a.Form, Ranks: ranks, DType: "FP32", Size: size, Hidden: 33, Wire: wire,
				Traffic: []collectives.Traffic{random(r, ranks, 40, size)},
			}
			if a.Columns && wire >= "v3" {
				c.CoreNum = 2*ranks + 1
			}
			if a.Columns && wire >= "v2" {
				c.DType, c.Hidden, c.Signal = "INT8", 64, 3*ranks
			}
			if wire == "v4" {
				c.Capacity = max(size/2, 1) // counts above it are common
			}
			out = append(out, c)
		}
	}
	return out
}
