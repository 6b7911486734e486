package traces

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/hw/timeline"
)

// Profile is a timeline.Sink that sums up what blocks spend simulated time on. It holds a
// value for each op of each block and reason, whatever the length of the run.
type Profile struct {
	ranks  []int // by timeline.Track
	spent  map[spending]engine.Duration
	found  map[slot]*sum
	recent [1 << 12]struct { // of them, by slot.place: quicker to find
		slot
		*sum
	}
}

// slot is what tells apart what a track spends; the rest of its stack follows.
type slot struct {
	track    timeline.Track
	call, pc int32
	block    int32
	reason   string
}

// sum is the time of a stack.
type sum struct {
	key  spending
	time engine.Duration
}

// spending is a stack of the profile, from its root on.
type spending struct {
	rank, block, call, pc   int
	name, phase, op, reason string
}

// NewProfile begins a profile.
func NewProfile() *Profile {
	return &Profile{spent: map[spending]engine.Duration{}, found: map[slot]*sum{}}
}

// Open implements timeline.Sink.
func (p *Profile) Open(t timeline.Track, at *timeline.Place) bool {
	for int(t) >= len(p.ranks) {
		p.ranks = append(p.ranks, 0)
	}
	p.ranks[t] = at.Rank
	return at.Kind == timeline.Scalar
}

// Begin implements timeline.Sink.
func (p *Profile) Begin(timeline.Track, engine.Time, string) {}

// End implements timeline.Sink.
func (p *Profile) End(timeline.Track, engine.Time) {}

// Count implements timeline.Sink.
func (p *Profile) Count(timeline.Track, engine.Time, int64) {}

// Instant implements timeline.Sink.
func (p *Profile) Instant(timeline.Track, engine.Time, string) {}

// Span implements timeline.Sink.
func (p *Profile) Span(t timeline.Track, s *timeline.Span) {
	if !s.Call.Timed {
		return
	}
	k := slot{t, int32(s.Call.ID), int32(s.PC), int32(s.Block), s.Name}
	r := &p.recent[k.place()%len(p.recent)]
	if r.sum == nil || r.slot != k {
		r.slot, r.sum = k, p.sum(k, s)
	}
	r.sum.time += s.End.Sub(s.Begin)
}

func (p *Profile) sum(k slot, s *timeline.Span) *sum {
	x := p.found[k]
	if x == nil {
		x = &sum{key: spending{p.ranks[k.track], s.Block, s.Call.ID, s.PC, s.Call.Name, s.Phase, s.Op, s.Name}}
		p.found[k] = x
	}
	return x
}

// place spreads slots; those that fall on one place only take longer.
func (k *slot) place() int {
	return int(uint32(k.track)*37+uint32(k.pc+1)*67) + 5*len(k.reason) + int(k.reason[0])
}

// Indices of a sample's values.
const (
	sampleTime = iota
	sampleBusy
	sampleBytes
	numSamples
)

// Write writes the profile, gzipped, with what the result of the run adds: the time before
// blocks start and after they end, so that the times of a call add up to its length on every
// block, and for how long resources were busy with how many bytes, as other sample types.
// Stacks are rank, block, call, phase, op, reason; or rank, "resources", resource. What lies
// outside of measurements, if anything, is a comment.
func (p *Profile) Write(w io.Writer, res *result.Result, outside string) error {
	b := stacks{ids: map[string]*profile.Location{}, out: &profile.Profile{
		SampleType: []*profile.ValueType{
			numSamples - 1: {Type: "bytes", Unit: "bytes"},
			sampleTime:     {Type: "simulated", Unit: "nanoseconds"},
			sampleBusy:     {Type: "busy", Unit: "nanoseconds"},
		},
		DefaultSampleType: "simulated", DurationNanos: int64(res.Elapsed / engine.Nanosecond),
		Comments: []string{
			"Simulated time of pldperf's timed calls: what the program counter of each block was blocked on.",
			"Times are rounded to the nearest nanosecond, each stack by itself.",
		},
	}}
	if outside != "" {
		b.out.Comments = append(b.out.Comments, "Outside what was measured: "+outside)
	}
	p.idle(res)
	for _, k := range p.sorted() {
		var v [numSamples]int64
		v[sampleTime] = round(p.spent[k])
		stack := []string{fmt.Sprintf("rank %d", k.rank), fmt.Sprintf("block %d", k.block), "call " + k.name}
		if k.phase != "" {
			stack = append(stack, "phase "+k.phase)
		}
		switch {
		case k.pc >= 0:
			stack = append(stack, fmt.Sprintf("%s (op %d)", k.op, k.pc))
		case k.op != "":
			stack = append(stack, k.op)
		}
		b.add(append(stack, k.reason), v, map[string][]string{"rank": {fmt.Sprint(k.rank)}, "block": {fmt.Sprint(k.block)}})
	}
	for i := range res.Blocks {
		x := &res.Blocks[i]
		b.busy(x.Rank, fmt.Sprintf("block %d", x.Block), "MTE2", x.MTE2, 0)
		b.busy(x.Rank, fmt.Sprintf("block %d", x.Block), "MTE3", x.MTE3, 0)
		b.busy(x.Rank, fmt.Sprintf("block %d", x.Block), "SIMT", x.SIMT, 0)
	}
	for i := range res.Resources {
		x := &res.Resources[i]
		name := x.Name
		if x.Peer >= 0 {
			name = fmt.Sprintf("%s to rank %d", x.Name, x.Peer)
		}
		b.busy(x.Rank, "resources", name, x.Busy, int64(x.Bytes))
	}
	if err := b.out.CheckValid(); err != nil {
		return err
	}
	return b.out.Write(w)
}

