package collectives

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"pldperf/engine"
	"pldperf/hw/program"
)

// all_to_all_v (semantics 5.7): each rank gives every rank d the first send_counts[d] rows
// of block d of its input, kept in [0,C], and learns in recv_counts how many it got. The
// wire rule has changed over the versions, and all of them can be had:
//
//	v0  counts published with Set; all C rows of each block put, whatever the counts
//	v1  counts published with Set; a put for each of the counted rows
//	v2  one put a destination; the receiver pulls the counts after the barrier
//	v3  barrier, pull, puts, barrier: two closed exchanges, each +1, >= 1, -1
//	v4  as v3 on one column in a double round: >= 1, >= 2, a single -2 (S-85)
//
// v4 and v3 run on B blocks, folded from core_num: below P each block serves every B-th
// destination, from P on K = B/P blocks share one. Each block has a signal column.
//
//	ready     fence, +1 to every peer's [rank, block], wait for >= 1 from all   (round A)
//	counts    block 0: recv_counts[s] <- send_counts_s[rank] kept in [0,C]
//	push      n <- send_counts[d]; put n rows in pieces of 256 elements, PIPE_ALL each
//	complete  fence, +1 to every peer, wait for >= 2 from all                  (round B)
//	clear     -2 on the own cells
//
// Cost per rank: sum of n_d*row bytes over remote d; max(B,P) puts; P-1 count reads;
// 2*B*(P-1) notifies (semantics 6.5).
var (
	_ = register(allToAllV("l2", "counted rows to every peer by puts, B blocks, double-round credit"))
	_ = register(allToAllV("incore", "composite inside one AIV kernel: rows counted, one block"))
	_ = register(allToAllV("host", "HOST builtin: 256-element pieces, at most 16 ranks"))
)

// vPiece is the elements that a put of the managed and HOST forms moves at a time.
const vPiece = 256

func allToAllV(form, doc string) Algorithm {
	return Algorithm{
		Op: "all_to_all_v", Form: form, Doc: doc, Default: form == "l2", Columns: form != "incore", Routed: true,
		Fields:   []string{"core_num", "dtype", "hidden", "message", "capacity", "wire", "signal_columns", "transport", "what_if"},
		Mistakes: vMistakes,
		Check:    checkAllToAllV,
		Record:   recordAllToAllV,
		Formula:  vFormula,
		Formulas: [][2]string{
			{"bytes_sent", "sum over remote d of n_d * row, n_d = min(max(send_counts[d], 0), C) (v0: (P-1) * C * row)"},
			{"bytes_received", "sum over remote s of n_(s->r) * row (v0: (P-1) * C * row)"},
			{"bytes_self", "n_r * row (v0: C * row)"},
			{"puts", "max(B, P) (v1: sum of n_d)"},
			{"put_stages", "sum over the shares of ceil(bytes / piece)"},
			{"pipe_barriers", "one a piece (HOST v0-v3: two; incore: none)"},
			{"count_reads", "P-1 (v0, v1: 0)"},
			{"notifies", "2 * B * (P-1) (v0, v1: 2 * (P-1); v2: P-1)"},
			{"self_adds", "B * (P-1) (v3: 2 * B * (P-1); v0, v1: P)"},
		},
		Bounds: vBounds,
		Bytes: func(c *Call, rank, repeat int) engine.Bytes {
			if c.noEffect() {
				return 0
			}
			var n int64
			for d := range c.Ranks {
				n += c.vRows(repeat, rank, d)
			}
			return engine.Bytes(n * c.Row())
		},
	}
}

// vMistakes are what has gone wrong in real kernels and their callers.
var vMistakes = []Mistake{
	{"read_tail", "a consumer reads all C rows of each partition, on windows that hold old bytes", "F42"},
	{"stale_counts", "a consumer reads recv_counts from a cache line that nobody has invalidated", "F43"},
	{"c_from_signal", "the kernel derives C from the rows of a signal that has twice as many as there are ranks", "F44"},
}

// wire is the version of the protocol; the newest one if none is named.
func (c *Call) wire() string { return cmp.Or(c.Wire, "v4") }

// old reports whether the wire rule is older than v3: one block, one barrier.
func (c *Call) old() bool { return slices.Contains([]string{"v0", "v1", "v2"}, c.wire()) }

