package fabric

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/timeline"
)

// Show implements Fabric.
func (n *network) Show(line *timeline.Recorder) { n.line = line }

// show makes a link appear in the timeline; nil when nobody watches.
func (n *network) show(l *link) *timeline.Server {
	if n.line == nil {
		return nil
	}
	p := timeline.Place{Kind: timeline.Port, Rank: l.rank(), Index: int(l.what)*4096 + int(max(l.peer, l.number)), Group: "fabric", Name: l.name()}
	if l.what == meshPort {
		p.Name = fmt.Sprintf("port to rank %d", l.peer)
	}
	if p.Rank < 0 {
		p.Index += int(l.owner)
	}
	return n.line.Server(p, true)
}

// carried shows a quantum on a link: at a port whom it goes to or comes from; at a cap or an
// uplink, which all share, only that it is busy.
func (n *network) carried(l *link, id Flow, begin, end engine.Time, b engine.Bytes) {
	f := n.flows.at(uint32(id))
	switch l.what {
	case meshPort, portOut:
		l.line.Carry(begin, end, int64(b), "send", int(f.dst))
	case portIn:
		l.line.Carry(begin, end, int64(b), "receive", int(f.src))
	default:
		l.line.Carry(begin, end, int64(b), "busy", -1)
	}
}
