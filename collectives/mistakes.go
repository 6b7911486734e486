package collectives

import (
	"fmt"
	"slices"
	"strings"

	"pldperf/hw/program"
)

// generic is a mistake that can be made in any program with what it spoils. It
// rewrites the recorded program of a call; nil means that the program has nothing of
// the kind to spoil.
type generic struct {
	Mistake
	rewrite func(c *Call, ops []node) []node
	task    func(a *Algorithm, t *program.Task) bool // instead of rewrite
}

// generics are the mistakes that every algorithm can make, by name.
var generics = []generic{
	{Mistake{Name: "eq", Doc: "waits for the very value (Eq) instead of at least it (Ge)", Row: "F10"}, eachOp(waitsGe, func(o *program.Op) { o.Eq = true }), nil},
	{Mistake{Name: "handshake_early", Doc: "notifies before the move instead of after it", Row: "F16"}, earlyHandshake, nil},
	{Mistake{Name: "mismatched_rows", Doc: "notifies row 0 of each peer instead of row my_rank", Row: "F4"}, fixedRows, nil},
	{Mistake{Name: "no_barrier", Doc: "leaves out every notify and wait", Row: "F5"}, noBarrier, nil},
	{Mistake{Name: "no_closing", Doc: "leaves out the last barrier", Row: "F16"}, func(_ *Call, ops []node) []node { return withoutBarrier(ops, false) }, nil},
	{Mistake{Name: "no_ready", Doc: "leaves out the first barrier", Row: "F14"}, func(_ *Call, ops []node) []node { return withoutBarrier(ops, true) }, nil},
	{Mistake{Name: "one_row", Doc: "uses row 0 of the signal for every barrier", Row: "F24"}, eachOp(byRow, func(o *program.Op) { o.Col = program.Const(0) }), nil},
	{Mistake{Name: "reset_by_set", Doc: "clears the cells with Set 0 instead of adding -N", Row: "F7"}, eachOp(clears, func(o *program.Op) { o.Set, o.Value = true, program.Const(0) }), nil},
	{Mistake{Name: "set_for_add", Doc: "notifies with Set instead of AtomicAdd", Row: "F7"}, eachOp(adds, func(o *program.Op) { o.Set = true }), nil},
	{Mistake{Name: "spmd", Doc: "runs the whole collective in two blocks", Row: "F46"}, nil, inTwoBlocks},
	{Mistake{Name: "wait_first", Doc: "waits before it notifies", Row: "F6"}, waitFirst, nil},
	{Mistake{Name: "wrong_layout", Doc: "places what it stores at a peer at half the offset that the peer's layout has", Row: "F8"}, eachOp(remoteStores, func(o *program.Op) { o.DstOff.R = o.DstOff.R / 2 &^ 3 }), nil},
}

// MistakeNames lists what can be done wrong on purpose in a call of the algorithm:
// its own mistakes, and those of any program.
func (a *Algorithm) MistakeNames() []string {
	var out []string
	for _, m := range a.Mistakes {
		out = append(out, m.Name)
	}
	for _, g := range generics {
		out = append(out, g.Name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// AnyMistakes are the mistakes that can be made in every program that has what they
// spoil; Algorithm.Mistakes are those of one algorithm.
func AnyMistakes() (out []Mistake) {
	for _, g := range generics {
		out = append(out, g.Mistake)
	}
	return out
}

// checkMistake reports a mistake that nobody can make.
func (a *Algorithm) checkMistake(c *Call) []error {
	if c.Mistake == "" || slices.Contains(a.MistakeNames(), c.Mistake) {
		return nil
	}
	return []error{fmt.Errorf("mistake: %s cannot make %q; it can make %s", a.Name(), c.Mistake, strings.Join(a.MistakeNames(), ", "))}
}

// spoil makes the mistake that a call asks for in its tasks, first and those behind it.
// One that changes nothing is an error; one of the algorithm's own is there already.
func (p *Plan) spoil(a *Algorithm, c *Call, first int) error {
	i := slices.IndexFunc(generics, func(g generic) bool { return g.Name == c.Mistake })
	if i < 0 {
		return nil
	}
	if slices.ContainsFunc(a.Mistakes, func(m Mistake) bool { return m.Name == c.Mistake }) {
		return nil // recorded already
	}
	done := map[*program.Program]*program.Program{}
	changed := false
	for k := range p.Job.Tasks[first:] {
		t := &p.Job.Tasks[first+k]
		if t.Program == nil {
			continue
		}
		if g := &generics[i]; g.task != nil {
			changed = g.task(a, t) || changed
			continue
		}
		wrong, ok := done[t.Program]
		if !ok {
			wrong = generics[i].spoil(c, t.Program)
			done[t.Program] = wrong
		}
		if wrong != nil {
			t.Program, changed = wrong, true
		}
	}
	if !changed {
		return fmt.Errorf("mistake: %s changes nothing in %s: there is nothing of the kind in its program", c.Mistake, a.Name())
	}
	return nil
}

// Spoil returns a program with the call's mistake in it, one of AnyMistakes.
func Spoil(c *Call, p *program.Program) (*program.Program, error) {
	i := slices.IndexFunc(generics, func(g generic) bool { return g.Name == c.Mistake && g.rewrite != nil })
	if i < 0 {
		return nil, fmt.Errorf("mistake: no program can make %q", c.Mistake)
	}
	wrong := generics[i].spoil(c, p)
	if wrong == nil {
		return nil, fmt.Errorf("mistake: %s changes nothing in %s", c.Mistake, p.Name)
	}
	return wrong, nil
}

// spoil returns the program with the mistake in it, nil where there is none to make.
func (g *generic) spoil(c *Call, p *program.Program) *program.Program {
	ops := g.rewrite(c, tree(p.Ops))
	if ops == nil {
		return nil
	}
	return &program.Program{Name: p.Name, Ops: flat(nil, ops)}
}

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

func notifies(o *program.Op) bool {
	return (o.Kind == program.Notify || o.Kind == program.NotifyPeers) && !clears(o)
}

func waitsFor(o *program.Op) bool { return o.Kind == program.Wait || o.Kind == program.WaitPeers }

func waitsGe(o *program.Op) bool { return waitsFor(o) && !o.Eq }

func signals(o *program.Op) bool { return notifies(o) || waitsFor(o) || clears(o) }

func adds(o *program.Op) bool { return notifies(o) && !o.Set }

func byRow(o *program.Op) bool { return signals(o) && o.ByRow && o.Col.String() != "0" }

// clears reports whether an op takes credits back from the own cells.
func clears(o *program.Op) bool {
	return o.Kind == program.AddPeers || o.Kind == program.Notify && o.Value.C < 0
}

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
	out := without(nodes, signals)
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
		if notifies(&nodes[i].op) && waitsFor(&nodes[i+1].op) && (at < 0 || !first) {
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
			case same(o) && clears(o):
				o.Value = o.Value.Plus(program.Const(1))
			case same(o) && waitsFor(o) && first && !gone.Set:
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
			case notifies(&n.op) && slices.ContainsFunc(nodes[start:i], hasMove):
				copy(nodes[start+1:i+1], nodes[start:i])
				nodes[start] = n
				changed = true
			case signals(&n.op):
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
			if i > 0 && waitsFor(&nodes[i].op) && notifies(&nodes[i-1].op) {
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