// published reports whether senders publish their counts with Set.
func (c *Call) published() bool { return c.wire() == "v0" || c.wire() == "v1" }

// folded is the launch width of a call that asks for so many cores (semantics 5.7): as
// many below P, from there on whole multiples of P.
func folded(cores, ranks int) int {
	if cores < ranks {
		return max(cores, 1)
	}
	return cores / ranks * ranks
}

// lanes is K, the blocks that share the rows of one destination.
func (c *Call) lanes() int { return max(c.Blocks()/c.Ranks, 1) }

// noEffect reports whether the HOST builtin returns without communicating.
func (c *Call) noEffect() bool { return c.Form == "host" && (c.Ranks > hostRanks || c.Hidden <= 0) }

// vCapacity is C: as given, or what all repetitions need.
func (c *Call) vCapacity() int {
	n := c.Capacity
	for _, t := range c.Traffic {
		if c.Capacity == 0 {
			n = max(n, t.Capacity())
		}
	}
	return max(n, 1)
}

// counted is send_counts[dst] of a rank, kept as the kernel keeps it.
func (c *Call) counted(repeat, src, dst int) int64 {
	k := program.Counted{Capacity: c.vCapacity(), Negative: c.wire() == "v0"}
	return k.Clamp(int64(c.traffic(repeat).Count(src, dst)))
}

// vRows is how many rows go from src to dst.
func (c *Call) vRows(repeat, src, dst int) int64 {
	if c.wire() == "v0" {
		return int64(c.vCapacity())
	}
	return c.counted(repeat, src, dst)
}

func checkAllToAllV(c *Call) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	e := ElemSize(c.DType)
	if !slices.Contains([]string{"", "v0", "v1", "v2", "v3", "v4"}, c.Wire) {
		bad("wire: no version %q; there are v0 to v4", c.Wire)
	}
	switch {
	case c.CoreNum < 0:
		bad("core_num: %d, must be positive", c.CoreNum)
	case c.CoreNum > 1 && c.Form == "incore":
		bad("core_num: %d, but the composite runs inside one block: it must be 1", c.CoreNum)
	case c.CoreNum > 1 && c.old():
		bad("core_num: %d, but wire rule %s runs on one block; v3 and v4 run on several", c.CoreNum, c.wire())
	}
	switch {
	case c.DType == "INT8" && c.Form == "incore":
		bad("dtype: the composite takes FP32, not INT8")
	case c.DType == "INT8" && c.published():
		bad("dtype: wire rule %s takes FP32; INT8 came with v2", c.wire())
	case c.DType == "INT8" && c.Hidden%32 != 0:
		bad("hidden: rows of %d B; INT8 rows must be aligned to 32 B", c.Hidden)
	case c.DType != "FP32" && c.DType != "INT8":
		bad("dtype: %s, must be FP32 or INT8", c.DType)
	}
	if c.Hidden <= 0 && c.Form != "host" {
		bad("hidden: %d, must be positive", c.Hidden)
	}
	if c.Capacity < 0 {
		bad("capacity: %d, must be positive", c.Capacity)
	}
	if c.Ranks > 0 && c.Signal != 0 && c.Signal < c.Blocks() {
		bad("signal_columns: S = %d is below the launch width B = %d (INVALID_ARGS)", c.Signal, c.Blocks())
	}
	if e > 0 && c.Capacity > 0 && c.Hidden > 0 && int64(c.Capacity)*int64(c.Ranks) > 1<<40/c.Row() {
		bad("capacity: %d rows of %d B from %d ranks are more than a window can hold", c.Capacity, c.Row(), c.Ranks)
	}
	errs = append(errs, c.checkTransport("mte")...)
	host := c.Form == "host"
	names := []string{"input", "target", "signal", "send_counts", "recv_counts"}
	var distinct [][2]string
	for i, a := range names {
		for _, b := range names[:i] {
			distinct = append(distinct, [2]string{b, a})
		}
	}
	return append(errs, c.checkOperands([]operand{
		{"input", host, !host}, {"target", true, false}, {"signal", true, false}, {"send_counts", true, c.Form == "incore"}, {"recv_counts", true, false},
	}, distinct)...)
}

// vBuffers are the operands, and what a consumer copies the result to.
type vBuffers struct{ input, target, signal, send, recv, out program.Buf }

