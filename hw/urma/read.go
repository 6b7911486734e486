package urma

import (
	"pldperf/engine"
	"pldperf/hw/cause"
	"pldperf/hw/fabric"
	"pldperf/hw/memory"
)

// serve: the request of a READ is at the peer, whose NIC reads its memory. What it finds
// there now is what comes back.
func (n *NIC) serve(w *work) {
	now, q := n.eng.Now(), w.q
	if w.bad == StatusTimeout {
		n.back(w)
		return
	}
	if q.back == nil {
		q.back = &answers{flow: n.net.Open(int(q.peer), n.rank)}
	}
	start := now
	if w.bad == StatusOK {
		at := w.dst
		for i := range w.into {
			size := w.got[i].Len
			w.got[i].Reset()
			n.mem.Capture(&w.got[i], at, size)
			at.Off += size
		}
		read := n.mem.Read(w.dst, int64(w.bytes), nicOwner).End
		n.eng.Through(now.Add(n.spec.Gather), n.why(cause.Gather, q))
		start = max(now.Add(n.spec.Gather), n.supplied(w, read, int(q.peer), n.rank))
		n.eng.Through(start, cause.HBM.Why(int(q.peer), 0))
	}
	q.back.free = max(start, q.back.free)
	n.eng.Because(n.why(cause.Order, q))
	n.schedule(q.back.free, evReply, w)
}

// reply sends what a READ asks for, of a bad one only its turn.
func (n *NIC) reply(w *work) {
	q, size := w.q, engine.Bytes(w.bytes)
	if w.bad != StatusOK {
		size = 0
	}
	n.net.Send(fabric.Message{
		Src: int(q.peer), Dst: n.rank, Bytes: size, Flow: q.back.flow, Landed: n, LandedArg: uint64(w.id)<<evBits | evBack,
	})
}

// back stores what a READ has brought. Flows are ordered, so when the last READ of a send
// is here, all earlier ones are.
func (n *NIC) back(w *work) {
	q, done := w.q, n.eng.Now()
	if w.bad == StatusOK {
		var all memory.Access
		for i := range w.into {
			d := &w.got[i]
			n.mem.Land(w.into[i], d)
			a := n.mem.Write(w.into[i], d.Len, nicOwner)
			if all.End = a.End; i == 0 {
				all.Begin = a.Begin
			}
		}
		done = n.written(w, all)
		n.eng.Through(done, cause.HBM.Why(n.rank, 0))
		q.bytes += int64(w.bytes)
	}
	q.wire--
	n.arrived(w, done)
	n.gather(q)
}
