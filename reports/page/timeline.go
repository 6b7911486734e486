package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"fmt"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/hw/timeline"
	"pldperf/reports/traces"
)

// DefaultSpans is how many spans and values a Timeline keeps unless Limit says otherwise:
// what a browser draws without trouble, in about 5 MB of the page.
const DefaultSpans = 1_000_000

// Timeline is a timeline.Sink that keeps what is seen of a run for the page's swimlane:
// every span and value up to a limit, packed as it comes. What comes beyond the limit is
// left out, and the page says from when on.
type Timeline struct {
	Limit   int64 // spans and values; 0: DefaultSpans
	tracks  []track
	words   index[string]
	details index[detail]
	kept    int64
	dropped int64
	cut     engine.Time // nothing that ends before is lacking
	sent    map[pair]int64
}

// pair is the traffic from a rank to another.
type pair struct{ from, to int }

// track is what a Timeline keeps of one track.
type track struct {
	timeline.Place
	data  bytes.Buffer // packed
	n     int
	last  int64 // the end of the span, or the time of the value, before
	seq   int64 // of the SQE before
	works []work
	lane  *traces.Lane // once it was asked for
}

// work is when an AIV executed a block.
type work struct {
	call       string
	block      int
	begin, end engine.Time
}

// detail is what many spans have in common: numbers of words, and places.
type detail struct{ name, op, phase, call, block, pc, peer, sges, holder int }

// index numbers values in the order in which they come.
type index[T comparable] struct {
	list []T
	at   map[T]int
}

func (x *index[T]) of(v T) int {
	n, ok := x.at[v]
	if !ok {
		if x.at == nil {
			x.at = map[T]int{}
		}
		n = len(x.list)
		x.at[v], x.list = n, append(x.list, v)
	}
	return n
}

// Open takes every track.
func (l *Timeline) Open(t timeline.Track, p *timeline.Place) bool {
	for int(t) >= len(l.tracks) {
		l.tracks = append(l.tracks, track{})
	}
	l.tracks[t].Place = *p
	return true
}

// Begin does nothing: spans know their call and phase.
func (l *Timeline) Begin(timeline.Track, engine.Time, string) {}

// End does nothing.
func (l *Timeline) End(timeline.Track, engine.Time) {}

// Instant does nothing: what takes no time has no place in a swimlane.
func (l *Timeline) Instant(timeline.Track, engine.Time, string) {}

// keep reports whether one more fits, which ends at at.
func (l *Timeline) keep(at engine.Time) bool {
	limit := l.Limit
	if limit == 0 {
		limit = DefaultSpans
	}
	if l.kept < limit {
		l.kept++
		return true
	}
	if l.dropped == 0 || at < l.cut {
		l.cut = at
	}
	l.dropped++
	return false
}

// Span packs a span as four numbers: the gap to the one before, its length, its detail, its
// bytes; of a queue also how much later its SQE is.
func (l *Timeline) Span(t timeline.Track, s *timeline.Span) {
	k := &l.tracks[t]
	if s.Call != nil {
		k.executes(s)
	}
	if k.Kind == timeline.Port && s.Name == "send" {
		l.sends(pair{k.Rank, s.Peer}, s.Bytes)
	}
	if !l.keep(s.End) {
		return
	}
	d := detail{name: l.words.of(s.Name), op: l.words.of(s.Op), phase: l.words.of(s.Phase), block: -1, pc: -1, peer: s.Peer, sges: s.SGEs, holder: l.words.of(traces.Holder(s))}
	if s.Call != nil {
		d.call, d.block, d.pc = l.words.of(s.Call.Name), s.Block, s.PC
	} else {
		d.call = l.words.of("")
	}
	k.n++
	k.put(int64(s.Begin)-k.last, int64(s.End.Sub(s.Begin)), int64(l.details.of(d)), s.Bytes)
	if k.last = int64(s.End); k.Kind == timeline.Queue {
		k.put(s.Seq - k.seq)
		k.seq = s.Seq
	}
}

func (l *Timeline) sends(p pair, n int64) {
	if l.sent == nil {
		l.sent = map[pair]int64{}
	}
	l.sent[p] += n
}

// Traffic returns the bytes that the ports of each rank have sent to each rank, of all
// calls; nil when none has sent any.
func (l *Timeline) Traffic(ranks int) [][]int64 {
	if len(l.sent) == 0 {
		return nil
	}
	m := make([][]int64, ranks)
	for i := range m {
		m[i] = make([]int64, ranks)
		for j := range m[i] {
			m[i][j] = l.sent[pair{i, j}]
		}
	}
	return m
}

// Count packs a value as two numbers: the time since the one before, and itself.
func (l *Timeline) Count(t timeline.Track, at engine.Time, v int64) {
	if k := &l.tracks[t]; l.keep(at) {
		k.n++
		k.put(int64(at)-k.last, v)
		k.last = int64(at)
	}
}

// put packs numbers, each with its sign in the lowest bit, in groups of seven bits.
func (k *track) put(values ...int64) {
	for _, v := range values {
		k.data.Write(binary.AppendVarint(nil, v))
	}
}

