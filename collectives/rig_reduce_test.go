package collectives_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/hw"
	"pldperf/hw/arith"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

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
		c := &collectives.Call{Op: a.Op, Form: a.Form, Ranks: 3 + i%2, DType: t, Size: 300*min(size, 40) + i, Reduce: reduces[i%4]}
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

// filled is content for tests: element j of rank r is value(r, j, round), round 0 being
// that of the first call.
type filled struct {
	dtype program.DType
	first uint32 // version that the first call finds
	value func(rank, j, round int64) float64
}

func (x filled) Generate(dst []byte, rank int, version uint32, off int64) {
	var w [8]byte
	for e := x.dtype.Size(); len(dst) > 0; {
		arith.Put(w[:], 0, x.dtype, x.value(int64(rank), off/e, int64(version)-int64(x.first)))
		n := copy(dst, w[off%e:e])
		dst, off = dst[n:], off+int64(n)
	}
}

// vectors are what the ranks hold at the end in the buffer in which the result is.
type vectors struct {
	dtype program.DType
	raw   [][]byte
}

func (v vectors) at(rank, i int) float64 { return arith.Value(v.raw[rank], i, v.dtype) }

// reduceOf runs a reduction of given values under the options of a repeat, requires that
// nothing is wrong with it, and returns what the ranks hold.
func reduceOf(t testing.TB, c *collectives.Call, value func(rank, j, round int64) float64, rp collectives.Repeat) (vectors, *result.Result) {
	t.Helper()
	job := chain(t, collectives.Item{Call: c, Repeat: rp})
	return reduceJob(t, job, c, value, nil)
}

func reduceJob(t testing.TB, job *program.Job, c *collectives.Call, value func(rank, j, round int64) float64, cells hw.CellFunc) (vectors, *result.Result) {
	t.Helper()
	dtype, err := program.ParseDType(c.DType)
	require.NoError(t, err)
	in, out, first := "input", "output", uint32(0)
	if builtin[c.Form] {
		in, out, first = "target", "target", 1
	}
	if value != nil {
		job.Buffers[buffer(t, job, in)].Fill = filled{dtype, first, value}
	}
	v := vectors{dtype: dtype}
	res := run(t, mesh(t), job, hw.Options{Cells: cells, Inspect: func(s *memory.Space) {
		for r := range job.Ranks {
			v.raw = append(v.raw, bytesOf(s, r, buffer(t, job, out)))
		}
	}})
	fine(t, res)
	if c.Op == "allreduce" { // a window can be a little longer
		for r := range v.raw {
			v.raw[r] = v.raw[r][:c.Chunk()]
		}
	}
	return v, res
}

// ramp is in_r[i] = i + 100r, raised by 10000 a round.
func ramp(rank, j, round int64) float64 { return float64(j + 100*rank + 10000*round) }
