package collectives

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/arith"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// stageCap is the most bytes that a composite stages in the Unified Buffer at once
// (semantics 3.3).
const stageCap = 16 << 10

// leastTile is the fewest bytes that a tile can be loaded with (semantics 3.2).
const leastTile = 32

// only is the count of a loop that rank root alone goes through, and allBut that of one
// that the other ranks do: what a kernel writes as a condition on its rank.
func only(ranks, root int) program.Expr   { return oneOf(ranks, root, 1) }
func allBut(ranks, root int) program.Expr { return oneOf(ranks, root, 0) }

func oneOf(ranks, root int, there int64) program.Expr {
	of := make([]int64, ranks)
	for r := range of {
		of[r] = 1 - there
	}
	of[root] = there
	return program.Expr{R: 1, Of: of}
}

// iteration is the operand c*i of the loop at a depth, 0 the outermost.
func iteration(depth int, c int64) program.Expr {
	var e program.Expr
	e.L[depth] = c
	return e
}

// tiled is a range of n bytes in tiles, one an iteration of the loop at a depth.
type tiled struct {
	n, tile int64
	depth   int
}

// count is how many tiles there are, at where the present one begins, and bytes how
// long it is: the last one may be shorter.
func (t tiled) count() int64 { return ceil(t.n, t.tile) }

func (t tiled) at() program.Expr {
	if t.count() == 1 {
		return program.Expr{}
	}
	return iteration(t.depth, t.tile)
}

func (t tiled) bytes() program.Expr {
	if t.count() == 1 {
		return program.Const(t.n)
	}
	e := iteration(t.depth, -t.tile)
	e.C, e.Cap = t.n, t.tile
	return e
}

// number is which tile the present one is, from 1.
func (t tiled) number() program.Expr {
	if t.count() == 1 {
		return program.Const(1)
	}
	e := iteration(t.depth, 1)
	e.C = 1
	return e
}

// loop records body once for each tile.
func (t tiled) loop(p *program.Program, body func()) {
	if n := t.count(); n != 1 {
		p.Loop(program.Const(n), body)
		return
	}
	body()
}

// notifyAll is a credit, or with set the value 1, for the own rank's cell at every peer
// of a [P,1] signal.
func notifyAll(signal program.Buf, set bool) program.Op {
	return program.Op{Kind: program.NotifyPeers, Signal: signal, Stride: 1, Value: program.Const(1), Set: set}
}

// waitAll waits until every peer's own cell is at least g.
func waitAll(signal program.Buf, g program.Expr) program.Op {
	return program.Op{Kind: program.WaitPeers, Signal: signal, Stride: 1, Value: g}
}

// clearAll takes n credits back from every peer's own cell.
func clearAll(signal program.Buf, n int64) program.Op {
	return program.Op{Kind: program.AddPeers, Signal: signal, Stride: 1, Value: program.Const(-n)}
}

// shake records the handshake of a pattern in which each rank acts on its neighbour:
// the rank tells `to` and waits for a word from `from`, each in the cell of the rank that
// it comes from.
func shake(p *program.Program, signal program.Buf, to, from program.Expr) {
	p.Add(program.Op{Kind: program.Notify, Signal: signal, Peer: to, Cell: program.Own, Value: program.Const(1)})
	p.Add(program.Op{Kind: program.Wait, Signal: signal, Cell: from, Value: program.Const(1)})
}

// copyTile copies n bytes within the rank in stages of at most chunk bytes.
func copyTile(dst, src program.Buf, dstOff, srcOff program.Expr, n, chunk int64) program.Op {
	return program.Op{Kind: program.CopyTile, Dst: dst, Src: src, DstOff: dstOff, SrcOff: srcOff, Bytes: program.Const(n), Chunk: chunk}
}

// Ramp is the content in[r,j] = Step*r + j, plus Lift a version, as the tutorials have
// it: a value says which rank and element it is.
type Ramp struct {
	DType      program.DType
	Step, Lift int64
}

// Generate implements program.Content.
func (x Ramp) Generate(dst []byte, rank int, version uint32, off int64) {
	generate(dst, x.DType, off, func(j int64) float64 {
		return float64(int64(rank)*x.Step + j + int64(version)*x.Lift)
	})
}

// generate fills dst with elements of a type from byte off on.
func generate(dst []byte, t program.DType, off int64, value func(j int64) float64) {
	var w [8]byte
	for e := t.Size(); len(dst) > 0; {
		arith.Put(w[:], 0, t, value(off/e))
		n := copy(dst, w[off%e:e])
		dst, off = dst[n:], off+int64(n)
	}
}

// ramp is the call's Ramp of rows of n elements: no two ranks or versions share a value
// as long as the type tells them apart.
func (c *Call) ramp(n int) Ramp {
	step := int64(100)
	for step < int64(n) {
		step *= 10
	}
	return Ramp{DType: c.Elem(), Step: step, Lift: 100 * step}
}

