package collectives_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
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

// indexed is a call on given counts and indices.
func indexed(blocks, hidden int, dtype string, x *table) *collectives.Call {
	return &collectives.Call{
		Op: "indexed_all_to_all_v", Form: "l2", Ranks: x.Ranks(), CoreNum: blocks, DType: dtype, Hidden: hidden,
		Traffic: []collectives.Traffic{x},
	}
}

// hundreds is input[i] = (100 rank + 10 i, ... + 1) in rows of two floats.
type hundreds struct{}

func (hundreds) Generate(dst []byte, rank int, _ uint32, off int64) {
	for i := range len(dst) / 4 {
		e := int(off)/4 + i
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(float32(100*rank+e/2*10+e%2)))
	}
}

// nines is a target that holds 9999 everywhere before the call.
type nines struct{}

func (nines) Generate(dst []byte, _ int, _ uint32, _ int64) {
	for i := range len(dst) / 4 {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(9999))
	}
}

func TestCase50IndexedRowsLandInTheirSlotsAndTailsKeepTheirContent(t *testing.T) {
	x := &table{tokens: 4, capacity: 3, counts: [][]int{{2, 3}, {1, 2}}, index: [][][]int32{{{1, 1, -1}, {3, 0, 2}}, {{2, -1, -1}, {0, 3, -1}}}}
	want := [2][]float32{
		{10, 11, 10, 11, 9999, 9999, 120, 121, 9999, 9999, 9999, 9999},
		{30, 31, 0, 1, 20, 21, 100, 101, 130, 131, 9999, 9999},
	}
	for _, blocks := range []int{1, 2, 5} {
		job := compose(t, indexed(blocks, 2, "FP32", x))
		job.Buffers[buffer(t, job, "input")].Fill = hundreds{}
		job.Buffers[buffer(t, job, "target")].Fill = nines{}
		res := run(t, mesh(t), job, hw.Options{Payload: "bytes", Inspect: func(s *memory.Space) {
			for r := range 2 {
				assert.Equal(t, want[r], floats(bytesOf(s, r, buffer(t, job, "target"))))
				assert.Equal(t, [][]int32{{2, 1}, {3, 2}}[r], s.Words(r, memory.ID(buffer(t, job, "recv_counts"))))
			}
		}})
		fine(t, res)
	}
}

func TestCase51AllCountsZeroStillPassesBothRounds(t *testing.T) {
	x := rows(4, 8, 3, func(_, _ int) int { return 0 })
	job := compose(t, indexed(4, 16, "FP32", x))
	res := run(t, mesh(t), job, hw.Options{Inspect: func(s *memory.Space) {
		for r := range 4 {
			assert.Equal(t, []int32{0, 0, 0, 0}, s.Words(r, memory.ID(buffer(t, job, "recv_counts"))))
		}
	}})
	fine(t, res)
	for r := range 4 {
		n := &res.Ranks[r].Counters
		assert.Zero(t, n[result.SQEs]+n[result.CQEs]+n[result.Sends]+n[result.Doorbells]+n[result.BytesSent])
		assert.Equal(t, int64(24), n[result.Notifies])
	}
}

func TestCase53SQEsWQEBBsNOPsAndDoorbellsOfOneSend(t *testing.T) {
	for _, x := range []struct{ n, sqes, wqebbs, nops, doorbells int64 }{
		{1, 1, 4, 3, 1}, {5, 1, 4, 2, 1}, {6, 1, 4, 1, 1}, {12, 1, 4, 0, 1}, {13, 2, 8, 3, 1}, {24, 2, 8, 0, 1}, {25, 3, 12, 3, 1}, {769, 65, 260, 3, 2},
	} {
		n := int(x.n)
		res := ok(t, mesh(t), compose(t, indexed(2, 8, "INT8", rows(2, 800, 800, func(s, d int) int { return n * (1 - s) * d }))))
		k := &res.Ranks[0].Counters
		assert.Equal(t, []int64{x.sqes, x.wqebbs, x.nops, x.doorbells, x.n, 1, 1},
			[]int64{k[result.SQEs], k[result.WQEBBs], k[result.NOPs], k[result.Doorbells], k[result.SGEs], k[result.CQEs], k[result.Sends]}, "%d rows", n)
		assert.Zero(t, res.Ranks[1].Counters[result.SQEs])
	}
}

