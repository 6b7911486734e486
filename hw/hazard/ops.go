package hazard

import "pldperf/hw/program"

// Begin is called when an op begins, and may be called again while it lasts: what it
// touches is compared with what has been touched before.
func (t *Thread) Begin(pc int, h *program.Here) {
	if t != nil && !t.open {
		t.begun(pc, h)
	}
}

func (t *Thread) begun(pc int, h *program.Here) {
	t.open, t.pc = true, pc
	t.seq++
	o := &t.program.Ops[pc]
	switch o.Kind {
	case program.Put, program.Get:
		t.moves(o, h)
	case program.CopyTile:
		t.moved(o, h, t.rank, t.rank)
	case program.LoadTile:
		t.at(read, t.rank, o.Src, o.SrcOff.At(h), wanted(o, h, o.Bytes.At(h)))
	case program.RemoteLoad:
		t.at(read, int(o.Peer.At(h)), o.Src, o.SrcOff.At(h), wanted(o, h, o.Bytes.At(h)))
	case program.StoreTile:
		t.at(stored(o), t.rank, o.Dst, o.DstOff.At(h), o.Bytes.At(h))
	case program.RemoteStore:
		t.remoteStore(o, h)
	case program.Notify, program.NotifyPeers:
		t.tells(o.Signal)
	case program.ReadCount:
		t.word(t.rank, o.Counted.Counts, int(o.Counted.Word.At(h)))
	case program.PullCounts:
		t.pulls(o.Rows)
	case program.CheckCounts:
		t.checks(o.Rows)
	case program.SendOwned:
		t.sendsOwned(o.Rows)
	case program.PutOwned:
		t.putsOwned(o.Rows)
	case program.CopyRows:
		t.copies(o)
	case program.Submit:
		t.submits(o, h)
	}
}

// Over is called when an op is over: what it has waited for is known from now on.
func (t *Thread) Over(h *program.Here) {
	if t != nil {
		t.over(h)
	}
}

func (t *Thread) over(h *program.Here) {
	t.open = false
	o := &t.program.Ops[t.pc]
	switch o.Kind {
	case program.Wait:
		t.acquire(o.Signal, int(o.Cell.At(h)), int32(o.Value.At(h)), o.Eq)
	case program.WaitPeers:
		col, want := o.Col.At(h), int32(o.Value.At(h))
		for s := range t.c.job.Ranks {
			if s != t.rank {
				t.acquire(o.Signal, int(o.CellOf(int64(s), col)), want, o.Eq)
			}
		}
	case program.Fence:
		t.joined(stores)
	case program.DrainRows:
		t.joined(ring)
	case program.PollOwned:
		t.polled(o.Rows)
	case program.Flush:
		if o.Bytes.At(h) > 0 {
			t.completed(int(o.Peer.At(h)))
		}
	}
}

// wanted returns how many of n bytes that an op reads matter to anybody.
func wanted(o *program.Op, h *program.Here, n int64) int64 {
	if o.Used == nil {
		return n
	}
	return min(n, o.Used.At(h))
}

// stored is what a store of an op does.
func stored(o *program.Op) kind {
	if o.Atomic {
		return add
	}
	return write
}

// moves is a put or a get, which is over when its data is there and known to be. One that
// URMA carries has an exchange of its own on the queue; blocks take turns there.
func (t *Thread) moves(o *program.Op, h *program.Here) {
	peer := int(o.Peer.At(h))
	if o.Kind == program.Get {
		t.moved(o, h, peer, t.rank)
		return
	}
	t.moved(o, h, t.rank, peer)
}

func (t *Thread) moved(o *program.Op, h *program.Here, from, to int) {
	n := o.Bytes.At(h)
	r := program.Rect{Rows: 1, Width: n, SrcPitch: n, DstPitch: n}
	if o.Rect != nil {
		r = *o.Rect
	}
	src, dst, count := o.SrcOff.At(h), o.DstOff.At(h), t.clock[t.lane[main]]
	if o.Rect == nil {
		t.at(read, from, o.Src, src, wanted(o, h, n))
	} else {
		t.rect(main, count, read, from, o.Src, src, &r, r.SrcPitch)
	}
	if from == to && o.Src == o.Dst && src == dst && r.SrcPitch == r.DstPitch && !o.Atomic {
		return // it changes nothing, such as the root's part of a broadcast
	}
	t.rect(main, count, stored(o), to, o.Dst, dst, &r, r.DstPitch)
}

// remoteStore is on its way until the next fence; to the own rank it is a store.
func (t *Thread) remoteStore(o *program.Op, h *program.Here) {
	peer, off, n := int(o.Peer.At(h)), o.DstOff.At(h), o.Bytes.At(h)
	if peer == t.rank {
		t.at(stored(o), peer, o.Dst, off, n)
	} else if n > 0 {
		t.beside(stores, t.begin(stores, false), stored(o), peer, o.Dst, off, n)
	}
}

// tells remembers that the block has notified somebody with a signal.
func (t *Thread) tells(b program.Buf) {
	for i := range t.rounds {
		if t.rounds[i].signal == b {
			t.rounds[i].seq = t.seq
			return
		}
	}
	t.rounds = append(t.rounds, round{b, t.seq})
}

// word reads a control word.
func (t *Thread) word(rank int, b program.Buf, i int) { t.at(read, rank, b, 4*int64(i), 4) }
