package collectives_test

import "pldperf/collectives"

// reduces are the operations that combine what ranks give.
var reduces = map[string]bool{"allreduce": true, "reduce_scatter": true}

func init() {
	for _, form := range []string{"allreduce/mesh_incore", "allreduce/mesh_host", "allreduce/ring_incore", "allreduce/ring_host", "reduce_scatter/incore", "reduce_scatter/host"} {
		inputs[form] = "target"
	}
	fits["allreduce"] = fitReduction
	fits["reduce_scatter"] = fitReduction
	more["allreduce"], more["reduce_scatter"] = moreReductions, moreReductions
}

// builtin are the forms that reduce a window in place: of FP32 or FP16.
var builtin = map[string]bool{"mesh_incore": true, "mesh_host": true, "ring_incore": true, "ring_host": true, "incore": true, "host": true}

// fitReduction gives forms by hand a size that they can load, and those that cut the
// vector one that can be cut.
func fitReduction(c *collectives.Call) {
	parts := map[string]int{"two_phase": c.Ranks, "ring_hand": c.Ranks, "ring_host": c.Ranks, "bidirectional_ring": 2 * c.Ranks, "hand": 1}[c.Form]
	if parts == 0 {
		return
	}
	each := (c.Size + parts - 1) / parts
	if !builtin[c.Form] {
		each = max(each, 32/collectives.ElemSize(c.DType))
	}
	c.Size = parts * each
}

// moreReductions are the other types and ways to combine, in sizes that take several
// tiles with a ragged one at the end.
func moreReductions(a *collectives.Algorithm, size int) (out []*collectives.Call) {
	types := []string{"FP16", "FP32"}
	switch {
	case a.Form == "ring_host" || a.Form == "host":
		types = []string{"FP32"}
	case !builtin[a.Form]:
		types = []string{"FP16", "BF16", "INT32", "INT16", "INT8"}
	}
	reduces := []string{"Sum", "Max", "Min", "Prod"}
	for i, t := range types {
		c := &collectives.Call{Op: a.Op, Form: a.Form, Ranks: 3 + i%2, DType: t, Size: 300*size + i, Reduce: reduces[i%4]}
		if a.Columns {
			c.CoreNum = 4
			c.Signal = 6
		}
		if a.Form == "ring_host" || a.Form == "host" {
			c.Reduce = "Sum"
		}
		if !builtin[a.Form] {
			c.ChunkCols = 100
		}
		fitReduction(c)
		out = append(out, c)
	}
	return out
}
