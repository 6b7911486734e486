package timeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
	"pldperf/hw/timeline"
)

// notes is a Sink that writes down what it is told.
type notes struct {
	places []timeline.Place // from track 1 on
	lines  []string
	refuse func(p *timeline.Place) bool
}

func (n *notes) Open(_ timeline.Track, p *timeline.Place) bool {
	n.places = append(n.places, *p)
	return n.refuse == nil || !n.refuse(p)
}

func (n *notes) say(t timeline.Track, format string, args ...any) {
	p := &n.places[t-1]
	n.lines = append(n.lines, fmt.Sprintf("%d %s %s.%d: ", p.Rank, p.Group, p.Name, p.Lane)+fmt.Sprintf(format, args...))
}

func (n *notes) Begin(t timeline.Track, at engine.Time, name string) { n.say(t, "%d [ %s", at, name) }
func (n *notes) End(t timeline.Track, at engine.Time)                { n.say(t, "%d ]", at) }
func (n *notes) Span(t timeline.Track, s *timeline.Span) {
	n.say(t, "%d-%d %s %d B peer %d", s.Begin, s.End, s.Name, s.Bytes, s.Peer)
}
func (n *notes) Count(t timeline.Track, at engine.Time, v int64)       { n.say(t, "%d = %d", at, v) }
func (n *notes) Instant(t timeline.Track, at engine.Time, name string) { n.say(t, "%d ! %s", at, name) }

// take returns what was written since the last time.
func (n *notes) take() []string {
	l := n.lines
	n.lines = nil
	return l
}

func TestWithoutASinkNothingIsKept(t *testing.T) {
	r := timeline.New(nil)
	require.Nil(t, r)
	b, q, s := r.Launch(0, 0, nil, 0, "launch"), r.Queue(0, 1), r.Server(timeline.Place{}, true)
	assert.Nil(t, b)
	assert.Nil(t, q)
	assert.Nil(t, s)
	b.Carve(0, 1, "")
	b.Work(timeline.MTE2, 0, 1, "", 0, 0)
	b.Remote(timeline.MTE2, 0, 1, "", 0)
	b.Stages(0, 0)
	b.Instant(0, "")
	b.Held(0, 1)
	b.Done(0, true)
	q.Depth(0, 0)
	q.Over(nil)
	s.Carry(0, 1, 1, "", 0)
	r.Called(0, nil, 0, 1)
	r.Close(0)
}

func TestABlocksTimeIsInItsPhasesAndItsCall(t *testing.T) {
	var n notes
	r := timeline.New(&n)
	b := r.Launch(2, 5, &timeline.Call{Name: "push"}, 10, "launch")
	b.Turn(20, "signal_wait", "wait", "ready", 0, -1)
	b.Turn(20, "scalar", "spend", "ready", 1, -1) // the wait took no time
	b.Turn(30, "scalar", "spend", "ready", 1, -1) // goes on
	b.Turn(40, "mte2", "put", "move", 2, 3)
	b.Carve(45, 50, "stage_wait")
	b.Turn(60, "idle", "end", "", -1, -1)
	b.Done(60, true)
	assert.Equal(t, []string{
		"2 AIV 0 SCALAR.0: 10 [ push, block 5", "2 AIV 0 SCALAR.0: 10-20 launch 0 B peer -1",
		"2 AIV 0 SCALAR.0: 20 [ ready", "2 AIV 0 SCALAR.0: 20-40 scalar 0 B peer -1", "2 AIV 0 SCALAR.0: 40 ]",
		"2 AIV 0 SCALAR.0: 40 [ move", "2 AIV 0 SCALAR.0: 40-45 mte2 0 B peer 3", "2 AIV 0 SCALAR.0: 45-50 stage_wait 0 B peer 3",
		"2 AIV 0 SCALAR.0: 50-60 mte2 0 B peer 3", "2 AIV 0 SCALAR.0: 60 ]", "2 AIV 0 SCALAR.0: 60 ]",
	}, n.take())
}

// holders is a Sink that writes down for whom blocks wait.
type holders struct {
	notes
}

func (n *holders) Span(t timeline.Track, s *timeline.Span) {
	n.say(t, "%d-%d %s for %d", s.Begin, s.End, s.Name, s.Holder)
}

func TestAWaitNamesItsHolderWhenItIsOver(t *testing.T) {
	var n holders
	r := timeline.New(&n)
	b := r.Launch(0, 0, &timeline.Call{Name: "push"}, 0, "launch")
	b.Turn(10, "signal_wait", "wait", "", 0, -1)
	b.Held(20, 3)
	b.Held(25, 3)
	b.Held(30, 4) // the same wait goes on for another
	b.Held(35, timeline.NoRank)
	b.Turn(35, "scalar", "spend", "", 1, -1)
	b.Turn(40, "cqe_wait", "flush", "", 2, 1)
	b.Held(50, 1)
	b.Turn(50, "idle", "end", "", -1, -1)
	b.Done(50, true)
	var spans []string
	for _, l := range n.take() {
		if _, text, ok := strings.Cut(l, "SCALAR.0: "); ok && strings.Contains(text, " for ") {
			spans = append(spans, text)
		}
	}
	assert.Equal(t, []string{
		"0-10 launch for -2", "10-25 signal_wait for 3", "25-30 signal_wait for 4", "30-35 signal_wait for -1", "35-40 scalar for -2", "40-50 cqe_wait for 1",
	}, spans)
}

