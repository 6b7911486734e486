package collectives_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

func TestReuseWithChangingCountsKeepsWhatShorterCallsDoNotWrite(t *testing.T) {
	// Three calls: all 1, all 4, (2r+d) mod 6 (at most 4 fit); the windows are not reset.
	all := func(n int) func(s, d int) int { return func(_, _ int) int { return n } }
	mixed := func(s, d int) int { return min((2*s+d)%6, 4) }
	for _, form := range forms() {
		for _, between := range []string{"none", "barrier"} {
			c := allToAllV(form, 0, 64, counted(4, 4, all(1)), counted(4, 4, all(4)), counted(4, 4, mixed))
			job := chain(t, collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 3, Between: between}})
			x := tagged{4, 64}
			job.Buffers[buffer(t, job, "input")].Fill = x
			job = skewed(rand.New(rand.NewPCG(5, 6)), job)
			res, out := results(t, job, c, 4)
			fine(t, res)
			for d := range out {
				for s := range out {
					for k := range 4 {
						version := 1 // the call of four rows, where the last one was shorter
						if k < mixed(s, d) {
							version = 2
						}
						require.Equal(t, x.value(s, version, d, k, 7), out[d].rows[4*s+k][7], "rank %d source %d row %d", d, s, k)
					}
					assert.Equal(t, int32(mixed(s, d)), out[d].counts[s])
				}
			}
		}
	}
}

func TestCallsThatTheCompilerOfAllToAllVRefuses(t *testing.T) {
	tab := counted(4, 4, func(_, _ int) int { return 4 })
	for want, change := range map[string]func(c *collectives.Call){
		"core_num: 2, but the composite runs inside one block":        func(c *collectives.Call) { c.Form, c.CoreNum = "incore", 2 },
		"core_num: 2, but wire rule v2 runs on one block":             func(c *collectives.Call) { c.CoreNum, c.Wire = 2, "v2" },
		"core_num: -1, must be positive":                              func(c *collectives.Call) { c.CoreNum = -1 },
		`wire: no version "v5"`:                                       func(c *collectives.Call) { c.Wire = "v5" },
		"dtype: FP16, must be FP32 or INT8":                           func(c *collectives.Call) { c.DType = "FP16" },
		"dtype: the composite takes FP32":                             func(c *collectives.Call) { c.Form, c.DType = "incore", "INT8" },
		"INT8 came with v2":                                           func(c *collectives.Call) { c.DType, c.Wire = "INT8", "v1" },
		"rows of 33 B; INT8 rows must be aligned to 32 B":             func(c *collectives.Call) { c.DType, c.Hidden = "INT8", 33 },
		"hidden: 0, must be positive":                                 func(c *collectives.Call) { c.Hidden = 0 },
		"capacity: -1, must be positive":                              func(c *collectives.Call) { c.Capacity = -1 },
		"send_counts must be a window":                                func(c *collectives.Call) { c.Kinds = map[string]string{"send_counts": "tensor"} },
		"recv_counts must be a window":                                func(c *collectives.Call) { c.Kinds = map[string]string{"recv_counts": "tensor"} },
		"signal and recv_counts must be different windows":            func(c *collectives.Call) { c.Same = map[string]string{"recv_counts": "signal"} },
		"input and target must be different windows":                  func(c *collectives.Call) { c.Same = map[string]string{"target": "input"} },
		"transport: urma does not carry all_to_all_v, only mte does":  func(c *collectives.Call) { c.Options.Transport = "urma" },
		"input must be a window (DistributedTensor): peers access it": func(c *collectives.Call) { c.Form, c.Kinds = "host", map[string]string{"input": "tensor"} },
	} {
		c := allToAllV("l2", 0, 64, tab)
		change(c)
		_, err := collectives.Compose(4, []collectives.Item{{Call: c}})
		assert.ErrorContains(t, err, want)
	}
}

func TestMistakesAroundCountsShowTheirSymptoms(t *testing.T) {
	tab := counted(4, 4, func(s, d int) int { return (s + d) % 5 })
	for _, mistake := range []string{"read_tail", "stale_counts", "c_from_signal"} {
		for _, payload := range []string{"bytes", "provenance"} {
			c := allToAllV("l2", 2, 64, tab)
			c.Mistake = mistake
			res := run(t, mesh(t), compose(t, c), hw.Options{Payload: payload})
			assert.Equal(t, result.WrongData, res.Status, "%s in %s", mistake, payload)
		}
	}
	c := allToAllV("l2", 2, 64, tab)
	c.Mistake = "read_tail"
	wrong := run(t, mesh(t), compose(t, c), hw.Options{Payload: "bytes"}).Data.Wrong
	tails := 0
	for s := range 4 {
		for d := range 4 {
			tails += 4 - (s+d)%5
		}
	}
	assert.Equal(t, engine.Bytes(tails*64*4), wrong, "exactly the tails")
}

