package collectives

import (
	"cmp"
	"fmt"
	"slices"

	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// Expert-parallel exchange by the AIVs' own stores into the memory of peers, as the fused
// operators of CloudMatrix384 do it (CloudMatrix384 paper, 4.2 and Table 6): a message is
// one token for one expert, `shared` more of each token go to shared experts, which are
// dealt over the ranks. AIVs take messages in turn.
//
//	send   software.put, then one put of the row, which the AIV waits for
//	meet   all AIVs of the rank have sent
//	flag   to every peer in turn its count, a put of 32 B that is waited for, then a notify
//	wait   for the notifies of all peers; meet again
//
//	ep_dispatch  ranks send tokens to experts, then copy what has come into one piece
//	ep_combine   experts send rows back, each to its place, then ranks add up the rows of
//	             each token; software.take is the vector's work on a row
//
// Rows are not added: the row of a token's last expert stands for the sum, so that its
// bytes show where they come from. Cells are not cleared; repetitions count on.
var (
	_ = register(microEP("ep_dispatch", "tokens to experts by remote stores, a flag for every peer, then into one piece"))
	_ = register(microEP("ep_combine", "rows of experts back by remote stores, a flag for every peer, then the rows of a token added"))
)

func microEP(form, doc string) Algorithm {
	return Algorithm{
		Op: "micro", Form: form, Doc: doc, Columns: true, Routed: true, Fields: []string{"dtype", "hidden", "core_num", "shared", "software"},
		Check:   checkEP,
		Stage:   func(c *Call) int64 { return c.Row() },
		Record:  recordEP,
		Formula: func(c *Call, rank, _ int) result.Counters { return c.epFormula(rank) },
		Formulas: [][2]string{
			{"puts", "1 a message and P-1"}, {"notifies", "P-1"}, {"self_adds", "2 B"}, {"bytes_sent", "rows and 32 B a peer"},
		},
		Bounds: epBounds,
		Bytes: func(c *Call, rank, _ int) engine.Bytes {
			x := newExperts(c)
			return engine.Bytes(int64(len(x.sends(rank)))*c.Row() + int64(c.Ranks-1)*statusBytes)
		},
	}
}

// statusBytes is what a rank tells a peer when all of its messages are there: how many
// there are, in a block of the Unified Buffer.
const statusBytes = 32

// message is a token of a rank for one expert.
type message struct {
	src, dst, token int
	number          int // of the source's messages, by token
	lane            int // among those from src to dst
	at              int // among those to dst, by source
}

// experts are the messages of all ranks.
type experts struct {
	*Call
	traffic   Traffic
	from, to  [][]message
	back      [][]message // to, in the order of sends; made when first asked for
	lane      int         // messages of a pair, at most
	most, got int         // messages that a rank sends, and gets, at most
}

// newExperts finds the messages of a call, once.
func newExperts(c *Call) *experts {
	if c.dealt != nil && c.dealt.traffic == c.Traffic[0] {
		return c.dealt
	}
	x := &experts{Call: c, from: make([][]message, c.Ranks), to: make([][]message, c.Ranks), back: make([][]message, c.Ranks)}
	for s := range c.Ranks {
		lane := make([]int, c.Ranks)
		for token, peers := range c.expertRanks(s) {
			for _, d := range peers {
				m := message{src: s, dst: d, token: token, number: len(x.from[s]), lane: lane[d], at: len(x.to[d])}
				lane[d]++
				x.lane = max(x.lane, lane[d])
				x.from[s], x.to[d] = append(x.from[s], m), append(x.to[d], m)
			}
		}
		x.most = max(x.most, len(x.from[s]))
	}
	for d := range x.to {
		x.got = max(x.got, len(x.to[d]))
	}
	x.traffic, c.dealt = c.Traffic[0], x
	return x
}

// expertRanks lists the ranks to which each token of a rank goes, one for each of its experts.
func (c *Call) expertRanks(rank int) [][]int {
	t := c.Traffic[0]
	out := make([][]int, t.Tokens())
	if e, ok := t.(Experts); ok && e.Experts() > 0 {
		for i, expert := range e.Chosen(rank) {
			out[i/e.TopK()] = append(out[i/e.TopK()], int(expert)*c.Ranks/e.Experts())
		}
	} else {
		for d := range c.Ranks {
			for _, token := range t.Index(rank, d) {
				out[token] = append(out[token], d)
			}
		}
	}
	for token := range out {
		for k := range c.Shared {
			out[token] = append(out[token], (rank+1+token+k)%c.Ranks)
		}
	}
	return out
}

// sends lists the messages that leave a rank in the order in which its AIVs take them: by
// token, or those that came with the tokens, one for each rank in turn from the next on,
// when it sends the experts' rows back.
func (x *experts) sends(rank int) []message {
	if x.Form != "ep_combine" {
		return x.from[rank]
	}
	if x.back[rank] == nil {
		x.back[rank] = slices.SortedFunc(slices.Values(x.to[rank]), func(a, b message) int {
			ahead := func(m message) int { return (m.src - rank - 1 + x.Ranks) % x.Ranks }
			return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(ahead(a), ahead(b)))
		})
	}
	return x.back[rank]
}