// oldBytes is what a window of a persistent worker can hold: NaN in FP32.
type oldBytes struct{}

// Generate implements program.Content.
func (oldBytes) Generate(dst []byte, _ int, _ uint32, _ int64) {
	copy(dst, bytes.Repeat([]byte{0xff}, len(dst)))
}

func (p *Plan) vBuffers(c *Call) vBuffers {
	words := func(n int) engine.Bytes { return engine.Bytes(4 * n) }
	size := engine.Bytes(max(int64(c.Ranks)*int64(c.vCapacity())*c.Row(), 1))
	columns := max(c.Signal, c.Blocks())
	target := program.Buffer{Window: true, Size: size}
	signal := program.Buffer{Window: true, Words: true, Signal: true, Size: words(c.Ranks * columns)}
	if c.Mistake == "read_tail" {
		target.Fill = oldBytes{}
	}
	b := vBuffers{
		input:  p.buffer("input", program.Buffer{Size: size}),
		target: p.buffer("target", target),
		signal: p.buffer("signal", signal),
		send:   p.buffer("send_counts", program.Buffer{Window: true, Words: true, Size: words(c.Ranks), Table: countTable{c.traffic(0), c.Ranks}}),
		recv:   p.buffer("recv_counts", program.Buffer{Window: true, Words: true, Size: words(c.Ranks)}),
	}
	if c.consumed() {
		b.out = p.buffer("output", program.Buffer{Size: size, Fill: program.Zero{}})
	}
	return b
}

// consumed reports whether the call is followed by a consumer, in which the mistake is.
func (c *Call) consumed() bool { return c.Mistake == "read_tail" || c.Mistake == "stale_counts" }

func recordAllToAllV(p *Plan, c *Call) {
	if p.err = c.checkTraffic(); p.err != nil {
		return
	}
	b := p.vBuffers(c)
	text := c.vProgram(b)
	p.calls(func(k int) []program.Task {
		t := c.task(text)
		t.Name, t.Zero = p.item.Name, []program.Buf{b.signal}
		t.Promises = []program.Promise{
			{Buf: b.target, Ranges: p.vGolden(c, b, k, c.vRows)},
			{Buf: b.recv, Words: func(rank int) []int32 { return c.vReceived(k, rank) }},
		}
		if !c.consumed() || c.noEffect() {
			return []program.Task{t}
		}
		r := program.Task{Name: p.item.Name + " consumer", Op: "read_back", Blocks: 1, Program: c.vConsumer(b), Reads: []program.Buf{b.target}}
		r.Promises = []program.Promise{{Buf: b.out, Ranges: p.vGolden(c, b, k, func(k, src, dst int) int64 { return max(c.counted(k, src, dst), 0) })}}
		return []program.Task{t, r}
	}, []program.Buf{b.target, b.signal}, func(k int) []program.Rewrite {
		return []program.Rewrite{{Buf: b.input}, {Buf: b.send, Table: countTable{c.traffic(k), c.Ranks}}}
	})
}

// checkTraffic reports a routing that does not fit the call.
func (c *Call) checkTraffic() error {
	_, err := c.operands()
	return err
}

// vReceived are the counts that a rank learns in a repetition.
func (c *Call) vReceived(k, rank int) []int32 {
	out := make([]int32, c.Ranks)
	if c.noEffect() {
		return out
	}
	for s := range out {
		out[s] = int32(c.counted(k, s, rank))
	}
	return out
}

// vGolden promises the rows of repetition k, and behind them in each partition those that
// longer earlier calls have left.
func (p *Plan) vGolden(c *Call, b vBuffers, k int, rows func(k, src, dst int) int64) func(rank int, yield func(off, n int64, from program.Origin)) {
	first, row, size := p.history(k), c.Row(), int64(c.vCapacity())
	return func(rank int, yield func(off, n int64, from program.Origin)) {
		if c.noEffect() {
			return
		}
		for s := range c.Ranks {
			next := int64(0)
			for j := k; j >= first; j = min(j, len(c.Traffic)) - 1 { // the last traffic serves all later calls
				if n := rows(j, s, rank); n > next {
					yield((int64(s)*size+next)*row, (n-next)*row, program.Origin{
						Rank: s, Buf: b.input, Version: p.version(j), Off: (int64(rank)*size + next) * row,
					})
					next = n
				}
			}
		}
	}
}