// A server that rests must not tell of what it did at the end of the run: a sink that is full by then would lack it.
func TestWhatAServerDidLongAgoIsToldWhileOthersGoOn(t *testing.T) {
	var n notes
	r := timeline.New(&n)
	a, b := r.Server(timeline.Place{Kind: timeline.Port, Name: "early"}, true), r.Server(timeline.Place{Kind: timeline.SDMA, Name: "late"}, false)
	a.Carry(0, us, 1000, "send", 1)
	for i := engine.Time(0); i < 100; i++ {
		b.Carry(i*us, (i+1)*us, 10, "put", int(i%2))
	}
	early := slices.DeleteFunc(n.take(), func(s string) bool { return !strings.Contains(s, "early") })
	assert.Equal(t, []string{"0  early.0: 0-1000000 send 1000 B peer 1", "0  early rate.0: 0 = 1000000000", "0  early rate.0: 1000000 = 0"}, early)
	r.Close(100 * us)
	assert.NotContains(t, strings.Join(n.take(), "\n"), "early", "and not again")
}

// An AIV is free for the next block when the last has ended, unless it still stores for it.
func TestABlockTakesTheFirstFreeAIV(t *testing.T) {
	var n notes
	r := timeline.New(&n)
	c := &timeline.Call{Name: "c"}
	at := func(b *timeline.Block) string {
		b.Work(timeline.MTE2, 1, 2, "load", 8, -1)
		l := n.take()
		return l[len(l)-1]
	}
	a, b := r.Launch(0, 0, c, 0, "launch"), r.Launch(0, 1, c, 0, "launch")
	assert.Equal(t, "0 AIV 0 MTE2.0: 1-2 load 8 B peer -1", at(a))
	assert.Equal(t, "0 AIV 1 MTE2.0: 1-2 load 8 B peer -1", at(b))
	assert.Equal(t, "1 AIV 0 MTE2.0: 1-2 load 8 B peer -1", at(r.Launch(1, 1, c, 0, "launch")))
	a.Done(5, false)
	b.Done(5, true)
	assert.Equal(t, "0 AIV 1 MTE2.0: 1-2 load 8 B peer -1", at(r.Launch(0, 0, c, 5, "launch")))
	assert.Equal(t, "0 AIV 2 MTE2.0: 1-2 load 8 B peer -1", at(r.Launch(0, 1, c, 5, "launch")))
	r.Close(9)
	assert.Len(t, n.take(), 3*3, "a call, its launch and its end for each block that has not ended")
}

func TestSQEsThatOverlapGoToLanesOfTheirOwn(t *testing.T) {
	n := notes{refuse: func(p *timeline.Place) bool { return p.Rank == 9 }}
	r := timeline.New(&n)
	assert.Nil(t, r.Queue(9, 1))
	q := r.Queue(0, 3)
	q.Depth(4, 12)
	assert.Equal(t, []string{"0 URMA to rank 3 SQ depth.0: 4 = 12"}, n.take())
	q.Over(&timeline.SQE{Bytes: 7, Fetch: 10, Gather: 20, Wire: 30, Left: 40, Land: 50, Ack: 60, Done: 70})
	q.Over(&timeline.SQE{Seq: 1, Bytes: 7, Read: true, Fetch: 15, Gather: 20, Wire: 30, Land: 80})
	q.Over(&timeline.SQE{Seq: 2, Bytes: 7, Fetch: 70, Gather: 75}) // all that a run that is cut knows
	q.Over(&timeline.SQE{Seq: 3})
	assert.Equal(t, []string{
		"0 URMA to rank 3 SQE.0: 10 [ WRITE", "0 URMA to rank 3 SQE.0: 10-20 fetch 7 B peer 3", "0 URMA to rank 3 SQE.0: 20-30 gather 7 B peer 3",
		"0 URMA to rank 3 SQE.0: 30-40 wire 7 B peer 3", "0 URMA to rank 3 SQE.0: 40-50 land 7 B peer 3", "0 URMA to rank 3 SQE.0: 50-60 ack 7 B peer 3",
		"0 URMA to rank 3 SQE.0: 60-70 cqe 7 B peer 3", "0 URMA to rank 3 SQE.0: 70 ]",
		"0 URMA to rank 3 SQE.1: 15 [ READ", "0 URMA to rank 3 SQE.1: 15-20 fetch 7 B peer 3", "0 URMA to rank 3 SQE.1: 20-30 gather 7 B peer 3",
		"0 URMA to rank 3 SQE.1: 30-80 land 7 B peer 3", "0 URMA to rank 3 SQE.1: 80 ]",
		"0 URMA to rank 3 SQE.0: 70 [ WRITE", "0 URMA to rank 3 SQE.0: 70-75 fetch 7 B peer 3", "0 URMA to rank 3 SQE.0: 75 ]",
	}, n.take())
}

