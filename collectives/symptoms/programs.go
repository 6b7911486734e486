package symptoms

import (
	"fmt"
	"slices"

	"pldperf/collectives"
	"pldperf/hw/program"
)

// What the programs of a run say by themselves, once its data shows that something is
// wrong: where they notify, whom, and what they wait for again.

// handshake counts the waits of a call, and says where it notifies in front of a move
// that nothing announces.
func (s *suspect) handshake(x scene) (waits int, ahead string) {
	read, stored := map[program.Buf]bool{}, map[program.Buf]bool{} // by peers; by the own rank
	s.ops(x, func(_ *program.Task, _ int, o *program.Op) {
		if pullsFrom(o) {
			read[o.Src] = true
		}
		if o.Kind == program.StoreTile {
			stored[o.Dst] = true
		}
	})
	last, loose := map[*program.Task]string{}, map[*program.Task]int{}
	s.ops(x, func(t *program.Task, i int, o *program.Op) {
		shows := o.Kind == program.Put || o.Kind == program.RemoteStore || o.Kind == program.SendOwned ||
			(o.Kind == program.CopyTile || o.Kind == program.StoreTile) && read[o.Dst] || pullsFrom(o) && stored[o.Src]
		switch {
		case o.Waits():
			waits++
			last[t] = ""
		case o.Kind == program.Fence:
			delete(loose, t)
		case o.Notifies():
			last[t] = fmt.Sprintf("op %d notifies", i)
			if at, ok := loose[t]; ok && ahead == "" {
				ahead = fmt.Sprintf("op %d notifies without a fence behind op %d, a remote_store", i, at)
			}
		case o.Kind == program.RemoteStore && last[t] == "":
			loose[t] = i
		case shows && last[t] != "" && ahead == "":
			ahead = fmt.Sprintf("%s before op %d, a %s, has moved its data", last[t], i, o.Kind)
		}
	})
	return waits, ahead
}

func pullsFrom(o *program.Op) bool { return o.Kind == program.Get || o.Kind == program.RemoteLoad }

// mixes reports whether a call sets and adds to the same signal.
func (s *suspect) mixes(x scene) bool {
	sets, adds := map[program.Buf]bool{}, map[program.Buf]bool{}
	found := false
	s.ops(x, func(_ *program.Task, _ int, o *program.Op) {
		if o.Signals() && !o.Waits() {
			if o.Set {
				sets[o.Signal] = true
			} else {
				adds[o.Signal] = true
			}
			found = found || sets[o.Signal] && adds[o.Signal]
		}
	})
	return found
}

// peers calls yield for every rank that an op of a call acts on, op by op and rank by rank.
func (s *suspect) peers(x scene, concerns func(*program.Op) bool, yield func(op, rank, peer int)) {
	s.ops(x, func(t *program.Task, i int, o *program.Op) {
		for r := 0; concerns(o) && r < s.job.Ranks; r++ {
			for block := range t.Blocks {
				each(t.Program, i, r, block, func(h *program.Here) { yield(i, r, int(o.Peer.At(h))) })
			}
		}
	})
}

// deaf says that a rank reads from one that never notifies it, though ranks notify others
// one by one.
func (s *suspect) deaf(x scene) (text string) {
	if !slices.Contains([]string{"get", "remote_load", "ring"}, x.family()) {
		return ""
	}
	one, all := false, false
	s.ops(x, func(_ *program.Task, _ int, o *program.Op) {
		one = one || o.Kind == program.Notify && o.Notifies()
		all = all || o.Kind == program.NotifyPeers
	})
	if !one || all {
		return ""
	}
	told := map[[2]int]bool{} // from, to
	s.peers(x, (*program.Op).Notifies, func(_, rank, peer int) { told[[2]int{rank, peer}] = true })
	s.peers(x, pullsFrom, func(op, rank, peer int) {
		if rank != peer && !told[[2]int{peer, rank}] && text == "" {
			text = fmt.Sprintf("op %d of rank %d reads from rank %d, which notifies other ranks", op, rank, peer)
		}
	})
	return text
}

// selfish says that a rank of a ring is its own neighbour (F18).
func (s *suspect) selfish(x scene) (found bool) {
	if x.family() != "ring" {
		return false
	}
	s.peers(x, pullsFrom, func(op, rank, peer int) {
		if rank == peer && !found {
			found = true
			s.say("F18", "op %d of rank %d reads from rank %[2]d itself", op, rank)
		}
	})
	return found
}

// narrow says that the columns of two blocks are one, because the signal has fewer of
// them than there are blocks (F47).
func (s *suspect) narrow(x scene) (found bool) {
	s.ops(x, func(t *program.Task, i int, o *program.Op) {
		if o.Kind != program.NotifyPeers || o.ByRow || found {
			return
		}
		for b := range t.Blocks {
			if col := o.Col.At(&program.Here{Block: b}); col >= o.Stride {
				found = true
				s.say("F47", "op %d of block %d notifies column %d of a signal with %d columns: a cell of another source", i, b, col, o.Stride)
				return
			}
		}
	})
	return found
}

// gathers reports whether peers read what a call has reduced: the window in which it
// stores its results.
func (s *suspect) gathers(x scene) (found bool) {
	stored := map[program.Buf]bool{}
	s.ops(x, func(_ *program.Task, _ int, o *program.Op) {
		if o.Kind == program.StoreTile {
			stored[o.Dst] = true
		}
		found = found || pullsFrom(o) && stored[o.Src]
	})
	return found
}

// reused says where a call waits again for what its cells have had since before: for a
// value of cells that somebody has waited for, with nothing that clears them between.
// own is set when the call itself has.
func (s *suspect) reused(x scene) (text string, own bool) {
	type use struct {
		call *collectives.Call
		op   int
	}
	seen := map[string]use{}
	for k := range s.job.Tasks {
		t := &s.job.Tasks[k]
		if slices.ContainsFunc(t.Before, func(w program.Rewrite) bool { return w.Zero }) {
			clear(seen)
		}
		if t.Program == nil {
			continue
		}
		for i := range t.Program.Ops {
			o := &t.Program.Ops[i]
			if o.Clears() {
				clear(seen)
			}
			if !o.Waits() || text != "" {
				continue
			}
			call := s.at(t.Name, o.Phase).call
			key := fmt.Sprint(o.Signal, o.ByRow, o.Col, o.Cell, o.Value)
			if u, again := seen[key]; again && call == x.call {
				text, own = fmt.Sprintf("op %d waits for what op %d has already waited for", i, u.op), u.call == call
			} else if n := repeats(t.Program, i); n > 1 && call == x.call {
				text, own = fmt.Sprintf("op %d waits for the same value of the same cells %d times", i, n), true
			}
			seen[key] = use{call, i}
		}
	}
	return text, own
}

// repeats returns how often a wait is executed with the same operands and nothing that
// clears its cells between.
func repeats(p *program.Program, i int) int64 {
	o := &p.Ops[i]
	for k := i - 1; k >= 0; k-- {
		l := &p.Ops[k]
		if l.Kind != program.Loop || k+l.Skip < i {
			continue
		}
		body := p.Ops[k+1 : k+1+l.Skip]
		if !o.Col.Loops() && !o.Cell.Loops() && !o.Value.Loops() && !slices.ContainsFunc(body, func(o program.Op) bool { return (&o).Clears() }) {
			return l.Count.At(&program.Here{})
		}
		return 1
	}
	return 1
}
