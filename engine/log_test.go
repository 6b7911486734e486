package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// teller schedules random events of itself, and says why through random times.
type teller struct {
	e    *Engine
	t    *rapid.T
	left int
	kept []Step
	last Step
}

func (x *teller) Handle(uint64) {
	x.last = x.e.Here()
	x.kept = append(x.kept, x.last)
	for range rapid.IntRange(0, 3).Draw(x.t, "children") {
		if x.left--; x.left < 0 {
			return
		}
		now := x.e.Now()
		if rapid.Bool().Draw(x.t, "joined") {
			x.e.From(rapid.SampledFrom(x.kept).Draw(x.t, "from"))
		}
		for range rapid.IntRange(0, 3).Draw(x.t, "parts") {
			x.e.Through(now.Add(Duration(rapid.Int64Range(0, 20).Draw(x.t, "through"))), Why(1+rapid.IntRange(0, 5).Draw(x.t, "why")))
		}
		x.e.Because(9)
		x.e.After(Duration(rapid.Int64Range(0, 15).Draw(x.t, "after")), x, 0)
	}
}

func TestThePartsOfAPathAddUpToItsTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := New(Options{Queue: rapid.SampledFrom([]string{Radix, Reference}).Draw(t, "queue")})
		e.Record(1 << 20)
		x := &teller{e: e, t: t, left: 60}
		e.Because(7)
		e.At(Time(rapid.Int64Range(0, 9).Draw(t, "start")), x, 0)
		require.NoError(t, e.Run())
		sum, at := Duration(0), e.Now()
		e.Back(x.last, func(from, to Time, why Why) bool {
			require.Equal(t, at, to, "each part ends where the next begins")
			require.Less(t, from, to)
			require.NotZero(t, why)
			sum, at = sum+to.Sub(from), from
			return true
		})
		require.Equal(t, e.Now().Sub(0), sum)
		require.Zero(t, at, "a path goes back to the start")
	})
}

// pair wakes the other at a time of its own.
type waker struct {
	e   *Engine
	own Step
}

func (w *waker) Handle(arg uint64) {
	switch arg {
	case 0: // at 10: begins to wait until 30
		w.own = w.e.Here()
	case 1: // at 20: what it waits for is there
		w.e.From(w.own)
		w.e.Through(30, 2)
		w.e.Because(3)
		w.e.At(35, w, 2)
	}
}

func path(e *Engine, s Step) (out [][3]int64) {
	e.Back(s, func(from, to Time, why Why) bool {
		out = append(out, [3]int64{int64(from), int64(to), int64(why)})
		return true
	})
	return out
}

func TestAPathFollowsWhoWasLast(t *testing.T) {
	e := New(Options{})
	e.Record(100)
	w := &waker{e: e}
	e.Because(1)
	e.At(10, w, 0)
	e.Because(8)
	e.At(20, w, 1)
	require.NoError(t, e.Run())
	assert.Equal(t, [][3]int64{{30, 35, 3}, {10, 30, 2}, {0, 10, 1}}, path(e, e.Here()), "the event at 20 was not what it waited for")
}

func TestWhatLiesBehindAnEventIsNoneOfItsCauses(t *testing.T) {
	e := New(Options{})
	e.Record(100)
	e.Through(50, 1)
	e.Because(2)
	e.At(40, &waker{}, 9)
	require.NoError(t, e.Run())
	assert.Equal(t, [][3]int64{{0, 40, 2}}, path(e, e.Here()))
}

func TestARecordIsDroppedAtItsLimit(t *testing.T) {
	e := New(Options{})
	e.Record(3)
	for i := range 5 {
		e.At(Time(i), &waker{}, 9)
	}
	assert.False(t, e.Recording())
	require.NoError(t, e.Run())
	assert.Empty(t, path(e, e.Here()))
	e.Because(1) // says nothing to nobody
	e.Through(100, 1)
	e.From(0)
}
