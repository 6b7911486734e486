package collectives

import (
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// twoPhaseForm is allreduce as a reduce_scatter and an allgather (semantics 5.5.3; only
// in the tutorial). Windows data and result have N elements, the signal is [2,P]; N must
// be divisible by P:
//
//	stage      input to data
//	barrier A  on row 0
//	reduce     chunk `rank` of all ranks' data, the own first, to the own result
//	barrier B  on row 1
//	gather     chunk c of rank c's result to chunk c of output, for every c
type twoPhaseForm struct{}

func (twoPhaseForm) check(c *Call, w *refusals) {
	if c.Size%c.Ranks != 0 {
		w.add("size: %d, must be divisible by %d ranks", c.Size, c.Ranks)
	}
	w.tile("size", c, c.Size/c.Ranks)
	w.tile("chunk_cols", c, c.ChunkCols)
	if c.Signal > 0 && c.Signal != c.Ranks {
		w.add("signal_columns: the signal of two_phase must be [2,%d], not [2,%d]", c.Ranks, c.Signal)
	}
}

func (twoPhaseForm) mistakes(string) []Mistake {
	return []Mistake{
		{"ag_order", "stores the chunk of rank c at offset c+1", "F26"},
		{"no_allgather", "ends behind the first phase, with the own chunk as output", "F27"},
	}
}

// chunk is the bytes of a rank's part.
func (twoPhaseForm) chunk(c *Call) int64 { return c.Chunk() / int64(c.Ranks) }

func (f twoPhaseForm) record(p *Plan, c *Call) {
	b := p.handed(c, c.Chunk(), c.Chunk(), 2*c.Ranks)
	b.result = p.buffer("result", program.Buffer{Window: true, Size: p.Job.Buffers[b.data].Size})
	s := p.scratch(c, c.stageTile())
	g := groups{signal: b.signal, stride: int64(c.Ranks), byRow: true}
	text := &program.Program{Name: c.Op + "/" + c.Form}
	b.stage(text, c.Chunk(), c.stageTile())
	g.meet(text.Phase("barrier A"), program.Const(0), program.Const(1))
	f.reduce(c, text, s, b)
	g.meet(text.Phase("barrier B"), program.Const(1), program.Const(1))
	f.gather(c, text, s, b)
	gold := p.golden(c, b.in)
	p.handedCalls(c, b, text, func(k int) program.Promise {
		return program.Promise{Buf: b.out, Values: func(_ int, yield func(int64, []byte)) {
			n := f.chunk(c)
			for g := range c.Ranks {
				gold.yield(p.version(k), meshOrder(g), int64(g)*n, int64(g)*n, n, yield)
			}
		}}
	})
}

// reduce records the first phase.
func (f twoPhaseForm) reduce(c *Call, p *program.Program, s scratch, b handBuffers) {
	t := tiled{n: f.chunk(c), tile: c.stageTile()}
	depth := 0
	if t.count() > 1 {
		depth = 1
	}
	t.loop(p, func() {
		x := share{src: b.data, at: program.PerRank(t.n).Plus(t.at()), bytes: t.bytes(), own: t.bytes(), wide: t.bytes()}
		c.gather(p.Phase("reduce"), s, x, depth)
		p.Add(program.Op{Kind: program.StoreTile, Dst: b.result, DstOff: x.at, Bytes: x.bytes})
	})
}

// gather records the second phase: the chunks in ascending order, the own among them.
func (f twoPhaseForm) gather(c *Call, p *program.Program, s scratch, b handBuffers) {
	p.Phase("gather")
	n := f.chunk(c)
	if c.Mistake == "no_allgather" {
		p.Add(copyTile(b.out, b.result, program.PerRank(n), program.PerRank(n), n, c.stageTile()))
		return
	}
	t := tiled{n: n, tile: c.stageTile(), depth: 1}
	of := func(peer, at program.Expr) {
		at = t.at().Plus(at)
		c.fetch(p, s, program.Op{Tile: 1, Src: b.result, SrcOff: at, Peer: peer, Bytes: t.bytes()})
		if c.Mistake == "ag_order" {
			next := iteration(0, 1)
			next.C, next.Of = 1, multiples(c.Ranks, n)
			at = t.at().Plus(next)
		}
		p.Add(program.Op{Kind: program.StoreTile, Tile: 1, Dst: b.out, DstOff: at, Bytes: t.bytes()})
	}
	if c.carrier() == program.MTE {
		p.Loop(program.Const(int64(c.Ranks)), func() {
			t.loop(p, func() { of(iteration(0, 1), iteration(0, n)) })
		})
		return
	}
	// Other carriers have no loopback: the own chunk is copied apart.
	p.Add(copyTile(b.out, b.result, program.PerRank(n), program.PerRank(n), n, c.stageTile()))
	p.Loop(program.Const(int64(c.Ranks-1)), func() {
		t.loop(p, func() { of(peerAt(0, 1), peerAt(0, n)) })
	})
}

// multiples is the table 0, n, 2n ... of so many entries.
func multiples(count int, n int64) []int64 {
	of := make([]int64, count)
	for i := range of {
		of[i] = int64(i) * n
	}
	return of
}

func (f twoPhaseForm) formula(c *Call, _ int) result.Counters {
	out := counted()
	peers, n := int64(c.Ranks-1), f.chunk(c)
	c.pulled(&out, 2*peers, n, c.stageTile())
	out[result.BytesSent] = 2 * peers * n
	out[result.Combined] = peers * n
	c.barriers(&out, 2)
	return out
}

func (twoPhaseForm) formulas(string) [][2]string {
	return [][2]string{
		{"bytes_received", "2(P-1)/P * N"}, {"bytes_sent", "2(P-1)/P * N"}, {"combined", "(P-1)/P * N"},
		{"remote_loads", "2(P-1) * ceil(N/P/tile), tile 16 KiB or chunk_cols"}, {"notifies", "2(P-1)"}, {"self_adds", "0"},
	}
}

func (f twoPhaseForm) work(c *Call) reductionWork {
	peers, n := int64(c.Ranks-1), f.chunk(c)
	return reductionWork{meets: 2, loads: 2 * peers * ceil(n, c.stageTile()), bytes: 2 * peers * n, pair: 2 * n, received: 2 * peers * n}
}