// takes lists the messages that a rank gets.
func (x *experts) takes(rank int) []message {
	if x.Form == "ep_combine" {
		return x.from[rank]
	}
	return x.to[rank]
}

func checkEP(c *Call) []error {
	var w refusals
	if c.CoreNum < 1 {
		w.add("core_num: %d, must be at least 1", c.CoreNum)
	}
	if ElemSize(c.DType) == 0 {
		w.add("dtype: no type %q", c.DType)
	}
	if c.Hidden <= 0 {
		w.add("hidden: %d, must be positive", c.Hidden)
	}
	if c.Shared < 0 {
		w.add("shared: %d, must not be negative", c.Shared)
	}
	if len(c.Traffic) > 1 {
		w.add("routing: the benchmark sends one routing, not another in each repetition")
	}
	if min(c.Software.First, c.Software.Put, c.Software.Take) < 0 {
		w.add("software: a negative time")
	}
	return append(w, c.checkOperands([]operand{{"input", false, false}, {"target", true, false}, {"output", false, false}}, nil)...)
}

// expertBuffers are those of a call.
type expertBuffers struct {
	input, count, target, status, output, signal program.Buf
}

func recordEP(p *Plan, c *Call) {
	x, row := newExperts(c), c.Row()
	sized := func(rows int) engine.Bytes { return engine.Bytes(max(int64(rows)*row, 1)) }
	var b expertBuffers
	var in, target, out engine.Bytes
	if c.Form == "ep_combine" {
		in, target, out = sized(x.got), sized(x.most), sized(c.Traffic[0].Tokens())
	} else {
		in, target, out = sized(c.Traffic[0].Tokens()), sized(c.Ranks*x.lane), sized(x.got)
	}
	b.input = p.buffer("input", program.Buffer{Size: in})
	b.count = p.buffer("count", program.Buffer{Size: statusBytes})
	b.target = p.buffer("target", program.Buffer{Window: true, Size: target})
	b.status = p.buffer("status", program.Buffer{Window: true, Size: engine.Bytes(c.Ranks) * statusBytes})
	b.output = p.buffer("output", program.Buffer{Size: out, Fill: program.Zero{}})
	b.signal = p.signalWindow(c.Ranks + 1)
	p.calls(func(k int) []program.Task {
		t := c.task(x.text(b, int64(k-p.history(k))))
		t.Name = p.item.Name
		t.Promises = []program.Promise{{Buf: b.output, Ranges: x.golden(b.input, p.version(k))}}
		return []program.Task{t}
	}, []program.Buf{b.target, b.status, b.signal}, func(int) []program.Rewrite { return []program.Rewrite{{Buf: b.input}} })
}

// golden is what every rank has got in the end.
func (x *experts) golden(input program.Buf, version uint32) ranges {
	row := x.Row()
	return func(rank int, yield func(off, n int64, from program.Origin)) {
		if x.Form == "ep_dispatch" {
			for j, m := range x.to[rank] {
				yield(int64(j)*row, row, program.Origin{Rank: m.src, Buf: input, Version: version, Off: int64(m.token) * row})
			}
			return
		}
		for _, t := range x.tokens(rank) {
			m := x.from[rank][t.first+t.n-1]
			yield(int64(t.token)*row, row, program.Origin{Rank: m.dst, Buf: input, Version: version, Off: int64(m.at) * row})
		}
	}
}

