package ub_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
	"pldperf/hw/memory"
	"pldperf/hw/ub"
)

// rig is a ring over memory that costs nothing, so that the pipes alone set the pace.
type rig struct {
	eng    *engine.Engine
	mem    *memory.Space
	pipes  ub.Pipes
	ring   ub.Ring
	sizes  []int64
	starts []engine.Time // of the loads: the next piece is asked for when one starts
	at     map[uint64]engine.Time
	off    int64
}

const (
	clock = engine.Hertz(1_000_000_000) // a cycle is a nanosecond
	ns    = engine.Nanosecond
)

// spec has pipes of 1 GB/s, so that a byte takes a nanosecond.
func spec() ub.Spec {
	return ub.Spec{Kind: "real", Usable: 1 << 20, Stages: 8, Stage: 1024, Load: 1e9, Store: 1e9}
}

func newRig(t require.TestingT, s *ub.Spec, sizes ...int64) *rig {
	r := &rig{eng: engine.New(engine.Options{}), sizes: sizes, at: map[uint64]engine.Time{}}
	r.mem = memory.New(r.eng, memory.Spec{Kind: "ideal"}, memory.Options{Ranks: 1, Bytes: true, Clock: clock})
	for _, name := range []string{"from", "to"} {
		_, err := r.mem.Alloc(memory.Buffer{Name: name, Size: 1 << 20, Fill: memory.Unique{ID: memory.ID(len(name))}})
		require.NoError(t, err)
	}
	r.pipes.Init(r.eng, 1, s, r.mem, clock, engine.One)
	r.ring.Init(r.eng, s, &r.pipes, r.mem, 1)
	return r
}

// Next implements ub.Source.
func (r *rig) Next() (ub.Piece, bool) {
	r.starts = append(r.starts, r.eng.Now())
	if len(r.starts) > len(r.sizes) {
		return ub.Piece{}, false
	}
	n := r.sizes[len(r.starts)-1]
	p := ub.Piece{Src: memory.Addr{Buf: 0, Off: r.off}, Dst: memory.Addr{Buf: 1, Off: r.off}, N: n}
	r.off += n
	return p, true
}

// Handle notes when the ring told what.
func (r *rig) Handle(arg uint64) { r.at[arg] = r.eng.Now() }

var tags = ub.Tags{Issued: 1, Loaded: 2, Idle: 3}

func (r *rig) run(t require.TestingT) engine.Duration {
	require.True(t, r.ring.Start(r, r, tags))
	require.NoError(t, r.eng.Run())
	require.False(t, r.ring.Busy())
	r.starts = r.starts[1:] // the first piece is asked for before its load
	return r.at[tags.Idle].Sub(0)
}

func same(n int, size int64) (out []int64) {
	for range n {
		out = append(out, size)
	}
	return out
}

func TestTheSteadyStateIsTheSlowerOfTheTwoPipes(t *testing.T) {
	const n, size = 100, 500 // 500 ns at 1 GB/s
	for _, x := range []struct {
		load, store engine.Rate
		want        engine.Duration
	}{
		{1e9, 1e9, 500*ns + n*500*ns},  // the first load, then stores end to end
		{1e9, 5e8, 500*ns + n*1000*ns}, // MTE3 at half the rate
		{5e8, 1e9, n*1000*ns + 500*ns}, // loads end to end, then the last store
		{1e9, engine.Unlimited, n * 500 * ns},
		{engine.Unlimited, 1e9, n * 500 * ns},
	} {
		s := spec()
		s.Load, s.Store = x.load, x.store
		assert.Equal(t, x.want, newRig(t, &s, same(n, size)...).run(t), "load %v, store %v", x.load, x.store)
	}
}

func TestOneStageIsTheSumOfLoadStoreAndLatency(t *testing.T) {
	s := spec()
	s.Stages, s.StoreLatency, s.Store = 1, 7, 5e8
	r := newRig(t, &s, same(20, 100)...)
	assert.Equal(t, 20*(100+200+7)*ns, r.run(t))
	assert.Equal(t, int64(19), r.ring.Stats.Waits)
	assert.Equal(t, 19*(200+7)*ns, r.ring.Stats.WaitTime, "each load but the first waits for the store before it")
}

func TestPieceEightIsTheFirstThatWaitsAndItWaitsForStoreZeroAlone(t *testing.T) {
	s := spec()
	s.Store, s.StoreLatency = 1e8, 3 // a store takes ten times a load
	r := newRig(t, &s, same(12, 100)...)
	r.run(t)
	for m := range 8 {
		assert.Equal(t, engine.Time(m)*engine.Time(100*ns), r.starts[m], "load %d follows the one before", m)
	}
	// Store 0 begins at 100 ns, ends at 1,100 ns and is visible at 1,103 ns.
	assert.Equal(t, engine.Time(1103*ns), r.starts[8])
	assert.Equal(t, engine.Time(2103*ns), r.starts[9], "and piece 9 for store 1")
	assert.Equal(t, int64(4), r.ring.Stats.Waits)
	assert.Equal(t, engine.Time(r.starts[11]), r.at[tags.Issued])
	assert.Equal(t, r.starts[11].Add(100*ns), r.at[tags.Loaded])
}

