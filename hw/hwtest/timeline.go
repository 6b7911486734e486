package hwtest

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/timeline"
)

// Watcher is a timeline.Sink that checks what every Sink may rely on, and sums up what
// blocks spend.
type Watcher struct {
	t      require.TestingT
	Spent  map[Spending]engine.Duration
	Busy   map[timeline.Place]engine.Duration // by place, its lane 0
	Bytes  map[timeline.Place]int64
	Kinds  map[timeline.Kind]int // events of each
	tracks []watched
}

// Spending is what a block spends in a call for a reason.
type Spending struct {
	Call, Rank, Block int
	Reason            string
}

type watched struct {
	place timeline.Place
	stack []engine.Time // begins of what is open
	end   engine.Time   // of the last span, or the time of the last value
}

// Watch returns a Watcher that fails t, a test or a run of a property.
func Watch(t require.TestingT) *Watcher {
	return &Watcher{
		t: t, Spent: map[Spending]engine.Duration{}, Busy: map[timeline.Place]engine.Duration{}, Bytes: map[timeline.Place]int64{},
		Kinds: map[timeline.Kind]int{}, tracks: make([]watched, 1),
	}
}

// Open implements timeline.Sink.
func (w *Watcher) Open(t timeline.Track, p *timeline.Place) bool {
	require.Equal(w.t, len(w.tracks), int(t), "tracks are numbered")
	assert.Equal(w.t, p.Kind.Counter(), p.Unit != "", "%+v", *p)
	assert.NotEmpty(w.t, p.Name)
	w.tracks = append(w.tracks, watched{place: *p})
	return true
}

func (w *Watcher) on(t timeline.Track, counter bool) *watched {
	x := &w.tracks[t]
	require.Equal(w.t, counter, x.place.Kind.Counter(), "%+v", x.place)
	w.Kinds[x.place.Kind]++
	return x
}

// after requires that what is told begins when what was told before has ended.
func (w *Watcher) after(x *watched, at engine.Time) {
	require.GreaterOrEqual(w.t, at, x.end, "%+v", x.place)
	x.end = at
}

// Begin implements timeline.Sink.
func (w *Watcher) Begin(t timeline.Track, at engine.Time, name string) {
	x := w.on(t, false)
	assert.NotEmpty(w.t, name)
	w.after(x, at)
	x.stack = append(x.stack, at)
}

// End implements timeline.Sink.
func (w *Watcher) End(t timeline.Track, at engine.Time) {
	x := w.on(t, false)
	require.NotEmpty(w.t, x.stack, "%+v", x.place)
	w.after(x, at)
	x.stack = x.stack[:len(x.stack)-1]
}

// Span implements timeline.Sink.
func (w *Watcher) Span(t timeline.Track, s *timeline.Span) {
	x := w.on(t, false)
	require.Less(w.t, s.Begin, s.End, "%+v", x.place)
	assert.NotEmpty(w.t, s.Name)
	w.after(x, s.Begin)
	w.after(x, s.End)
	p, d := x.place, s.End.Sub(s.Begin)
	if p.Kind == timeline.Scalar {
		require.NotNil(w.t, s.Call)
		w.Spent[Spending{s.Call.ID, p.Rank, s.Block, s.Name}] += d
	}
	p.Lane = 0
	w.Busy[p] += d
	w.Bytes[p] += s.Bytes
}

// Count implements timeline.Sink.
func (w *Watcher) Count(t timeline.Track, at engine.Time, value int64) {
	x := w.on(t, true)
	w.after(x, at)
	assert.GreaterOrEqual(w.t, value, int64(0), "%+v", x.place)
}

// Instant implements timeline.Sink.
func (w *Watcher) Instant(t timeline.Track, _ engine.Time, name string) {
	w.on(t, false)
	assert.NotEmpty(w.t, name)
}

// Closed requires that nothing is open.
func (w *Watcher) Closed() {
	for i := range w.tracks {
		assert.Empty(w.t, w.tracks[i].stack, "%+v", w.tracks[i].place)
	}
}
