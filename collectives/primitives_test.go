package collectives_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/hwtest"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// steps is the content in[r,j] = by*r + j in FP32.
type steps int

func (x steps) Generate(dst []byte, rank int, _ uint32, off int64) {
	for i := 0; i < len(dst); i += 4 {
		binary.LittleEndian.PutUint32(dst[i:], math.Float32bits(float32(rank*int(x)+int(off)/4+i/4)))
	}
}

// out runs a call whose input has a given content and returns each rank's buffer.
func out(t *testing.T, c *collectives.Call, input string, fill program.Content, name string) ([][]float32, *result.Result) {
	t.Helper()
	job := compose(t, c)
	job.Buffers[buffer(t, job, input)].Fill = fill
	out := make([][]float32, c.Ranks)
	res := run(t, mesh(t), job, hw.Options{Payload: "bytes", Inspect: func(s *memory.Space) {
		for r := range out {
			out[r] = floats(bytesOf(s, r, buffer(t, job, name)))
		}
	}})
	fine(t, res)
	return out, res
}

// count is n numbers from first on.
func count(first, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(first + i)
	}
	return v
}

func TestCase4PutOnARingGivesEachRankItsNeighboursRow(t *testing.T) {
	got, res := out(t, &collectives.Call{Op: "put", Form: "full", Ranks: 2, DType: "FP32", Size: 64}, "src", steps(100), "output")
	assert.Equal(t, [][]float32{count(100, 64), count(0, 64)}, got)
	assert.Equal(t, []int64{2, 2, 512}, []int64{res.Totals[result.Puts], res.Totals[result.PutStages], res.Totals[result.BytesSent]})
}

func TestCase5PutWithTwoStagesMovesFourPieces(t *testing.T) {
	c := &collectives.Call{Op: "put", Form: "full", Ranks: 2, DType: "FP32", Rows: 8, Size: 128, ChunkRows: 4, ChunkCols: 64, Pipeline: true}
	got, res := out(t, c, "src", steps(1000), "output")
	assert.Equal(t, [][]float32{count(1000, 1024), count(0, 1024)}, got)
	assert.Equal(t, int64(4), res.Ranks[0].Counters[result.PutStages])
	c.Pipeline = false
	_, serial := out(t, c, "src", steps(1000), "output")
	assert.Less(t, res.Elapsed, serial.Elapsed, "loads overlap stores")
}

func TestCase6PutInChunksMovesEightPieces(t *testing.T) {
	c := &collectives.Call{Op: "put", Form: "full", Ranks: 2, DType: "FP32", Rows: 8, Size: 64, ChunkRows: 2, ChunkCols: 32}
	got, res := out(t, c, "src", steps(1000), "output")
	assert.Equal(t, [][]float32{count(1000, 512), count(0, 512)}, got)
	assert.Equal(t, int64(8), res.Ranks[1].Counters[result.PutStages])
	c.ChunkRows, c.ChunkCols = 100, 1000 // clamped
	_, res = out(t, c, "src", steps(1000), "output")
	assert.Equal(t, int64(1), res.Ranks[1].Counters[result.PutStages])
}

func TestCase7AtomicPutsOfAllRanksAddUpInRankZero(t *testing.T) {
	c := &collectives.Call{Op: "put", Form: "full", Ranks: 2, DType: "INT32", Rows: 16, Size: 16, Atomic: true}
	job := compose(t, c)
	res := run(t, mesh(t), job, hw.Options{Inspect: func(s *memory.Space) {
		for i, b := range bytesOf(s, 0, buffer(t, job, "output")) {
			require.Equal(t, byte([]int{42, 0, 0, 0}[i%4]), b)
		}
	}})
	fine(t, res)
	assert.Equal(t, int64(2048), int64(res.Data.Checked), "window and output of rank 0")
}

func TestAtomicPutsAddUpInEveryTypeThatCanBeAdded(t *testing.T) {
	for _, dtype := range []string{"FP32", "FP16", "BF16", "INT32", "INT16", "INT8"} {
		for _, ranks := range []int{2, 5, 32} {
			c := &collectives.Call{Op: "put", Form: "region", Ranks: ranks, DType: dtype, Rows: 3, Size: 20, Atomic: true}
			job := chain(t, collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 2, Between: "reset"}})
			ok(t, mesh(t, "fabric.kind=clos"), job)
		}
	}
}

