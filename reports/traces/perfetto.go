package traces

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"pldperf/engine"
	"pldperf/hw/timeline"
)

// sequence is the number of the one sequence of packets.
const sequence = 1

// perfetto writes a perfetto.protos.Trace: a packet an event, with texts interned. Messages
// are written in place, with room for a length that follows, which may have leading zeros.
type perfetto struct {
	b        []byte               // the trace
	interned []byte               // texts that the packet being made explains
	names    [3]map[string]uint64 // event names, annotation names, annotation strings
	next     uint64               // number of a track
	tracks   []perfettoTrack      // by timeline.Track
	parents  map[parent]uint64
	said     map[saying][]byte // what spans say of themselves, once more
	recent   [1 << 12]struct { // of it, by saying.place: quicker to find
		saying
		text []byte
	}
	begun bool
}

// perfettoTrack has what begins and ends a span there, up to what it says.
type perfettoTrack struct {
	uuid       uint64
	begin, end []byte // and of a counter a value
}

// saying is all that most spans say; what has more is not kept.
type saying struct {
	name, op         string
	pc, peer, holder int32
}

// parent is a rank, or a group of its tracks.
type parent struct {
	pid   int64
	group string
}

var internedFields = [3]protowire.Number{internedEvents, internedNames, internedStrings}

func newPerfetto() *perfetto {
	p := &perfetto{parents: map[parent]uint64{}, said: map[saying][]byte{}}
	for i := range p.names {
		p.names[i] = map[string]uint64{}
	}
	return p
}

func (p *perfetto) buffer() *[]byte { return &p.b }

func varint(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func bytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func text(b []byte, field protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), v)
}

// intern returns the number of a text of a sort, which the packet to come explains if it
// is new.
func (p *perfetto) intern(sort int, s string) uint64 {
	id, ok := p.names[sort][s]
	if !ok {
		id = uint64(len(p.names[sort])) + 1
		p.names[sort][s] = id
		entry := text(varint(nil, internedIID, id), internedText, s)
		p.interned = bytes(p.interned, internedFields[sort], entry)
	}
	return id
}

// message begins a message in place and returns where; shut ends it.
func (p *perfetto) message(field protowire.Number) int {
	p.b = append(protowire.AppendTag(p.b, field, protowire.BytesType), 0, 0, 0)
	return len(p.b)
}

// shut writes the length of the message that began at a place, in three bytes.
func (p *perfetto) shut(at int) {
	n := len(p.b) - at
	if n >= 1<<21 {
		panic("traces: a message of more than 2 MiB")
	}
	p.b[at-3], p.b[at-2], p.b[at-1] = byte(n)|0x80, byte(n>>7)|0x80, byte(n>>14)
}

// packetHead is what every packet but the first begins with, headFields of it behind the
// room for its length.
const (
	packetHead = string(rune(tracePacket<<3|protowire.BytesType)) + "\x00\x00\x00" +
		string(rune(packetSequence<<3)) + string(rune(sequence)) + string(rune(packetFlags<<3)) + string(rune(flagNeeded))
	headFields = 4
)

// packet begins a packet.
func (p *perfetto) packet() int {
	if p.begun {
		p.b = append(p.b, packetHead...)
		return len(p.b) - headFields
	}
	at := p.message(tracePacket)
	p.b = varint(p.b, packetSequence, sequence)
	p.b = varint(p.b, packetFlags, flagNeeded|flagCleared)
	p.begun = true
	return at
}

// sent ends a packet, with the texts that are new in it.
func (p *perfetto) sent(at int) {
	if len(p.interned) > 0 {
		p.b = bytes(p.b, packetInterned, p.interned)
		p.interned = p.interned[:0]
	}
	p.shut(at)
}

func (p *perfetto) describe(descriptor []byte) {
	at := p.packet()
	p.b = bytes(p.b, packetDescriptor, descriptor)
	p.sent(at)
}

// parent returns the number of the track that holds those of a group, "" being the rank.
func (p *perfetto) parent(rank int, group string, rankOrder int64) uint64 {
	k := parent{pid(rank), group}
	id, ok := p.parents[k]
	if ok {
		return id
	}
	var d []byte
	if group == "" {
		proc := text(varint(nil, processPID, uint64(k.pid)), processName, process(rank))
		p.next++
		id = p.next
		d = bytes(varint(nil, descriptorUUID, id), descriptorProcess, proc)
	} else {
		up := p.parent(rank, "", 0)
		p.next++
		id = p.next
		d = text(varint(nil, descriptorUUID, id), descriptorName, group)
		d = varint(varint(d, descriptorParent, up), descriptorRank, uint64(rankOrder))
	}
	p.parents[k] = id
	p.describe(varint(d, descriptorOrder, orderExplicit))
	return id
}

func (p *perfetto) open(t timeline.Track, at *timeline.Place) {
	for int(t) >= len(p.tracks) {
		p.tracks = append(p.tracks, perfettoTrack{})
	}
	group, own := order(at)
	up := p.parent(at.Rank, at.Group, group)
	if at.Group == "" {
		own += group
	}
	p.next++
	x := perfettoTrack{p.next, p.prefix(typeBegin, p.next), p.prefix(typeEnd, p.next)}
	if at.Kind.Counter() {
		x.begin = p.prefix(typeCounter, p.next)
	}
	p.tracks[t] = x
	d := text(varint(nil, descriptorUUID, p.next), descriptorName, at.Name)
	d = varint(varint(d, descriptorParent, up), descriptorRank, uint64(own))
	if at.Kind.Counter() {
		d = bytes(d, descriptorCounter, text(varint(nil, counterUnit, counterUnitCount), counterUnitName, at.Unit))
	}
	p.describe(d)
}

