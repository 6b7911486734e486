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
	{Mistake{Name: "reset_by_set", Doc: "clears the cells with Set 0 instead of adding -N", Row: "F7"}, eachOp((*program.Op).Clears, func(o *program.Op) { o.Set, o.Value = true, program.Const(0) }), nil},
	{Mistake{Name: "set_for_add", Doc: "notifies with Set instead of AtomicAdd", Row: "F7"}, eachOp(adds, func(o *program.Op) { o.Set = true }), nil},
	{Mistake{Name: "spmd", Doc: "runs the whole collective in two blocks", Row: "F46"}, nil, inTwoBlocks},
	{Mistake{Name: "wait_first", Doc: "waits before it notifies", Row: "F6"}, waitFirst, nil},
	{Mistake{Name: "wrong_layout", Doc: "places what it stores at a peer at half the offset that the peer's layout has", Row: "F8"}, eachOp(remoteStores, func(o *program.Op) { o.DstOff.R = o.DstOff.R / 2 &^ 3 }), nil},
}

// MistakeNames lists what can be done wrong on purpose in a call of the algorithm:
// its own mistakes, and those of any program; where messages are dealt by tables (micro),
// there is no layout to mistake.
func (a *Algorithm) MistakeNames() []string {
	var out []string
	for _, m := range a.Mistakes {
		out = append(out, m.Name)
	}
	for _, g := range generics {
		if a.Op != "micro" || g.Name != "wrong_layout" {
			out = append(out, g.Name)
		}
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