func TestCase8PutOfARowGoesToAnotherRow(t *testing.T) {
	c := &collectives.Call{Op: "put", Form: "region", Ranks: 2, DType: "FP32", Rows: 2, Size: 64}
	got, _ := out(t, c, "src", steps(100), "output")
	assert.Equal(t, [][]float32{count(100, 64), count(0, 64)}, got)
	got, _ = out(t, c, "src", steps(100), "dst")
	assert.Equal(t, append(make([]float32, 64), count(100, 64)...), got[0], "row 0 of the window stays")
}

func TestGetOnARingPullsWhatTheNextRankHasStaged(t *testing.T) {
	for _, ranks := range []int{2, 4} {
		c := &collectives.Call{Op: "get", Form: "full", Ranks: ranks, DType: "FP32", Size: 64}
		got, res := out(t, c, "input", steps(100), "dst")
		for r := range ranks {
			assert.Equal(t, count(100*((r+1)%ranks), 64), got[r])
			assert.Equal(t, []int64{256, 256, 1}, []int64{res.Ranks[r].Counters[result.BytesSent], res.Ranks[r].Counters[result.BytesReceived], res.Ranks[r].Counters[result.Gets]})
		}
	}
}

func TestGetOfARowGoesToAnotherRow(t *testing.T) {
	c := &collectives.Call{Op: "get", Form: "region", Ranks: 2, DType: "FP32", Rows: 2, Size: 64}
	got, _ := out(t, c, "input", steps(100), "dst")
	assert.Equal(t, [][]float32{append(make([]float32, 64), count(100, 64)...), append(make([]float32, 64), count(0, 64)...)}, got)
}

func TestWhatTheCompilerRefusesOfPutAndGet(t *testing.T) {
	for want, change := range map[string]func(c *collectives.Call){
		"core_num: put takes no core_num":                                   func(c *collectives.Call) { c.CoreNum = 1 },
		"signal_columns: the signal of put is":                              func(c *collectives.Call) { c.Signal = 3 },
		`dtype: no type "FP8"`:                                              func(c *collectives.Call) { c.DType = "FP8" },
		"size: 0, must be positive":                                         func(c *collectives.Call) { c.Size = 0 },
		"rows: 1; a region":                                                 func(c *collectives.Call) { c.Form, c.Rows = "region", 1 },
		"pipeline: requires both chunk_rows > 0 and chunk_cols > 0 (here 4": func(c *collectives.Call) { c.Pipeline, c.ChunkRows = true, 4 },
		"AtomicAdd of BF16 is there on 910B only, the machine is a5":        func(c *collectives.Call) { c.Atomic, c.DType, c.Platform = true, "BF16", "a5" },
		"dst must be a window":                                              func(c *collectives.Call) { c.Kinds = map[string]string{"dst": "tensor"} },
		"src must be a window":                                              func(c *collectives.Call) { c.Op, c.Kinds = "get", map[string]string{"src": "tensor"} },
		"dst and src must be different":                                     func(c *collectives.Call) { c.Same = map[string]string{"dst": "src"} },
		"dst and signal must be different":                                  func(c *collectives.Call) { c.Same = map[string]string{"signal": "dst"} },
	} {
		c := &collectives.Call{Op: "put", Form: "full", Ranks: 2, DType: "FP32", Size: 64}
		change(c)
		_, err := collectives.Compose(2, []collectives.Item{{Call: c}})
		assert.ErrorContains(t, err, want)
	}
	c := &collectives.Call{Op: "put", Form: "full", Ranks: 2, DType: "FP32", Size: 64, Kinds: map[string]string{"src": "window"}}
	_, err := collectives.Compose(2, []collectives.Item{{Call: c}})
	assert.NoError(t, err, "the local side may be either")
}

