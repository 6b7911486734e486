package collectives

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// all_to_all (S-1 ... S-27): each rank gives every rank a different chunk of SIZE
// elements. All forms push first, to every destination in ascending order including
// the own rank, and trust nobody's data before the barrier:
//
//	push      put row d of x to row `rank` of d's window, for every d
//	barrier   notify every peer's cell [rank], wait for every own cell [s]
//	read back copy row s of the own window to row s of y, for every s
//
//	hand    full-row puts; Set/Ge(1): single use (S-10 ... S-14)
//	incore  the composite: credit barrier, then -1 on the own cells (S-20 ... S-23)
//	host    256-element tiles with PIPE_ALL around each, at most 16 ranks; the read-back is
//	        another task (S-24)
//
// Each rank receives (P-1)/P * N bytes (S-6).
var (
	_ = register(allToAll("hand", "P puts, Set/Ge(1) barrier, read-back: the tutorial's kernel"))
	_ = register(allToAll("incore", "composite inside one AIV kernel: self-clearing credit barrier"))
	_ = register(allToAll("host", "HOST builtin: 256-element tiles, at most 16 ranks, read-back in a task of its own"))
)

// hostTile is the elements that one TPUT of a HOST builtin moves, and hostRanks the
// most ranks that it serves; beyond, it returns without communicating (semantics 3.4).
const (
	hostTile  = 256
	hostRanks = 16
)

func allToAll(form, doc string) Algorithm {
	return Algorithm{
		Op: "all_to_all", Form: form, Doc: doc, Default: form == "hand",
		Fields: []string{"dtype", "size", "message", "chunk_cols", "signal_columns", "transport", "read_back"},
		Mistakes: []Mistake{
			{"wrong_peer", "puts row dest to the peer behind dest", "F1"},
			{"wrong_row", "puts the row behind dest to peer dest", "F1"},
			{"own_row", "reads back row my_rank for every source", "F2"},
			{"alias", "uses one buffer as input and target", "F3"},
		},
		Check:   checkAllToAll,
		Record:  recordAllToAll,
		Formula: func(c *Call, rank, _ int) result.Counters { return allToAllFormula(c) },
		Formulas: [][2]string{
			{"bytes_sent", "(P-1)/P * N"},
			{"bytes_received", "(P-1)/P * N"},
			{"bytes_self", "N/P"},
			{"puts", "P; HOST: P * ceil(SIZE/256)"},
			{"notifies", "P-1"},
			{"self_adds", "P-1 (hand: 0)"},
		},
		Bounds: pushBounds,
		Stage:  stageOf(form),
		Bytes:  func(c *Call, _, _ int) engine.Bytes { return engine.Bytes(int64(c.Ranks) * c.Chunk()) },
	}
}

// stageOf: only the HOST builtin cuts tiles itself.
func stageOf(form string) func(c *Call) int64 {
	if form == "host" {
		return nil
	}
	return func(c *Call) int64 { return c.stageBytes() }
}

func (c *Call) silent() bool {
	return strings.HasSuffix(c.Form, "host") && (c.Ranks > hostRanks || c.Size <= 0 && c.Op != "barrier")
}

func checkAllToAll(c *Call) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.CoreNum != 0 {
		bad("core_num: all_to_all takes no core_num; it is %d", c.CoreNum)
	}
	if ElemSize(c.DType) == 0 {
		bad("dtype: no type %q", c.DType)
	}
	if c.Form == "host" && c.DType != "FP32" {
		bad("dtype: the HOST builtin takes FP32, not %s", c.DType)
	}
	if c.Form == "host" && c.ChunkCols != 0 {
		bad("chunk_cols: the HOST builtin cuts tiles of %d elements itself", hostTile)
	}
	if c.Size <= 0 && c.Form != "host" {
		bad("size: %d, must be positive", c.Size)
	}
	if c.Form == "host" && c.Mistake == "alias" {
		bad("mistake: the HOST builtin sees an alias: input and target must be different windows")
	}
	if c.Signal > 1 {
		bad("signal_columns: the signal of all_to_all is [P] or [P,1], not [P,%d]", c.Signal)
	}
	ops := []operand{{"input", c.Form == "host", c.Form != "host"}, {"target", true, false}, {"signal", true, false}}
	errs = append(errs, c.checkTransport("mte")...)
	return append(errs, c.checkOperands(ops, [][2]string{{"input", "target"}, {"target", "signal"}, {"input", "signal"}})...)
}

// CheckBuffer reports transfers whose stages do not fit in the Unified Buffer.
func (c *Call) CheckBuffer(usable engine.Bytes) error {
	a, err := Lookup(c.Op, c.Form)
	if err != nil || a.Stage == nil || ElemSize(c.DType) == 0 {
		return nil // said already, or cut to fit
	}
	n := a.Stage(c)
	if n <= int64(usable) {
		return nil
	}
	most := int64(usable) / int64(ElemSize(c.DType))
	if c.Pipeline {
		most /= 2
	}
	text := fmt.Sprintf("a stage of %v does not fit in %v of the Unified Buffer", engine.Bytes(n), usable)
	switch {
	case slices.Contains(a.Fields, "chunk_rows") && c.Rows > 1 && c.ChunkRows != 1:
		return fmt.Errorf("size: %s; set chunk_rows, and chunk_cols to at most %d for one row", text, most)
	case slices.Contains(a.Fields, "chunk_cols"):
		return fmt.Errorf("size: %s; set chunk_cols to at most %d", text, most)
	}
	return fmt.Errorf("size: %s; at most %d elements do", text, most)
}