// executes remembers which block the AIV of a track works for.
func (k *track) executes(s *timeline.Span) {
	if n := len(k.works); n > 0 && k.works[n-1].call == s.Call.Name && k.works[n-1].block == s.Block {
		k.works[n-1].end = s.End
		return
	}
	k.works = append(k.works, work{s.Call.Name, s.Block, s.Begin, s.End})
}

// Find returns the tracks with something on them that fit.
func (l *Timeline) Find(fits func(p *timeline.Place) bool) (out []timeline.Track) {
	for i := range l.tracks {
		if k := &l.tracks[i]; k.n > 0 && fits(&k.Place) {
			out = append(out, timeline.Track(i))
		}
	}
	return out
}

// Lane unpacks the spans of a track that is one of several for the same thing.
func (l *Timeline) Lane(t timeline.Track) *traces.Lane {
	k := &l.tracks[t]
	if k.lane != nil || !traces.HasLanes(k.Kind) {
		return k.lane
	}
	k.lane = new(traces.Lane)
	r, at := bytes.NewReader(k.data.Bytes()), int64(0)
	next := func() int64 { v, _ := binary.ReadVarint(r); return v } // what put has packed has no error
	for range k.n {
		at += next()
		begin := at
		at += next()
		name := l.words.list[l.details.list[next()].name]
		next() // bytes
		if k.Kind == timeline.Queue {
			next() // the SQE
		}
		k.lane.Add(engine.Time(begin), engine.Time(at), name)
	}
	return k.lane
}

// Unit returns the AIV that executes the block of a step; -1 when nothing shows it.
func (l *Timeline) Unit(s *result.PathStep) int {
	for i := range l.tracks {
		k := &l.tracks[i]
		if k.Kind != timeline.Scalar || k.Rank != s.Rank {
			continue
		}
		for _, w := range k.works {
			if w.block == s.Block && (s.Task == "" || w.call == s.Task) && w.begin <= s.From && s.From <= w.end {
				return k.Index
			}
		}
	}
	return -1
}

// lineView is a Timeline as the page holds it.
type lineView struct {
	Tracks  []trackView `json:"tracks"`
	Words   []string    `json:"words"`
	Details [][9]int    `json:"details"` // name, op, phase, call (numbers of words), block, pc, peer, sges
	Data    string      `json:"data"`    // base64 of gzip of the packed tracks, one after another
	Kept    int64       `json:"kept"`
	Note    string      `json:"note,omitempty"`
	Stops   []int       `json:"stops,omitempty"` // by step of the path: the track's place in Tracks, -1 for none
}

type trackView struct {
	Kind    string `json:"kind"`
	Counter bool   `json:"counter,omitempty"`
	Rank    int    `json:"rank"`
	Index   int    `json:"index"`
	Lane    int    `json:"lane,omitempty"`
	Group   string `json:"group,omitempty"`
	Name    string `json:"name"`
	Unit    string `json:"unit,omitempty"`
	N       int    `json:"n"`
}

var kindNames = [timeline.NumKinds]string{
	"calls", "scalar", "simt", "vector", "mte2", "mte3", "stages", "queue", "depth", "sdma", "remote", "port", "memory", "rate",
}

// view packs the timeline, with the places of a path's steps.
func (l *Timeline) view(path *result.Path) (*lineView, error) {
	v := &lineView{Words: l.words.list, Kept: l.kept}
	var packed bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level exists
	places := make([]int, len(l.tracks))
	for i := range l.tracks {
		k := &l.tracks[i]
		places[i] = -1
		if k.n == 0 {
			continue
		}
		places[i] = len(v.Tracks)
		v.Tracks = append(v.Tracks, trackView{
			Kind: kindNames[k.Kind], Counter: k.Kind.Counter(), Rank: k.Rank, Index: k.Index, Lane: k.Lane, Group: k.Group, Name: k.Name, Unit: k.Unit, N: k.n,
		})
		if _, err := zip.Write(k.data.Bytes()); err != nil {
			return nil, err
		}
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	v.Data = base64.StdEncoding.EncodeToString(packed.Bytes())
	for _, d := range l.details.list {
		v.Details = append(v.Details, [9]int{d.name, d.op, d.phase, d.call, d.block, d.pc, d.peer, d.sges, d.holder})
	}
	if l.dropped > 0 {
		v.Note = fmt.Sprintf("%d of %d spans and values are left out: the limit is %d; up to %v nothing is lacking", l.dropped, l.kept+l.dropped, l.kept, l.cut)
	}
	v.Stops = l.stops(path, places)
	return v, nil
}

// stops finds the track of each step of a path.
func (l *Timeline) stops(path *result.Path, places []int) (out []int) {
	if path == nil {
		return nil
	}
	find := traces.NewFinder(l)
	for i := range path.Steps {
		n := -1
		if t := find.Where(&path.Steps[i]); t != 0 {
			n = places[t]
		}
		out = append(out, n)
	}
	return out
}
