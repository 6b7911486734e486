package collectives_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/hwtest"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

func allreduce(form string, ranks, size int, more ...func(c *collectives.Call)) *collectives.Call {
	c := &collectives.Call{Op: "allreduce", Form: form, Ranks: ranks, DType: "FP32", Size: size}
	for _, f := range more {
		f(c)
	}
	return c
}

func dtype(name string) func(c *collectives.Call) {
	return func(c *collectives.Call) { c.DType = name }
}
func reduce(name string) func(c *collectives.Call) {
	return func(c *collectives.Call) { c.Reduce = name }
}

func TestCase32EveryFormSumsTheTutorialsVectors(t *testing.T) {
	for _, form := range collectives.Forms("allreduce") {
		for ranks, want := range map[int][2]float64{2: {2, 100}, 4: {4, 600}, 8: {8, 2800}} {
			v, _ := reduceOf(t, allreduce(form, ranks, 256), ramp, collectives.Repeat{})
			for r := range ranks {
				for i := range 256 {
					require.Equal(t, want[0]*float64(i)+want[1], v.at(r, i), "%s P=%d rank %d", form, ranks, r)
				}
			}
		}
	}
}

func TestCase33OpsOnSeventeenElements(t *testing.T) {
	for _, form := range []string{"mesh_incore", "mesh_host", "ring_incore"} {
		for op, want := range map[string]func(i float64) float64{
			"Max": func(i float64) float64 { return i + 100 }, "Min": func(i float64) float64 { return i }, "Sum": func(i float64) float64 { return 2*i + 100 },
		} {
			v, _ := reduceOf(t, allreduce(form, 2, 17, reduce(op)), ramp, collectives.Repeat{})
			for i := range 17 {
				assert.Equal(t, want(float64(i)), v.at(1, i), "%s %s", form, op)
			}
		}
	}
}

func TestCase34ProductsAreExactInFP32AndCloseInFP16(t *testing.T) {
	factor := func(rank, j, _ int64) float64 { return 1 + 0.125*float64(rank) + 0.0625*float64(j%5) }
	want := func(i int) float64 { return (1 + 0.0625*float64(i%5)) * (1.125 + 0.0625*float64(i%5)) }
	assert.Equal(t, 1.71875, want(4))
	for _, form := range []string{"mesh_incore", "ring_incore"} {
		exact, _ := reduceOf(t, allreduce(form, 2, 17, reduce("Prod")), factor, collectives.Repeat{})
		near, _ := reduceOf(t, allreduce(form, 2, 17, reduce("Prod"), dtype("FP16")), factor, collectives.Repeat{})
		for i := range 17 {
			assert.Equal(t, want(i), exact.at(0, i))
			assert.InDelta(t, want(i), near.at(1, i), 2e-2)
		}
	}
}

// credits runs a call, and returns the highest value of each cell of each rank and
// requires that all cells are zero at the end.
func credits(t *testing.T, c *collectives.Call, rp collectives.Repeat) [][]int32 {
	t.Helper()
	job := chain(t, collectives.Item{Call: c, Repeat: rp})
	n := int(job.Buffers[buffer(t, job, "signal")].Size / 4)
	top, last := make([][]int32, c.Ranks), make([][]int32, c.Ranks)
	for r := range top {
		top[r], last[r] = make([]int32, n), make([]int32, n)
	}
	reduceJob(t, job, c, nil, func(rank int, _ program.Buf, cell int, v int32) {
		top[rank][cell], last[rank][cell] = max(top[rank][cell], v), v
	})
	for r := range last {
		assert.Equal(t, make([]int32, n), last[r], "cells0")
	}
	return top
}

func TestCase36OneElementIsOneChunkOfTwoCredits(t *testing.T) {
	c := allreduce("mesh_incore", 2, 1)
	assert.Equal(t, [][]int32{{0, 2}, {2, 0}}, credits(t, c, collectives.Repeat{}))
	v, res := reduceOf(t, c, ramp, collectives.Repeat{})
	assert.Equal(t, 100.0, v.at(0, 0))
	assert.Equal(t, int64(1), res.Ranks[0].Counters[result.RemoteLoads])
}

// lanes are what every cell of a column reaches.
func lanes(ranks int, credits ...int32) [][]int32 {
	out := make([][]int32, ranks)
	for r := range out {
		for s := range ranks {
			for _, n := range credits {
				if s == r {
					n = 0
				}
				out[r] = append(out[r], n)
			}
		}
	}
	return out
}

