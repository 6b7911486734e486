package fabric

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/cause"
	"pldperf/hw/timeline"
)

// network carries quanta over links. It is what all topologies but the ideal one have in common:
//
//	Send -> flow -> [cap] [port] ~ latency ~> ([uplink] [downlink] ~ latency ~>) [cap] [port] -> Landed
//	        offer                              climb    descend                  arrive
//
// The words below are the stages: each is one event a quantum, offer only while the flow has more to send, climb and
// descend only where groups share uplinks.
type network struct {
	eng     *engine.Engine
	ranks   int
	quantum engine.Bytes
	links   []link     // links[0] is none
	flows   slab[flow] // number 0 is none
	waiting pool[message]
	flying  pool[flight]
	line    *timeline.Recorder // nil: nobody watches
}

func newNetwork(eng *engine.Engine, quantum engine.Bytes, ranks int) *network {
	n := &network{eng: eng, ranks: ranks, quantum: quantum, links: make([]link, 1)}
	n.flows.add(flow{})
	return n
}

// A path is the links of a flow, by number; 0 is a link that the path does not have.
type path struct {
	out, in   int32           // caps of the two ranks
	outPort   int32           // the first of outPorts ports of the sender, any of which takes a quantum
	inPort    int32           // likewise at the receiver
	up, down  int32           // of the two groups
	outPorts  uint8           // at least 1
	inPorts   uint8           // 0 where the sender's port is a wire to the receiver
	window    engine.Rate     // to this peer, of what a rank has on its way at once; 0 is no limit
	near, far engine.Duration // latency to the uplink, or all of it, and that after the downlink
}

type flow struct {
	path
	ends
	head, tail uint32       // messages in waiting; head 0 is none
	rest       engine.Bytes // of the head, not yet offered
	armed      bool         // an offer event is pending
	granted    engine.Time  // when the last quantum was granted
	left       engine.Time  // when the last byte so far has left the sender
	landed     engine.Time  // when the last byte so far has landed
}

// message is a Message that has not landed, less what its flow knows.
type message struct {
	bytes     engine.Bytes
	next      uint32 // in its flow; 0 is none
	landed    engine.Handler
	landedArg uint64
	left      engine.Handler
	leftArg   uint64
}

// flight is a quantum between two stages.
type flight struct {
	flow Flow
	last uint32 // the message that ends with this quantum; 0 is none
	n    engine.Bytes
	end  engine.Time // when its last byte is where its first byte is now
}

// The low bits of an event's arg say which stage it is, the rest is a flow (offer) or a flight.
const (
	offer = iota
	climb
	descend
	arrive

	stageBits = 2
)

// Handle implements engine.Handler.
func (n *network) Handle(arg uint64) {
	i := uint32(arg >> stageBits)
	switch arg % (1 << stageBits) {
	case offer:
		n.flows.at(i).armed = false
		n.offer(Flow(i))
	case climb:
		f := n.flows.at(uint32(n.flying.at(i).flow))
		n.cross(i, f.up, 0, descend)
	case descend:
		f := n.flows.at(uint32(n.flying.at(i).flow))
		n.cross(i, f.down, f.far, arrive)
	case arrive:
		n.arrive(i)
	}
}

func (n *network) schedule(t engine.Time, stage uint64, i uint32) {
	n.eng.At(t, n, uint64(i)<<stageBits|stage)
}

// open adds a flow over a path.
func (n *network) open(src, dst int, p path) Flow {
	return Flow(n.flows.add(flow{path: p, ends: ends{int32(src), int32(dst)}}))
}

// Ends implements Fabric.
func (n *network) Ends(f Flow) (src, dst int) {
	e := &n.flows.at(uint32(f)).ends
	return int(e.src), int(e.dst)
}

// Send implements Fabric.
func (n *network) Send(m Message) {
	if m.Flow == 0 || uint32(m.Flow) >= n.flows.n {
		panicFlow(m)
	}
	f := n.flows.at(uint32(m.Flow))
	m.check(f.ends)
	i := n.waiting.take()
	*n.waiting.at(i) = message{bytes: m.Bytes, landed: m.Landed, landedArg: m.LandedArg, left: m.Left, leftArg: m.LeftArg}
	if f.head != 0 {
		n.waiting.at(f.tail).next = i
		f.tail = i
		return
	}
	f.head, f.tail, f.rest = i, i, m.Bytes
	switch {
	case f.armed:
	case f.granted <= n.eng.Now():
		n.offer(m.Flow)
	default:
		n.eng.Because(cause.Egress.Why(int(m.Flow), 0))
		n.arm(f, m.Flow)
	}
}

// arm makes a flow offer a quantum once the last one has been granted.
func (n *network) arm(f *flow, id Flow) {
	f.armed = true
	n.schedule(f.granted, offer, uint32(id))
}