// Elem is the type of the call's elements.
func (c *Call) Elem() program.DType {
	t, _ := program.ParseDType(c.DType) // an unknown one has been refused
	return t
}

// signalWindow is the signal of n cells.
func (p *Plan) signalWindow(n int) program.Buf {
	return p.buffer("signal", program.Buffer{Window: true, Words: true, Signal: true, Size: engine.Bytes(4 * n)})
}

// refusals collects what the compiler refuses.
type refusals []error

func (w *refusals) add(format string, args ...any) { *w = append(*w, fmt.Errorf(format, args...)) }

// common reports what no collective or primitive but the multi-block ones takes.
func (w *refusals) common(c *Call) {
	if c.CoreNum != 0 {
		w.add("core_num: %s takes no core_num; it is %d", c.Op, c.CoreNum)
	}
	if c.Signal > 1 {
		w.add("signal_columns: the signal of %s is [P] or [P,1], not [P,%d]", c.Op, c.Signal)
	}
}

// payload reports what no payload can be like.
func (w *refusals) payload(c *Call) {
	if ElemSize(c.DType) == 0 {
		w.add("dtype: no type %q", c.DType)
	}
	if c.Form == "host" && c.DType != "FP32" {
		w.add("dtype: the HOST builtin takes FP32, not %s", c.DType)
	}
	if c.Size <= 0 && c.Form != "host" {
		w.add("size: %d, must be positive", c.Size)
	}
	if min(c.ChunkRows, c.ChunkCols) < 0 {
		w.add("chunk_cols: a stage of %d rows and %d elements; 0 is all", c.ChunkRows, c.ChunkCols)
	}
}

// tile reports tiles of n elements that are too small to load.
func (w *refusals) tile(field string, c *Call, n int) {
	if e := ElemSize(c.DType); n > 0 && n*e > 0 && n*e < leastTile {
		w.add("%s: a tile load of %d B; it takes at least %d B", field, n*e, leastTile)
	}
}

// rootOf reports a root that is no rank.
func (w *refusals) rootOf(c *Call) {
	if c.Root < 0 {
		w.add("root: %d, must be a compile-time int that is not negative", c.Root)
	} else if c.Root >= c.Ranks {
		w.add("root: %d, must be a valid rank in [0,%d)", c.Root, c.Ranks)
	}
}

// silently records the early return of a HOST builtin and reports whether it does.
func (c *Call) silently(p *program.Program) bool {
	if !c.silent() {
		return false
	}
	p.Phase("guard").Add(program.Op{Kind: program.Return, Note: fmt.Sprintf(
		"the HOST builtin returned without communicating: it serves at most %d ranks and at least one element (here %d ranks, %d elements)",
		hostRanks, c.Ranks, c.Size)})
	return true
}

// ranges is a promise that every rank's part of buf comes from elsewhere.
type ranges = func(rank int, yield func(off, n int64, from program.Origin))

// counted is where formulas start: nothing is done and only failed polls are not known.
func counted() (out result.Counters) {
	out[result.PollsAttempted] = Unknown
	return out
}

// carriedTiles counts n times a range of bytes that is moved in tiles, but for the bytes.
func (c *Call) carriedTiles(out *result.Counters, kind program.Kind, n, bytes, tile int64) {
	if full := bytes / tile; full > 0 {
		c.carried(out, kind, n*full, tile)
	}
	if rest := bytes % tile; rest > 0 {
		c.carried(out, kind, n, rest)
	}
}

// barriers adds n barriers of all ranks.
func (c *Call) barriers(out *result.Counters, n int64) {
	peers := int64(c.Ranks - 1)
	out[result.Notifies] += n * peers
	out[result.PollsSatisfied] += n * peers
}

// farthest is the time that a message takes between the two ranks that it takes
// longest, nearest between those that it takes shortest.
func farthest(l *hw.Limits) (far, near engine.Duration) {
	near = -1
	for r := range l.Ranks {
		for d := range l.Ranks {
			if d == r {
				continue
			}
			hop := l.Hop + l.Latency(r, d)
			if far = max(far, hop); near < 0 || hop < near {
				near = hop
			}
		}
	}
	return far, max(near, 0)
}

// link is the highest rate between two ranks by what carries the call.
func (c *Call) link(l *hw.Limits, src, dst int) engine.Rate {
	if c.carrier() != program.MTE {
		return l.Pair(src, dst)
	}
	return min(l.Remote, l.Pair(src, dst))
}

// trips is the least time of n remote accesses one after another, each of which takes d
// by MTE; of the other carriers nothing is promised.
func (c *Call) trips(n int64, d engine.Duration) engine.Duration {
	if c.carrier() != program.MTE {
		return 0
	}
	return engine.Duration(n) * d
}

// linkName is what the bound of that rate is called.
func (c *Call) linkName() string {
	if c.carrier() != program.MTE {
		return "pair"
	}
	return "remote_mte"
}