func TestAPutWhoseStagesDoNotFitSaysWhichChunksDo(t *testing.T) {
	usable := hwtest.Machine(t, "950dt-64").UB.Usable
	c := &collectives.Call{Op: "put", Form: "full", Ranks: 2, DType: "FP32", Size: 100_000}
	assert.ErrorContains(t, c.CheckBuffer(usable), "size: a stage of 400 kB does not fit in 248 KiB of the Unified Buffer; set chunk_cols to at most 63488")
	c.ChunkRows, c.ChunkCols, c.Pipeline = 1, 40_000, true
	assert.ErrorContains(t, c.CheckBuffer(usable), "set chunk_cols to at most 31744", "two stages")
	c.ChunkCols = 31744
	assert.NoError(t, c.CheckBuffer(usable))
	c.Rows, c.Size, c.ChunkRows, c.ChunkCols, c.Pipeline = 100, 1000, 0, 0, false
	assert.ErrorContains(t, c.CheckBuffer(usable), "set chunk_rows")
}

func TestMistakesOfPutAndGetShowWhatTheyDoOnHardware(t *testing.T) {
	for _, x := range []struct{ op, form, mistake string }{
		{"put", "full", "wrong_direction"}, {"get", "full", "wrong_direction"}, {"put", "region", "wrong_layout"}, {"get", "region", "wrong_layout"},
		{"get", "full", "wrong_neighbour"}, {"get", "region", "wrong_neighbour"},
	} {
		c := &collectives.Call{Op: x.op, Form: x.form, Ranks: 4, DType: "FP32", Rows: 3, Size: 64, Mistake: x.mistake}
		job := compose(t, c)
		assert.Equal(t, result.WrongData, run(t, mesh(t), lateRank(job), hw.Options{}).Status, "%+v", x)
	}
	// With two ranks there is only one neighbour: neither mistake shows.
	for _, mistake := range []string{"wrong_direction", "wrong_neighbour"} {
		ok(t, mesh(t), lateRank(compose(t, &collectives.Call{Op: "get", Form: "full", Ranks: 2, DType: "FP32", Size: 64, Mistake: mistake})))
	}
}

func TestCase1NotifyAddsToTheNeighboursCellAndTheCellIsReadBehindTheWait(t *testing.T) {
	words, res := endWords(t, compose(t, &collectives.Call{Op: "notify", Form: "ring", Ranks: 2}), "signal")
	fine(t, res)
	assert.Equal(t, [][]int32{{2}, {1}}, words)
	assert.Equal(t, int64(2), res.Data.Words, "read by each rank when its call is over")
}

func TestCase1WithoutAResetTheSecondRunReadsTheSumOfBoth(t *testing.T) {
	c := &collectives.Call{Op: "notify", Form: "ring", Ranks: 2}
	words, res := endWords(t, chain(t, collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 2, Between: "barrier"}}), "signal")
	assert.Equal(t, [][]int32{{4}, {2}}, words)
	assert.Nil(t, res.Stuck)
	ok(t, mesh(t), chain(t, collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 2, Between: "reset"}}))
}

func TestCase2CreditsAreTakenBackByASelfNotifyRunAfterRun(t *testing.T) {
	for _, between := range []string{"none", "barrier"} {
		job := chain(t, collectives.Item{Call: &collectives.Call{Op: "notify", Form: "self", Ranks: 2}, Repeat: collectives.Repeat{Count: 3, Between: between}})
		words, res := endWords(t, job, "signal")
		fine(t, res)
		assert.Equal(t, [][]int32{{0}, {0}}, words)
		assert.Equal(t, []int64{24, 6, 6}, []int64{res.Totals[result.Notifies], res.Totals[result.PollsSatisfied], res.Totals[result.SelfAdds]})
	}
}

func TestCase9RemoteStoreOfHalvesAndOfAComputedRow(t *testing.T) {
	c := &collectives.Call{Op: "remote_store", Form: "halves", Ranks: 2, DType: "FP32", Size: 64}
	got, res := out(t, c, "input", steps(100), "output")
	assert.Equal(t, [][]float32{count(100, 64), count(0, 64)}, got)
	assert.Equal(t, int64(2), res.Ranks[0].Counters[result.RemoteStores])
	c.Form = "doubled"
	got, res = out(t, c, "input", steps(100), "output")
	for j := range 64 {
		assert.Equal(t, []float32{float32(200 + 2*j), float32(2 * j)}, []float32{got[0][j], got[1][j]})
	}
	assert.Equal(t, int64(256), res.Ranks[0].Counters[result.Combined])
}