// stageBytes is the bytes of a stage of a push: as much as the call says, and of a
// composite that slides it no more than its cap.
func (c *Call) stageBytes() int64 {
	n := c.portion()
	if c.ChunkCols > 0 {
		n = min(n, int64(c.ChunkCols)*int64(ElemSize(c.DType)))
	}
	if c.Op == "allgather" {
		n = min(n, stageCap)
	}
	return n
}

// Tutorial is the content in[r,d,j] = 1000r + 100d + j (+ 10000 a version) in FP32,
// in which source, destination and element are all visible (S-7). Size is the
// elements of a chunk.
type Tutorial struct{ Size int }

// Generate implements program.Content.
func (t Tutorial) Generate(dst []byte, rank int, version uint32, off int64) {
	var w [4]byte
	for i := 0; i < len(dst); {
		at := off + int64(i)
		e := at / 4
		v := float32(int64(rank)*1000 + e/int64(t.Size)*100 + e%int64(t.Size) + int64(version)*10000)
		binary.LittleEndian.PutUint32(w[:], math.Float32bits(v))
		i += copy(dst[i:], w[at&3:])
	}
}

func recordAllToAll(p *Plan, c *Call) {
	size := engine.Bytes(max(int64(c.Ranks)*c.Chunk(), 1))
	b := a2aBuffers{
		x:      p.buffer("input", program.Buffer{Window: c.Form == "host" || c.Mistake == "alias", Size: size, Fill: Tutorial{max(c.Size, 1)}}),
		signal: p.buffer("signal", program.Buffer{Window: true, Words: true, Signal: true, Size: engine.Bytes(4 * c.Ranks)}),
		y:      p.buffer("output", program.Buffer{Size: size, Fill: program.Zero{}}),
	}
	if b.data = b.x; c.Mistake != "alias" {
		b.data = p.buffer("target", program.Buffer{Window: true, Size: size})
	}
	push := c.pushProgram(b)
	back := &program.Program{Name: "read_back"}
	if !c.Options.NoReadBack && !c.silent() {
		if c.Form == "host" {
			c.readBack(back, b)
		} else {
			c.readBack(push, b)
		}
	}
	p.calls(func(k int) []program.Task { return c.a2aTasks(p, b, push, back, k) },
		[]program.Buf{b.data, b.signal}, func(int) []program.Rewrite { return []program.Rewrite{{Buf: b.x}} })
}

type a2aBuffers struct{ x, data, signal, y program.Buf }

// pushProgram records the phases up to the barrier and its epilogue.
func (c *Call) pushProgram(b a2aBuffers) *program.Program {
	p := &program.Program{Name: c.Op + "/" + c.Form}
	if c.silently(p) {
		return p
	}
	p.Phase("push")
	if c.Form == "host" {
		c.pushTiles(p, c.pushTo(b, iteration(0, 1)))
	} else {
		for d := range c.Ranks {
			p.Add(c.pushTo(b, program.Const(int64(d))))
		}
	}
	p.Phase("barrier")
	if c.Form != "hand" {
		p.Add(program.Op{Kind: program.Fence})
	}
	p.Add(notifyAll(b.signal, c.Form == "hand"))
	p.Add(waitAll(b.signal, program.Const(1)))
	if c.Form != "hand" {
		p.Phase("epilogue").Add(clearAll(b.signal, 1))
	}
	return p
}

// pushTo is the put of the chunk for rank d: row d of x to row `rank` of d's window (S-10).
func (c *Call) pushTo(b a2aBuffers, d program.Expr) program.Op {
	chunk := c.Chunk()
	put := program.Op{
		Kind: program.Put, Dst: b.data, Src: b.x, Peer: d, DstOff: program.PerRank(chunk), SrcOff: times(d, chunk),
		Bytes: program.Const(chunk), Chunk: c.stageBytes(), Transport: c.carrier(),
	}
	next := peerAhead(c.Ranks, 1) // of d rather than of the rank
	next.C, next.R, next.L = next.C+d.C, 0, d.L
	switch c.Mistake {
	case "wrong_peer":
		put.Peer = next
	case "wrong_row":
		put.SrcOff = next
		put.SrcOff.Of = scaled(next.Of, chunk)
	}
	return put
}

// scaled is a table multiplied by k.
func scaled(of []int64, k int64) []int64 {
	out := make([]int64, len(of))
	for i, v := range of {
		out[i] = k * v
	}
	return out
}

