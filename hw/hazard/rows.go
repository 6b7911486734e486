package hazard

import (
	"pldperf/hw/memory"
	"pldperf/hw/program"
)

// pulls reads the counts of the block's sources and publishes them.
func (t *Thread) pulls(r *program.Rows) {
	stride := min(r.Blocks, r.Ranks)
	for s := t.block; t.block < stride && s < r.Ranks; s += stride {
		t.word(s, r.SendCounts, t.rank)
		t.at(write, t.rank, r.RecvCounts, 4*int64(s), 4)
	}
}

// checks reads the own counts that the block uses.
func (t *Thread) checks(r *program.Rows) {
	t.word(t.rank, r.SendCounts, t.rank)
	for d := r.Next(t.rank, t.block, -1); d < r.Ranks; d = r.Next(t.rank, t.block, d) {
		t.word(t.rank, r.SendCounts, d)
	}
}

// count returns the rows that go to a destination.
func (t *Thread) count(r *program.Rows, d int) int {
	n := int(t.c.mem.Word(t.rank, memory.ID(r.SendCounts), d))
	return min(max(n, 0), r.Capacity)
}

// sendsOwned gives the owned sends to the NIC, which reads the rows and writes them at the
// peer; they are over when the block has read the CQE.
func (t *Thread) sendsOwned(r *program.Rows) {
	for d := r.Next(t.rank, t.block, -1); d < r.Ranks; d = r.Next(t.rank, t.block, d) {
		n := t.count(r, d)
		if n == 0 {
			continue
		}
		t.claims(d)
		count := t.nic(d)
		t.inputs(nic, count, r, d, 0, n)
		t.beside(nic, count, write, d, r.Target, int64(t.rank)*int64(r.Capacity)*r.Row, int64(n)*r.Row)
	}
}

// putsOwned moves the owned rows, which are there when the op is over.
func (t *Thread) putsOwned(r *program.Rows) {
	count := t.clock[t.lane[main]]
	for d := r.Next(t.rank, t.block, -1); d < r.Ranks; d = r.Next(t.rank, t.block, d) {
		if n := t.count(r, d); n > 0 {
			t.inputs(main, count, r, d, 0, n)
			t.beside(main, count, write, d, r.Target, int64(t.rank)*int64(r.Capacity)*r.Row, int64(n)*r.Row)
		}
	}
}

// inputs reads the indices of rows [lo, hi) to a destination, and those rows. An index
// that the device will refuse ends them.
func (t *Thread) inputs(sort int, count uint32, r *program.Rows, d, lo, hi int) {
	t.at(read, t.rank, r.Index, 4*(int64(d)*int64(r.Capacity)+int64(lo)), 4*int64(hi-lo))
	if !t.c.bufs[r.Input].written {
		return
	}
	index := t.c.mem.Row(t.rank, memory.ID(r.Index), d)
	hi = min(hi, len(index))
	for j := lo; j < hi; {
		first, k := index[j], j+1
		if first < 0 || int(first) >= r.Nmax {
			return
		}
		for k < hi && index[k] == first+int32(k-j) && int(index[k]) < r.Nmax {
			k++
		}
		t.beside(sort, count, read, t.rank, r.Input, int64(first)*r.Row, int64(k-j)*r.Row)
		j = k
	}
}

// copies moves the block's share of the self rows.
func (t *Thread) copies(o *program.Op) {
	r := o.Rows
	lo, hi := r.Share(t.block, t.count(r, t.rank))
	if lo == hi {
		return
	}
	sort, count := main, t.clock[t.lane[main]]
	if o.NoDrain {
		sort, count = ring, t.begin(ring, false)
	}
	t.inputs(sort, count, r, t.rank, lo, hi)
	first := int64(t.rank)*int64(r.Capacity) + int64(lo)
	t.beside(sort, count, write, t.rank, r.Target, first*r.Row, int64(hi-lo)*r.Row)
}

// polled: the CQEs of the owned sends have been read.
func (t *Thread) polled(r *program.Rows) {
	for d := r.Next(t.rank, t.block, -1); d < r.Ranks; d = r.Next(t.rank, t.block, d) {
		if t.count(r, d) > 0 {
			t.completed(d)
		}
	}
}

// submits gives WQEs to the NIC.
func (t *Thread) submits(o *program.Op, h *program.Here) {
	n, peer := o.Bytes.At(h)*int64(o.WQEs.N), int(o.Peer.At(h))
	if n <= 0 {
		return
	}
	t.claims(peer)
	count := t.nic(peer)
	from, to := t.rank, peer
	if o.WQEs.Read {
		from, to = peer, t.rank
	}
	t.beside(nic, count, read, from, o.Src, o.SrcOff.At(h), n)
	t.beside(nic, count, write, to, o.Dst, o.DstOff.At(h), n)
}

// nic returns the count of a new send.
func (t *Thread) nic(peer int) uint32 {
	count := t.begin(nic, true)
	t.sends = append(t.sends, send{peer: peer, count: count})
	return count
}

// completed: the block has read the CQE of its oldest send to a peer. It knows a count
// of the NIC's lane to be over when all before it are.
func (t *Thread) completed(peer int) {
	for i := range t.sends {
		if s := &t.sends[i]; s.peer == peer && !s.over {
			s.over = true
			break
		}
	}
	k := 0
	for ; k < len(t.sends) && t.sends[k].over; k++ {
		t.clock.set(t.lane[nic], t.sends[k].count)
	}
	t.sends = append(t.sends[:0], t.sends[k:]...)
	t.c.queues[queue{int32(t.rank), int32(peer)}] = t.mark()
}

// claims opens an exchange on a queue. The one before it must be known to be over: if it
// only is by luck, two exchanges are open at once the next time.
func (t *Thread) claims(peer int) {
	last, ok := t.c.queues[queue{int32(t.rank), int32(peer)}]
	if ok && t.clock.at(last.lane) < last.count {
		t.c.twoOpen(t, &last, peer)
	}
}
