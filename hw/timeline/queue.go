package timeline

import (
	"fmt"

	"pldperf/engine"
)

// SQEs is what is seen of one send queue.
type SQEs struct {
	rec        *Recorder
	rank, peer int
	group      string
	depth      lane
	lanes      []sqeLane
}

type sqeLane struct {
	lane
	end engine.Time
}

// SQE is the life of one SQE: each time is the end of a stage, 0 where the SQE has none.
type SQE struct {
	Seq, Bytes                                 int64
	SGEs                                       int
	Read                                       bool
	Fetch, Gather, Wire, Left, Land, Ack, Done engine.Time
}

// Queue begins to show the send queue of a rank to a peer; nil when nobody wants it.
func (r *Recorder) Queue(rank, peer int) *SQEs {
	if r == nil {
		return nil
	}
	q := &SQEs{rec: r, rank: rank, peer: peer, group: fmt.Sprintf("URMA to rank %d", peer)}
	r.open(&q.depth, &Place{Kind: Depth, Rank: rank, Index: peer, Group: q.group, Name: "SQ depth", Unit: "WQEBB"})
	if q.depth.track == 0 {
		return nil
	}
	return q
}

// Depth shows how many WQEBBs have not completed.
func (q *SQEs) Depth(now engine.Time, n int64) {
	if q != nil {
		q.rec.sink.Count(q.depth.track, now, n)
	}
}

// Over shows an SQE whose life has ended. SQEs overlap; each goes to the first lane that is
// free.
func (q *SQEs) Over(x *SQE) {
	if q == nil {
		return
	}
	end := max(x.Fetch, x.Gather, x.Wire, x.Left, x.Land, x.Ack, x.Done)
	if x.Fetch == 0 || end <= x.Fetch {
		return
	}
	i := 0
	for i < len(q.lanes) && q.lanes[i].end > x.Fetch {
		i++
	}
	if i == len(q.lanes) {
		q.lanes = append(q.lanes, sqeLane{})
	}
	l := &q.lanes[i]
	if l.end = end; !l.asked {
		q.rec.open(&l.lane, &Place{Kind: Queue, Rank: q.rank, Index: q.peer, Lane: i, Group: q.group, Name: "SQE"})
	}
	if l.track != 0 {
		q.stages(l.track, x, end)
	}
}

// stages shows an SQE as a span of its stages.
func (q *SQEs) stages(t Track, x *SQE, end engine.Time) {
	name := "WRITE"
	if x.Read {
		name = "READ"
	}
	q.rec.sink.Begin(t, x.Fetch, name)
	at := x.Fetch
	for _, s := range [...]struct {
		name string
		end  engine.Time
	}{{"fetch", x.Gather}, {"gather", x.Wire}, {"wire", x.Left}, {"land", x.Land}, {"ack", x.Ack}, {"cqe", x.Done}} {
		if s.end > at {
			q.rec.put(t, &Span{Begin: at, End: s.end, Name: s.name, Bytes: x.Bytes, Peer: q.peer, Seq: x.Seq, SGEs: x.SGEs})
			at = s.end
		}
	}
	q.rec.sink.End(t, end)
}