func TestAnyAllToAllVMovesExactlyItsRowsUnderAnySkew(t *testing.T) {
	spec := mesh(t)
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.SampledFrom([]int{2, 3, 4, 8}).Draw(t, "P")
		form := rapid.SampledFrom(forms()).Draw(t, "form")
		wire := rapid.SampledFrom([]string{"v0", "v1", "v2", "v3", "v4"}).Draw(t, "wire")
		tab := drawTraffic(t, ranks, rapid.SampledFrom([]int{1, 5, 20}).Draw(t, "C"))
		c := allToAllV(form, 0, rapid.SampledFrom([]int{1, 33, 700}).Draw(t, "H"), tab)
		c.Wire = wire
		if wire >= "v3" && form != "incore" {
			c.CoreNum = rapid.SampledFrom([]int{1, 3, ranks, 2 * ranks, 3*ranks + 1}).Draw(t, "core_num")
		}
		job, err := collectives.Compose(ranks, []collectives.Item{{Call: c}})
		require.NoError(t, err)
		drawSkew(t, job)
		res, err := hw.Run(spec, job, hw.Options{Payload: rapid.SampledFrom([]string{"bytes", "provenance"}).Draw(t, "payload")})
		require.NoError(t, err)
		require.Equal(t, result.OK, res.Status, "%v %v", res.Data.Mismatches, res.Hazards)
	})
}

func TestOnlyTheRulesWithAReadyRoundKeepRowsThatASlowConsumerStillReads(t *testing.T) {
	for _, wire := range []string{"v1", "v2", "v3", "v4"} {
		c := allToAllV("l2", 0, 64, counted(2, 12, func(_, _ int) int { return 12 }))
		c.Wire = wire
		job := consumed(t, chain(t, collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 2, Between: "none"}}), 200*engine.Microsecond)
		job.Slow = []engine.Fraction{engine.One, 4 * engine.One}
		res := run(t, mesh(t), job, hw.Options{})
		if wire >= "v3" {
			fine(t, res)
			continue
		}
		assert.Equal(t, result.Hazardous, res.Status, "%s: the second call's rows overwrite those that are being read", wire)
	}
}

func TestCellsHoldAtMostACreditOfTheNextCall(t *testing.T) {
	// Of N credits a call, a cell holds at most N+1 (semantics 4.4, 4.5).
	for wire, most := range map[string]int32{"v0": 2, "v2": 2, "v3": 2, "v4": 3} {
		c := allToAllV("l2", 0, 64, counted(4, 3, func(s, d int) int { return (s + d) % 4 }))
		c.Wire = wire
		job := chain(t, collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 4, Between: "none"}})
		signal := buffer(t, job, "signal")
		r := rand.New(rand.NewPCG(3, 3))
		highest := int32(0)
		for range 20 {
			res := run(t, mesh(t), skewed(r, job), hw.Options{Cells: func(_ int, b program.Buf, _ int, v int32) {
				if b == signal {
					require.GreaterOrEqual(t, v, int32(0))
					highest = max(highest, v)
				}
			}})
			require.Contains(t, []result.Status{result.OK, result.Hazardous, result.WrongData}, res.Status)
		}
		assert.LessOrEqual(t, highest, most, wire)
		assert.GreaterOrEqual(t, highest, most-1, wire)
	}
}

// benchRows is the content of PyPTO's INT8 benchmark.
type benchRows struct{ capacity, hidden int }

func (x benchRows) Generate(dst []byte, rank int, _ uint32, off int64) {
	for i := range dst {
		e := int(off) + i
		row, col := e/x.hidden, e%x.hidden
		dst[i] = byte((31*rank+17*(row/x.capacity)+13*(row%x.capacity)+col)%127 + 1)
	}
}

func TestThePatternsOfTheINT8BenchmarkMoveOnlyWhatIsRemote(t *testing.T) {
	const ranks, capacity, hidden = 4, 6, 4160
	r := rand.New(rand.NewPCG(8, 8))
	for name, count := range map[string]func(s, d int) int{
		"uniform":    func(_, _ int) int { return 3 },
		"zero":       func(_, _ int) int { return 0 },
		"self-only":  func(s, d int) int { return map[bool]int{true: 5}[s == d] },
		"single-hot": func(_, d int) int { return map[bool]int{true: 6}[d == 2] },
		"mixed":      func(s, d int) int { return (s + d) % 7 },
		"asymmetric": func(s, d int) int { return max(s-d, 0) },
		"random":     func(_, _ int) int { return r.IntN(capacity + 1) },
	} {
		tab := counted(ranks, capacity, count)
		c := allToAllV("l2", 8, hidden, tab)
		c.DType = "INT8"
		job := compose(t, c)
		job.Buffers[buffer(t, job, "input")].Fill = benchRows{capacity, hidden}
		target := buffer(t, job, "target")
		res := run(t, mesh(t), job, hw.Options{Payload: "bytes", Inspect: func(s *memory.Space) {
			want := make([]byte, hidden)
			for d := range ranks {
				raw := bytesOf(s, d, target)
				for src := range ranks {
					for k := range tab.counts[src][d] {
						benchRows{capacity, hidden}.Generate(want, src, 0, int64(d*capacity+k)*hidden)
						at := (src*capacity + k) * hidden
						require.Equal(t, want, raw[at:at+hidden], "%s: rank %d source %d row %d", name, d, src, k)
					}
				}
			}
		}})
		fine(t, res)
		remote, self := 0, 0
		for s := range ranks {
			for d := range ranks {
				if s == d {
					self += tab.counts[s][d]
				} else {
					remote += tab.counts[s][d]
				}
			}
		}
		assert.Equal(t, []int64{int64(remote * hidden), int64(self * hidden)}, []int64{res.Totals[result.BytesSent], res.Totals[result.BytesSelf]}, name)
	}
}
