package program

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOpsInLoopsCountForEachIteration(t *testing.T) {
	p := &Program{}
	p.Add(Op{Kind: Fence})
	p.Loop(PerRank(3), func() {
		p.Add(Op{Kind: Put})
		p.Loop(Const(2), func() { p.Add(Op{Kind: Get}) })
	})
	p.Loop(Const(4), func() {
		p.Loop(Expr{L: [MaxLoops]int64{1, 0}}, func() { p.Add(Op{Kind: Get}) }) // 0 + 1 + 2 + 3
	})
	p.Add(Op{Kind: Return})
	p.Add(Op{Kind: Fence})
	assert.Equal(t, []int64{1, 1, 6, 6, 12, 1, 4, 6, 1, 0}, p.Times(2, 0))
	assert.Equal(t, []int64{1, 1, 0, 0, 0, 1, 4, 6, 1, 0}, p.Times(0, 0), "rank 0 makes no iteration of the first loop")
}

func TestHowOftenALoopRunsIsUnknownWhereItDependsOnWhatIsRead(t *testing.T) {
	p := &Program{}
	p.Loop(Expr{V: [MaxVars]int64{1, 0, 0}}, func() {
		p.Loop(Const(2), func() { p.Add(Op{Kind: Put}) })
	})
	p.Add(Op{Kind: Fence})
	assert.Equal(t, []int64{1, Often, Often, 1}, p.Times(0, 0))
}

func TestLinesSayHowDeepInLoopsTheyAre(t *testing.T) {
	p := &Program{}
	p.Phase("push").Loop(Const(3), func() {
		p.Loop(Const(2), func() { p.Add(Op{Kind: Fence}) })
		p.Add(Op{Kind: PipeBarrier})
	})
	p.Add(Op{Kind: Fence})
	lines := p.Lines(0, 0, []Buffer{{Name: "x"}})
	require.Len(t, lines, 5)
	var depth []int
	var times []int64
	for _, l := range lines {
		depth, times = append(depth, l.Depth), append(times, l.Times)
	}
	assert.Equal(t, []int{0, 1, 2, 1, 0}, depth)
	assert.Equal(t, []int64{1, 3, 6, 3, 1}, times)
	assert.Equal(t, "3 times, i from 0", lines[0].Operands)
	assert.Equal(t, "2 times, j from 0", lines[1].Operands)

	none := &Program{}
	none.Loop(PerRank(1), func() { none.Add(Op{Kind: Fence}) })
	lines = none.Lines(0, 0, []Buffer{{Name: "x"}})
	require.Len(t, lines, 1, "what is never executed is not shown")
	assert.Equal(t, "0 times", lines[0].Operands)
}
