package program

import (
	"fmt"
	"slices"
	"strings"
)

// Here is where an op is executed: by which rank and block, in which iteration of the
// loops around it, the outer one first, and with what the block has read from memory.
type Here struct {
	Rank, Block int
	Loop        [MaxLoops]int64
	Var         [MaxVars]int64
}

// MaxLoops is how deep loops can nest.
const MaxLoops = 2

// MaxVars is how many values a block can keep of what it has read: the count of a
// destination, and the first byte and the bytes of the block's share (ReadCount).
const MaxVars = 3

// Expr is an operand that whoever executes the op evaluates: a linear form in the
// rank, the block, the iterations of the loops around the op and the values that the
// block has read. With Of the form is
// an index into that table and wraps around its ends, which is how a ring counts
// ranks and segments. And is added, and with Cap the sum is kept within [0, Cap].
type Expr struct {
	C, R, B int64
	L       [MaxLoops]int64
	V       [MaxVars]int64
	Of      []int64
	And     *Expr
	Cap     int64
}

// Const returns the operand that is c everywhere.
func Const(c int64) Expr { return Expr{C: c} }

// PerRank returns the operand c*rank.
func PerRank(c int64) Expr { return Expr{R: c} }

// OwnBlock is the operand that is the executing block's number.
var OwnBlock = Expr{B: 1}

// Own is the operand that is the executing rank.
var Own = Expr{R: 1}

// Plus returns e + o. It panics when both have a Cap somewhere at their end: a sum has
// room for one.
func (e Expr) Plus(o Expr) Expr {
	switch {
	case e.linear() && o.linear():
		e.C, e.R, e.B = e.C+o.C, e.R+o.R, e.B+o.B
		for i := range e.L {
			e.L[i] += o.L[i]
		}
		for i := range e.V {
			e.V[i] += o.V[i]
		}
	case e.Cap != 0 && o.Cap != 0:
		panic("program: the sum of two operands with a Cap")
	case e.Cap != 0:
		return o.Plus(e)
	case e.And == nil:
		e.And = &o
	default:
		sum := e.And.Plus(o)
		e.And = &sum
	}
	return e
}

func (e *Expr) linear() bool { return e.Of == nil && e.And == nil && e.Cap == 0 }

// At evaluates e.
func (e *Expr) At(h *Here) int64 {
	v := e.C + e.R*int64(h.Rank) + e.B*int64(h.Block)
	for i, k := range e.L {
		v += k * h.Loop[i]
	}
	for i, k := range e.V {
		v += k * h.Var[i]
	}
	if e.Of != nil {
		n := int64(len(e.Of))
		v = e.Of[(v%n+n)%n]
	}
	if e.And != nil {
		v += e.And.At(h)
	}
	if e.Cap > 0 {
		v = min(max(v, 0), e.Cap)
	}
	return v
}

// Loops reports whether e depends on a loop, or on a value that is read when it runs.
func (e *Expr) Loops() bool {
	return e.L != [MaxLoops]int64{} || e.V != [MaxVars]int64{} || e.And != nil && e.And.Loops()
}

// loopNames are how iterations are printed.
var loopNames = [MaxLoops]string{"i", "j"}

// varNames are how values that a block has read are printed.
var varNames = [MaxVars]string{"n", "lo", "share"}

// String prints e as a person would write it.
func (e Expr) String() string {
	var terms []string
	term := func(k int64, name string) {
		switch k {
		case 0:
		case 1:
			terms = append(terms, name)
		default:
			terms = append(terms, fmt.Sprintf("%d*%s", k, name))
		}
	}
	term(e.R, "rank")
	term(e.B, "block")
	for i, k := range e.L {
		term(k, loopNames[i])
	}
	for i, k := range e.V {
		term(k, varNames[i])
	}
	if e.C != 0 || len(terms) == 0 && (e.And == nil || e.Of != nil) {
		terms = append(terms, fmt.Sprint(e.C))
	}
	text := strings.Join(terms, "+")
	if e.Of != nil {
		text = fmt.Sprintf("%s[%s]", shortList(e.Of), text)
	}
	if e.And != nil {
		text = strings.TrimPrefix(text+"+"+e.And.String(), "+")
	}
	if e.Cap > 0 {
		text = fmt.Sprintf("min(%s, %d)", text, e.Cap)
	}
	return strings.ReplaceAll(text, "+-", "-")
}

// shortList prints a table, of a long one the beginning.
func shortList(of []int64) string {
	const most = 4
	if len(of) <= most {
		return strings.ReplaceAll(fmt.Sprint(of), " ", ",")
	}
	return strings.TrimSuffix(strings.ReplaceAll(fmt.Sprint(of[:most]), " ", ","), "]") + ",...]"
}

// Show prints e for one rank and block: all is resolved but the iterations of loops.
func (e Expr) Show(rank, block int) string {
	e.resolve(&Here{Rank: rank, Block: block})
	return e.String()
}

func (e *Expr) resolve(h *Here) {
	if !e.Loops() {
		*e = Const(e.At(h))
		return
	}
	if own := (&Expr{C: e.C, R: e.R, B: e.B, L: e.L, V: e.V, Of: e.Of}); !own.Loops() {
		e.C, e.Of = own.At(h), nil
	} else {
		e.C += e.R*int64(h.Rank) + e.B*int64(h.Block)
		if n := int64(len(e.Of)); n > 0 { // the table begins where the loop does
			first := (e.C%n + n) % n
			e.C, e.Of = 0, slices.Concat(e.Of[first:], e.Of[:first])
		}
	}
	e.R, e.B = 0, 0
	if e.And != nil {
		rest := *e.And
		rest.resolve(h)
		e.And = &rest
	}
}
