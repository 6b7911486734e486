package engine

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// call is a handler that does what the test says.
type call func(arg uint64)

func (f call) Handle(arg uint64) { f(arg) }

// onEachQueue runs a test on both event queues.
func onEachQueue(t *testing.T, test func(t *testing.T, e *Engine)) {
	for _, queue := range []string{Radix, Reference} {
		t.Run(queue, func(t *testing.T) { test(t, New(Options{Queue: queue})) })
	}
}

func TestEventsRunInOrderOfTimeThenOfScheduling(t *testing.T) {
	onEachQueue(t, func(t *testing.T, e *Engine) {
		var log []string
		note := call(func(arg uint64) { log = append(log, fmt.Sprintf("%d@%d", arg, e.Now())) })
		e.At(70, note, 1)
		e.At(5, note, 2)
		e.At(70, note, 3)
		e.At(5, call(func(uint64) { e.After(65, note, 6); e.After(0, note, 4) }), 0)
		e.At(5, note, 5)
		assert.Equal(t, 5, e.Pending())
		require.NoError(t, e.Run())
		assert.Equal(t, []string{"2@5", "5@5", "4@5", "1@70", "3@70", "6@70"}, log)
		assert.Equal(t, uint64(7), e.Events())
		assert.Zero(t, e.Pending())
		assert.Equal(t, Time(70), e.Now(), "the clock rests at the last event")
	})
}

func TestTheZeroEngineIsReady(t *testing.T) {
	var e Engine
	ran := false
	require.NoError(t, e.Run(), "nothing to do")
	assert.Equal(t, Time(0), e.Now())
	e.At(0, call(func(uint64) { ran = true }), 0)
	require.NoError(t, e.Run())
	assert.True(t, ran)
}

func TestTimesReachTheEndOfTheClock(t *testing.T) {
	onEachQueue(t, func(t *testing.T, e *Engine) {
		var at []Time
		note := call(func(uint64) { at = append(at, e.Now()) })
		e.At(math.MaxInt64, note, 0)
		e.At(math.MaxInt64-1, note, 0)
		e.At(1, note, 0)
		require.NoError(t, e.Run())
		assert.Equal(t, []Time{1, math.MaxInt64 - 1, math.MaxInt64}, at)
	})
}

// A tree is a random model: each event schedules a few more, whose delays and number follow from its own argument.
type tree struct {
	e    *Engine
	left int
	log  []logged
}

type logged struct {
	at  Time
	arg uint64
}

func (m *tree) Handle(arg uint64) {
	m.log = append(m.log, logged{m.e.Now(), arg})
	for x := mix(1, 2, arg); m.left > 0 && x%8 < 5; x = mix(x, 3, arg) {
		m.left--
		delays := [...]uint64{0, 0, 1, x >> 60, x >> 53, x >> 44, x >> 34, 350_000}
		m.e.After(Duration(delays[x>>8%8]), m, x)
	}
}

func TestBothQueuesRunEveryScheduleAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		starts := rapid.SliceOfN(rapid.OneOf(rapid.Uint64Max(3), rapid.Uint64Max(1<<40)), 1, 40).Draw(t, "starts")
		left := rapid.IntRange(0, 2000).Draw(t, "left")
		stops := rapid.IntRange(0, 50).Draw(t, "stops")
		run := func(queue string) (*Engine, []logged) {
			e := New(Options{Queue: queue})
			m := &tree{e: e, left: left}
			for i, s := range starts {
				e.At(Time(s), m, uint64(i))
			}
			if stops > 0 {
				e.After(Duration(starts[0]), call(func(uint64) { e.Stop() }), 0)
			}
			require.NoError(t, e.Run())
			for i := range stops {
				e.After(Duration(i), m, uint64(i))
			}
			require.NoError(t, e.Run())
			return e, m.log
		}
		fast, order := run(Radix)
		plain, want := run(Reference)
		require.Equal(t, want, order)
		for i, x := range order[1:] {
			require.GreaterOrEqual(t, x.at, order[i].at)
		}
		require.Equal(t, plain.Digest(), fast.Digest())
		require.Equal(t, plain.Events(), fast.Events())
		require.Equal(t, plain.Now(), fast.Now())
		require.Zero(t, fast.Pending())
	})
}

