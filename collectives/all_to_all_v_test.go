package collectives_test

import (
	"encoding/binary"
	"fmt"
	"math"
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

// counted is traffic of which only the counts mean something.
func counted(ranks, capacity int, count func(s, d int) int) *table {
	return rows(ranks, max(ranks*capacity, 1), capacity, count)
}

func allToAllV(form string, cores, hidden int, tabs ...*table) *collectives.Call {
	c := &collectives.Call{Op: "all_to_all_v", Form: form, Ranks: tabs[0].Ranks(), CoreNum: cores, DType: "FP32", Hidden: hidden}
	for _, t := range tabs {
		c.Traffic = append(c.Traffic, t)
	}
	return c
}

// tagged is the tests' content: 100000 a version, 1000 a rank, 100 a destination, 10 a row,
// and the element modulo 10.
type tagged struct{ capacity, hidden int }

func (x tagged) value(rank, version, d, k, j int) float32 {
	return float32(version*100000 + 1000*rank + 100*d + 10*k + j%10)
}

func (x tagged) Generate(dst []byte, rank int, version uint32, off int64) {
	for i := 0; i < len(dst); i += 4 {
		e := int(off/4) + i/4
		row := e / x.hidden
		v := x.value(rank, int(version), row/x.capacity, row%x.capacity, e%x.hidden)
		binary.LittleEndian.PutUint32(dst[i:], math.Float32bits(v))
	}
}

// got is what a rank holds of FP32 rows, and what it has learnt.
type got struct {
	rows   [][]float32
	counts []int32
}

func results(t *testing.T, job *program.Job, c *collectives.Call, capacity int) (*result.Result, []got) {
	t.Helper()
	out := make([]got, c.Ranks)
	target, recv := buffer(t, job, "target"), buffer(t, job, "recv_counts")
	res := run(t, mesh(t), job, hw.Options{Payload: "bytes", Inspect: func(s *memory.Space) {
		for r := range out {
			out[r].counts = append([]int32{}, s.Words(r, memory.ID(recv))...)
			raw := bytesOf(s, r, target)
			for i := 0; i < len(raw); i += 4 * c.Hidden {
				row := make([]float32, c.Hidden)
				for j := range row {
					row[j] = math.Float32frombits(binary.LittleEndian.Uint32(raw[i+4*j:]))
				}
				out[r].rows = append(out[r].rows, row)
			}
		}
	}})
	require.Len(t, out[0].rows, c.Ranks*capacity)
	return res, out
}

// holds requires that rows j < n(s, d) of each partition are those of a version, and that
// the others are zero.
func holds(t *testing.T, x tagged, out []got, version int, n func(s, d int) int) {
	t.Helper()
	for d := range out {
		for s := range out {
			for k := range x.capacity {
				row := out[d].rows[s*x.capacity+k]
				for j, v := range row {
					want := float32(0)
					if k < n(s, d) {
						want = x.value(s, version, d, k, j)
					}
					require.Equal(t, want, v, "rank %d source %d row %d element %d", d, s, k, j)
				}
			}
		}
	}
}

func forms() []string { return collectives.Forms("all_to_all_v") }

func TestCase44RowsCountedDownwardsArriveWithTheirCounts(t *testing.T) {
	for _, form := range forms() {
		for _, ranks := range []int{2, 4} {
			c := allToAllV(form, 0, 64, counted(ranks, 4, func(_, d int) int { return ranks - d }))
			job := compose(t, c)
			x := tagged{4, 64}
			job.Buffers[buffer(t, job, "input")].Fill = x
			res, out := results(t, job, c, 4)
			fine(t, res)
			holds(t, x, out, 0, func(_, d int) int { return ranks - d })
			for d := range out {
				for _, n := range out[d].counts {
					assert.Equal(t, int32(ranks-d), n, "%s rank %d", form, d)
				}
			}
		}
	}
}

func TestCase45ARankThatNobodySendsToGetsNothing(t *testing.T) {
	for _, full := range []int{1, 4} {
		count := func(_, d int) int { return d * full }
		c := allToAllV("l2", 0, 64, counted(2, 4, count))
		job := compose(t, c)
		x := tagged{4, 64}
		job.Buffers[buffer(t, job, "input")].Fill = x
		res, out := results(t, job, c, 4)
		fine(t, res)
		holds(t, x, out, 0, count)
		assert.Equal(t, []int32{0, 0}, out[0].counts)
		assert.Equal(t, []int32{int32(full), int32(full)}, out[1].counts)
	}
}

func TestCase46CountsAreKeptInRangeButForTheOldestRule(t *testing.T) {
	// Rank 0 sends 7 rows where 4 fit; rank 1 sends -2.
	count := func(s, _ int) int { return []int{7, -2}[s] }
	for _, wire := range []string{"v0", "v1", "v2", "v3", "v4"} {
		c := allToAllV("l2", 0, 64, counted(2, 4, count))
		c.Wire = wire
		job := compose(t, c)
		x := tagged{4, 64}
		job.Buffers[buffer(t, job, "input")].Fill = x
		res, out := results(t, job, c, 4)
		fine(t, res)
		learnt, moved := []int32{4, 0}, func(s, _ int) int { return 4 - 4*s }
		if wire == "v0" { // publishes the negative count, and moves all rows whatever the counts
			learnt, moved = []int32{4, -2}, func(_, _ int) int { return 4 }
		}
		for d := range out {
			assert.Equal(t, learnt, out[d].counts, wire)
		}
		holds(t, x, out, 0, moved)
	}
}

func TestCase48TheLaunchWidthIsFolded(t *testing.T) {
	for _, x := range []struct{ ranks, asked, blocks int }{
		{8, 1, 1}, {8, 7, 7}, {8, 8, 8}, {8, 10, 8}, {8, 15, 8}, {8, 16, 16}, {8, 48, 48}, {16, 15, 15}, {2, 5, 4}, {4, 10, 8}, {2, 51, 50},
	} {
		c := allToAllV("l2", x.asked, 64, counted(x.ranks, 4, func(_, _ int) int { return 4 }))
		assert.Equal(t, x.blocks, c.Blocks(), "%d ranks, core_num %d", x.ranks, x.asked)
		job := compose(t, c)
		assert.Equal(t, x.blocks, job.Tasks[0].Blocks)
		ok(t, mesh(t), job)
	}
	for _, x := range []struct{ ranks, asked, columns, blocks int }{{2, 5, 2, 4}, {4, 10, 4, 8}} {
		c := allToAllV("host", x.asked, 64, counted(x.ranks, 4, func(_, _ int) int { return 4 }))
		c.Signal = x.columns
		_, err := collectives.Compose(x.ranks, []collectives.Item{{Call: c}})
		assert.ErrorContains(t, err, fmt.Sprintf("S = %d is below the launch width B = %d (INVALID_ARGS)", x.columns, x.blocks))
	}
	wide := compose(t, allToAllV("host", 51, 64, counted(2, 4, func(_, _ int) int { return 4 })))
	_, err := hw.Run(mesh(t, "aiv.block_cap=36"), wide, hw.Options{})
	assert.ErrorContains(t, err, "core_num 50 exceeds the 36 AIVs")
	assert.ErrorContains(t, err, "code 7")
}

func TestLanesCutRowsAtAlignedBytesAndShareThemAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := program.Counted{Row: rapid.Int64Range(1, 5000).Draw(t, "row"), Lanes: rapid.IntRange(1, 64).Draw(t, "K")}
		n := rapid.Int64Range(-3, 300).Draw(t, "n")
		next := int64(0)
		for lane := range k.Lanes {
			first, bytes := k.Share(lane, n)
			require.Equal(t, next, first)
			require.GreaterOrEqual(t, bytes, int64(0))
			if lane > 0 && first < max(n, 0)*k.Row {
				require.Zero(t, first%32, "an interior border")
			}
			next = first + bytes
		}
		require.Equal(t, max(n, 0)*k.Row, next)
	})
}

