package collectives_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

var allgatherForms = []string{"hand", "incore", "runtime_width", "defer", "host"}

func allgatherCall(form string, ranks, size int) *collectives.Call {
	return &collectives.Call{Op: "allgather", Form: form, Ranks: ranks, DType: "FP32", Size: size}
}

func TestCase21AllgatherGivesEveryRankAllRowsInRankOrder(t *testing.T) {
	for _, form := range allgatherForms {
		for _, ranks := range []int{2, 4} {
			got, res := out(t, allgatherCall(form, ranks, 64), "input", steps(100), windowOf(form)) // cells0
			var want []float32
			for s := range ranks {
				want = append(want, count(100*s, 64)...)
			}
			for r := range ranks {
				require.Equal(t, want, got[r], form)
				n := &res.Ranks[r].Counters
				assert.Equal(t, []int64{int64(ranks-1) * 256, int64(ranks-1) * 256}, []int64{n[result.BytesSent], n[result.BytesReceived]}, form)
			}
		}
	}
}

func TestCase22HostAllgatherReusesOneSignal(t *testing.T) {
	job := chain(t,
		collectives.Item{Name: "first", Call: allgatherCall("host", 2, 64)},
		collectives.Item{Name: "second", Call: allgatherCall("host", 2, 64), Signal: "first"})
	job.Buffers[buffer(t, job, "second.input")].Fill = raised2{steps(100), 10000}
	windows := map[string][][]float32{}
	res := run(t, mesh(t), job, hw.Options{Payload: "bytes", Inspect: func(s *memory.Space) {
		for _, name := range []string{"first.target", "second.target"} {
			for r := range 2 {
				windows[name] = append(windows[name], floats(bytesOf(s, r, buffer(t, job, name))))
			}
		}
	}})
	fine(t, res)
	for r := range 2 {
		assert.Equal(t, append(count(0, 64), count(100, 64)...), windows["first.target"][r])
		assert.Equal(t, append(count(10000, 64), count(10100, 64)...), windows["second.target"][r])
	}
}

// raised2 is a content of FP32 plus a constant.
type raised2 struct {
	program.Content
	by int
}

func (x raised2) Generate(dst []byte, rank int, version uint32, off int64) {
	x.Content.Generate(dst, rank, version, off+int64(4*x.by))
}

func TestCase23AllgatherOfARuntimeWidthSlidesAStageOfSixteenKiB(t *testing.T) {
	for _, w := range []int{1, 2, 5} {
		for _, ranks := range []int{2, 4} {
			c := allgatherCall("runtime_width", ranks, 5120)
			c.DType, c.Rows = "BF16", w
			res := ok(t, mesh(t), compose(t, c))
			n := &res.Ranks[0].Counters
			assert.Equal(t, int64(w*5120*2*(ranks-1)), n[result.BytesReceived])
			assert.Equal(t, int64(ranks*map[int]int{1: 1, 2: 2, 5: 4}[w]), n[result.PutStages])
			if w == 5 {
				assert.Equal(t, engine.Bytes(51200*ranks), job(t, c, "target").Size)
				put := compose(t, c).Tasks[0].Program.Ops[1]
				r := program.Rect{Rows: 1, Width: put.Bytes.C, ChunkWidth: put.Chunk}
				var elements []int64
				for i := range r.Pieces() {
					_, _, _, width := r.Piece(i)
					elements = append(elements, width/2)
				}
				assert.Equal(t, []int64{8192, 8192, 8192, 1024}, elements)
			}
		}
	}
}

func job(t *testing.T, c *collectives.Call, name string) program.Buffer {
	j := compose(t, c)
	return j.Buffers[buffer(t, j, name)]
}

func TestCase24ADeferredAllgatherTwiceOnOneSignalHoldsOnlyTheSecondInputs(t *testing.T) {
	c := allgatherCall("defer", 4, 64)
	job := chain(t, collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 2, Between: "barrier"}})
	job.Buffers[buffer(t, job, "input")].Fill = versions{steps(100), 100000}
	var got []float32
	res := run(t, mesh(t), job, hw.Options{Payload: "bytes", Inspect: func(s *memory.Space) {
		got = floats(bytesOf(s, 3, buffer(t, job, "target")))
	}})
	fine(t, res)
	for s := range 4 {
		assert.Equal(t, count(100000+100*s, 64), got[64*s:64*s+64])
	}
}

