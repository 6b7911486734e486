package sdma

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
	"pldperf/hw/fabric"
	"pldperf/hw/memory"
)

const (
	ns = engine.Nanosecond
)

// nominal is the system DMA of A2/A3.
func nominal() Spec {
	return Spec{
		Kind: "real", Channels: 4, Depth: 2048, Block: 1 << 20, Least: 64, Rate: 20_960_000_000,
		Fixed: 2490 * ns, Issue: 200 * ns, SQE: 50 * ns, Poll: 250 * ns,
	}
}

// A rig is two ranks with a DMA at rank 0, a full buffer and an empty one.
type rig struct {
	eng       *engine.Engine
	mem       *memory.Space
	net       fabric.Fabric
	dma       *DMA
	full, out memory.ID
}

func newRig(t require.TestingT, spec Spec) *rig {
	r := &rig{eng: engine.New(engine.Options{})}
	r.mem = memory.New(r.eng, memory.Spec{Kind: "ideal"}, memory.Options{Ranks: 2, Clock: 1.65e9})
	var err error
	r.full, err = r.mem.Alloc(memory.Buffer{Name: "full", Window: true, Size: 1 << 24, Fill: memory.Unique{}})
	require.NoError(t, err)
	r.out, err = r.mem.Alloc(memory.Buffer{Name: "out", Window: true, Size: 1 << 24})
	require.NoError(t, err)
	r.net, err = fabric.New(r.eng, fabric.Default(), 2)
	require.NoError(t, err)
	r.dma = New(r.eng, spec, r.mem, r.net, 0)
	return r
}

// then calls a function at an event.
type then func()

func (f then) Handle(uint64) { f() }

// put moves n bytes at off of the full buffer to the same place of the peer's empty one,
// get the other way.
func (r *rig) put(off, n int64) Move {
	return Move{Local: memory.Addr{Buf: r.full, Off: off}, Remote: memory.Addr{Rank: 1, Buf: r.out, Off: off}, N: n}
}

func (r *rig) get(off, n int64) Move {
	return Move{Local: memory.Addr{Buf: r.out, Off: off}, Remote: memory.Addr{Rank: 1, Buf: r.full, Off: off}, N: n, Get: true}
}

// span submits moves to a channel and returns when they have completed.
func (r *rig) span(t require.TestingT, ch int, moves ...Move) (d engine.Duration) {
	begin := r.eng.Now()
	require.NoError(t, r.dma.Submit(ch, moves, then(func() { d = r.eng.Now().Sub(begin) }), 0))
	require.NoError(t, r.eng.Run())
	return d
}

// moved reports whether exactly the first n bytes of the empty buffer have come from the
// other rank's full one.
func (r *rig) moved(rank int, n int64) bool {
	v := r.mem.Verify(rank, r.out)
	v.Expect(0, n, memory.Origin{Rank: int32(1 - rank), Buf: r.full})
	v.Expect(n, 1<<24-n, memory.Origin{Rank: int32(rank), Buf: r.out})
	return v.Done()
}

// What the AIV does itself is no part of a span: 2.49 us less 0.2 and 0.25.
func TestALoneMoveTakesTheFixedTimeAndItsBytes(t *testing.T) {
	s := nominal()
	for _, n := range []int64{1, 64, 65, 4096, 1 << 20} {
		want := 2040*ns + s.Rate.Span(max(engine.Bytes(n), 64))
		put, get := newRig(t, s), newRig(t, s)
		assert.Equal(t, want, put.span(t, 0, put.put(0, n)))
		assert.Equal(t, want, get.span(t, 0, get.get(0, n)))
		assert.True(t, put.moved(1, n))
		assert.True(t, get.moved(0, n))
		busy, bytes := put.dma.Busy()
		assert.Equal(t, s.Rate.Span(max(engine.Bytes(n), 64)), busy)
		assert.EqualValues(t, n, bytes)
	}
}

func TestAChannelMovesOneAfterAnotherAndChannelsAtOnce(t *testing.T) {
	s := nominal()
	one := s.Rate.Span(1 << 20)
	r := newRig(t, s)
	assert.Equal(t, 2040*ns+3*one, r.span(t, 0, r.put(0, 1<<20), r.put(1<<20, 1<<20), r.put(2<<20, 1<<20)), "the start-up is paid once")
	r = newRig(t, s)
	var last engine.Time
	for ch := range 2 {
		require.NoError(t, r.dma.Submit(ch, []Move{r.put(int64(ch)<<20, 1<<20)}, then(func() { last = r.eng.Now() }), 0))
	}
	require.NoError(t, r.eng.Run())
	assert.Equal(t, engine.Time(0).Add(2040*ns+one), last, "41.9 of 53.1 GB/s")
	assert.True(t, r.moved(1, 2<<20))
}

func TestTheFabricLimitsManyChannels(t *testing.T) {
	s := nominal()
	r := newRig(t, s)
	var last engine.Time
	for ch := range 4 {
		for i := range 3 {
			require.NoError(t, r.dma.Submit(ch, []Move{r.put(int64(3*ch+i)<<20, 1<<20)}, then(func() { last = r.eng.Now() }), 0))
		}
	}
	require.NoError(t, r.eng.Run())
	assert.InEpsilon(t, float64(r.net.Pair(0, 1).Span(12<<20)+2040*ns), float64(last), 0.02)
}

