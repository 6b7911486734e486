package hazard

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

func drawClock(t *rapid.T, name string) clock {
	return clock(rapid.SliceOfN(rapid.Uint32Range(0, 5), 0, 6).Draw(t, name))
}

func TestAJoinKnowsWhatBothKnowAndACopyKeepsItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawClock(t, "a"), drawClock(t, "b")
		was, both := a.copy(), a.copy()
		both.join(b)
		for lane := range uint32(8) {
			require.Equal(t, max(a.at(lane), b.at(lane)), both.at(lane))
		}
		both.set(7, 9)
		require.Equal(t, was, a)
		require.Equal(t, uint32(9), both.at(7))
		again := both.copy()
		again.join(b)
		require.Equal(t, both, again)
	})
}

func TestALaneGoesToWhoKnowsThatAllThatWasDoneInItIsOver(t *testing.T) {
	l := lanes{free: make([][]slot, 1)}
	a := l.take(0, nil)
	first := l.own(&a, main, 0)
	side := l.own(&a, nic, 0)
	l.all[first].count, l.all[side].count = 3, 2
	l.give(0, a)

	var c clock
	c.set(first, 3)
	c.set(side, 1) // a send is still under way
	b := l.take(0, c)
	assert.Equal(t, none, b.lane[main], "a new one")
	c.set(side, 2)
	b = l.take(0, c)
	assert.Equal(t, first, b.lane[main])
	assert.Empty(t, l.free[0])
	l.own(&b, main, 1)
	assert.Equal(t, []int32{0, 0, 1, 1}, []int32{l.who(first, 1), l.who(first, 3), l.who(first, 4), l.who(first, 9)})
}

// chainOf is a checker of calls that follow one another on each rank, of so many blocks.
func chainOf(t *testing.T, ranks, blocks, calls int, barrier bool) *Checker {
	eng := engine.New(engine.Options{})
	mem := memory.New(eng, memory.Spec{Kind: "ideal"}, memory.Options{Ranks: ranks})
	job := &program.Job{Ranks: ranks, Buffers: []program.Buffer{{Name: "window", Window: true, Size: 64}}}
	_, err := mem.Alloc(memory.Buffer{Name: "window", Window: true, Size: 64})
	require.NoError(t, err)
	text := &program.Program{Ops: []program.Op{{Kind: program.Put}}}
	for i := range calls {
		task := program.Task{Op: "call", Blocks: blocks, Program: text, Barrier: barrier}
		if i > 0 {
			task.After = []int{i - 1}
		}
		job.Tasks = append(job.Tasks, task)
	}
	return New(job, eng, mem)
}

func TestRepeatedCallsUseTheSameLanes(t *testing.T) {
	for _, barrier := range []bool{false, true} {
		c := chainOf(t, 3, 4, 20, barrier)
		for task := range c.job.Tasks {
			for r := range 3 {
				c.Offer(task, r)
				var blocks []*Thread
				for b := range 4 {
					blocks = append(blocks, c.Launch(task, r, b, c.job.Tasks[task].Program))
				}
				for b, x := range blocks {
					x.at(write, r, 0, int64(b), 1)
					x.beside(stores, x.begin(stores, false), write, r, 0, int64(8+b), 1)
					x.End()
				}
				c.Consumed(task, r, 0, 0, 4)
				c.Ended(task, r)
			}
		}
		assert.Empty(t, c.Hazards())
		// A lane for each block and for the caller of each rank, and one for the stores of each block; whose lanes the
		// caller gets can have one for stores too.
		assert.LessOrEqual(t, len(c.lanes.all), 3*(2*1+2*4), "barrier %t", barrier)
		assert.GreaterOrEqual(t, len(c.lanes.all), 3*(1+2*4))
	}
}

func TestWithoutADependencyACallDoesNotGetTheLanesOfTheOneBefore(t *testing.T) {
	c := chainOf(t, 1, 1, 2, false)
	c.job.Tasks[1].After = nil
	c.tasks[0].next = nil
	for task := range 2 {
		c.Offer(task, 0)
		x := c.Launch(task, 0, 0, c.job.Tasks[task].Program)
		x.at(write, 0, 0, 0, 8)
		x.End()
		c.Ended(task, 0)
	}
	require.Len(t, c.Hazards(), 1, "one behind the other, but nothing says so")
	assert.Equal(t, result.TwoWriters, c.Hazards()[0].Kind)
}

func TestNobodyLooksWithoutAChecker(t *testing.T) {
	var c *Checker
	c.Offer(0, 0)
	c.Compute(0, 0)
	x := c.Launch(0, 0, 0, nil)
	x.Begin(0, nil)
	x.Over(nil)
	c.Land(0, 0, 0, 1, false, x.Release())
	x.End()
	c.Consumed(0, 0, 0, 0, 1)
	c.Ended(0, 0)
	assert.Nil(t, x)
	assert.Nil(t, c.Hazards())
}
