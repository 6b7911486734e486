package collectives

import (
	"slices"
	"strings"

	"pldperf/hw/program"
)

// How recorded programs are rewritten: as trees, in which loops have bodies.

// node is an op with, for a loop, its body.
type node struct {
	op   program.Op
	body []node
}

// tree gives loops their bodies.
func tree(ops []program.Op) (out []node) {
	for i := 0; i < len(ops); i++ {
		n := node{op: ops[i]}
		if ops[i].Kind == program.Loop {
			n.body = tree(ops[i+1 : i+1+ops[i].Skip])
			i += ops[i].Skip
		}
		out = append(out, n)
	}
	return out
}

// flat appends the ops of a tree to a program's.
func flat(ops []program.Op, nodes []node) []program.Op {
	for _, n := range nodes {
		at := len(ops)
		ops = append(ops, n.op)
		if n.op.Kind == program.Loop {
			ops = flat(ops, n.body)
			ops[at].Skip = len(ops) - at - 1
		}
	}
	return ops
}

func waitsGe(o *program.Op) bool { return o.Waits() && !o.Eq }

func adds(o *program.Op) bool { return o.Notifies() && !o.Set }

func byRow(o *program.Op) bool { return o.Signals() && o.ByRow && o.Col.String() != "0" }

// moves reports whether an op moves payload between ranks.
func moves(o *program.Op) bool {
	switch o.Kind {
	case program.Put, program.Get, program.RemoteLoad, program.RemoteStore, program.SendOwned:
		return true
	}
	return false
}

func remoteStores(o *program.Op) bool {
	return (o.Kind == program.Put || o.Kind == program.RemoteStore) && o.DstOff.R/2&^3 != o.DstOff.R
}

// eachOp rewrites every op that it concerns.
func eachOp(concerns func(*program.Op) bool, change func(*program.Op)) func(*Call, []node) []node {
	var walk func(nodes []node) (changed bool)
	walk = func(nodes []node) (changed bool) {
		for i := range nodes {
			n := &nodes[i]
			if concerns(&n.op) {
				change(&n.op)
				changed = true
			}
			changed = walk(n.body) || changed
		}
		return changed
	}
	return func(_ *Call, nodes []node) []node {
		if !walk(nodes) {
			return nil
		}
		return nodes
	}
}

// without drops ops, and loops that have nothing left to do.
func without(nodes []node, drop func(*program.Op) bool) (out []node) {
	for _, n := range nodes {
		if drop(&n.op) {
			continue
		}
		if n.op.Kind == program.Loop {
			if n.body = without(n.body, drop); len(n.body) == 0 {
				continue
			}
		}
		out = append(out, n)
	}
	return out
}

// inTwoBlocks launches a kernel that is for one block in two.
func inTwoBlocks(a *Algorithm, t *program.Task) bool {
	shares := func(o program.Op) bool { return o.Col.B != 0 || o.DstOff.B != 0 } // work among blocks, of which it has one
	if a.Columns || t.Blocks != 1 || slices.ContainsFunc(t.Program.Ops, shares) || slices.ContainsFunc(apart, func(word string) bool { return strings.Contains(a.Form, word) }) {
		return false
	}
	t.Blocks = 2
	return true
}

func noBarrier(_ *Call, nodes []node) []node {
	before := len(flat(nil, nodes))
	out := without(nodes, (*program.Op).Signals)
	if len(flat(nil, out)) == before {
		return nil
	}
	return out
}

// withoutBarrier drops the first or the last notify and wait that stand together, and
// has the other barriers of their cells expect one credit less.
func withoutBarrier(nodes []node, first bool) []node {
	at := -1
	for i := 0; i+1 < len(nodes); i++ {
		if nodes[i].op.Notifies() && nodes[i+1].op.Waits() && (at < 0 || !first) {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	gone := nodes[at].op
	out := slices.Concat(nodes[:at:at], nodes[at+2:])
	same := func(o *program.Op) bool {
		return o.Signal == gone.Signal && o.Col.String() == gone.Col.String() && o.Cell.String() == gone.Cell.String()
	}
	behind := at // waits that counted on the credit that is gone
	var fix func(nodes []node, from int)
	fix = func(nodes []node, from int) {
		for i := from; i < len(nodes); i++ {
			o := &nodes[i].op
			switch {
			case same(o) && o.Clears():
				o.Value = o.Value.Plus(program.Const(1))
			case same(o) && o.Waits() && first && !gone.Set:
				o.Value = o.Value.Plus(program.Const(-1))
			}
			fix(nodes[i].body, 0)
		}
	}
	fix(out, behind)
	return out
}

// earlyHandshake moves each notify that follows a move in front of the moves behind
// the last wait, on every level of loops.
func earlyHandshake(_ *Call, nodes []node) []node {
	changed := false
	var walk func(nodes []node)
	walk = func(nodes []node) {
		start := 0 // behind the last signal op
		for i := range nodes {
			n := nodes[i]
			switch {
			case (&n.op).Notifies() && slices.ContainsFunc(nodes[start:i], hasMove):
				copy(nodes[start+1:i+1], nodes[start:i])
				nodes[start] = n
				changed = true
			case (&n.op).Signals():
				start = i + 1
			}
			walk(nodes[i].body)
		}
	}
	walk(nodes)
	if !changed {
		return nil
	}
	return nodes
}

func hasMove(n node) bool {
	return moves(&n.op) || n.op.Kind == program.CopyTile || n.op.Kind == program.StoreTile || slices.ContainsFunc(n.body, hasMove)
}

// waitFirst puts each wait that follows a notify in front of it.
func waitFirst(_ *Call, nodes []node) []node {
	changed := false
	var walk func(nodes []node)
	walk = func(nodes []node) {
		for i := range nodes {
			if i > 0 && nodes[i].op.Waits() && nodes[i-1].op.Notifies() {
				nodes[i-1], nodes[i] = nodes[i], nodes[i-1]
				changed = true
			}
			walk(nodes[i].body)
		}
	}
	walk(nodes)
	if !changed {
		return nil
	}
	return nodes
}

// fixedRows has every rank notify the cell of source 0 at its peers.
func fixedRows(c *Call, nodes []node) []node {
	changed := false
	var walk func(nodes []node) []node
	walk = func(nodes []node) (out []node) {
		for _, n := range nodes {
			n.body = walk(n.body)
			if n.op.Kind != program.NotifyPeers {
				out = append(out, n)
				continue
			}
			changed = true
			for k := 1; k < c.Ranks; k++ {
				one := n.op
				one.Kind, one.Peer = program.Notify, peerAhead(c.Ranks, k)
				one.Cell = times(one.Col, one.CellOf(0, 1))
				out = append(out, node{op: one})
			}
		}
		return out
	}
	out := walk(nodes)
	if !changed {
		return nil
	}
	return out
}

// peerAhead is the operand (rank+k) mod ranks.
func peerAhead(ranks, k int) program.Expr {
	of := make([]int64, ranks)
	for r := range of {
		of[r] = int64(r)
	}
	return program.Expr{C: int64(k), R: 1, Of: of}
}

// times returns a linear operand multiplied by k.
func times(e program.Expr, k int64) program.Expr {
	e.C, e.R, e.B = e.C*k, e.R*k, e.B*k
	for i := range e.L {
		e.L[i] *= k
	}
	return e
}