func TestCase55AThreeHundredAndEightyFifthRowDoesNotFitInAQueueOf128(t *testing.T) {
	for _, x := range []struct{ depth, fits, fails, need int }{{128, 384, 385, 132}, {16, 48, 49, 20}} {
		spec := mesh(t, fmt.Sprintf("urma.depth=%d", x.depth))
		send := func(n int) *program.Job { // to rank 1 a few rows, to rank 2 n
			return compose(t, indexed(1, 8, "INT8", rows(3, 400, 400, func(s, d int) int {
				return []int{0, 5, n}[d] * (1 - min(s, 1))
			})))
		}
		ok(t, spec, send(x.fits))
		res := run(t, spec, send(x.fails), hw.Options{})
		require.Equal(t, result.Aborted, res.Status)
		a := res.Abort
		assert.Equal(t, []any{0, 0, "check_counts", "sq_capacity", int64(x.need), int64(x.depth)}, []any{a.Rank, a.Block, a.Op, a.What, a.Value, a.Limit})
		assert.Zero(t, res.Totals[result.SQEs], "owned peers are checked before any of them is sent to")
	}
}

// violation is what an abort says.
type violation struct {
	rank, block  int
	op, what     string
	value, limit int64
}

// illegal puts bad into index[src][dst][j], or into counts[src][dst] if j is negative,
// of four ranks with five rows for each, C = 7 and Nmax = 20.
var illegal = map[string]struct {
	src, dst, j int
	bad         int
	want        *violation
}{
	"count -1":            {0, 2, -1, -1, &violation{0, 0, "check_counts", "count", -1, 7}},
	"count C+1":           {0, 3, -1, 8, &violation{0, 1, "check_counts", "count", 8, 7}},
	"own count":           {2, 2, -1, 99, &violation{2, 0, "pull_counts", "count", 99, 7}},
	"index Nmax":          {1, 2, 4, 20, &violation{1, 0, "send_owned", "index", 20, 20}},
	"index -1":            {3, 0, 0, -1, &violation{3, 0, "send_owned", "index", -1, 20}},
	"own index":           {1, 1, 4, 21, &violation{1, 1, "copy_rows", "index", 21, 20}},
	"index row too short": {1, 2, 3, -1, &violation{1, 0, "send_owned", "index", -1, 20}},
	"index -1 in a tail":  {1, 2, 5, -1, nil},
}

func TestCase56IllegalCountsAndIndicesAbortAndNothingIsClamped(t *testing.T) {
	for name, x := range illegal {
		t.Run(name, func(t *testing.T) {
			tab := rows(4, 20, 7, func(_, _ int) int { return 5 })
			if x.j < 0 {
				tab.counts[x.src][x.dst] = x.bad
			} else {
				row := append(tab.index[x.src][x.dst], 0, 0)
				row[x.j] = int32(x.bad)
				tab.index[x.src][x.dst] = row
			}
			if name == "index row too short" {
				tab.index[x.src][x.dst] = tab.index[x.src][x.dst][:x.j]
			}
			job := compose(t, indexed(2, 16, "FP32", tab))
			if x.src != x.dst { // the sender finds it before the receiver pulls it
				job.Slow = slices.Repeat([]engine.Fraction{engine.One}, 4)
				job.Slow[x.dst] = 10 * engine.One
			}
			aborts(t, job, x.want)
		})
	}
}

// aborts runs a job that ends in a violation, or well if want is nil.
func aborts(t *testing.T, job *program.Job, want *violation) {
	res := run(t, mesh(t), job, hw.Options{})
	if want == nil {
		fine(t, res)
		return
	}
	require.Equal(t, result.Aborted, res.Status)
	a := res.Abort
	assert.Equal(t, *want, violation{a.Rank, a.Block, a.Op, a.What, a.Value, a.Limit}, "as the device found it")
	assert.Contains(t, a.Text, fmt.Sprint(want.value))
	tiles(t, res)
}