func TestAMoveSamplesWhenItsChannelComesToIt(t *testing.T) {
	begins := 2040*ns - 700*ns // the way there and back comes behind
	for _, x := range []struct {
		get     bool
		at      engine.Duration
		version uint32
	}{{false, begins - 1, 1}, {false, begins + 1, 0}, {true, begins + 350*ns - 1, 1}, {true, begins + 350*ns + 1, 0}} {
		r := newRig(t, nominal())
		m, rank := r.put(0, 4096), 1
		if x.get {
			m, rank = r.get(0, 4096), 0
		}
		r.eng.At(engine.Time(0).Add(x.at), then(func() { r.mem.Rewrite(1-rank, r.full, nil) }), 0)
		r.span(t, 0, m)
		v := r.mem.Verify(rank, r.out)
		v.Expect(0, 4096, memory.Origin{Rank: int32(1 - rank), Buf: r.full, Version: x.version})
		v.Any(4096, 1<<24-4096)
		assert.True(t, v.Done(), "%+v", x)
	}
}

func TestARingHoldsItsDepth(t *testing.T) {
	s := nominal()
	s.Depth = 2
	r := newRig(t, s)
	h := then(func() {})
	require.NoError(t, r.dma.Submit(1, []Move{r.put(0, 64)}, h, 0))
	require.NoError(t, r.dma.Submit(1, []Move{r.put(64, 64)}, h, 0))
	assert.EqualError(t, r.dma.Submit(1, []Move{r.put(128, 64)}, h, 0), "SDMA channel 1 of rank 0 would hold 3 SQEs, but its depth is 2")
	require.NoError(t, r.dma.Submit(0, []Move{r.put(128, 64)}, h, 0), "another channel has room")
	require.NoError(t, r.eng.Run())
	require.NoError(t, r.dma.Submit(1, []Move{r.put(192, 64), r.put(256, 64)}, h, 0), "and so has this one now")
	require.NoError(t, r.eng.Run())
	assert.True(t, r.moved(1, 320))
}

func TestMovesOfAnySizesArriveAndCompleteInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRig(t, nominal())
		get := rapid.Bool().Draw(t, "get")
		var at int64
		var order []int
		for i := range rapid.IntRange(1, 8).Draw(t, "doorbells") {
			var moves []Move
			for range rapid.IntRange(1, 4).Draw(t, "moves") {
				n := rapid.Int64Range(1, 1<<16).Draw(t, "n")
				m := r.put(at, n)
				if get {
					m = r.get(at, n)
				}
				at += n
				moves = append(moves, m)
			}
			require.NoError(t, r.dma.Submit(0, moves, then(func() { order = append(order, i) }), 0))
		}
		require.NoError(t, r.eng.Run())
		require.IsIncreasing(t, append([]int{-1}, order...))
		rank := 1
		if get {
			rank = 0
		}
		require.True(t, r.moved(rank, at))
		_, bytes := r.dma.Busy()
		require.EqualValues(t, at, bytes)
		require.Len(t, r.dma.unused, len(r.dma.works), "nothing is left under way")
	})
}

func TestASpecIsChecked(t *testing.T) {
	problems := func(change func(s *Spec)) (out []string) {
		s := nominal()
		change(&s)
		s.Check(func(path, format string, _ ...any) { out = append(out, path) })
		return out
	}
	assert.Empty(t, problems(func(*Spec) {}))
	assert.Equal(t, []string{"block"}, problems(func(s *Spec) { s.Block = 0 }))
	assert.Equal(t, []string{"rate"}, problems(func(s *Spec) { s.Rate = 0 }))
	assert.Equal(t, []string{"poll"}, problems(func(s *Spec) { s.Poll = -1 }))
	assert.Equal(t, []string{"fixed"}, problems(func(s *Spec) { s.Fixed = 400 * ns }))
	assert.Empty(t, problems(func(s *Spec) { *s = Spec{} }), "no SDMA at all")
}

func TestTheAIVPaysForIssueAndPoll(t *testing.T) {
	s := nominal()
	assert.Equal(t, 200*ns, s.IssueSpan(1))
	assert.Equal(t, 350*ns, s.IssueSpan(4))
	assert.Equal(t, 250*ns, s.PollTime())
	s.Kind = "ideal"
	assert.Zero(t, s.IssueSpan(4)+s.PollTime())
	r := newRig(t, s)
	assert.Equal(t, 700*ns+r.net.Pair(0, 1).Span(4096), r.span(t, 0, r.put(0, 4096)))
}

func TestAMoveAllocatesNothing(t *testing.T) {
	r := newRig(t, nominal())
	moves := []Move{r.put(0, 4096), r.put(4096, 4096)}
	h := then(func() {})
	all := func() {
		if r.dma.Submit(0, moves, h, 0) != nil || r.eng.Run() != nil {
			t.Fatal("not submitted")
		}
	}
	all()
	assert.Zero(t, testing.AllocsPerRun(10, all))
}