// offer books the sender's links for the next quantum of a flow. The cap comes first: what it grants is granted in order
// of time at each port, so no port is booked past a quantum that would come before.
func (n *network) offer(id Flow) {
	f := n.flows.at(uint32(id))
	b := min(f.rest, n.quantum)
	f.rest -= b
	port := f.outPort
	if f.outPorts > 1 {
		port = n.freest(port, f.outPorts)
	}
	cap := n.pass(f.out, n.eng.Now(), b, id)
	own := n.behind(&cap, port, b, id)
	begin, end := own.begin, max(own.end, cap.end)
	goesOn := f.granted == n.eng.Now() // with the quantum before this one on the links
	f.granted, f.left = begin, max(f.left, end)
	turn := turns{flow: id, cap: cap, port: own, goesOn: goesOn}

	i := n.flying.take()
	*n.flying.at(i) = flight{flow: id, n: b, end: end.Add(f.near)}
	if f.rest == 0 {
		n.flying.at(i).last = f.head
		n.leave(f, &turn)
	}
	next := uint64(arrive)
	if f.up != 0 {
		next = climb
	}
	n.sent(&turn, cause.Wire)
	n.schedule(begin.Add(f.near), next, i)
	if f.head != 0 {
		n.sent(&turn, cause.Egress)
		n.arm(f, id)
	}
}

// leave takes the first message from its flow, all of it being on its way, and makes the next one the first.
func (n *network) leave(f *flow, t *turns) {
	m := n.waiting.at(f.head)
	if m.left != nil {
		n.sent(t, cause.Egress)
		n.eng.At(f.left, m.left, m.leftArg)
	}
	if f.head = m.next; f.head != 0 {
		f.rest = n.waiting.at(f.head).bytes
	}
}

// cross takes a flight whose first byte is at a link of its group over that link and on to the next stage.
func (n *network) cross(i uint32, link int32, latency engine.Duration, next uint64) {
	q := n.flying.at(i)
	p := n.pass(link, n.eng.Now(), q.n, q.flow)
	q.end = max(q.end, p.end).Add(latency)
	n.waited(q.flow, &p, cause.UplinkQ)
	n.eng.Because(cause.Wire.Why(int(q.flow), 0))
	n.schedule(p.begin.Add(latency), next, i)
}

// arrive books the receiver's links for a flight whose first byte is there, which ends it. The cap comes first for the
// same reason as in offer.
func (n *network) arrive(i uint32) {
	q := *n.flying.at(i)
	n.flying.give(i)
	f := n.flows.at(uint32(q.flow))
	cap := n.pass(f.in, n.eng.Now(), q.n, q.flow)
	port := cap
	f.landed = max(f.landed, q.end, cap.end)
	if f.inPorts > 0 {
		first := f.inPort
		if f.inPorts > 1 {
			first = n.freest(first, f.inPorts)
		}
		port = n.behind(&cap, first, q.n, q.flow)
		f.landed = max(f.landed, port.end)
	}
	if q.last != 0 {
		m := n.waiting.at(q.last)
		n.landed(q.flow, &cap, &port)
		n.eng.At(f.landed, m.landed, m.landedArg)
		n.waiting.give(q.last)
	}
}

// outstanding returns how many messages and quanta are under way: what must be none at the end of a run.
func (n *network) outstanding() int { return n.waiting.held() + n.flying.held() }

// check panics unless m belongs to a flow between these ranks and can be told of.
func (m *Message) check(e ends) {
	if m.Src != int(e.src) || m.Dst != int(e.dst) || m.Bytes < 0 || m.Landed == nil {
		panic(fmt.Sprintf("fabric: %v from rank %d to %d (told to %T) in flow %d, which is from %d to %d",
			m.Bytes, m.Src, m.Dst, m.Landed, m.Flow, e.src, e.dst))
	}
}

func panicFlow(m Message) {
	panic(fmt.Sprintf("fabric: a message from rank %d to %d in flow %d, which is not open", m.Src, m.Dst, m.Flow))
}

// checkPair panics unless a flow can lead from src to dst.
func checkPair(src, dst, ranks int) {
	if src < 0 || dst < 0 || src >= ranks || dst >= ranks || src == dst {
		panic(fmt.Sprintf("fabric: a flow from rank %d to %d of %d", src, dst, ranks))
	}
}

// A pool keeps things by number and uses the places of those that were given back again. Number 0 is none. The zero
// pool is ready to use; its memory grows with the most that it held at once.
type pool[T any] struct {
	items  []T
	unused []uint32
}

func (p *pool[T]) at(i uint32) *T { return &p.items[i] }

func (p *pool[T]) take() uint32 {
	if n := len(p.unused); n > 0 {
		i := p.unused[n-1]
		p.unused = p.unused[:n-1]
		return i
	}
	if p.items == nil {
		p.items = make([]T, 1, 16)
	}
	var none T
	p.items = append(p.items, none)
	return uint32(len(p.items) - 1)
}

// give returns a place; what is in it is forgotten, so that it keeps nothing alive.
func (p *pool[T]) give(i uint32) {
	var none T
	p.items[i] = none
	p.unused = append(p.unused, i)
}

// held returns how many places are in use.
func (p *pool[T]) held() int { return max(0, len(p.items)-1) - len(p.unused) }

// A slab keeps things by number for good, in pages: growing copies nothing, since a machine has a flow for each pair of
// ranks. The zero slab is ready to use.
type slab[T any] struct {
	pages [][]T
	n     uint32
}

const slabBits = 10 // logarithm of the things of a page

func (s *slab[T]) at(i uint32) *T { return &s.pages[i>>slabBits][i%(1<<slabBits)] }

// add keeps one more and returns its number.
func (s *slab[T]) add(x T) uint32 {
	if s.n%(1<<slabBits) == 0 {
		s.pages = append(s.pages, make([]T, 1<<slabBits))
	}
	i := s.n
	s.n++
	*s.at(i) = x
	return i
}