// versions is a content of FP32 plus a constant a version.
type versions struct {
	program.Content
	by int
}

func (x versions) Generate(dst []byte, rank int, version uint32, off int64) {
	x.Content.Generate(dst, rank, 0, off+int64(4*x.by*int(version)))
}

func TestADeferredAllgatherLeavesTheCoreToOthersWhileItWaits(t *testing.T) {
	j := compose(t, allgatherCall("defer", 4, 64))
	j.Offsets = []engine.Duration{0, 0, 0, 200 * engine.Microsecond}
	deferred := ok(t, mesh(t), j)
	j = compose(t, allgatherCall("incore", 4, 64))
	j.Offsets = []engine.Duration{0, 0, 0, 200 * engine.Microsecond}
	fused := ok(t, mesh(t), j)
	spins := func(res *result.Result) (d engine.Duration) {
		for i := range res.Blocks {
			d += res.Blocks[i].Time[result.SignalWait]
		}
		return d
	}
	assert.Zero(t, spins(deferred))
	assert.Greater(t, spins(fused), 500*engine.Microsecond)
	assert.Less(t, deferred.Calls[0].Ranks[0].End, engine.Time(0).Add(100*engine.Microsecond), "the push is over long before the last rank starts")
}

func TestHostAllgatherCutsTilesInALoop(t *testing.T) {
	c := allgatherCall("host", 2, 1000)
	res := ok(t, mesh(t), compose(t, c))
	assert.Equal(t, []int64{8, 16}, []int64{res.Ranks[0].Counters[result.Puts], res.Ranks[0].Counters[result.PipeBarriers]})
	c.Size = 1 << 20
	assert.Less(t, len(compose(t, c).Tasks[0].Program.Ops), 12)
	c.Ranks = 17
	res = run(t, mesh(t, "fabric.kind=clos"), compose(t, c), hw.Options{})
	assert.Equal(t, result.Hazardous, res.Status)
	assert.Contains(t, res.Hazards[0].Text, "returned without communicating")
}

func TestMistakesOfAnAllgatherShowWhatTheyDoOnHardware(t *testing.T) {
	for _, mistake := range []string{"wrong_offset", "gaps", "no_barrier"} {
		c := allgatherCall("hand", 4, 64)
		c.Mistake = mistake
		assert.Equal(t, result.WrongData, run(t, mesh(t), lateRank(compose(t, c)), hw.Options{}).Status, mistake)
	}
}

func TestWhatTheCompilerRefusesOfAnAllgather(t *testing.T) {
	for want, change := range map[string]func(c *collectives.Call){
		"core_num: allgather takes no core_num":                                 func(c *collectives.Call) { c.CoreNum = 2 },
		"input must be a plain tensor in the incore form":                       func(c *collectives.Call) { c.Kinds = map[string]string{"input": "window"} },
		"input must be a window":                                                func(c *collectives.Call) { c.Form, c.Kinds = "host", map[string]string{"input": "tensor"} },
		"input and target must be different":                                    func(c *collectives.Call) { c.Same = map[string]string{"target": "input"} },
		"input and signal must be different":                                    func(c *collectives.Call) { c.Same = map[string]string{"signal": "input"} },
		"dtype: the HOST builtin takes FP32":                                    func(c *collectives.Call) { c.Form, c.DType = "host", "BF16" },
		"signal_columns: the signal of allgather is":                            func(c *collectives.Call) { c.Signal = 2 },
		"ranks: a deferred wait for 65 cells; a task takes at most 64 conditio": func(c *collectives.Call) { c.Form, c.Ranks = "defer", 66 },
	} {
		c := allgatherCall("incore", 4, 64)
		change(c)
		_, err := collectives.Compose(c.Ranks, []collectives.Item{{Call: c}})
		assert.ErrorContains(t, err, want)
	}
}
