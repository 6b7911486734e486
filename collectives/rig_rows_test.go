package collectives_test

import (
	"math/rand/v2"

	"pldperf/collectives"
)

// losesCounts are algorithms whose first notify carries a count: without it they go
// wrong rather than hang.
var losesCounts = map[string]bool{}

// longest is the most rows of a pair that an operation is tried with where bytes grow.
var longest = map[string]int{}

func init() {
	more["all_to_all_v"] = rowsCalls
	// Counts are published with Set, which nobody waits for but by the barrier behind it.
	fewerWaits["all_to_all_v v0"], fewerWaits["all_to_all_v v1"] = true, true
	// One barrier stands behind all the counts, and all blocks wait where one has notified.
	fewerWaits["moe/ep_dispatch_combine"], fewerWaits["moe/dsv4"] = true, true
	trustsNobody["moe/ep_dispatch_combine"], trustsNobody["moe/dsv4"] = true, true // the first barrier guards no data
	losesCounts["moe/ep_dispatch_combine"] = true
	fits["moe"] = func(c *collectives.Call) {
		r := rand.New(rand.NewPCG(uint64(c.Ranks), uint64(c.Size)))
		c.Traffic = []collectives.Traffic{random(r, c.Ranks, 10, min(c.Size, 8))}
	}
	more["moe"] = moeCalls
	longest["moe"] = 29
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

// moeCalls are rows of other types than FP32.
func moeCalls(a *collectives.Algorithm, size int) (out []*collectives.Call) {
	dtypes := map[string][]string{"dsv4": {"INT8", "BF16"}, "ep_dispatch_combine": {"BF16", "FP16"}, "indexed": {"INT8"}}
	for i, dtype := range dtypes[a.Form] {
		r := rand.New(rand.NewPCG(uint64(size), uint64(i)))
		out = append(out, &collectives.Call{
			Op: a.Op, Form: a.Form, Ranks: 4, CoreNum: 3, DType: dtype, Hidden: 64, Size: size,
			Traffic: []collectives.Traffic{random(r, 4, 10, min(size, 8))},
		})
	}
	return out
}