func TestRemoteLoadOnARingPullsInTiles(t *testing.T) {
	c := &collectives.Call{Op: "remote_load", Form: "ring", Ranks: 4, DType: "FP32", Size: 100, ChunkCols: 32}
	got, res := out(t, c, "input", steps(100), "output")
	for r := range 4 {
		assert.Equal(t, count(100*((r+1)%4), 100), got[r])
		assert.Equal(t, int64(4), res.Ranks[r].Counters[result.RemoteLoads])
	}
}

func TestAtomicRemoteStoresAddUpInRankZero(t *testing.T) {
	for _, dtype := range []string{"FP32", "FP16", "INT8"} {
		c := &collectives.Call{Op: "remote_store", Form: "ring", Ranks: 4, DType: dtype, Size: 100, ChunkCols: 64, Atomic: true}
		res := ok(t, mesh(t), compose(t, c))
		assert.Equal(t, int64(2*100*collectives.ElemSize(dtype)), int64(res.Data.Checked))
	}
}

func TestTilesBelowThirtyTwoBytesAreRefused(t *testing.T) {
	for want, change := range map[string]func(c *collectives.Call){
		"size: a tile load of 28 B; it takes at least 32 B":     func(c *collectives.Call) { c.Size = 7 },
		"size: a tile load of 28 B":                             func(c *collectives.Call) { c.Op, c.Form, c.Size = "remote_store", "halves", 15 },
		"chunk_cols: a tile load of 16 B; it takes at least 32": func(c *collectives.Call) { c.ChunkCols = 4 },
		"data must be a window":                                 func(c *collectives.Call) { c.Kinds = map[string]string{"data": "tensor"} },
		"AtomicAdd of BF16 is there on 910B only":               func(c *collectives.Call) { c.Op, c.Atomic, c.DType, c.Platform = "remote_store", true, "BF16", "a5" },
		"transport: urma does not carry remote_load":            func(c *collectives.Call) { c.Options.Transport = "urma" },
	} {
		c := &collectives.Call{Op: "remote_load", Form: "ring", Ranks: 2, DType: "FP32", Size: 64}
		change(c)
		_, err := collectives.Compose(2, []collectives.Item{{Call: c}})
		assert.ErrorContains(t, err, want)
	}
}

func TestMistakesOfRemoteLoadsAndStoresShowWhatTheyDoOnHardware(t *testing.T) {
	for _, x := range []struct{ op, form, mistake string }{
		{"remote_load", "ring", "wrong_direction"}, {"remote_load", "ring", "wrong_neighbour"}, {"remote_store", "halves", "wrong_direction"},
	} {
		c := &collectives.Call{Op: x.op, Form: x.form, Ranks: 4, DType: "FP32", Size: 64, Mistake: x.mistake}
		assert.Equal(t, result.WrongData, run(t, mesh(t), lateRank(compose(t, c)), hw.Options{}).Status, "%+v", x)
	}
	// Without a fence the notifies overtake stores that share rank 0's port.
	shared := mesh(t, "fabric.kind=clos")
	c := &collectives.Call{Op: "remote_store", Form: "ring", Ranks: 32, DType: "FP32", Size: 60_000, Atomic: true}
	ok(t, shared, compose(t, c))
	c.Mistake = "no_fence"
	assert.Equal(t, result.WrongData, run(t, shared, compose(t, c), hw.Options{}).Status)
}

func TestAWaitForTheVeryValueIsRightForOneCreditOnly(t *testing.T) {
	ok(t, mesh(t), compose(t, &collectives.Call{Op: "wait", Form: "eq", Ranks: 4}))
	res := ok(t, mesh(t), compose(t, &collectives.Call{Op: "wait", Form: "ge", Ranks: 4}))
	assert.Equal(t, []int64{12, 8}, []int64{res.Totals[result.Notifies], res.Totals[result.PollsSatisfied]})
	// The cell goes 1, 2, 3 while a late rank has not looked: it never sees the 1.
	wrong := compose(t, &collectives.Call{Op: "wait", Form: "ge", Ranks: 4, Mistake: "eq"})
	assert.Equal(t, result.Deadlock, run(t, mesh(t), lateRank(wrong), hw.Options{}).Status)
}

