package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// recorder notes what it is woken with, and schedules what its plan says.
type recorder struct {
	e    *Engine
	seen []seen
	plan map[uint64][]Duration // what to schedule when woken with an argument
	next uint64
}

type seen struct {
	at  Time
	arg uint64
}

func (r *recorder) Handle(arg uint64) {
	r.seen = append(r.seen, seen{r.e.Now(), arg})
	for _, d := range r.plan[arg] {
		r.next++
		r.e.After(d, r, r.next)
	}
}

// play runs a schedule: first delays, and for the i-th event what it schedules.
func play(t require.TestingT, queue string, start []Duration, plan map[uint64][]Duration) *recorder {
	e := New(Options{Queue: queue})
	r := &recorder{e: e, plan: plan}
	for _, d := range start {
		r.next++
		e.After(d, r, r.next)
	}
	require.NoError(t, e.Run())
	assert.Zero(t, e.Pending())
	assert.EqualValues(t, len(r.seen), e.Events())
	return r
}

func TestBothQueuesGiveTheSameOrderAndDigest(t *testing.T) {
	delay := rapid.OneOf(
		rapid.Just(Duration(0)),
		rapid.Map(rapid.Int64Range(0, 5), func(n int64) Duration { return Duration(n) }),
		rapid.Map(rapid.Int64Range(0, 1<<20), func(n int64) Duration { return Duration(n) }),
		rapid.Map(rapid.Int64Range(0, 1<<45), func(n int64) Duration { return Duration(n) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.SliceOfN(delay, 1, 60).Draw(t, "start")
		plan := rapid.MapOfN(rapid.Uint64Range(1, 200), rapid.SliceOfN(delay, 0, 3), 0, 80).Draw(t, "plan")
		a, b := play(t, Radix, start, plan), play(t, Reference, start, plan)
		assert.Equal(t, b.seen, a.seen)
		assert.Equal(t, b.e.Digest(), a.e.Digest())
		for i := 1; i < len(a.seen); i++ {
			assert.GreaterOrEqual(t, a.seen[i].at, a.seen[i-1].at)
			if a.seen[i].at == a.seen[i-1].at {
				assert.Greater(t, a.seen[i].arg, a.seen[i-1].arg, "events of one instant run in the order of scheduling")
			}
		}
	})
}

func TestTheDigestTellsOrderTimeAndArgumentApart(t *testing.T) {
	digest := func(start ...Duration) uint64 { return play(t, Radix, start, nil).e.Digest() }
	assert.Equal(t, digest(1, 2, 3), digest(1, 2, 3))
	assert.NotEqual(t, digest(1, 2), digest(2, 1), "the argument")
	assert.NotEqual(t, digest(1, 2), digest(1, 3), "the time")
	assert.NotEqual(t, digest(1), digest(1, 1), "the number")
}

func TestSchedulingInThePastOrForNobodyPanics(t *testing.T) {
	e := New(Options{})
	r := &recorder{e: e}
	e.At(5, r, 1)
	require.NoError(t, e.Run())
	assert.Panics(t, func() { e.At(4, r, 0) })
	assert.NotPanics(t, func() { e.At(5, r, 0) }, "now is not the past")
	assert.Panics(t, func() { e.At(6, nil, 0) })
	assert.Panics(t, func() { New(Options{Queue: "heap"}) })
}

// spinner schedules itself at the same instant, and makes progress now and then.
type spinner struct {
	e           *Engine
	left, every int
}

func (s *spinner) Handle(uint64) {
	if s.left--; s.left > 0 {
		s.e.After(0, s, 0)
		if s.every > 0 && s.left%s.every == 0 {
			s.e.Progress()
		}
	}
}

func TestTheStallGuardWatchesProgressNotEvents(t *testing.T) {
	run := func(events, every int) error {
		e := New(Options{StallLimit: 1000})
		e.At(7, &spinner{e, events, every}, 0)
		return e.Run()
	}
	assert.NoError(t, run(1000, 0), "the limit itself is allowed")
	err := run(1001, 0)
	var stall *StallError
	require.ErrorAs(t, err, &stall)
	assert.Equal(t, Time(7), stall.At)
	assert.Equal(t, []string{"*engine.spinner"}, stall.Handlers)
	assert.ErrorContains(t, err, "no progress")
	assert.NoError(t, run(100_000, 900), "a busy instant that moves on is none")
}

type stopper struct{ e *Engine }

func (s *stopper) Handle(uint64) { s.e.Stop() }

func TestStopKeepsWhatIsPending(t *testing.T) {
	for _, q := range []string{Radix, Reference} {
		e := New(Options{Queue: q})
		r := &recorder{e: e}
		e.At(1, &stopper{e}, 0)
		e.At(2, r, 9)
		require.NoError(t, e.Run())
		assert.Equal(t, 1, e.Pending())
		assert.Empty(t, r.seen)
		require.NoError(t, e.Run())
		assert.Equal(t, []seen{{2, 9}}, r.seen)
	}
}

func TestAServerServesInOrderOfArrival(t *testing.T) {
	var s Server
	b, e, prev := s.Reserve(10, 5, 1)
	assert.Equal(t, []any{Time(10), Time(15), uint32(0)}, []any{b, e, prev})
	b, e, prev = s.Reserve(14, 5, 2) // one picosecond too early
	assert.Equal(t, []any{Time(15), Time(20), uint32(1)}, []any{b, e, prev})
	b, _, _ = s.Reserve(20, 5, 3) // just free
	assert.Equal(t, Time(20), b)
	assert.Equal(t, Duration(15), s.Busy())
	assert.Equal(t, Time(25), s.Free())
	assert.Panics(t, func() { s.Reserve(30, -1, 0) })
}

func TestACounterWakesInOrderThroughTheQueue(t *testing.T) {
	e := New(Options{})
	r := &recorder{e: e}
	var c Counter
	assert.True(t, c.WaitAtLeast(0, r, 0))
	assert.False(t, c.WaitAtLeast(2, r, 1))
	assert.False(t, c.WaitAtLeast(1, r, 2))
	assert.False(t, c.WaitAtLeast(2, r, 3))
	c.Add(e, 1)
	assert.Empty(t, r.seen, "never by a call")
	assert.Equal(t, 2, c.Waiting())
	require.NoError(t, e.Run())
	c.Add(e, -1)
	c.Add(e, 2)
	require.NoError(t, e.Run())
	assert.Equal(t, []seen{{0, 2}, {0, 1}, {0, 3}}, r.seen)
	assert.Zero(t, c.Waiting())
	assert.EqualValues(t, 2, c.Value())
}

func TestAnEventAllocatesNothing(t *testing.T) {
	e := New(Options{})
	h := &holder{e: e}
	for i := range 1024 {
		e.At(Time(i), h, 0)
	}
	h.left = 5000
	require.NoError(t, e.Run()) // warm-up: nodes for the peak
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		h.left = 5000
		for i := range 1024 {
			e.After(Duration(i), h, 0)
		}
		if err := e.Run(); err != nil {
			t.Error(err)
		}
	}))
}
