package collectives_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/cause"
	"pldperf/hw/hwtest"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// sizes are elements of a chunk, and rows of a partition.
var sizes = []int{1, 29, 300}

func TestEveryAlgorithmMovesTheGoldenDataInBothPayloadModes(t *testing.T) {
	spec := mesh(t)
	for _, size := range sizes {
		each(t, size, func(t *testing.T, a *collectives.Algorithm, c *collectives.Call) {
			job := compose(t, c)
			raw := run(t, spec, job, hw.Options{Payload: "bytes"})
			fine(t, raw)
			assert.Equal(t, "bytes", raw.Data.Payload)
			assert.Positive(t, int64(raw.Data.Checked)+raw.Data.Words)
			if job.Computes() { // what is computed comes from no place
				return
			}
			prov := run(t, spec, job, hw.Options{Payload: "provenance"})
			fine(t, prov)
			assert.Equal(t, "provenance", prov.Data.Payload)
			assert.Equal(t, raw.Data.Checked, prov.Data.Checked)
			assert.Equal(t, raw.Data.Words, prov.Data.Words)
			assert.Equal(t, raw.Digests.Events, prov.Digests.Events, "how payload is kept must not change time")
		})
	}
}

func TestEveryAlgorithmCountsWhatItsFormulasPredict(t *testing.T) {
	spec := mesh(t)
	for _, size := range sizes {
		each(t, size, func(t *testing.T, a *collectives.Algorithm, c *collectives.Call) {
			res := ok(t, spec, compose(t, c))
			for r := range res.Ranks {
				want, known := a.Formula(c, r, 0), 0
				for k := range result.NumCounters {
					if want[k] != collectives.Unknown {
						known++
						assert.Equal(t, want[k], res.Ranks[r].Counters[k], "rank %d %v", r, k)
					}
				}
				assert.GreaterOrEqual(t, known, 10)
			}
		})
	}
}

func TestEveryAlgorithmConservesBytes(t *testing.T) {
	spec := mesh(t)
	each(t, 29, func(t *testing.T, a *collectives.Algorithm, c *collectives.Call) {
		res := ok(t, spec, compose(t, c))
		var given, fabric engine.Bytes
		for r := range res.Ranks {
			given += a.Bytes(c, r, 0)
		}
		for _, x := range res.Resources {
			if strings.HasPrefix(x.Name, "egress cap") {
				fabric += x.Bytes
			}
		}
		n := &res.Totals
		assert.Equal(t, n[result.BytesSent], n[result.BytesReceived])
		assert.Equal(t, n[result.BytesSent], int64(fabric), "what was sent crossed the fabric")
		if !reduces[a.Op] { // what they give is a vector, of which each form sends another share
			assert.Equal(t, int64(given), n[result.BytesSent]+n[result.BytesSelf])
		}
	})
}

func TestEveryAlgorithmLeavesNoCreditBehindAndNeverOwesOne(t *testing.T) {
	spec := mesh(t)
	each(t, 29, func(t *testing.T, a *collectives.Algorithm, c *collectives.Call) {
		job := skewed(rand.New(rand.NewPCG(1, 2)), compose(t, c))
		changes := 0
		res := run(t, spec, job, hw.Options{
			Cells: func(_ int, _ program.Buf, _ int, v int32) {
				changes++
				assert.GreaterOrEqual(t, v, int32(0))
			},
			Inspect: func(s *memory.Space) {
				for _, b := range job.Tasks[0].Zero {
					for r := range job.Ranks {
						for cell, v := range s.Words(r, memory.ID(b)) {
							assert.Zero(t, v, "rank %d cell %d", r, cell)
						}
					}
				}
			},
		})
		fine(t, res)
		n := &res.Totals
		assert.Equal(t, n[result.Notifies]+n[result.SelfAdds], int64(changes))
		if !fewerWaits[a.Name()] && !fewerWaits[a.Op+" "+c.Wire] {
			assert.Equal(t, n[result.Notifies], n[result.PollsSatisfied], "every notify is awaited")
		}
	})
}