func TestCases37And38CreditsOfEachColumn(t *testing.T) {
	for _, x := range []struct {
		ranks, blocks, n, stride int
		credits                  []int32
		loads                    int64
	}{
		{2, 4, 4127, 6, []int32{6, 5, 5, 5, 0, 0}, 17}, // 17 tiles: 5, 4, 4, 4
		{4, 2, 1041, 2, []int32{4, 3}, 3 * 5},
		{2, 2, 1, 2, []int32{2, 1}, 1},
		{2, 4, 17, 4, []int32{2, 1, 1, 1}, 1},
	} {
		c := allreduce("mesh_host", x.ranks, x.n, func(c *collectives.Call) { c.CoreNum, c.Signal = x.blocks, x.stride })
		assert.Equal(t, lanes(x.ranks, x.credits...), credits(t, c, collectives.Repeat{}), "%+v", x)
		twice := credits(t, c, collectives.Repeat{Count: 2, Between: "none"})
		for r := range twice {
			for cell, n := range twice[r] {
				most := x.credits[cell%x.stride]
				assert.True(t, n <= most+1 && (n > 0) == (most > 0 && cell/x.stride != r), "a cell holds at most N+1")
			}
		}
		v, res := reduceOf(t, c, ramp, collectives.Repeat{Count: 2})
		last := x.n - 1
		want := float64(x.ranks*last + 100*x.ranks*(x.ranks-1)/2 + 10000*x.ranks)
		assert.Equal(t, want, v.at(x.ranks-1, last))
		assert.Equal(t, 2*x.loads, res.Ranks[0].Counters[result.RemoteLoads])
	}
}

func TestARaggedTailIsReadInWholeThirtyTwoBytes(t *testing.T) {
	for _, x := range []struct {
		form, dtype string
		n, peer     int64
	}{
		{"mesh_host", "FP32", 4127, 4128 * 4}, {"mesh_host", "FP16", 17, 64},
		{"mesh_incore", "FP32", 17, 68}, {"mesh_incore", "FP16", 17, 64}, {"mesh_incore", "FP16", 8193, 2 * 8208},
	} {
		_, res := reduceOf(t, allreduce(x.form, 4, int(x.n), dtype(x.dtype)), nil, collectives.Repeat{})
		assert.Equal(t, 3*x.peer, res.Ranks[2].Counters[result.BytesReceived], "%+v", x)
	}
}

func refusal(c *collectives.Call) error {
	_, err := collectives.Compose(c.Ranks, []collectives.Item{{Call: c}})
	return err
}