// pushTiles records a HOST builtin's push to every rank in turn: a put of each tile with
// PIPE_ALL around it (S-24).
func (c *Call) pushTiles(p *program.Program, put program.Op) {
	t := c.hostTiles(c.portion(), 1)
	put.Bytes, put.Chunk = t.bytes(), 0
	put.SrcOff, put.DstOff = put.SrcOff.Plus(t.at()), put.DstOff.Plus(t.at())
	p.Loop(program.Const(int64(c.Ranks)), func() {
		t.loop(p, func() {
			p.Add(program.Op{Kind: program.PipeBarrier})
			p.Add(put)
			p.Add(program.Op{Kind: program.PipeBarrier})
		})
	})
}

// readBack copies row s of the own window to row s of y (S-14).
func (c *Call) readBack(p *program.Program, b a2aBuffers) {
	p.Phase("read_back")
	for s := range c.Ranks {
		at := program.Const(int64(s) * c.Chunk())
		from := at
		if c.Mistake == "own_row" {
			from = program.PerRank(c.Chunk())
		}
		p.Add(program.Op{Kind: program.CopyTile, Dst: b.y, Src: b.data, DstOff: at, SrcOff: from, Bytes: program.Const(c.Chunk()), Chunk: c.stageBytes()})
	}
}

// a2aTasks are the tasks of one repetition with what they promise.
func (c *Call) a2aTasks(p *Plan, b a2aBuffers, push, back *program.Program, k int) []program.Task {
	golden := func(buf program.Buf) program.Promise {
		return program.Promise{Buf: buf, Ranges: func(rank int, yield func(off, n int64, from program.Origin)) {
			if c.silent() {
				return
			}
			for s := range c.Ranks {
				yield(int64(s)*c.Chunk(), c.Chunk(), program.Origin{Rank: s, Buf: b.x, Version: p.version(k), Off: int64(rank) * c.Chunk()})
			}
		}}
	}
	t := c.task(push)
	t.Name = p.item.Name
	t.Promises = []program.Promise{golden(b.data)}
	if c.Form != "hand" {
		t.Zero = []program.Buf{b.signal}
	}
	if len(back.Ops) == 0 {
		if !c.Options.NoReadBack && !c.silent() {
			t.Promises = append(t.Promises, golden(b.y))
		}
		return []program.Task{t}
	}
	r := c.task(back)
	r.Name, r.Op = p.item.Name+" read-back", "read_back"
	r.Promises, r.Reads = []program.Promise{golden(b.y)}, []program.Buf{b.data}
	return []program.Task{t, r}
}

// stages returns how many trips through the Unified Buffer a chunk takes, each of
// which drains.
func (c *Call) stages() int64 {
	if c.Form == "host" {
		return ceil(int64(c.Size), hostTile)
	}
	return ceil(c.portion(), c.stageBytes())
}

func allToAllFormula(c *Call) result.Counters {
	var out result.Counters
	out[result.PollsAttempted] = Unknown
	if c.silent() {
		return out
	}
	c.pushed(&out)
	c.barriers(&out, 1)
	if c.Form != "hand" {
		out[result.SelfAdds] = int64(c.Ranks - 1)
	}
	return out
}

// pushed counts the puts of a chunk to every rank, the own one included, which a put
// reaches by MTE.
func (c *Call) pushed(out *result.Counters) {
	peers, chunk, tile, trips := int64(c.Ranks-1), c.portion(), c.portion(), c.stages()
	if c.Form == "host" {
		tile = hostTile * int64(ElemSize(c.DType))
		out[result.PipeBarriers] = 2 * trips * int64(c.Ranks)
	}
	c.carriedTiles(out, program.Put, peers, chunk, tile)
	out[result.Puts] += ceil(chunk, tile)
	if out[result.PutStages] = trips; c.carrier() == program.MTE {
		out[result.PutStages] += peers * trips
	}
	out[result.BytesSent], out[result.BytesReceived], out[result.BytesSelf] = peers*chunk, peers*chunk, chunk
}

// pushBounds: a rank's puts are strictly serial and each of their stages drains; then its
// barrier message has to reach the farthest peer.
func pushBounds(c *Call, l *hw.Limits, _ int) []Bound {
	launch := l.Launch(1)
	if c.silent() {
		return []Bound{{"latency", launch, "launch"}}
	}
	var latency, remote, ingress engine.Duration
	stages := engine.Duration(c.stages())
	for r := range c.Ranks {
		var drains, serial, far engine.Duration
		near := engine.Duration(math.MaxInt64)
		for d := range c.Ranks {
			if d == r {
				continue
			}
			hop := l.Hop + l.Latency(r, d)
			drains += c.trips(int64(stages), hop)
			far, near = max(far, hop), min(near, l.Hop+l.Latency(d, r))
			serial += c.link(l, r, d).Span(engine.Bytes(c.portion()))
		}
		latency, remote = max(latency, drains+far), max(remote, serial+drains+far)
		ingress = max(ingress, l.Ingress(r).Span(engine.Bytes(int64(c.Ranks-1)*c.portion()))+near)
	}
	return []Bound{
		{"latency", launch + latency, "launch, drained puts to each peer and a barrier message"},
		{c.linkName(), launch + remote, "the serial puts of one rank at the rate to a peer, each drained by remote MTE"},
		{"ingress", launch + ingress, "remote bytes of a receiver at its fabric rate"},
	}
}
