package collectives

import "pldperf/hw/program"

// spread is what each block of each rank works through, one item an iteration of the
// outermost loop. Operands of the loop's body are tables over rank, block and iteration,
// so that one program serves all of them.
type spread[T any] struct {
	blocks int
	items  [][]T // [rank*blocks+block]
	most   int64 // items of a block
}

func newSpread[T any](ranks, blocks int) *spread[T] {
	return &spread[T]{blocks: blocks, items: make([][]T, ranks*blocks)}
}

func (s *spread[T]) add(rank, block int, x T) {
	i := rank*s.blocks + block
	s.items[i] = append(s.items[i], x)
	s.most = max(s.most, int64(len(s.items[i])))
}

// loop records body once for each item of the executing block.
func (s *spread[T]) loop(p *program.Program, body func()) {
	if s.most == 0 {
		return
	}
	of := make([]int64, len(s.items))
	for i := range of {
		of[i] = int64(len(s.items[i]))
	}
	p.Loop(program.Expr{R: int64(s.blocks), B: 1, Of: of}, body)
}

// of is the operand that f gives for the present item.
func (s *spread[T]) of(f func(x T) int64) program.Expr {
	return s.each(1, func(x T, _ int64) int64 { return f(x) })
}

// each is the operand that f gives for the present item and iteration j < n of the loop
// within.
func (s *spread[T]) each(n int64, f func(x T, j int64) int64) program.Expr {
	of := make([]int64, int64(len(s.items))*s.most*n)
	for i, items := range s.items {
		for k, x := range items {
			for j := range n {
				of[(int64(i)*s.most+int64(k))*n+j] = f(x, j)
			}
		}
	}
	e := program.Expr{R: int64(s.blocks) * s.most * n, B: s.most * n, Of: of}
	e.L[0] = n
	if n > 1 {
		e.L[1] = 1
	}
	return e
}

// largest returns the largest f of all items.
func (s *spread[T]) largest(f func(x T) int64) (n int64) {
	for _, items := range s.items {
		for _, x := range items {
			n = max(n, f(x))
		}
	}
	return n
}