func TestCase43WhatTheCompilerRefuses(t *testing.T) {
	on := func(f func(c *collectives.Call)) func(c *collectives.Call) { return f }
	for _, x := range []struct {
		form   string
		change func(c *collectives.Call)
		want   string
	}{
		{"ring_incore", on(func(c *collectives.Call) { c.CoreNum = 2 }), "core_num: 2, must be 1: ring takes no core_num"},
		{"ring_host", on(func(c *collectives.Call) { c.CoreNum = 2 }), "core_num: 2, must be 1: ring takes no core_num"},
		{"mesh_incore", on(func(c *collectives.Call) { c.CoreNum = 2 }), "core_num is supported only in a HOST orchestrator"},
		{"hand", on(func(c *collectives.Call) { c.CoreNum = 2 }), "core_num is supported only in a HOST orchestrator"},
		{"mesh_host", on(func(c *collectives.Call) { c.CoreNum = -1 }), "core_num: -1, must be positive"},
		{"mesh_host", on(func(c *collectives.Call) { c.CoreNum = 37 }), "core_num: 37, must be at most 36"},
		{"mesh_host", on(func(c *collectives.Call) { c.CoreNum, c.Platform = 49, "a2a3" }), "core_num: 49, must be at most 48"},
		{"mesh_host", on(func(c *collectives.Call) { c.CoreNum, c.Signal = 6, 4 }), "signal_columns: the signal must have at least core_num columns: [4,4] for core_num 6"},
		{"mesh_incore", on(func(c *collectives.Call) { c.Signal = 4 }), "signal_columns: the signal of mesh must be [NR,1], not [4,4]"},
		{"mesh_incore", dtype("INT8"), "dtype: target dtype must be FP16 or FP32, not INT8"},
		{"ring_incore", dtype("BF16"), "dtype: target dtype must be FP16 or FP32, not BF16"},
		{"mesh_incore", dtype("FP8"), `dtype: no type "FP8"`},
		{"mesh_incore", reduce("Mean"), `reduce: no reduction "Mean"`},
		{"ring_incore", on(func(c *collectives.Call) { c.Rows = 3 }), "rows: the signal of ring_incore must have at least 2*(NR-1) = 6 rows, not [3,4]"},
		{"ring_host", on(func(c *collectives.Call) { c.Rows = 6 }), "rows: the signal of ring_host must have at least 2*(NR-1)+1 = 7 rows, not [6,4]"},
		{"ring_incore", on(func(c *collectives.Call) { c.Signal = 3 }), "signal_columns: the signal of ring_incore must be [2*(NR-1),NR] = [6,4]; it has 3 columns"},
		{"ring_host", reduce("Max"), "reduce: the HOST ring takes Sum of FP32, not Max of FP32"},
		{"ring_host", dtype("FP16"), "reduce: the HOST ring takes Sum of FP32, not Sum of FP16"},
		{"ring_host", on(func(c *collectives.Call) { c.Ranks, c.Size = 17, 17 }), "ranks: 17, the HOST ring serves at most 16"},
		{"ring_host", on(func(c *collectives.Call) { c.Size = 0 }), "size: 0, must be positive"},
		{"mesh_incore", on(func(c *collectives.Call) { c.Size = 0 }), "size: 0, must be positive"},
		{"two_phase", on(func(c *collectives.Call) { c.Size = 66 }), "size: 66, must be divisible by 4 ranks"},
		{"ring_hand", on(func(c *collectives.Call) { c.Size = 66 }), "size: 66, must be divisible by 4: the remainder is 2"},
		{"bidirectional_ring", on(func(c *collectives.Call) { c.Size = 68 }), "size: 68, must be divisible by 8: the remainder is 4"},
		{"hand", on(func(c *collectives.Call) { c.Size = 7 }), "size: a tile load of 28 B; it takes at least 32 B"},
		{"mesh_incore", on(func(c *collectives.Call) { c.Kinds = map[string]string{"target": "tensor"} }), "target must be a window"},
		{"mesh_incore", on(func(c *collectives.Call) { c.Kinds = map[string]string{"signal": "tensor"} }), "signal must be a window"},
		{"mesh_incore", on(func(c *collectives.Call) { c.Same = map[string]string{"signal": "target"} }), "target and signal must be different windows"},
		{"ring_incore", on(func(c *collectives.Call) { c.Kinds = map[string]string{"signal": "omitted"} }), "requires an explicit signal outside host orchestrator"},
		{"mesh_incore", on(func(c *collectives.Call) { c.Options.Transport = "urma" }), "transport: urma does not carry allreduce"},
	} {
		c := allreduce(x.form, 4, 64, x.change)
		assert.ErrorContains(t, refusal(c), x.want, x.form)
	}
	assert.NoError(t, refusal(allreduce("ring_incore", 4, 64, func(c *collectives.Call) { c.Rows = 9 })), "more rows do no harm")
	assert.NoError(t, refusal(allreduce("mesh_host", 4, 64, func(c *collectives.Call) { c.Kinds = map[string]string{"signal": "omitted"} })))
	assert.NoError(t, refusal(allreduce("mesh_incore", 4, 64, func(c *collectives.Call) { c.CoreNum, c.Signal = 1, 1 })))
}

func TestBeyondSixteenRanksTheHOSTBuiltinsReturnWithoutCommunicating(t *testing.T) {
	for _, c := range []*collectives.Call{allreduce("mesh_host", 17, 64), {Op: "reduce_scatter", Form: "host", Ranks: 17, DType: "FP32", Size: 64}, {Op: "reduce_scatter", Form: "host", Ranks: 4, DType: "FP32"}} {
		res := run(t, mesh(t, "fabric.kind=ideal"), compose(t, c), hw.Options{})
		require.Equal(t, result.Hazardous, res.Status, "%v", res.Data.Mismatches)
		assert.Equal(t, result.NothingDone, res.Hazards[0].Kind)
		assert.Contains(t, res.Hazards[0].Text, "returned without communicating")
		assert.Zero(t, res.Totals[result.Notifies]+res.Totals[result.BytesSent])
	}
}

func TestBlocksOfTheHOSTMeshShareItsTiles(t *testing.T) {
	// 64 tiles a rank: with 16 blocks each has 4 instead of 64, and the peers' links are shared.
	one := ok(t, mesh(t), compose(t, allreduce("mesh_host", 4, 64*256)))
	sixteen := ok(t, mesh(t), compose(t, allreduce("mesh_host", 4, 64*256, func(c *collectives.Call) { c.CoreNum = 16 })))
	assert.Less(t, int64(4*sixteen.Elapsed), int64(one.Elapsed))
	assert.Equal(t, one.Totals[result.BytesSent], sixteen.Totals[result.BytesSent])
}

func TestMeshIsFasterForFewElementsAndRingForMany(t *testing.T) {
	spec := hwtest.Machine(t, "950dt-64")
	elapsed := func(form string, n int) engine.Duration {
		return ok(t, spec, compose(t, allreduce(form, 8, n))).Elapsed
	}
	assert.Less(t, elapsed("mesh_incore", 64), elapsed("ring_incore", 64))
	assert.Less(t, elapsed("ring_hand", 1<<18), elapsed("mesh_incore", 1<<18))
	assert.Less(t, elapsed("ring_hand", 1<<12), elapsed("ring_incore", 1<<12), "F31: the builtin has full barriers")
}

