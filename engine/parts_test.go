package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAServerServesInOrderOfArrival(t *testing.T) {
	var s Server
	assert.Zero(t, s.Free())
	begin, end, prev := s.Reserve(100, 50, 7)
	assert.Equal(t, []Time{100, 150}, []Time{begin, end}, "free: begins on arrival")
	assert.Zero(t, prev, "nobody came before")

	begin, end, prev = s.Reserve(149, 10, 8)
	assert.Equal(t, []Time{150, 160}, []Time{begin, end}, "one picosecond early: waits for it")
	assert.Equal(t, uint32(7), prev)

	begin, end, prev = s.Reserve(160, 0, 9)
	assert.Equal(t, []Time{160, 160}, []Time{begin, end}, "just free: does not wait; and takes no time")
	assert.Equal(t, uint32(8), prev)

	begin, _, prev = s.Reserve(170, 1, 7)
	assert.Equal(t, Time(170), begin)
	assert.Equal(t, uint32(9), prev)
	assert.Equal(t, Duration(61), s.Busy())
	assert.Equal(t, Time(171), s.Free())
	assert.Panics(t, func() { s.Reserve(200, -1, 1) })
}

func TestAServerIsNeverBusyTwiceNorIdleWithWorkAtHand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Server
		var arrival, lastEnd Time
		var sum Duration
		for range rapid.IntRange(1, 50).Draw(t, "requests") {
			arrival = arrival.Add(Duration(rapid.Int64Range(0, 100).Draw(t, "gap")))
			span := Duration(rapid.Int64Range(0, 100).Draw(t, "span"))
			begin, end, _ := s.Reserve(arrival, span, 0)
			require.Equal(t, max(arrival, lastEnd), begin)
			require.Equal(t, span, end.Sub(begin))
			lastEnd, sum = end, sum+span
		}
		require.Equal(t, sum, s.Busy())
		require.Equal(t, lastEnd, s.Free())
	})
}

func TestACounterWakesAtTheValueAndNotBelow(t *testing.T) {
	var e Engine
	var c Counter
	woken := 0
	h := call(func(uint64) { woken++ })
	assert.True(t, c.WaitAtLeast(0, h, 0), "there already")
	assert.False(t, c.WaitAtLeast(2, h, 0))
	c.Add(&e, 1)
	require.NoError(t, e.Run())
	assert.Zero(t, woken, "one below")
	assert.Equal(t, 1, c.Waiting())
	c.Add(&e, 1)
	assert.Zero(t, woken, "woken by an event, not by the call")
	assert.Zero(t, c.Waiting())
	require.NoError(t, e.Run())
	assert.Equal(t, 1, woken)
	c.Add(&e, 1)
	require.NoError(t, e.Run())
	assert.Equal(t, 1, woken, "once")
	assert.Equal(t, int64(3), c.Value())
}

func TestACounterWakesInTheOrderOfWaiting(t *testing.T) {
	onEachQueue(t, func(t *testing.T, e *Engine) {
		var c Counter
		var woken []uint64
		h := call(func(arg uint64) { woken = append(woken, arg) })
		e.At(10, call(func(uint64) { c.Add(e, 2) }), 0)
		e.At(10, h, 100) // scheduled before the counter moves: runs before those it wakes
		e.At(20, call(func(uint64) { c.Add(e, 3) }), 0)
		for i, want := range []int64{2, 5, 1, 4, 2, 6} {
			require.False(t, c.WaitAtLeast(want, h, uint64(i)))
		}
		require.NoError(t, e.Run())
		assert.Equal(t, []uint64{100, 0, 2, 4, 1, 3}, woken)
		assert.Equal(t, 1, c.Waiting(), "the one that wants 6")
	})
}

func TestACreditThatIsTakenWakesNobody(t *testing.T) {
	var e Engine
	var c Counter
	c.Add(&e, -1)
	assert.Equal(t, int64(-1), c.Value())
	assert.False(t, c.WaitAtLeast(0, discard{}, 0))
	c.Add(&e, -1)
	assert.Zero(t, e.Pending())
	c.Add(&e, 2)
	assert.Equal(t, 1, e.Pending())
}
