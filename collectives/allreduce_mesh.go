package collectives

import (
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// meshForm is allreduce in which every rank reads all of every peer (semantics 5.5.1,
// 5.5.2, and by hand):
//
//	ready      barrier: all vectors are there
//	reduce     own tile, then each peer's in ascending order, combined     } for each
//	read_done  barrier: everybody has read this tile                       } tile
//	store      the tile, in place                                          }
//	epilogue   take the credits back: 1 + tiles
//
// hand: the result goes to an output instead, so there is no barrier but the first.
// incore: tiles of 16 KiB. What a remote load reads of the last tile of FP16 is widened
// to 32 bytes and then trimmed.
// host: tiles of 256 elements go round core_num blocks; block b of every rank uses column b
// of the signal [P,S] alone. The last tile is read in whole 32 bytes. Barriers stand
// between PIPE_ALLs as in the HOST broadcast (inferred).
type meshForm struct{}

// mesh is how a call's vector is cut into tiles.
type mesh struct {
	*Call
	n, wide, tile, blocks int64
}

func (c *Call) mesh() mesh {
	m := mesh{c, c.Chunk(), c.Chunk(), stageCap, 1}
	switch c.Form {
	case "hand":
		m.tile = c.stageTile()
	case "mesh_host":
		m.tile, m.blocks = hostTile*int64(ElemSize(c.DType)), int64(c.Blocks())
		m.wide = widened(m.n)
	default:
		if c.DType == "FP16" {
			m.wide = widened(m.n)
		}
	}
	return m
}

// of is how many tiles a block has.
func (m mesh) of(block int64) int64 {
	return max(ceil(ceil(m.n, m.tile)-block, m.blocks), 0)
}

func (m mesh) tiles() int64 { return ceil(m.n, m.tile) }

// columns is S, the columns of the signal.
func (m mesh) columns() int64 { return max(int64(m.Signal), m.blocks) }

// maxHostBlocks is the AIVs that a HOST builtin may launch (semantics 5.5.2; resolution 8).
func (c *Call) maxHostBlocks() int {
	if c.Platform == "a2a3" {
		return 48
	}
	return 36
}

func (meshForm) check(c *Call, w *refusals) {
	switch c.Form {
	case "hand":
		w.tile("size", c, c.Size)
		w.tile("chunk_cols", c, c.ChunkCols)
	case "mesh_host":
		if most := c.maxHostBlocks(); c.CoreNum > most {
			w.add("core_num: %d, must be at most %d, the AIVs of a HOST builtin", c.CoreNum, most)
		}
		narrow := c.Signal > 0 && c.Signal < c.Blocks()
		if narrow && c.Mistake != "narrow_stride" {
			w.add("signal_columns: the signal must have at least core_num columns: [%d,%d] for core_num %d", c.Ranks, c.Signal, c.CoreNum)
		}
		if c.Mistake == "narrow_stride" && (!narrow || c.Blocks()-c.Signal >= c.Ranks) {
			w.add("mistake: narrow_stride takes signal_columns below core_num %d, by less than %d ranks; it is %d", c.CoreNum, c.Ranks, c.Signal)
		}
		return
	}
	if c.Signal > 1 {
		w.add("signal_columns: the signal of mesh must be [NR,1], not [%d,%d]", c.Ranks, c.Signal)
	}
}

func (meshForm) mistakes(form string) []Mistake {
	out := []Mistake{{"own_twice", "adds the own vector again among the peers'", "F22"}}
	if form == "mesh_host" {
		out = append(out, Mistake{"narrow_stride", "launches more blocks than the signal has columns, as older kernels did", "F47"})
	}
	return out
}

func (meshForm) record(p *Plan, c *Call) {
	m := c.mesh()
	if c.Form == "hand" {
		m.byHand(p)
		return
	}
	target := p.inPlace(c, m.n)
	g := groups{signal: p.signalWindow(int(m.cells())), stride: m.columns()}
	if c.Mistake == "narrow_stride" {
		g.stride = int64(c.Signal)
	}
	s := p.scratch(c, m.tile)
	text := &program.Program{Name: c.Op + "/" + c.Form}
	if !c.silently(text) {
		m.reduceInPlace(text, s, g, target)
	}
	gold := p.golden(c, target)
	p.inPlaceCalls(target, g.signal, func(version uint32) program.Task {
		t := c.task(text)
		t.Name, t.Zero = p.item.Name, []program.Buf{g.signal}
		t.Promises = []program.Promise{m.promise(gold, target, version)}
		return t
	})
}

// cells is the size of the signal. One with too few columns has some room behind it: the
// window is larger than what the kernel takes it for.
func (m mesh) cells() int64 {
	if m.Mistake == "narrow_stride" {
		return int64(m.Ranks)*int64(m.Signal) + m.blocks - int64(m.Signal)
	}
	return int64(m.Ranks) * m.columns()
}

// promise: the whole vector on every rank.
func (m mesh) promise(gold *golden, buf program.Buf, version uint32) program.Promise {
	return program.Promise{Buf: buf, Values: func(rank int, yield func(int64, []byte)) {
		if !m.silent() {
			gold.yield(version, meshOrder(rank), 0, 0, m.n, yield)
		}
	}}
}

// tileLoop records body once for each tile of the executing block, with what the tile is
// and how many loops there are around it.
func (m mesh) tileLoop(p *program.Program, src program.Buf, body func(x share, depth int)) {
	own := m.n
	if m.Form == "mesh_host" {
		own = m.wide
	}
	if m.tiles() == 1 && m.blocks == 1 {
		body(share{src: src, bytes: program.Const(m.n), own: program.Const(own), wide: program.Const(m.wide)}, 0)
		return
	}
	count := make([]int64, m.blocks)
	for b := range count {
		count[b] = m.of(int64(b))
	}
	at := program.Expr{B: m.tile}
	at.L[0] = m.blocks * m.tile
	left := func(n int64) program.Expr {
		e := program.Expr{C: n, B: -at.B, Cap: m.tile}
		e.L[0] = -at.L[0]
		return e
	}
	n := program.Const(count[0])
	if count[0] != count[m.blocks-1] {
		n = program.Expr{B: 1, Of: count}
	}
	p.Loop(n, func() { body(share{src: src, at: at, bytes: left(m.n), own: left(own), wide: left(m.wide)}, 1) })
}

// reduceInPlace records the phases of the builtins.
func (m mesh) reduceInPlace(p *program.Program, s scratch, g groups, target program.Buf) {
	meet, col, value := g.meet, program.Expr{}, program.Const(2)
	if m.Form == "mesh_host" {
		meet = g.meetAll
	}
	if m.blocks > 1 {
		col = program.OwnBlock
	}
	p.Phase("ready")
	meet(p, col, program.Const(1))
	m.tileLoop(p, target, func(x share, depth int) {
		p.Phase("reduce")
		m.gather(p, s, x, depth)
		if depth > 0 {
			value.L[0] = 1
		}
		p.Phase("read_done")
		meet(p, col, value)
		p.Phase("store").Add(program.Op{Kind: program.StoreTile, Dst: target, DstOff: x.at, Bytes: x.bytes})
	})
	credits := program.Const(-1 - m.of(0))
	if m.of(0) != m.of(m.blocks-1) {
		all := make([]int64, m.blocks)
		for b := range all {
			all[b] = -1 - m.of(int64(b))
		}
		credits = program.Expr{B: 1, Of: all}
	}
	g.clear(p, col, credits)
}

// byHand records the tutorial's kernel.
func (m mesh) byHand(p *Plan) {
	b := p.handed(m.Call, m.n, m.n, m.Ranks)
	s := p.scratch(m.Call, m.tile)
	text := &program.Program{Name: m.Op + "/" + m.Form}
	b.stage(text, m.n, m.tile)
	text.Phase("ready")
	groups{signal: b.signal, stride: 1}.meet(text, program.Expr{}, program.Const(1))
	m.tileLoop(text, b.data, func(x share, depth int) {
		m.gather(text.Phase("reduce"), s, x, depth)
		text.Phase("store").Add(program.Op{Kind: program.StoreTile, Dst: b.out, DstOff: x.at, Bytes: x.bytes})
	})
	gold := p.golden(m.Call, b.in)
	p.handedCalls(m.Call, b, text, func(k int) program.Promise { return m.promise(gold, b.out, p.version(k)) })
}

func (meshForm) formula(c *Call, _ int) result.Counters {
	out := counted()
	if c.silent() {
		return out
	}
	m, peers := c.mesh(), int64(c.Ranks-1)
	c.pulled(&out, peers, m.wide, m.tile)
	out[result.BytesSent] = peers * m.wide
	out[result.Combined] = peers * m.n
	meets := m.blocks + m.tiles()
	switch c.Form {
	case "hand":
		meets = 1
	case "mesh_host":
		out[result.PipeBarriers] = 2 * meets
		fallthrough
	default:
		out[result.SelfAdds] = m.blocks * peers
	}
	c.barriers(&out, meets)
	return out
}

func (meshForm) formulas(form string) [][2]string {
	out := [][2]string{
		{"bytes_received", "(P-1) * N"}, {"bytes_sent", "(P-1) * N"}, {"combined", "(P-1) * N"},
		{"remote_loads", "(P-1) * ceil(N/tile), tile 16 KiB or chunk_cols"}, {"notifies", "P-1"}, {"self_adds", "0"},
	}
	switch form {
	case "mesh_incore":
		out[0][1] += "; FP16: N rounded up to 32 B"
		out[1][1] = out[0][1]
		out[3][1] = "(P-1) * K, K = ceil(N/16 KiB)"
		out[4][1], out[5][1] = "(1+K)(P-1)", "P-1"
	case "mesh_host":
		out[0][1] += ", N rounded up to 32 B"
		out[1][1] = out[0][1]
		out[3][1] = "(P-1) * ceil(N/256)"
		out[4][1], out[5][1] = "(B + ceil(N/256)) (P-1)", "B (P-1)"
		out = append(out, [2]string{"pipe_barriers", "2 (B + ceil(N/256))"})
	}
	return out
}

func (meshForm) work(c *Call) reductionWork {
	m, peers := c.mesh(), int64(c.Ranks-1)
	w := reductionWork{meets: 1, loads: m.of(0) * peers, pair: m.n, received: peers * m.n}
	if c.Form != "hand" {
		w.meets += m.of(0)
	}
	last := m.of(0) - 1
	w.bytes = peers * (last*m.tile + min(m.tile, m.n-last*m.blocks*m.tile))
	return w
}
