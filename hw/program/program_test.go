package program_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/hw/program"
)

// The table of semantics 7.5.
func TestDestinationsGoRoundTheBlocks(t *testing.T) {
	for _, x := range []struct {
		ranks, blocks, rank int
		want                string
	}{
		{4, 1, 0, "1,2,3"}, {4, 2, 1, "0,2 3"}, {4, 3, 0, "3 1 2"}, {4, 4, 3, "0 1 2 -"}, {4, 6, 1, "0 - 2 3 - -"},
		{8, 3, 2, "0,3,6 1,4,7 5"}, {8, 16, 5, "0 1 2 3 4 - 6 7 - - - - - - - -"}, {2, 2, 0, "- 1"}, {2, 5, 0, "- 1 - - -"},
	} {
		r := program.Rows{Ranks: x.ranks, Blocks: x.blocks}
		var got []string
		for b := range x.blocks {
			text := strings.Trim(strings.ReplaceAll(fmt.Sprint(r.Owned(x.rank, b)), " ", ","), "[]")
			if text == "" {
				text = "-"
			}
			got = append(got, text)
		}
		assert.Equal(t, x.want, strings.Join(got, " "), "P=%d B=%d r=%d", x.ranks, x.blocks, x.rank)
	}
}

func TestEveryPeerHasExactlyOneWriterAndTheOwnRankNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := program.Rows{Ranks: rapid.IntRange(1, 20).Draw(t, "P"), Blocks: rapid.IntRange(1, 25).Draw(t, "B")}
		rank := rapid.IntRange(0, r.Ranks-1).Draw(t, "rank")
		writers := make([]int, r.Ranks)
		for b := range r.Blocks {
			last := -1
			for _, d := range r.Owned(rank, b) {
				writers[d]++
				require.Greater(t, d, last, "ascending")
				last = d
			}
		}
		for d, n := range writers {
			want := 1
			if d == rank {
				want = 0
			}
			require.Equal(t, want, n, "destination %d", d)
		}
	})
}

func TestSharesCoverTheRowsInOrderAndDifferByAtMostOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := program.Rows{Blocks: rapid.IntRange(1, 70).Draw(t, "B"), Split: rapid.SampledFrom([]string{"", "floor", "front"}).Draw(t, "split")}
		n := rapid.IntRange(0, 5000).Draw(t, "n")
		next, least, most := 0, n, 0
		for b := range r.Blocks {
			lo, hi := r.Share(b, n)
			require.Equal(t, next, lo)
			next, least, most = hi, min(least, hi-lo), max(most, hi-lo)
		}
		require.Equal(t, n, next)
		require.LessOrEqual(t, most-least, 1)
	})
}

func TestAnOperandDependsOnRankAndBlock(t *testing.T) {
	e := program.Expr{C: 7, R: 3, B: 1}
	assert.Equal(t, int64(7+3*2+5), e.At(&program.Here{Rank: 2, Block: 5}))
	assert.Equal(t, "3*rank+block+7", e.String())
	assert.Equal(t, "0", program.Const(0).String())
	assert.Equal(t, "64*rank", program.PerRank(64).String())
	assert.Equal(t, "block", program.OwnBlock.String())
}