// text is the program of all blocks; before is how many calls the cells have seen.
func (x *experts) text(b expertBuffers, before int64) *program.Program {
	p := &program.Program{Name: "micro/" + x.Form}
	if x.Software.First > 0 {
		p.Phase("api").Add(program.Op{Kind: program.Spend, Value: program.Const(int64(x.Software.First))})
	}
	x.send(p.Phase("send"), b)
	x.meet(p.Phase("meet"), b, 2*before+1)
	x.flag(p.Phase("flag"), b)
	p.Phase("wait").Loop(x.shareOfPeers(), func() {
		p.Add(program.Op{Kind: program.Wait, Signal: b.signal, Cell: x.peer(), Value: program.Const(before + 1)})
	})
	x.meet(p, b, 2*before+2)
	if x.Form == "ep_dispatch" {
		x.gather(p.Phase("gather"), b)
	} else {
		x.sum(p.Phase("sum"), b)
	}
	return p
}

func (x *experts) send(p *program.Program, b expertBuffers) {
	row := x.Row()
	all := lists[message]{of: make([][]message, x.Ranks), blocks: x.Blocks()}
	for r := range all.of {
		all.of[r] = x.sends(r)
	}
	op := program.Op{Kind: program.Put, Dst: b.target, Src: b.input, Bytes: program.Const(row)}
	if x.Form == "ep_combine" {
		op.Peer = all.value(func(m message) int64 { return int64(m.src) })
		op.SrcOff = all.value(func(m message) int64 { return int64(m.at) * row })
		op.DstOff = all.value(func(m message) int64 { return int64(m.number) * row })
	} else {
		op.Peer = all.value(func(m message) int64 { return int64(m.dst) })
		op.SrcOff = all.value(func(m message) int64 { return int64(m.token) * row })
		op.DstOff = all.value(func(m message) int64 { return int64(m.src*x.lane+m.lane) * row })
	}
	p.Loop(all.share(), func() {
		spend(p, x.Software.Put)
		p.Add(op)
	})
}

// meet has all AIVs of a rank wait for each other, for the nth time.
func (x *experts) meet(p *program.Program, b expertBuffers, nth int64) {
	cell := program.Const(int64(x.Ranks))
	p.Add(program.Op{Kind: program.Notify, Signal: b.signal, Peer: program.Own, Cell: cell, Value: program.Const(1)})
	p.Add(program.Op{Kind: program.Wait, Signal: b.signal, Cell: cell, Value: program.Const(nth * int64(x.Blocks()))})
}

// flag tells the peers of the block that all is there.
func (x *experts) flag(p *program.Program, b expertBuffers) {
	p.Loop(x.shareOfPeers(), func() {
		p.Add(program.Op{Kind: program.Put, Dst: b.status, Src: b.count, Peer: x.peer(), Bytes: program.Const(statusBytes), DstOff: program.PerRank(statusBytes)})
		p.Add(program.Op{Kind: program.Notify, Signal: b.signal, Peer: x.peer(), Cell: program.Own, Value: program.Const(1)})
	})
}

// peer is the i-th peer of a block, counted on from its rank.
func (x *experts) peer() program.Expr {
	e := peerAhead(x.Ranks, 1)
	e.B, e.L[0] = 1, int64(x.Blocks())
	return e
}

// shareOfPeers is how many peers a block has.
func (x *experts) shareOfPeers() program.Expr {
	e := program.Expr{B: 1, Of: make([]int64, x.Blocks())}
	for b := range e.Of {
		e.Of[b] = max(ceil(int64(x.Ranks-1-b), int64(x.Blocks())), 0)
	}
	return e
}

// gather copies what has come into one piece.
func (x *experts) gather(p *program.Program, b expertBuffers) {
	row := x.Row()
	all := lists[message]{of: x.to, blocks: x.Blocks()}
	from := all.value(func(m message) int64 { return int64(m.src*x.lane+m.lane) * row })
	to := all.value(func(m message) int64 { return int64(m.at) * row })
	p.Loop(all.share(), func() {
		spend(p, x.Software.Take)
		p.Add(copyTile(b.output, b.target, to, from, row, 0))
	})
}

// tokenRows is a token with the messages that it has.
type tokenRows struct{ token, first, n int }

func (x *experts) tokens(rank int) (out []tokenRows) {
	for i, m := range x.from[rank] {
		if len(out) == 0 || out[len(out)-1].token != m.token {
			out = append(out, tokenRows{token: m.token, first: i})
		}
		out[len(out)-1].n++
	}
	return out
}

