package engine

import (
	"math/rand/v2"
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
	kept []*Point
	last Point
}

func (x *teller) Handle(uint64) {
	x.last = x.e.Here()
	kept := x.last
	x.e.Keep(&kept)
	x.kept = append(x.kept, &kept)
	for range rapid.IntRange(0, 3).Draw(x.t, "children") {
		if x.left--; x.left < 0 {
			return
		}
		now := x.e.Now()
		if rapid.Bool().Draw(x.t, "joined") {
			x.e.From(*rapid.SampledFrom(x.kept).Draw(x.t, "from"))
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
		e.log.young, e.log.whole = rapid.SampledFrom([]int{1, 3, 10, 1 << 20}).Draw(t, "young"), rapid.SampledFrom([]int{1, 20, 1 << 20}).Draw(t, "whole")
		x := &teller{e: e, t: t, left: 60}
		e.Keep(&x.last)
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
	own Point
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

func path(e *Engine, p Point) (out [][3]int64) {
	e.Back(p, func(from, to Time, why Why) bool {
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
	for limit, kept := range map[int]bool{20: true, 3: false} {
		e := New(Options{})
		e.Record(limit)
		e.log.young = 1
		for i := range 50 {
			e.At(Time(1+i), &waker{}, 9)
		}
		require.NoError(t, e.Run())
		assert.Equal(t, kept, e.Recording())
		assert.Equal(t, kept, len(path(e, e.Here())) == 1)
		e.Because(1) // says nothing to nobody if there is no record
		e.Through(100, 1)
		e.From(Point{})
		e.Keep(&Point{})
	}
}

// walker goes its own way at random, and remembers some of the points where it was.
type walker struct {
	e    *Engine
	r    *rand.Rand
	left int
	kept [4]Point
}

func (w *walker) Handle(uint64) {
	w.kept[w.r.IntN(4)] = w.e.Here()
	for range w.r.IntN(3) + 1 {
		if w.left--; w.left < 0 {
			return
		}
		if w.r.IntN(3) == 0 {
			w.e.From(w.kept[w.r.IntN(4)])
		}
		w.e.Through(w.e.Now().Add(Duration(w.r.IntN(9))), Why(w.left))
		w.e.Because(Why(w.left))
		w.e.After(Duration(w.r.Int64N(40))<<w.r.IntN(30), w, 0) // at times over 4 ms
	}
}

func TestWhatIsForgottenIsOnNoPath(t *testing.T) {
	for seed := range uint64(50) {
		walk := func(young, whole int, queue string) (*Engine, *walker) {
			e := New(Options{Queue: queue})
			e.Record(1 << 20)
			e.log.young, e.log.whole = young, whole
			w := &walker{e: e, r: rand.New(rand.NewPCG(1, seed)), left: 3000}
			for i := range w.kept {
				e.Keep(&w.kept[i])
			}
			e.At(0, w, 0)
			require.NoError(t, e.Run())
			return e, w
		}
		all, want := walk(1<<30, 1<<30, Radix)
		require.Equal(t, 1, all.log.old, "nothing was forgotten")
		for _, x := range []struct {
			young, whole int
			queue        string
		}{{1, 1, Radix}, {1, 1 << 30, Radix}, {100, 150, Radix}, {100, 1 << 30, Radix}, {7, 60, Reference}} {
			e, w := walk(x.young, x.whole, x.queue)
			require.Less(t, e.log.n, all.log.n)
			for i := range w.kept {
				require.Equal(t, path(all, want.kept[i]), path(e, w.kept[i]), "%+v", x)
			}
			require.Equal(t, path(all, all.Here()), path(e, e.Here()))
		}
	}
}

// chain wakes itself a picosecond later, left times.
type chain struct {
	e    *Engine
	left int
}

func (c *chain) Handle(uint64) {
	if c.left--; c.left > 0 {
		c.e.Because(Why(c.left))
		c.e.After(1, c, 0)
	}
}

func TestALongPathIsWholeOverPagesOfAllSizes(t *testing.T) {
	for _, n := range []int{firstParts - 1, firstParts, firstParts + 1, 4 * firstParts, 4*firstParts + 1, 1 << pageBits, 1<<pageBits + 1, 5 << (pageBits - 1)} {
		e := New(Options{})
		e.Record(1 << 30)
		e.At(0, &chain{e, n}, 0)
		require.NoError(t, e.Run())
		want := Why(1)
		e.Back(e.Here(), func(from, to Time, why Why) bool {
			ok := why == want && to == Time(n)-Time(want) && from == to-1
			want++
			return ok
		})
		require.EqualValues(t, n, want, "every part is there, in order")
		e.Forget()
		require.False(t, e.Recording())
		require.Empty(t, path(e, e.Here()))
	}
}