func TestEveryAlgorithmRunsTheSameTwiceAndOnBothEventQueues(t *testing.T) {
	spec := mesh(t)
	each(t, 29, func(t *testing.T, a *collectives.Algorithm, c *collectives.Call) {
		job := skewed(rand.New(rand.NewPCG(3, 4)), compose(t, c))
		first := run(t, spec, job, hw.Options{EventQueue: engine.Radix})
		for _, queue := range []string{engine.Radix, engine.Reference} {
			again := run(t, spec, skewed(rand.New(rand.NewPCG(3, 4)), compose(t, c)), hw.Options{EventQueue: queue})
			assert.Equal(t, first, again)
		}
		assert.NotEmpty(t, first.Digests.Events)
		other := run(t, spec, skewed(rand.New(rand.NewPCG(5, 6)), job), hw.Options{})
		assert.NotEqual(t, first.Digests, other.Digests, "a digest that never changes shows nothing")
	})
}

// machines are the fabrics of a real machine, and one on which nearly nothing costs.
func machines(t *testing.T) map[string]hw.Spec {
	return map[string]hw.Spec{
		"mesh":  mesh(t),
		"clos":  mesh(t, "fabric.kind=clos", "fabric.clos.tier_ranks=2"),
		"frame": mesh(t, "fabric.kind=frame", "fabric.frame.server_ranks=2"),
		"ideal": mesh(t, "fabric.kind=ideal"),
		"free":  mesh(t, hwtest.Free...),
	}
}

func TestNoAlgorithmIsFasterThanItsBounds(t *testing.T) {
	for fabric, spec := range machines(t) {
		for _, size := range []int{1, 3000} {
			each(t, size, func(t *testing.T, a *collectives.Algorithm, c *collectives.Call) {
				res := ok(t, spec, compose(t, c))
				limits, err := spec.Limits(c.Ranks)
				require.NoError(t, err)
				bounds := a.Bounds(c, &limits, 0)
				assert.NotEmpty(t, bounds)
				for _, b := range bounds {
					assert.GreaterOrEqual(t, res.Elapsed, b.Time, "%s on %s", b.Name, fabric)
				}
			})
		}
	}
}

func TestBoundsComeCloseWhereNothingElseCosts(t *testing.T) {
	spec := mesh(t, hwtest.Free...)
	each(t, 300, func(t *testing.T, a *collectives.Algorithm, c *collectives.Call) {
		res := ok(t, spec, compose(t, c))
		limits, err := spec.Limits(c.Ranks)
		require.NoError(t, err)
		best := engine.Duration(0)
		for _, b := range a.Bounds(c, &limits, 0) {
			best = max(best, b.Time)
		}
		// What is left is mostly counts pulled one after another, which a schedule could overlap.
		assert.LessOrEqual(t, float64(res.Elapsed), 2.5*float64(best), "a bound far below the time bounds little")
	})
}

func TestBoundsOfAnIndexedCallNameEachResource(t *testing.T) {
	// Rank 0 sends 10 rows to rank 1 and 20 to rank 2, and keeps 9; rank 1 sends 5 to rank 2.
	tab := rows(3, 40, 40, func(s, d int) int { return [][]int{{9, 10, 20}, {0, 0, 5}, {0, 0, 0}}[s][d] })
	c := indexed(2, 1000, "INT8", tab)
	l := hw.Limits{
		Ranks: 3, HBM: 1e9, Load: 4e8, Store: 2e8, Hop: 300, Launch: func(b int) engine.Duration { return engine.Duration(b) * 1000 },
		Egress: func(int) engine.Rate { return 5e8 }, Ingress: func(int) engine.Rate { return 4e8 },
		Pair: func(int, int) engine.Rate { return 1e8 }, Latency: func(s, d int) engine.Duration { return engine.Duration(100 * (s + d)) },
	}
	a, err := collectives.Lookup(c.Op, c.Form)
	require.NoError(t, err)
	got := map[string]engine.Duration{}
	fixed := engine.Duration(2000 + 2*(300+100)) // launch of two blocks, two messages between the nearest ranks
	for _, b := range a.Bounds(c, &l, 0) {
		assert.NotEmpty(t, b.Text)
		got[b.Name] = b.Time - fixed
	}
	us := engine.Microsecond
	assert.Equal(t, map[string]engine.Duration{
		"latency": 0,
		"egress":  60 * us,           // 30,000 B from rank 0 at 0.5 GB/s
		"ingress": 62500 * us / 1000, // 25,000 B to rank 2 at 0.4 GB/s
		"pair":    200 * us,          // 20,000 B at 0.1 GB/s
		"self":    25 * us,           // 5 of 9 rows at the slower pipe, 0.2 GB/s
		"hbm":     25 * us,           // 25,000 B stored at rank 2 at 1 GB/s
	}, got)
}