// prefix is what an event on a track begins with, behind its length.
func (p *perfetto) prefix(kind, track uint64) []byte {
	return varint(varint(nil, eventType, kind), eventTrack, track)
}

// on begins an event on a track, in a packet of its own, and returns where both began.
func (p *perfetto) on(prefix []byte, at engine.Time) (packet, event int) {
	packet = p.packet()
	p.b = varint(p.b, packetTimestamp, uint64(nanos(at)))
	event = p.message(packetEvent)
	p.b = append(p.b, prefix...)
	return packet, event
}

// over ends an event and its packet.
func (p *perfetto) over(packet, event int) {
	p.shut(event)
	p.sent(packet)
}

func (p *perfetto) named(name string) { p.b = varint(p.b, eventName, p.intern(0, name)) }

func (p *perfetto) begin(t timeline.Track, at engine.Time, name string) {
	packet, event := p.on(p.tracks[t].begin, at)
	p.named(name)
	p.over(packet, event)
}

func (p *perfetto) end(t timeline.Track, at engine.Time) {
	p.over(p.on(p.tracks[t].end, at))
}

func (p *perfetto) span(t timeline.Track, s *timeline.Span) {
	packet, event := p.on(p.tracks[t].begin, s.Begin)
	p.say(s)
	p.over(packet, event)
	p.end(t, s.End)
}

func (p *perfetto) path(t timeline.Track, s *timeline.Span, holder string) {
	packet, event := p.on(p.tracks[t].begin, s.Begin)
	p.say(s)
	if holder != "" {
		p.string("holder", holder)
	}
	p.over(packet, event)
	p.end(t, s.End)
}

// say writes the name of a span and what is known of it.
func (p *perfetto) say(s *timeline.Span) {
	k := saying{s.Name, s.Op, int32(s.PC), int32(s.Peer), int32(s.Holder)}
	usual := s.Bytes == 0 && s.Seq < 0 && s.Call != nil
	if !usual {
		p.named(s.Name)
		each(s, p.number, p.string)
		return
	}
	r := &p.recent[k.place()%len(p.recent)]
	if r.text == nil || r.saying != k {
		r.saying, r.text = k, p.saying(k, s)
	}
	p.b = append(p.b, r.text...)
}

// saying returns what a span says.
func (p *perfetto) saying(k saying, s *timeline.Span) []byte {
	b, ok := p.said[k]
	if !ok {
		at := len(p.b)
		p.named(s.Name)
		each(s, p.number, p.string)
		b = slices.Clone(p.b[at:])
		p.b = p.b[:at]
		p.said[k] = b
	}
	return b
}

// place spreads sayings; those that fall on one place only take longer.
func (k *saying) place() int {
	return int(uint32(k.pc)*67+uint32(k.peer)*13+uint32(k.holder)*29) + 5*len(k.name) + int(k.name[0])
}

func (p *perfetto) number(key string, v int64) {
	at := p.message(eventAnnotation)
	p.b = varint(p.b, annotationName, p.intern(1, key))
	p.b = varint(p.b, annotationInt, uint64(v))
	p.shut(at)
}

func (p *perfetto) string(key, v string) {
	at := p.message(eventAnnotation)
	p.b = varint(p.b, annotationName, p.intern(1, key))
	p.b = varint(p.b, annotationText, p.intern(2, v))
	p.shut(at)
}

func (p *perfetto) count(t timeline.Track, at engine.Time, value int64) {
	packet, event := p.on(p.tracks[t].begin, at)
	p.b = varint(p.b, eventValue, uint64(value))
	p.over(packet, event)
}

func (p *perfetto) instant(t timeline.Track, at engine.Time, name string) {
	packet, event := p.on(p.prefix(typeInstant, p.tracks[t].uuid), at)
	p.named(name)
	p.over(packet, event)
}

func (p *perfetto) arrow(n int64, from, to *Stop) {
	for i, s := range [2]*Stop{from, to} {
		field, at := protowire.Number(eventFlow), from.leave()
		if i == 1 {
			field, at = eventTerminating, to.Begin
		}
		packet, event := p.on(p.prefix(typeInstant, p.tracks[s.track].uuid), at)
		p.named(pathName)
		p.b = protowire.AppendFixed64(protowire.AppendTag(p.b, field, protowire.Fixed64Type), uint64(n))
		p.over(packet, event)
	}
}

// close writes the facts as the annotations of an instant on a track of their own.
func (p *perfetto) close(about []Fact) {
	p.next++
	p.describe(text(varint(nil, descriptorUUID, p.next), descriptorName, "about this trace"))
	packet, event := p.on(p.prefix(typeInstant, p.next), 0)
	p.named("about this trace")
	for _, f := range about {
		a := text(varint(nil, annotationName, p.intern(1, f.Key)), annotationPlain, f.Value)
		p.b = bytes(p.b, eventAnnotation, a)
	}
	p.over(packet, event)
}
