package collectives_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

func scatter(form string, ranks, size int, more ...func(c *collectives.Call)) *collectives.Call {
	c := &collectives.Call{Op: "reduce_scatter", Form: form, Ranks: ranks, DType: "FP32", Size: size}
	for _, f := range more {
		f(c)
	}
	return c
}

// row is element j of what rank r holds as its result.
func (v vectors) row(c *collectives.Call, r, j int) float64 {
	if builtin[c.Form] {
		return v.at(r, r*c.Size+j)
	}
	return v.at(r, j)
}

func TestCases27And28EveryFormReducesTheTutorialsRows(t *testing.T) {
	for _, form := range collectives.Forms("reduce_scatter") {
		c := scatter(form, 4, 64)
		v, _ := reduceOf(t, c, ramp, collectives.Repeat{})
		for r := range 4 {
			for j := range 64 {
				require.Equal(t, float64(4*(64*r+j)+600), v.row(c, r, j), "%s: 600..852 step 4 on rank 0", form)
			}
		}
		assert.Equal(t, 1620.0, v.row(c, 3, 63))
		c = scatter(form, 2, 64)
		v, _ = reduceOf(t, c, ramp, collectives.Repeat{})
		assert.Equal(t, []float64{100, 226, 228, 354}, []float64{v.row(c, 0, 0), v.row(c, 0, 63), v.row(c, 1, 0), v.row(c, 1, 63)}, form)
	}
}

func TestCase29TheSecondCallOnOneSignal(t *testing.T) {
	for _, form := range []string{"host", "incore"} {
		c := scatter(form, 2, 64)
		first, _ := reduceOf(t, c, ramp, collectives.Repeat{})
		second, _ := reduceOf(t, c, ramp, collectives.Repeat{Count: 2, Between: "none"})
		for r := range 2 {
			for j := range 64 {
				require.Equal(t, first.row(c, r, j)+20000, second.row(c, r, j))
			}
		}
	}
}

// wave is the ramp of the chunked test in FP16, exact in sums.
func wave(rank, j, _ int64) float64 { return float64(j%256 + rank) }

func TestCase30ChunksAndTheirCredits(t *testing.T) {
	for _, x := range []struct {
		dtype           string
		size            int
		chunks, credits int32
	}{
		{"FP32", 4096, 1, 2}, {"FP32", 4097, 2, 3}, {"FP32", 25600, 7, 8}, {"FP32", 245760, 60, 61}, {"FP16", 8193, 2, 3}, {"FP16", 16401, 3, 4},
	} {
		c := scatter("incore", 2, x.size, dtype(x.dtype))
		assert.Equal(t, [][]int32{{0, x.credits}, {x.credits, 0}}, credits(t, c, collectives.Repeat{}), "%+v", x)
		v, res := reduceOf(t, c, wave, collectives.Repeat{Count: 2, Between: "none", Same: true})
		assert.Equal(t, int64(2*x.chunks), res.Ranks[0].Counters[result.RemoteLoads])
		for r := range 2 {
			for j := range x.size {
				require.Equal(t, float64(2*((r*x.size+j)%256)+1), v.row(c, r, j), "exact")
			}
		}
	}
}

func TestAnFP16RowIsReadInWholeThirtyTwoBytesEvenAtTheEndOfTheWindow(t *testing.T) {
	_, res := reduceOf(t, scatter("incore", 4, 100, dtype("FP16")), nil, collectives.Repeat{})
	for r := range 4 {
		assert.Equal(t, int64(3*224), res.Ranks[r].Counters[result.BytesReceived], "200 B")
		assert.Equal(t, int64(3*200), res.Ranks[r].Counters[result.Combined])
	}
}

func TestTheHOSTFormHasTwoBarriersHoweverManyTiles(t *testing.T) {
	c := scatter("host", 4, 256*9+1)
	assert.Equal(t, lanes(4, 2), credits(t, c, collectives.Repeat{}))
	_, res := reduceOf(t, c, nil, collectives.Repeat{})
	assert.Equal(t, int64(3*10), res.Ranks[1].Counters[result.RemoteLoads])
	assert.Equal(t, int64(2*3), res.Ranks[1].Counters[result.Notifies])
}

func TestReduceScatterRefusals(t *testing.T) {
	for _, x := range []struct {
		form   string
		change func(c *collectives.Call)
		want   string
	}{
		{"host", reduce("Max"), "reduce: the HOST builtin takes Sum, not Max"},
		{"host", dtype("FP16"), "dtype: the HOST builtin takes FP32, not FP16"},
		{"incore", dtype("INT32"), "dtype: target dtype must be FP16 or FP32, not INT32"},
		{"incore", reduce("Avg"), `reduce: no reduction "Avg"`},
		{"incore", func(c *collectives.Call) { c.CoreNum = 1 }, "core_num: reduce_scatter takes no core_num"},
		{"incore", func(c *collectives.Call) { c.Signal = 2 }, "signal_columns: the signal of reduce_scatter is [P] or [P,1], not [P,2]"},
		{"incore", func(c *collectives.Call) { c.Size = 0 }, "size: 0, must be positive"},
		{"incore", func(c *collectives.Call) { c.Same = map[string]string{"signal": "target"} }, "target and signal must be different windows"},
		{"hand", func(c *collectives.Call) { c.Size = 4 }, "size: a tile load of 16 B"},
		{"hand", func(c *collectives.Call) { c.ChunkCols = 4 }, "chunk_cols: a tile load of 16 B"},
		{"hand", func(c *collectives.Call) { c.Kinds = map[string]string{"data": "tensor"} }, "data must be a window"},
	} {
		assert.ErrorContains(t, refusal(scatter(x.form, 4, 64, x.change)), x.want, x.form)
	}
}

func TestARowIsStoredBehindTheBarrierThatEveryReaderHasPassed(t *testing.T) {
	// A rank that reads late finds what the others have not combined yet: it holds none of
	// their rows back. In place of the composite's barrier a fast rank would be too early.
	job := compose(t, scatter("incore", 4, 64))
	ops := job.Tasks[0].Program.Ops
	last := program.Kind(0)
	for _, o := range ops {
		if o.Kind == program.StoreTile {
			assert.Equal(t, program.WaitPeers, last)
		}
		last = o.Kind
	}
}