// The queues themselves, over the whole range of times: any monotone mix of pushes and pops.
func TestBothQueuesPopAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var fast radix
		plain := newReference(0)
		now, n := Time(0), uint64(0)
		pop := func() {
			t0, _, arg0, _ := plain.pop()
			t1, _, arg1, _ := fast.pop()
			require.Equal(t, logged{t0, arg0}, logged{t1, arg1})
			now = t0
		}
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				bits := rapid.IntRange(0, 63).Draw(t, "bits")
				at := now + min(math.MaxInt64-now, Time(rapid.Int64Range(0, 1<<bits-1).Draw(t, "delay")))
				n++
				fast.push(at, nil, n, 0)
				plain.push(at, nil, n, 0)
			},
			"pop": func(t *rapid.T) {
				if plain.Empty() {
					t.Skip("empty")
				}
				pop()
			},
			"": func(t *rapid.T) { require.Equal(t, plain.Size(), fast.n) },
		})
		for !plain.Empty() {
			pop()
		}
		require.Zero(t, fast.levels)
	})
}

func TestTheDigestTellsStreamsApart(t *testing.T) {
	digest := func(events ...logged) uint64 {
		var e Engine
		for _, x := range events {
			e.At(x.at, call(func(uint64) {}), x.arg)
		}
		require.NoError(t, e.Run())
		return e.Digest()
	}
	base := digest(logged{1, 7}, logged{1, 8}, logged{2, 9})
	assert.Equal(t, base, digest(logged{2, 9}, logged{1, 7}, logged{1, 8}), "scheduled differently, run alike")
	for name, other := range map[string]uint64{
		"another time":     digest(logged{1, 7}, logged{1, 8}, logged{3, 9}),
		"another argument": digest(logged{1, 7}, logged{1, 8}, logged{2, 10}),
		"another order":    digest(logged{1, 8}, logged{1, 7}, logged{2, 9}),
		"one fewer":        digest(logged{1, 7}, logged{1, 8}),
		"none":             digest(),
	} {
		assert.NotEqual(t, base, other, name)
	}
}

func TestStopEndsTheRunAfterTheCurrentEvent(t *testing.T) {
	onEachQueue(t, func(t *testing.T, e *Engine) {
		var ran []uint64
		h := call(func(arg uint64) {
			e.Stop()
			ran = append(ran, arg)
		})
		e.At(3, h, 1)
		e.At(3, h, 2)
		require.NoError(t, e.Run())
		assert.Equal(t, []uint64{1}, ran)
		assert.Equal(t, 1, e.Pending())
		e.At(3, h, 3)
		require.NoError(t, e.Run())
		require.NoError(t, e.Run())
		assert.Equal(t, []uint64{1, 2, 3}, ran)
	})
}

func TestSchedulingInThePastPanics(t *testing.T) {
	onEachQueue(t, func(t *testing.T, e *Engine) {
		h := call(func(uint64) {
			assert.Panics(t, func() { e.At(9, call(func(uint64) {}), 0) })
			assert.Panics(t, func() { e.After(-1, call(func(uint64) {}), 0) })
			assert.Panics(t, func() { e.After(math.MaxInt64, call(func(uint64) {}), 0) }, "beyond the clock")
			assert.NotPanics(t, func() { e.At(10, call(func(uint64) {}), 0) })
		})
		e.At(10, h, 0)
		require.NoError(t, e.Run())
		assert.Equal(t, uint64(2), e.Events())
		assert.Panics(t, func() { e.At(11, nil, 0) })
	})
}

func TestUnusableOptionsAreRefused(t *testing.T) {
	assert.NoError(t, Options{}.Check())
	assert.NoError(t, Options{Queue: Radix, StallLimit: 1}.Check())
	assert.EqualError(t, Options{Queue: "heap"}.Check(), `unknown event queue "heap"; there are "radix" and "reference"`)
	assert.EqualError(t, Options{StallLimit: -1}.Check(), "a stall limit of -1 events is negative")
	assert.Panics(t, func() { New(Options{Queue: "heap"}) })
}