// idle sums up, and adds what accounts hold and spans do not.
func (p *Profile) idle(res *result.Result) {
	for _, x := range p.found { // in any order: sums of whole numbers
		p.spent[x.key] += x.time
	}
	clear(p.found)
	for i := range res.Blocks {
		x := &res.Blocks[i]
		name := ""
		if x.Call < len(res.Calls) {
			name = cmp.Or(res.Calls[x.Call].Name, res.Calls[x.Call].Op, fmt.Sprintf("task %d", x.Call))
		}
		for _, r := range []result.Reason{result.DependencyWait, result.Idle} {
			if d := x.Time[r]; d > 0 {
				p.spent[spending{rank: x.Rank, block: x.Block, call: x.Call, pc: -1, name: name, reason: r.String()}] = d
			}
		}
	}
}

// round returns whole nanoseconds, the nearest.
func round(d engine.Duration) int64 {
	return int64((d + engine.Nanosecond/2) / engine.Nanosecond)
}

func (p *Profile) sorted() []spending {
	keys := make([]spending, 0, len(p.spent))
	for k := range p.spent {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b spending) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.block, b.block), cmp.Compare(a.call, b.call),
			cmp.Compare(a.pc, b.pc), strings.Compare(a.phase, b.phase), strings.Compare(a.op, b.op), strings.Compare(a.reason, b.reason))
	})
	return keys
}

// stacks makes the samples of a profile.
type stacks struct {
	out *profile.Profile
	ids map[string]*profile.Location
}

// add adds a sample of a stack, from its root on.
func (b *stacks) add(stack []string, v [numSamples]int64, labels map[string][]string) {
	s := &profile.Sample{Value: v[:], Label: labels}
	for i := len(stack) - 1; i >= 0; i-- {
		s.Location = append(s.Location, b.at(stack[i]))
	}
	b.out.Sample = append(b.out.Sample, s)
}

// busy adds a resource; what was never busy is left out.
func (b *stacks) busy(rank int, group, name string, d engine.Duration, n int64) {
	if d == 0 && n == 0 {
		return
	}
	root, labels := "machine", map[string][]string(nil)
	if rank >= 0 {
		root, labels = fmt.Sprintf("rank %d", rank), map[string][]string{"rank": {fmt.Sprint(rank)}}
	}
	var v [numSamples]int64
	v[sampleBusy], v[sampleBytes] = round(d), n
	b.add([]string{root, group, name}, v, labels)
}

// at returns the location that a name stands for: a function of that name.
func (b *stacks) at(name string) *profile.Location {
	l := b.ids[name]
	if l == nil {
		id := uint64(len(b.ids)) + 1
		f := &profile.Function{ID: id, Name: name, SystemName: name}
		l = &profile.Location{ID: id, Line: []profile.Line{{Function: f}}}
		b.out.Function, b.out.Location = append(b.out.Function, f), append(b.out.Location, l)
		b.ids[name] = l
	}
	return l
}