func TestCase59SelfRowsAreSharedEvenlyAndABlockWithoutRowsDoesBothRounds(t *testing.T) {
	for _, x := range []struct {
		n, blocks int
		want      []int64
		split     string
	}{
		{10, 4, []int64{2, 3, 2, 3}, ""}, {3, 5, []int64{0, 1, 0, 1, 1}, ""}, {7, 2, []int64{3, 4}, "floor"}, {12, 8, []int64{1, 2, 1, 2, 1, 2, 1, 2}, ""},
		{10, 4, []int64{3, 3, 2, 2}, "front"}, {3, 5, []int64{1, 1, 1, 0, 0}, "front"},
	} {
		tab := rows(2, 40, 12, func(s, d int) int { return x.n * (1 - min(1, s+d)) })
		for j := range tab.index[0][0] {
			tab.index[0][0][j] = int32(2 * j) // no two are neighbours: a row is a piece
		}
		c := indexed(x.blocks, 4160, "INT8", tab)
		c.Options.Split = x.split
		res := ok(t, mesh(t), compose(t, c))
		var got []int64
		for i := range res.Blocks {
			if b := &res.Blocks[i]; b.Rank == 0 {
				got = append(got, b.Pieces)
			}
		}
		assert.Equal(t, x.want, got, "%d rows on %d blocks, %s", x.n, x.blocks, x.split)
		assert.Equal(t, int64(2*x.blocks), res.Ranks[0].Counters[result.Notifies])
		assert.Equal(t, int64(2*x.blocks), res.Ranks[0].Counters[result.PollsSatisfied])
	}
}

func TestCase60ConsecutiveRowsAreOneIntervalEachOnePiece(t *testing.T) {
	tab := rows(2, 16, 8, func(s, d int) int { return 8 * (1 - min(1, s+d)) })
	tab.index[0][0] = []int32{3, 4, 5, 9, 9, 2, 1, 0}
	res := ok(t, mesh(t), compose(t, indexed(1, 256, "INT8", tab)))
	assert.Equal(t, int64(6), res.Ranks[0].Counters[result.Pieces])
	assert.Equal(t, int64(8*256), res.Ranks[0].Counters[result.BytesSelf])
	tab.index[0][0] = []int32{0, 1, 2, 3, 4, 5, 6, 7}
	assert.Equal(t, int64(1), ok(t, mesh(t), compose(t, indexed(1, 256, "INT8", tab))).Ranks[0].Counters[result.Pieces])
}

func TestCase62TheNinthOfTwelveScatteredRowsIsTheFirstThatWaitsForAStage(t *testing.T) {
	tab := rows(2, 40, 12, func(s, d int) int { return 12 * (1 - min(1, s+d)) })
	waits := func(n int, sets ...string) (int64, int64) {
		tab.counts[0][0], tab.index[0][0] = n, nil
		for j := range n {
			tab.index[0][0] = append(tab.index[0][0], int32(3*j))
		}
		b := ok(t, mesh(t, sets...), compose(t, indexed(1, 4160, "INT8", tab))).Blocks[0]
		return b.Pieces, b.Waits
	}
	slow := "ub.store=10 GB/s" // so that the eight stages are full when MTE2 comes round
	pieces, n := waits(8, slow)
	assert.Equal(t, []int64{8, 0}, []int64{pieces, n}, "eight pieces have a stage each")
	pieces, n = waits(9, slow)
	assert.Equal(t, []int64{9, 1}, []int64{pieces, n}, "piece 8 waits for store 0")
	pieces, n = waits(12, slow)
	assert.Equal(t, []int64{12, 4}, []int64{pieces, n})
	pieces, n = waits(12)
	assert.Equal(t, []int64{12, 1}, []int64{pieces, n}, "with stores as fast as loads, what piece 8 waited for holds for the rest")
}

func TestCase64TheSecondCallWaitsForTheSlowerRanksConsumer(t *testing.T) {
	tab := rows(2, 40, 12, func(_, _ int) int { return 9 })
	job := chain(t,
		collectives.Item{Name: "one", Call: indexed(2, 512, "INT8", tab)},
		collectives.Item{Name: "consume", Compute: &collectives.Compute{Time: 40 * engine.Microsecond, Blocks: 2, Reads: []string{"one"}}},
		collectives.Item{Name: "two", Call: indexed(2, 512, "INT8", tab), Signal: "one", After: []string{"consume"}},
	)
	job.Slow = []engine.Fraction{engine.One, 4 * engine.One}
	res := ok(t, mesh(t), job)
	consumed, second := res.Calls[1], res.Calls[2]
	late := second.Ranks[1].Start.Sub(second.Ranks[0].Start)
	assert.Greater(t, late, 100*engine.Microsecond, "rank 1 consumes four times as long")
	assert.GreaterOrEqual(t, second.Ranks[1].Start, consumed.Ranks[1].End)
	for i := range res.Blocks {
		if b := &res.Blocks[i]; b.Call == 2 && b.Rank == 0 {
			assert.GreaterOrEqual(t, b.Time[result.SignalWait], late, "round A holds rank 0 back until then")
			assert.Less(t, b.Time[result.SignalWait], late+60*engine.Microsecond)
		}
	}
}