// sum adds up the rows of each token.
func (x *experts) sum(p *program.Program, b expertBuffers) {
	row := x.Row()
	all := lists[tokenRows]{of: make([][]tokenRows, x.Ranks), blocks: x.Blocks()}
	for r := range all.of {
		all.of[r] = x.tokens(r)
	}
	from := all.value(func(t tokenRows) int64 { return int64(t.first) * row }).Plus(iteration(1, row))
	p.Loop(all.share(), func() {
		p.Loop(all.value(func(t tokenRows) int64 { return int64(t.n) }), func() {
			p.Add(program.Op{Kind: program.LoadTile, Src: b.target, SrcOff: from, Bytes: program.Const(row)})
			spend(p, x.Software.Take)
		})
		p.Add(program.Op{Kind: program.StoreTile, Dst: b.output, DstOff: all.value(func(t tokenRows) int64 { return int64(t.token) * row }), Bytes: program.Const(row)})
	})
}

func spend(p *program.Program, d engine.Duration) {
	if d > 0 {
		p.Add(program.Op{Kind: program.Spend, Value: program.Const(int64(d))})
	}
}

// lists are what each rank works on; its blocks take items in turn, in an outer loop.
type lists[T any] struct {
	of     [][]T // by rank
	blocks int
}

// share is how many items a block has.
func (l lists[T]) share() program.Expr {
	e := program.Expr{R: int64(l.blocks), B: 1, Of: make([]int64, l.blocks*len(l.of))}
	for r := range l.of {
		for b := range l.blocks {
			e.Of[r*l.blocks+b] = max(ceil(int64(len(l.of[r])-b), int64(l.blocks)), 0)
		}
	}
	return e
}

// value is the operand that has a value for each item.
func (l lists[T]) value(of func(T) int64) program.Expr {
	most := 1
	for _, items := range l.of {
		most = max(most, len(items))
	}
	e := program.Expr{R: int64(most), B: 1, Of: make([]int64, most*len(l.of))}
	e.L[0] = int64(l.blocks)
	for r, items := range l.of {
		for i, item := range items {
			e.Of[r*most+i] = of(item)
		}
	}
	return e
}

func (c *Call) epFormula(rank int) result.Counters {
	x, out, row, peers := newExperts(c), counted(), c.Row(), int64(c.Ranks-1)
	sent, got := int64(x.remote(x.sends(rank))), int64(x.remote(x.takes(rank)))
	out[result.BytesSent], out[result.BytesReceived] = sent+peers*statusBytes, got+peers*statusBytes
	out[result.BytesSelf] = int64(len(x.sends(rank)))*row - sent
	out[result.Puts] = int64(len(x.sends(rank))) + peers
	out[result.PutStages] = out[result.Puts]
	out[result.Notifies], out[result.SelfAdds] = peers, 2*int64(c.Blocks())
	out[result.PollsSatisfied] = peers + 2*int64(c.Blocks())
	return out
}

// epBounds: the busiest AIV's messages one after another, and the busiest rank's bytes.
func epBounds(c *Call, l *hw.Limits, _ int) []Bound {
	x, blocks := newExperts(c), c.Blocks()
	var busiest, near, egress, ingress engine.Duration
	for r := range c.Ranks {
		busy := make([]engine.Duration, blocks)
		for i, m := range x.sends(r) {
			busy[i%blocks] += c.Software.Put + wayTo(l, r, m.src+m.dst-r)
		}
		for i := range c.Ranks - 1 { // a count, and the last one's flag
			busy[i%blocks] += wayTo(l, r, (r+1+i)%c.Ranks)
		}
		busiest = max(busiest, slices.Max(busy))
		egress = max(egress, l.Egress(r).Span(x.remote(x.sends(r))))
		ingress = max(ingress, l.Ingress(r).Span(x.remote(x.takes(r))))
	}
	for d := 1; d < c.Ranks; d++ {
		if way := wayTo(l, 0, d); d == 1 || way < near {
			near = way
		}
	}
	begin := l.Launch(blocks) + c.Software.First
	return []Bound{
		{"latency", begin + busiest + near, fmt.Sprintf("launch, the messages of the busiest of %d AIVs and its counts one after another, and a flag", blocks)},
		{"egress", begin + egress + 2*near, "launch, bytes of the busiest sender at its fabric rate, a count and its flag"},
		{"ingress", begin + ingress + 2*near, "launch, bytes of the busiest receiver at its fabric rate, a count and its flag"},
	}
}

// wayTo is the least time of a put to a rank that is waited for.
func wayTo(l *hw.Limits, from, to int) engine.Duration {
	if from == to {
		return 0
	}
	return l.Latency(from, to) + l.Hop
}

// remote is the bytes of messages between ranks.
func (x *experts) remote(messages []message) (n engine.Bytes) {
	for _, m := range messages {
		if m.src != m.dst {
			n += engine.Bytes(x.Row())
		}
	}
	return n
}