func TestTheSecondCallOnOneSignalReducesTheSecondInput(t *testing.T) {
	for _, form := range collectives.Forms("allreduce") {
		between := "none" // the credits are cleared
		if !builtin[form] {
			between = "reset"
		}
		v, _ := reduceOf(t, allreduce(form, 4, 64), ramp, collectives.Repeat{Count: 2, Between: between})
		assert.Equal(t, 4.0*63+600+4*10000, v.at(2, 63), form)
		same, _ := reduceOf(t, allreduce(form, 4, 64), nil, collectives.Repeat{Count: 3, Between: between, Same: true})
		once, _ := reduceOf(t, allreduce(form, 4, 64), nil, collectives.Repeat{Same: true})
		assert.Equal(t, once, same, form)
	}
}

func TestTwoInPlaceReductionsCannotShareAWindow(t *testing.T) {
	items := []collectives.Item{{Name: "a", Call: allreduce("mesh_incore", 2, 64)}, {Name: "b", Call: allreduce("mesh_incore", 2, 64), Window: "a"}}
	_, err := collectives.Compose(2, items)
	assert.ErrorContains(t, err, "b reduces its target in place: it cannot share the window of a")
	items[1].Window, items[1].Signal, items[1].Call = "", "a", allreduce("mesh_incore", 2, 5000)
	ok(t, mesh(t), chain(t, items...))
}

func TestSeveralReductionsInOneKernelOnOneSignal(t *testing.T) {
	items := []collectives.Item{
		{Name: "a", Call: allreduce("mesh_incore", 4, 5000), Kernel: "k"},
		{Name: "b", Call: &collectives.Call{Op: "reduce_scatter", Form: "incore", Ranks: 4, DType: "FP16", Size: 100, Reduce: "Max"}, Kernel: "k", Signal: "a"},
		{Name: "c", Call: allreduce("mesh_incore", 4, 17, reduce("Min")), Kernel: "k", Signal: "a"},
	}
	job := chain(t, items...)
	require.Len(t, job.Tasks, 1)
	res := ok(t, mesh(t), job)
	assert.Equal(t, engine.Bytes(4*(4*5000+2*100+4*17)), res.Data.Checked)
}

// differing is how many ranks' results differ from rank 0's anywhere.
func differing(v vectors) (n int) {
	for r := range v.raw {
		if string(v.raw[r]) != string(v.raw[0]) {
			n++
		}
	}
	return n
}

func TestMeshRanksDifferInTheirLastBitsAndRingRanksDoNot(t *testing.T) {
	for _, form := range collectives.Forms("allreduce") {
		v, _ := reduceOf(t, allreduce(form, 4, 1024), nil, collectives.Repeat{})
		if strings.HasPrefix(form, "mesh") || form == "hand" {
			assert.Equal(t, 2, differing(v), "%s: ranks 0 and 1 add (0+1)+2+3 alike, ranks 2 and 3 in orders of their own", form)
		} else {
			assert.Zero(t, differing(v), form)
		}
		for r := range 4 {
			for i := range 1024 {
				assert.InDelta(t, v.at(0, i), v.at(r, i), 4*math.Pow(2, -23)*6, "%s: and only in the last bits", form)
			}
		}
	}
	two, _ := reduceOf(t, allreduce("mesh_incore", 2, 1024), nil, collectives.Repeat{})
	assert.Zero(t, differing(two), "a sum of two does not depend on their order")
}

func TestProgramsStaySmallHoweverManyTilesThereAre(t *testing.T) {
	for _, a := range collectives.All() {
		if !reduces[a.Op] {
			continue
		}
		c := allreduce(a.Form, 16, 1<<20)
		c.Op = a.Op
		job := compose(t, c)
		require.Len(t, job.Tasks, 1)
		assert.Less(t, len(job.Tasks[0].Program.Ops), 45, fmt.Sprint(a.Name(), " is one program of loops"))
	}
}

func TestTwiceTheBytesTakeTwiceTheEvents(t *testing.T) {
	for form, blocks := range map[string]int{"mesh_host": 36, "mesh_incore": 0, "ring_host": 0, "ring_hand": 0, "two_phase": 0} {
		events := func(n int) float64 {
			c := allreduce(form, 8, n, func(c *collectives.Call) { c.CoreNum = blocks })
			return float64(run(t, mesh(t), compose(t, c), hw.Options{Hazards: "off"}).Events)
		}
		assert.InDelta(t, 2, events(1<<19)/events(1<<18), 0.1, form)
	}
}