func tiles(t *testing.T, res *result.Result) {
	t.Helper()
	require.NotEmpty(t, res.Blocks)
	for i := range res.Blocks {
		b := &res.Blocks[i]
		assert.Equal(t, res.Calls[b.Call].Elapsed, b.Time.Sum(), "rank %d block %d", b.Rank, b.Block)
		for k, d := range b.Time {
			assert.GreaterOrEqual(t, d, engine.Duration(0), "%v", result.Reason(k))
		}
		assert.LessOrEqual(t, max(b.MTE2, b.MTE3, b.SIMT), res.Calls[b.Call].Elapsed)
		assert.LessOrEqual(t, b.Overlap, min(b.MTE2, b.MTE3))
	}
}

func TestEveryBlockAccountsForTheWholeCall(t *testing.T) {
	for _, spec := range machines(t) {
		each(t, 29, func(t *testing.T, a *collectives.Algorithm, c *collectives.Call) {
			job := compose(t, c)
			tiles(t, ok(t, spec, job))
			tiles(t, ok(t, spec, skewed(rand.New(rand.NewPCG(7, 8)), job)))
		})
	}
}

// explains asserts that a run's path adds up to its elapsed time, and that every part of the model says what it does.
func explains(t *testing.T, res *result.Result) {
	t.Helper()
	require.NotNil(t, res.Path)
	require.Empty(t, res.Path.Note)
	assert.Equal(t, res.Elapsed, res.Path.Total)
	sum := engine.Duration(0)
	for _, p := range res.Path.Parts {
		sum += p.Time
		assert.NotEqual(t, cause.Unknown.String(), p.Cause)
	}
	assert.Equal(t, res.Elapsed, sum)
	if at := res.Path.Steps; res.Path.Omitted == 0 {
		assert.Equal(t, res.Elapsed, at[len(at)-1].To.Sub(at[0].From))
		for i := range at[1:] {
			require.Equal(t, at[i].To, at[i+1].From, "no step of the path is missing")
		}
	}
}

// holders asserts that each wait for others says for whom.
func holders(t *testing.T, res *result.Result) {
	t.Helper()
	for i := range res.Blocks {
		b := &res.Blocks[i]
		sums := map[string]engine.Duration{}
		for _, h := range b.Held {
			sums[h.Reason] += h.Time
			assert.Less(t, h.Peer, len(res.Ranks))
			if h.Reason != result.SignalWait.String() { // that may be for another block, or for a sector
				assert.NotEqual(t, b.Rank, h.Peer, "rank %d block %d, %s", b.Rank, b.Block, h.Reason)
				assert.GreaterOrEqual(t, h.Peer, 0, "rank %d block %d, %s", b.Rank, b.Block, h.Reason)
			}
		}
		for _, r := range []result.Reason{result.SignalWait, result.CQEWait, result.RemoteWait} {
			assert.Equal(t, b.Time[r], sums[r.String()], "rank %d block %d, %v", b.Rank, b.Block, r)
		}
		span := b.End.Sub(b.Start)
		assert.True(t, b.MTE2Held.Memory >= 0 && b.MTE2Held.Remote >= 0 && b.MTE2Held.Memory+b.MTE2Held.Remote <= b.MTE2, "%+v", b)
		assert.True(t, b.MTE3Held.Memory >= 0 && b.MTE3Held.Remote >= 0 && b.MTE3Held.Memory+b.MTE3Held.Remote <= b.MTE3, "%+v", b)
		assert.LessOrEqual(t, b.MTE2, span)
		assert.LessOrEqual(t, b.MTE3, span)
	}
	for i := range res.Resources { // busy, blocked, and the rest of the run idle
		x := &res.Resources[i]
		assert.LessOrEqual(t, x.Busy+x.Blocked, wholeRun(res), "%+v", x)
		sum := engine.Duration(0)
		for _, h := range x.Held {
			assert.Positive(t, h.Time)
			sum += h.Time
		}
		assert.Equal(t, x.Blocked, sum, "each says for whose traffic it waited: %+v", x)
	}
}