// A ping and a pong wake each other on the spot, as often as they are told.
type (
	ping struct {
		e          *Engine
		left       int
		progressAt int
		pong       *pong
	}
	pong struct{ ping *ping }
)

func (p *ping) Handle(uint64) { p.hit(p.pong) }
func (p *pong) Handle(uint64) { p.ping.hit(p.ping) }

func (p *ping) hit(to Handler) {
	if p.left--; p.left == p.progressAt {
		p.e.Progress()
	}
	if p.left > 0 {
		p.e.After(0, to, 0)
	}
}

const never = -1

// rally runs so many events at one instant, and makes progress when progressAt are left.
func rally(limit, events, progressAt int) error {
	e := New(Options{StallLimit: limit})
	p := &ping{e: e, left: events, progressAt: progressAt}
	p.pong = &pong{p}
	e.At(5, p, 0)
	return e.Run()
}

func TestTheStallGuardCountsEventsAtOneInstant(t *testing.T) {
	for _, limit := range []int{2, 10, 64, 65, 1000} {
		require.NoError(t, rally(limit, limit, never), "as many as allowed")
		var stall *StallError
		require.ErrorAs(t, rally(limit, limit+1, never), &stall, "one more")
		assert.Equal(t, Time(5), stall.At)
		assert.Equal(t, limit+1, stall.Events)
		assert.ElementsMatch(t, []string{"*engine.ping", "*engine.pong"}, stall.Handlers)
	}
	assert.EqualError(t, rally(10, 11, never),
		"no progress: 11 events ran at 5 ps without one op moving on; the last were handled by *engine.ping, *engine.pong")
	require.Error(t, rally(0, DefaultStallLimit+1, never), "the default")
	require.NoError(t, rally(0, DefaultStallLimit, never))
}

func TestProgressResetsTheStallGuard(t *testing.T) {
	require.NoError(t, rally(100, 200, 100), "100 events up to the progress and 100 after it")
	require.NoError(t, rally(100, 201, 100), "the 101st event makes it")
	require.Error(t, rally(100, 202, 100), "the 102nd would")
	require.Error(t, rally(100, 201, 101), "101 events after it")
}

func TestTheStallGuardNamesOnlyThoseWhoRanLast(t *testing.T) {
	e := New(Options{StallLimit: 10})
	for range 10 {
		e.At(1, discard{}, 0) // as many as allowed, at an earlier instant
		e.At(2, &drip{e: e}, 0)
	}
	e.At(2, &drip{e: e}, 0)
	var stall *StallError
	require.ErrorAs(t, e.Run(), &stall)
	assert.Equal(t, []string{"*engine.drip"}, stall.Handlers)
}

func TestTheStallGuardForgetsWhenTheClockMoves(t *testing.T) {
	e := New(Options{StallLimit: 2})
	for at := range Time(100) {
		e.At(at, call(func(uint64) {}), 0)
		e.At(at, call(func(uint64) {}), 0)
	}
	require.NoError(t, e.Run())
}

// drip keeps one event pending, a little later each time.
type drip struct {
	e *Engine
	c Counter
	n int
}

func (d *drip) Handle(arg uint64) {
	if d.n--; d.n > 0 {
		d.c.WaitAtLeast(d.c.Value()+1, discard{}, 0)
		d.c.Add(d.e, 1)
		d.e.After(Duration(arg), d, (arg*5+1)%4096)
	}
}

type discard struct{}

func (discard) Handle(uint64) {}

func TestAnEventAllocatesNothing(t *testing.T) {
	var e Engine
	d := &drip{e: &e}
	run := func() {
		d.n = 2000
		e.After(0, d, 1)
		_ = e.Run()
	}
	run() // once, to grow the pools
	assert.Zero(t, testing.AllocsPerRun(5, run))
}