func TestADeferredWaitStartsItsTaskWhenTheCellIsHighEnough(t *testing.T) {
	c := &collectives.Call{Op: "defer_wait", Form: "task", Ranks: 2, DType: "FP32", Size: 64}
	got, _ := out(t, c, "input", steps(100), "output")
	assert.Equal(t, [][]float32{count(100, 64), count(0, 64)}, got)
	res := ok(t, mesh(t), lateRank(compose(t, c)))
	assert.Greater(t, res.Calls[1].Ranks[0].Start, engine.Time(0).Add(100*engine.Microsecond), "rank 0's task waits for rank 1")
	spin := result.Times{}
	for i := range res.Blocks {
		for k, d := range res.Blocks[i].Time {
			spin[k] += d
		}
	}
	assert.Zero(t, spin[result.SignalWait]+spin[result.PollOvershoot], "no core spins")
	ok(t, mesh(t), chain(t, collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 3, Between: "barrier"}}))
}

func TestPutsAndGetsOfAnyShapeMoveTheirRowsInAsManyStagesAsRule8Says(t *testing.T) {
	spec := mesh(t)
	ceil := func(a, b int) int { return (a + b - 1) / b }
	rapid.Check(t, func(rt *rapid.T) {
		c := &collectives.Call{
			Op: rapid.SampledFrom([]string{"put", "get"}).Draw(rt, "op"), Form: rapid.SampledFrom([]string{"full", "region"}).Draw(rt, "form"),
			Ranks: rapid.IntRange(2, 5).Draw(rt, "P"), DType: rapid.SampledFrom(collectives.DTypes()).Draw(rt, "dtype"),
			Rows: rapid.IntRange(2, 9).Draw(rt, "rows"), Size: rapid.IntRange(1, 200).Draw(rt, "size"),
			ChunkRows: rapid.IntRange(0, 10).Draw(rt, "chunk_rows"), ChunkCols: rapid.IntRange(0, 220).Draw(rt, "chunk_cols"),
		}
		c.Pipeline = c.ChunkRows > 0 && c.ChunkCols > 0 && rapid.Bool().Draw(rt, "pipeline")
		c.Atomic = c.Op == "put" && rapid.Bool().Draw(rt, "atomic")
		rows, cr, cc := c.Rows, c.ChunkRows, c.ChunkCols
		if c.Form == "region" {
			rows--
		}
		if cr == 0 || cr > rows {
			cr = rows
		}
		if cc == 0 || cc > c.Size {
			cc = c.Size
		}
		job, err := collectives.Compose(c.Ranks, []collectives.Item{{Call: c}})
		require.NoError(rt, err)
		drawSkew(rt, job)
		res, err := hw.Run(spec, job, hw.Options{Payload: "bytes"})
		require.NoError(rt, err)
		require.Equal(rt, result.OK, res.Status, "%v %v", res.Data.Mismatches, res.Hazards)
		require.Equal(rt, int64(ceil(rows, cr)*ceil(c.Size, cc)), res.Ranks[1].Counters[result.PutStages])
	})
}

func TestEveryElementTypeIsMovedByWhatTakesIt(t *testing.T) {
	for _, name := range []string{
		"put/full", "get/region", "remote_load/ring", "remote_store/halves", "remote_store/doubled", "defer_wait/task",
		"broadcast/hand", "broadcast/incore", "allgather/hand", "allgather/incore", "allgather/defer", "barrier/epoch",
	} {
		op, form, _ := strings.Cut(name, "/")
		for _, dtype := range collectives.DTypes() {
			c := &collectives.Call{Op: op, Form: form, Ranks: 3, DType: dtype, Size: 77, Rows: 2}
			fine(t, run(t, mesh(t), compose(t, c), hw.Options{Payload: "bytes"}))
		}
	}
}
