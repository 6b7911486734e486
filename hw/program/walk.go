package program

// Often is how often the ops of a program are executed when that depends on what a
// block reads from memory as it runs.
const Often = -1

// Times returns how often a block of a rank executes each op: the iterations of the
// loops around it, none behind a Return. Where that depends on what the block will read,
// it is Often.
func (p *Program) Times(rank, block int) []int64 {
	w := walker{ops: p.Ops, times: make([]int64, len(p.Ops)), here: Here{Rank: rank, Block: block}}
	w.walk(0, len(p.Ops), 1)
	return w.times
}

type walker struct {
	ops   []Op
	times []int64
	here  Here
	done  bool // a Return was there
}

// walk counts the ops [from, to), each so many times. The body of a loop is walked once
// for all iterations, unless the count of a loop in it depends on which one it is.
func (w *walker) walk(from, to int, times int64) {
	for i := from; i < to && !w.done; i++ {
		o := &w.ops[i]
		w.add(i, times)
		switch o.Kind {
		case Return:
			w.done = true
		case Loop:
			w.loop(i, times)
			i += o.Skip
		}
	}
}

func (w *walker) add(i int, times int64) {
	if times == Often || w.times[i] == Often {
		w.times[i] = Often
		return
	}
	w.times[i] += times
}

// loop counts the body of the loop at i.
func (w *walker) loop(i int, times int64) {
	o := &w.ops[i]
	from, to := i+1, i+1+o.Skip
	switch n := max(o.Count.At(&w.here), 0); {
	case o.Count.reads() || times == Often:
		w.walk(from, to, Often)
	case w.uneven(from, to):
		for k := range n {
			w.here.Loop[o.Depth] = k
			w.walk(from, to, times)
		}
		w.here.Loop[o.Depth] = 0
	case n > 0:
		w.walk(from, to, times*n)
	}
}

// uneven reports whether the count of a loop among the ops depends on an iteration.
func (w *walker) uneven(from, to int) bool {
	for i := from; i < to; i++ {
		if w.ops[i].Kind == Loop && w.ops[i].Count.Loops() {
			return true
		}
	}
	return false
}

// reads reports whether e depends on a value that is read when it runs.
func (e *Expr) reads() bool {
	return e.V != [MaxVars]int64{} || e.And != nil && e.And.reads()
}