func TestCallsThatOverlapGoToLanesOfTheirOwn(t *testing.T) {
	var n notes
	r := timeline.New(&n)
	r.Called(1, &timeline.Call{Name: "a"}, 0, 10)
	r.Called(1, &timeline.Call{Name: "b"}, 5, 10)
	r.Called(1, &timeline.Call{Name: "c"}, 10, 20)
	r.Called(1, &timeline.Call{Name: "nothing"}, 20, 20)
	assert.Equal(t, []string{"1  calls.0: 0-10 a 0 B peer -1", "1  calls.1: 5-10 b 0 B peer -1", "1  calls.0: 10-20 c 0 B peer -1"}, n.take())
}

const us = engine.Time(engine.Microsecond)

func TestWhatAServerDoesWithoutAGapIsOneSpan(t *testing.T) {
	var n notes
	r := timeline.New(&n)
	s := r.Server(timeline.Place{Kind: timeline.SDMA, Name: "channel"}, false)
	s.Carry(0, 10, 5, "put", 1)
	s.Carry(10, 20, 5, "put", 1)
	s.Carry(20, 30, 5, "put", 2)
	s.Carry(31, 40, 5, "put", 2)
	s.Carry(40, 40, 5, "put", 2) // an ideal part takes no time
	r.Close(50)
	assert.Equal(t, []string{"0  channel.0: 0-20 put 10 B peer 1", "0  channel.0: 20-30 put 5 B peer 2", "0  channel.0: 31-40 put 5 B peer 2"}, n.take())
}

// 1000 B in 1 us are 1 GB/s. A rate that goes on is not repeated, and one that ends is 0.
func TestARateIsTheMeanOfAMicrosecond(t *testing.T) {
	var n notes
	r := timeline.New(&n)
	s := r.Server(timeline.Place{Kind: timeline.Port, Name: "port"}, true)
	s.Carry(us/2, us, 500, "send", 1)
	s.Carry(us, 4*us, 3000, "send", 1)
	s.Carry(4*us, 4*us+us/4, 500, "send", 1)
	s.Carry(9*us, 10*us, 1000, "send", 1)
	r.Close(10 * us)
	var rates []string
	for _, l := range n.take() {
		if l[:12] == "0  port rate" {
			rates = append(rates, l[16:])
		}
	}
	assert.Equal(t, []string{
		"0 = 500000000", "1000000 = 1000000000", "4000000 = 500000000", "5000000 = 0", "9000000 = 1000000000", "10000000 = 0",
	}, rates)
}

// The rates of all bins are the bytes, but for changes of less than one in 32.
func TestRatesAddUpToTheBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n notes
		r := timeline.New(&n)
		s := r.Server(timeline.Place{Kind: timeline.Memory, Name: "HBM"}, true)
		at, total := engine.Time(0), int64(0)
		for range rapid.IntRange(1, 30).Draw(t, "n") {
			at += engine.Time(rapid.IntRange(0, 3_000_000).Draw(t, "gap"))
			end := at + engine.Time(rapid.IntRange(1, 5_000_000).Draw(t, "span"))
			size := rapid.Int64Range(1, 1<<40).Draw(t, "bytes")
			s.Carry(at, end, size, "busy", -1)
			at, total = end, total+size
		}
		r.Close(at)
		var sum, rate float64
		last := engine.Time(0)
		for i := range n.lines {
			var when engine.Time
			var v int64
			if k, _ := fmt.Sscanf(n.lines[i], "0  HBM rate.0: %d = %d", &when, &v); k == 2 {
				sum += rate * float64(when-last) / 1e12
				last, rate = when, float64(v)
			}
		}
		assert.Zero(t, rate, "it ends at 0")
		assert.InEpsilon(t, float64(total), sum, 1.0/32+1e-6)
	})
}

func TestATeeTellsEachSinkWhatItWants(t *testing.T) {
	assert.Nil(t, timeline.Tee(nil, nil))
	var all notes
	assert.Same(t, &all, timeline.Tee(nil, &all))
	blocks := notes{refuse: func(p *timeline.Place) bool { return p.Kind != timeline.Scalar }}
	none := notes{refuse: func(*timeline.Place) bool { return true }}
	r := timeline.New(timeline.Tee(&all, &blocks, &none))
	b := r.Launch(0, 0, &timeline.Call{Name: "c"}, 0, "launch")
	b.Turn(5, "scalar", "", "", 0, -1)
	b.Instant(6, "here")
	b.Stages(6, 2)
	b.Work(timeline.MTE2, 6, 7, "load", 1, -1)
	b.Done(8, true)
	assert.Len(t, all.take(), 7)
	assert.Len(t, blocks.take(), 5)
	assert.Empty(t, none.take())
}