func TestALoadThatMTE2WouldHaveHeldUpAnywayIsNoStageWait(t *testing.T) {
	s := spec()
	r := newRig(t, &s, same(40, 100)...)
	r.run(t)
	assert.Zero(t, r.ring.Stats.Waits)
	assert.Zero(t, r.ring.Stats.WaitTime)
	assert.Equal(t, int64(40), r.ring.Stats.Pieces)
}

func TestLoadsOverlapEarlierStores(t *testing.T) {
	s := spec()
	r := newRig(t, &s, same(10, 100)...)
	r.run(t)
	mte2, mte3, both := r.pipes.Busy()
	assert.Equal(t, []engine.Duration{1000 * ns, 1000 * ns, 900 * ns}, []engine.Duration{mte2, mte3, both}, "all but the first load and the last store")

	s.Stages = 1
	r = newRig(t, &s, same(10, 100)...)
	r.run(t)
	_, _, both = r.pipes.Busy()
	assert.Zero(t, both)
}

func TestAnInstructionTakesAtLeastItsIssueTime(t *testing.T) {
	s := spec()
	s.Issue = 38
	assert.Equal(t, (38*10+38)*ns, newRig(t, &s, same(10, 4)...).run(t))
}

func TestTheIdealTwinCostsNothing(t *testing.T) {
	s := spec()
	s.Kind = "ideal"
	r := newRig(t, &s, same(30, 100)...)
	assert.Zero(t, r.run(t))
	assert.Equal(t, int64(30), r.ring.Stats.Pieces)
}

func TestARingWithoutPiecesDoesNotStart(t *testing.T) {
	s := spec()
	r := newRig(t, &s)
	assert.False(t, r.ring.Start(r, r, tags))
	assert.False(t, r.ring.Busy())
}

// TestAnyRingMatchesTheRecurrence computes each piece's times from those before it:
// load m follows load m-1 and store m-S; store m follows store m-1 and load m.
func TestAnyRingMatchesTheRecurrence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := spec()
		s.Stages = rapid.IntRange(1, 9).Draw(t, "stages")
		s.Load = engine.Rate(rapid.IntRange(1, 40).Draw(t, "load")) * 1e8
		s.Store = engine.Rate(rapid.IntRange(1, 40).Draw(t, "store")) * 1e8
		s.Issue = engine.Cycles(rapid.IntRange(0, 60).Draw(t, "issue"))
		s.StoreLatency = engine.Cycles(rapid.IntRange(0, 300).Draw(t, "latency"))
		sizes := rapid.SliceOfN(rapid.Int64Range(1, 1024), 1, 60).Draw(t, "sizes")
		r := newRig(t, &s, sizes...)
		end := r.run(t)

		issue, visible := clock.Span(s.Issue), clock.Span(s.StoreLatency)
		var load, store engine.Time // when the pipes are free
		done := make([]engine.Time, len(sizes))
		waits := int64(0)
		for m, n := range sizes {
			start := load
			if m >= s.Stages && done[m-s.Stages] > start {
				start, waits = done[m-s.Stages], waits+1
			}
			require.Equal(t, start, r.starts[m], "load %d", m)
			load = start.Add(max(issue, s.Load.Span(engine.Bytes(n))))
			store = max(store, load).Add(max(issue, s.Store.Span(engine.Bytes(n))))
			done[m] = store.Add(visible)
		}
		require.Equal(t, done[len(done)-1].Sub(0), end)
		require.Equal(t, waits, r.ring.Stats.Waits)
		var from, to memory.Data
		r.mem.Capture(&from, memory.Addr{Buf: 0}, r.off)
		r.mem.Capture(&to, memory.Addr{Buf: 1}, r.off)
		require.Equal(t, from.Raw, to.Raw)
	})
}

func TestTheStagesMustFitInTheUnifiedBuffer(t *testing.T) {
	faults := func(s ub.Spec) (paths []string) {
		s.Check(func(path, _ string, _ ...any) { paths = append(paths, path) })
		return paths
	}
	s := spec()
	assert.Empty(t, faults(s))
	s.Usable = 8*1024 - 1
	assert.Equal(t, []string{"stages"}, faults(s))
	s = spec()
	s.Stage = 31
	assert.Equal(t, []string{"stage"}, faults(s))
}