func TestLinesResolveOperandsForOneRankAndBlock(t *testing.T) {
	rows := &program.Rows{Ranks: 4, Blocks: 2, Row: 8, Capacity: 5, Input: 0, Target: 1, SendCounts: 2, RecvCounts: 3, Index: 4, SGEs: 12, Segment: 64}
	var bufs []program.Buffer
	for _, n := range []string{"input", "target", "send_counts", "recv_counts", "index", "signal"} {
		bufs = append(bufs, program.Buffer{Name: n})
	}
	p := &program.Program{Name: "all ops"}
	p.Phase("one").Add(program.Op{Kind: program.Put, Dst: 1, Src: 0, Peer: program.Const(3), DstOff: program.PerRank(16), SrcOff: program.Const(48), Bytes: program.Const(16), Chunk: 16})
	p.Add(program.Op{Kind: program.CopyTile, Dst: 1, Src: 0, Bytes: program.Const(4)})
	p.Add(program.Op{Kind: program.NotifyPeers, Signal: 5, Col: program.OwnBlock, Value: program.Const(1), Set: true})
	p.Add(program.Op{Kind: program.WaitPeers, Signal: 5, Col: program.OwnBlock, Value: program.Const(2), SIMT: true})
	p.Phase("two").Add(program.Op{Kind: program.AddPeers, Signal: 5, Value: program.Const(-2), SIMT: true})
	for _, k := range []program.Kind{program.PullCounts, program.CheckCounts, program.SendOwned, program.CopyRows, program.DrainRows, program.PollOwned} {
		p.Add(program.Op{Kind: k, Rows: rows, NoDrain: k == program.CopyRows})
	}
	p.Add(program.Op{Kind: program.Fence})
	p.Add(program.Op{Kind: program.PipeBarrier})
	p.Add(program.Op{Kind: program.Return, Note: "enough"})
	var got []string
	for _, l := range p.Lines(2, 1, bufs) {
		got = append(got, l.Phase+": "+l.Op+" "+l.Operands)
	}
	assert.Equal(t, []string{
		"one: put target+32 of rank 3 <- input+48, 16 B in stages of 16 B",
		"one: copy target+0 <- input+0, 4 B",
		"one: notify_peers signal[2,1] of every peer, Set +1, scalar",
		"one: wait_peers signal[s,1] Ge 2 for every s != 2, SIMT",
		"two: add_peers signal[s,0] of self, AtomicAdd -2 for every s != 2, SIMT",
		"two: pull_counts recv_counts[s] <- send_counts[2] of rank s, for s in 1,3",
		"two: check_counts own send_counts for 1,3 in [0,5], queue capacity",
		"two: send_owned input rows by index -> target+2*C of ranks 1,3, WRITE SQEs of 12 SGEs, 64 SQEs a doorbell",
		"two: copy_rows share 1 of 2 of the self rows, 8 B each, through the stage ring, without draining it",
		"two: drain_rows last stores of the stage ring",
		"two: poll_owned final CQE of ranks 1,3",
		"two: fence ", "two: pipe_barrier ", "two: return enough",
	}, got)
}

func TestATableIsPrintedFromWhereItsLoopBegins(t *testing.T) {
	e := program.Expr{R: 2, Of: []int64{10, 11, 12, 13, 14, 15}}
	e.L[0] = 1
	assert.Equal(t, "[12,13,14,15,...][i]", e.Show(1, 0))
	h := program.Here{Rank: 1}
	h.Loop[0] = 3
	assert.Equal(t, int64(15), e.At(&h), "printing changes nothing")
	assert.Equal(t, "[10,11,12,13,...][i]", e.Show(0, 0))
	read := program.Expr{B: 1, Of: []int64{7, 8}}.Plus(program.Expr{V: [program.MaxVars]int64{0, 1}})
	assert.Equal(t, "8+lo", read.Show(0, 1))
	assert.Equal(t, "min(-4*n+100, 64)", program.Expr{C: 100, V: [program.MaxVars]int64{-4}, Cap: 64}.Show(0, 0))
}

func TestASumOfOperandsIsTheSumOfTheirValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := func(name string) int64 { return rapid.Int64Range(-9, 9).Draw(t, name) }
		draw := func(name string, capped bool) program.Expr {
			e := program.Expr{C: small(name + "C"), R: small(name + "R"), L: [2]int64{small(name + "I"), small(name + "J")}}
			if rapid.Bool().Draw(t, name+" of") {
				e.Of = []int64{5, 7, 11}
			}
			if rapid.Bool().Draw(t, name+" and") {
				e.And = &program.Expr{R: small(name + "&R"), C: 3}
			}
			if capped && rapid.Bool().Draw(t, name+" cap") {
				e.Cap = 13
			}
			return e
		}
		a, b := draw("a", true), draw("b", false)
		if rapid.Bool().Draw(t, "swap") {
			a, b = b, a
		}
		h := program.Here{Rank: rapid.IntRange(0, 5).Draw(t, "rank"), Loop: [2]int64{small("i"), small("j")}}
		want := a.At(&h) + b.At(&h)
		sum := a.Plus(b)
		require.Equal(t, want, sum.At(&h), "%v + %v = %v", a, b, sum)
	})
	assert.Panics(t, func() { program.Expr{Cap: 1}.Plus(program.Expr{Cap: 2}) })
}
