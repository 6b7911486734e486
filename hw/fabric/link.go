package fabric

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"pldperf/engine"
	"pldperf/hw/timeline"
)

// Names of the resources that every fabric has; all bytes pass both. A rank of a frame has
// two of each, and the mesh's of its server say so behind the name.
const (
	EgressCap  = "egress cap"
	IngressCap = "ingress cap"
)

// A link carries one quantum at a time. It is the cap of a rank, a port, or the uplink or downlink of a group.
type link struct {
	server engine.Server
	rate   engine.Rate
	full   engine.Duration // of a whole quantum
	bytes  engine.Bytes
	what   role
	owner  int32       // the rank, or the group
	peer   int32       // of a port of the mesh
	window engine.Time // of a cap: when the window has room again
	number int32       // of a port of the Clos; of a cap 1 where it is the mesh's of a frame
	line   *timeline.Server

	blocked engine.Duration // see Resource
	held    []Held
}

// frameSide tells the two caps of a rank of a frame apart.
var frameSide = [...]string{"", ", server"}

// role is what a link is, in the order in which a message passes them.
type role uint8

const (
	egressCap role = iota
	meshPort
	portOut
	uplink
	downlink
	ingressCap
	portIn
)

// rank is whose link l is; -1 if it is a group's.
func (l *link) rank() int {
	if l.what == uplink || l.what == downlink {
		return -1
	}
	return int(l.owner)
}

func (l *link) name() string {
	switch l.what {
	case egressCap:
		return EgressCap + frameSide[l.number]
	case ingressCap:
		return IngressCap + frameSide[l.number]
	case meshPort:
		return "port"
	case portOut:
		return fmt.Sprintf("port out %d", l.number)
	case portIn:
		return fmt.Sprintf("port in %d", l.number)
	case uplink:
		return fmt.Sprintf("uplink of group %d", l.owner)
	default:
		return fmt.Sprintf("downlink of group %d", l.owner)
	}
}

// Resources implements Fabric.
func (n *network) Resources() []Resource {
	used := make([]*link, 0, len(n.links))
	for i := range n.links {
		if n.links[i].bytes > 0 {
			used = append(used, &n.links[i])
		}
	}
	slices.SortFunc(used, func(a, b *link) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.what, b.what), cmp.Compare(a.owner, b.owner),
			cmp.Compare(a.peer, b.peer), cmp.Compare(a.number, b.number))
	})
	all := make([]Resource, len(used))
	for i, l := range used {
		all[i] = Resource{Name: l.name(), Rank: l.rank(), Peer: -1, Rate: l.rate, Bytes: l.bytes, Busy: l.server.Busy(), Blocked: l.blocked, Held: l.held}
		if l.what == meshPort {
			all[i].Peer = int(l.peer)
		}
	}
	return all
}

// link makes a link and returns its number.
func (n *network) link(l link) int32 {
	l.full = l.rate.Span(n.quantum)
	l.line = n.show(&l)
	n.links = append(n.links, l)
	return int32(len(n.links) - 1)
}

// touch returns the link that slot names, made by the model's l when it is first asked for. Link 0 is none.
func (n *network) touch(slot *int32, l link) int32 {
	if *slot == 0 {
		*slot = n.link(l)
	}
	return *slot
}

// passage is a quantum's turn at a link.
type passage struct {
	begin, end engine.Time     // it is granted, and its last byte is through
	full       engine.Duration // what a whole quantum takes
	free       engine.Time     // when the link has carried all that came before
	holder     Flow            // whose quantum was before it
}

// pass books link i for a quantum of b bytes that arrives at t. An empty quantum waits for its turn too, or it would overtake its flow, but keeps nobody waiting.
func (n *network) pass(i int32, t engine.Time, b engine.Bytes, f Flow) passage {
	l := &n.links[i]
	span := l.full
	if b != n.quantum {
		span = l.rate.Span(b)
	}
	if w := n.flows.at(uint32(f)).window; w > 0 && l.what == egressCap {
		span = l.within(t, span, w.Span(b))
	}
	l.bytes += b
	free := l.server.Free()
	begin, end, prev := l.server.Reserve(t, span, uint32(f))
	if l.line != nil {
		n.carried(l, f, begin, end, b)
	}
	return passage{begin, end, l.full, free, Flow(prev)}
}

// behind books port i for a quantum whose turn at the cap before it is cap. From when the quantum is there, now, a port
// that is free is blocked until that turn.
func (n *network) behind(cap *passage, i int32, b engine.Bytes, f Flow) passage {
	p := n.pass(i, cap.begin, b, f)
	if d := cap.begin.Sub(max(n.eng.Now(), p.free)); d > 0 {
		l := &n.links[i]
		l.blocked += d
		if n.ranks <= heldRanks && n.eng.Recording() {
			l.heldBy(n.other(l, cap.holder), d)
		}
	}
	return p
}

// heldRanks is the most ranks of which ports say whose traffic they waited for: beyond, it is most of a result.
const heldRanks = 128

// other returns the rank at the other end of a flow over a cap of l's rank.
func (n *network) other(l *link, f Flow) int {
	if l.what == portIn {
		return int(n.flows.at(uint32(f)).src)
	}
	return int(n.flows.at(uint32(f)).dst)
}

func (l *link) heldBy(peer int, d engine.Duration) {
	for i := range l.held {
		if l.held[i].Peer == peer {
			l.held[i].Time += d
			return
		}
	}
	l.held = append(l.held, Held{peer, d})
}

// within returns how long a quantum that arrives at t keeps the cap of a rank whose window
// limits it, too: window is the time for which it takes all of the window, which quanta
// share as they share the cap. The next quantum begins when both have room.
func (l *link) within(t engine.Time, span, window engine.Duration) engine.Duration {
	l.window = max(l.window, t).Add(window)
	return max(span, l.window.Sub(max(t, l.server.Free())))
}

// freest returns which of the count links from first on is free first, and of equals the first.
func (n *network) freest(first int32, count uint8) int32 {
	best := first
	for i := first + 1; i < first+int32(count); i++ {
		if n.links[i].server.Free() < n.links[best].server.Free() {
			best = i
		}
	}
	return best
}

// times returns k links of rate r together, Unlimited if that exceeds a Rate.
func times(r engine.Rate, k int) engine.Rate {
	if r > math.MaxInt64/engine.Rate(k) {
		return engine.Unlimited
	}
	return r * engine.Rate(k)
}