func wholeRun(res *result.Result) engine.Duration {
	end := engine.Time(0)
	for i := range res.Calls {
		end = max(end, res.Calls[i].End)
	}
	return end.Sub(0)
}

func TestThePathOfEveryAlgorithmAddsUpToItsElapsedTime(t *testing.T) {
	for _, spec := range machines(t) {
		each(t, 53, func(t *testing.T, _ *collectives.Algorithm, c *collectives.Call) {
			job := compose(t, c)
			res := ok(t, spec, job)
			explains(t, res)
			holders(t, res)
			if c.Ranks <= 3 {
				explains(t, ok(t, spec, skewed(rand.New(rand.NewPCG(7, 8)), job)))
			}
		})
	}
}

func TestThePathChangesNothing(t *testing.T) {
	spec := mesh(t)
	each(t, 59, func(t *testing.T, _ *collectives.Algorithm, c *collectives.Call) {
		job := compose(t, c)
		on, err := hw.Run(spec, job, hw.Options{Path: "on"})
		require.NoError(t, err)
		off, err := hw.Run(spec, job, hw.Options{Path: "off"})
		require.NoError(t, err)
		assert.Nil(t, off.Path)
		assert.Equal(t, off.Digests, on.Digests)
	})
}

func TestMoreBytesAreNeverFasterWithIdealPolls(t *testing.T) {
	spec := mesh(t, "aiv.poll.kind=ideal",
		"aiv.signal.single=43 ns",                               // else credits are served faster in some orders
		"memory.l2.latency=320 cycles", "memory.l2.rate=4 TB/s") // else a row comes sooner when a longer read has brought it in
	for _, a := range collectives.All() {
		last := map[int]engine.Duration{}
		for _, size := range []int{1, 2, 12, 13, 29, 100, 1000, 4000} {
			if most := longest[a.Op]; most > 0 && size > most {
				continue
			}
			for i, c := range calls(a, size) {
				c.Traffic = []collectives.Traffic{rows(c.Ranks, size, size, func(_, _ int) int { return size })}
				res := ok(t, spec, compose(t, c))
				assert.GreaterOrEqual(t, res.Elapsed, last[i], name(c))
				last[i] = res.Elapsed
			}
		}
	}
}

func TestRankSkewNeverChangesTheData(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	spec := mesh(t)
	each(t, 29, func(t *testing.T, a *collectives.Algorithm, c *collectives.Call) {
		want := held(t, spec, compose(t, c))
		for range 3 {
			assert.Equal(t, want, held(t, spec, skewed(r, compose(t, c))))
		}
	})
}

// held returns what all buffers of all ranks hold at the end.
func held(t *testing.T, spec hw.Spec, job *program.Job) (out [][]byte) {
	res := run(t, spec, job, hw.Options{Payload: "bytes", Inspect: func(s *memory.Space) {
		for b := range job.Buffers {
			for r := range job.Ranks {
				if !job.Buffers[b].Words {
					out = append(out, bytesOf(s, r, program.Buf(b)))
					continue
				}
				var words []byte
				for _, v := range s.Words(r, memory.ID(b)) {
					words = append(words, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
				}
				out = append(out, words)
			}
		}
	}})
	fine(t, res)
	return out
}