func TestEachWireRuleHasItsOwnCosts(t *testing.T) {
	// 4 ranks, C = 5 rows of 128 B, of which 3 are counted; one block.
	tab := counted(4, 5, func(_, _ int) int { return 3 })
	for wire, want := range map[string]map[result.Counter]int64{
		"v0": {result.BytesSent: 3 * 5 * 128, result.Puts: 4, result.Notifies: 6, result.SelfAdds: 4, result.CountReads: 0},
		"v1": {result.BytesSent: 3 * 3 * 128, result.Puts: 12, result.Notifies: 6, result.SelfAdds: 4, result.CountReads: 0},
		"v2": {result.BytesSent: 3 * 3 * 128, result.Puts: 4, result.Notifies: 3, result.SelfAdds: 3, result.CountReads: 3},
		"v3": {result.BytesSent: 3 * 3 * 128, result.Puts: 4, result.Notifies: 6, result.SelfAdds: 6, result.CountReads: 3},
		"v4": {result.BytesSent: 3 * 3 * 128, result.Puts: 4, result.Notifies: 6, result.SelfAdds: 3, result.CountReads: 3},
	} {
		c := allToAllV("l2", 0, 32, tab)
		c.Wire = wire
		res := ok(t, mesh(t), compose(t, c))
		for k, n := range want {
			assert.Equal(t, n, res.Ranks[0].Counters[k], "%s %v", wire, k)
		}
	}
}

func TestAPieceIs256ElementsWithOnePipeBarrierBehindIt(t *testing.T) {
	// 2 ranks, one remote put of 10 rows of 4160 B in INT8: 163 pieces of 256 B; as many to self.
	c := allToAllV("l2", 0, 4160, counted(2, 10, func(_, _ int) int { return 10 }))
	c.DType = "INT8"
	res := ok(t, mesh(t), compose(t, c))
	n := &res.Ranks[0].Counters
	assert.Equal(t, []int64{2 * 163, 2 * 163}, []int64{n[result.PutStages], n[result.PipeBarriers]})
	b := res.Blocks[0]
	assert.Equal(t, 2*163*150*engine.Nanosecond, b.Time[result.PipeBarrier], "0.15 us each")
	tiles(t, res)
}

func TestAHostBuiltinOfMoreThan16RanksDoesNothingAndSaysSo(t *testing.T) {
	c := allToAllV("host", 0, 8, counted(17, 2, func(_, _ int) int { return 2 }))
	res := run(t, hwClos(t), compose(t, c), hw.Options{})
	assert.Equal(t, result.Hazardous, res.Status)
	assert.Contains(t, res.Hazards[0].Text, "serves at most 16 ranks")
	assert.Zero(t, res.Totals[result.Notifies])
}

func hwClos(t testing.TB) hw.Spec { return mesh(t, "fabric.kind=clos") }
