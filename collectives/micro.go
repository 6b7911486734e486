package collectives

import (
	"fmt"
	"slices"
	"strings"

	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// micro are the benchmarks with which silicon was measured, with their own method: what
// the clock covers is said by who compares (package fit). They are no collectives; a
// task behind them, on a barrier of all ranks and outside the time, looks at the data.
//
//	api      what the software does once for a batch
//	issue    for each put: the software's part, then the WQE and its doorbell
//	flush    for each put: its CQE
//
// hcomm_put         rank 0 puts N bytes to rank 1
// hcomm_ring        rank r puts N bytes to rank r+1
// hcomm_all_to_all  rank r puts N bytes to r+1, r+2, ... one after another
// hcomm_matrix      the same with the bytes of a routing; nothing to send is no put
// wqe_issue         one lane of rank 0 writes WQEs to rank 1, with a doorbell each
//
//	(commit: immediate) or one for all (last), then reads their CQEs
//
// rdma_write        every rank posts WRITEs to the next one, one after another, while
//
//	it is written to: a thread of a host that posts for all its queue pairs
//
// launch            a kernel of so many blocks that does nothing
//
// An HCOMM-like API serves puts one after another: on top of the hardware's part it
// spends `software.first` once and `software.put` for each, and rings for each at once,
// so that a transfer overlaps the issue of the next. The cost of the API belongs to its
// version, not to the machine (measured/README).
var (
	_ = register(micro("hcomm_put", "one put and one flush through an HCOMM-like API, rank 0 to rank 1", "software"))
	_ = register(micro("hcomm_ring", "one put and one flush through an HCOMM-like API, rank r to rank r+1", "software"))
	_ = register(micro("hcomm_all_to_all", "a put to each peer and one flush through an HCOMM-like API", "software"))
	_ = register(micro("hcomm_matrix", "a put of so many bytes to each peer and one flush through an HCOMM-like API", "software"))
	_ = register(micro("wqe_issue", "WQEs written by one SIMT lane to one peer, then their CQEs", "wqes", "wqe_sges", "commit"))
	_ = register(micro("rdma_write", "WRITEs of every rank to the next one, posted one after another", "wqes", "software"))
	_ = register(Algorithm{
		Op: "micro", Form: "launch", Doc: "a kernel of so many blocks that does nothing", Fields: []string{"grid"},
		Check: func(c *Call) []error {
			var w refusals
			w.common(c)
			return append(w, c.checkOperands(nil, nil)...)
		},
		Record:   recordLaunch,
		Formula:  func(*Call, int, int) result.Counters { return result.Counters{} },
		Formulas: [][2]string{{"bytes_sent", "0"}},
		Bounds: func(c *Call, l *hw.Limits, _ int) []Bound {
			return []Bound{{"latency", l.Launch(max(c.Grid, 1)), "launch of all blocks"}}
		},
		Bytes: func(*Call, int, int) engine.Bytes { return 0 },
	})
)

func micro(form, doc string, fields ...string) Algorithm {
	a := Algorithm{
		Op: "micro", Form: form, Doc: doc, Fields: append([]string{"dtype", "size", "message"}, fields...),
		Check:   checkMicro,
		Clock:   core,
		Record:  recordMicro,
		Formula: func(c *Call, rank, _ int) result.Counters { return c.microFormula(rank) },
		Formulas: [][2]string{
			{"puts", "1 a destination; wqe_issue, rdma_write: as many as WQEs"}, {"sqes", "as puts"}, {"cqes", "as puts"},
			{"doorbells", "as puts; commit last: 1"}, {"wqebbs", "1 a put of one SGE, 2 of 2 to 5"},
		},
		Bounds: microBounds,
		Bytes: func(c *Call, rank, _ int) engine.Bytes {
			n, _ := c.given(rank)
			return engine.Bytes(n)
		},
	}
	if form == "hcomm_matrix" {
		a.Routed, a.Fields = true, []string{"dtype", "hidden", "software"}
	}
	return a
}

// Software is what an API spends in software on top of the hardware's part.
type Software struct {
	First engine.Duration // once for a batch of puts and its flush
	Put   engine.Duration // for each put
	Take  engine.Duration // for each row that is taken from a window (ep_dispatch, ep_combine)
	// Rate is that at which the payload of a put, moved by the adapter, holds up the thread
	// that posts the next, where both are in one memory (rdma_write); 0: it does not.
	Rate engine.Rate
}

// each is what the software spends on a put of n bytes.
func (s *Software) each(n int64) engine.Duration {
	if s.Rate == 0 {
		return s.Put
	}
	return s.Put + s.Rate.Span(engine.Bytes(n))
}

// onePut is a put of a benchmark: n bytes from src of the input to dst of the window.
type onePut struct {
	peer        int
	src, dst, n int64
}

// allPuts lists what all ranks put.
func (c *Call) allPuts() [][]onePut {
	all, most := make([][]onePut, c.Ranks), c.most()
	for r := range all {
		all[r] = c.putsOf(r, most)
	}
	return all
}

// putsOf lists what a rank puts, in the order in which the peers follow it; most is the
// most bytes that a rank gives to another.
func (c *Call) putsOf(rank int, most int64) (out []onePut) {
	at := int64(0)
	add := func(peer int, n int64) {
		if n > 0 {
			out = append(out, onePut{peer, at, int64(rank) * most, n})
			at += n
		}
	}
	switch c.Form {
	case "hcomm_put", "wqe_issue":
		if rank == 0 {
			add(1, most)
		}
	case "hcomm_ring", "rdma_write":
		add((rank+1)%c.Ranks, most)
	default:
		for i := 1; i < c.Ranks; i++ {
			peer, n := (rank+i)%c.Ranks, most
			if c.Form == "hcomm_matrix" {
				n = int64(c.Traffic[0].Count(rank, peer)) * c.Row()
			}
			add(peer, n)
		}
	}
	return out
}

// most is the most bytes that a rank gives to another.
func (c *Call) most() (most int64) {
	if c.Form != "hcomm_matrix" {
		return c.Chunk() * int64(c.wqes().N)
	}
	for r := range c.Ranks {
		for d := range c.Ranks {
			if d != r {
				most = max(most, int64(c.Traffic[0].Count(r, d))*c.Row())
			}
		}
	}
	return most
}

// given is what a rank puts in all, and with how many puts.
func (c *Call) given(rank int) (n int64, puts int) {
	for i := range c.Ranks - 1 {
		if x := c.between(rank, (rank+1+i)%c.Ranks); x > 0 {
			n, puts = n+x, puts+1
		}
	}
	return n, puts
}

// taken is what all others put to a rank.
func (c *Call) taken(rank int) (n int64) {
	for i := range c.Ranks - 1 {
		n += c.between((rank+1+i)%c.Ranks, rank)
	}
	return n
}

// between is what src puts to another rank.
func (c *Call) between(src, dst int) int64 {
	switch c.Form {
	case "hcomm_put", "wqe_issue":
		if src != 0 || dst != 1 {
			return 0
		}
	case "hcomm_ring", "rdma_write":
		if dst != (src+1)%c.Ranks {
			return 0
		}
	case "hcomm_matrix":
		return int64(c.Traffic[0].Count(src, dst)) * c.Row()
	}
	return c.Chunk() * int64(max(c.WQEs, 1))
}

func total(puts []onePut) (n int64) {
	for _, x := range puts {
		n += x.n
	}
	return n
}

// wqes is how a put is submitted.
func (c *Call) wqes() *program.WQEs {
	w := &program.WQEs{N: max(c.WQEs, 1), SGEs: max(c.WQESGEs, 1), Bell: 1}
	if c.Commit == "last" {
		w.Bell = 0
	}
	if c.Form == "rdma_write" {
		w.Each = c.Software.each(c.Chunk())
	}
	return w
}

func checkMicro(c *Call) []error {
	var w refusals
	w.common(c)
	if ElemSize(c.DType) == 0 {
		w.add("dtype: no type %q", c.DType)
	}
	q := c.wqes()
	switch {
	case c.Form == "hcomm_matrix":
		if c.Hidden <= 0 {
			w.add("hidden: %d, must be positive", c.Hidden)
		}
		if len(c.Traffic) > 1 {
			w.add("routing: the benchmark sends one matrix, not another in each repetition")
		}
	case c.Size <= 0:
		w.add("size: %d, must be positive", c.Size)
	case c.Chunk() > maxWQE:
		w.add("size: a put of %v; one WQE moves at most %v", engine.Bytes(c.Chunk()), engine.Bytes(maxWQE))
	case int64(q.SGEs) > c.Chunk() || c.SGEs > 0 && q.SGEs > c.SGEs:
		w.add("wqe_sges: %d, must be at most %d and the bytes of a WQE", q.SGEs, c.SGEs)
	case c.Depth > 0 && q.N*used(q.SGEs) > c.Depth:
		w.add("wqes: %d WQEs of %d WQEBBs do not fit in a queue of %d", q.N, used(q.SGEs), c.Depth)
	}
	if min(c.Software.First, c.Software.Put) < 0 || c.Software.Rate < 0 {
		w.add("software: a negative time or rate")
	}
	if c.Software.Rate > 0 && c.Form != "rdma_write" {
		w.add("software: only rdma_write reads its rate")
	}
	if c.Platform == "a2a3" && c.Form != "sdma_get" && !strings.HasPrefix(c.Form, "mte_") {
		w.add("platform: the AIVs of this machine have no URMA queues (a2a3)")
	}
	if strings.HasSuffix(c.Form, "_get") {
		return append(w, c.checkOperands([]operand{{"output", false, false}, {"shared", true, false}}, nil)...)
	}
	return append(w, c.checkOperands([]operand{{"input", false, false}, {"target", true, false}}, nil)...)
}

// used is how many WQEBBs a WRITE of so many SGEs needs (hardware parameters 1.4).
func used(sges int) int { return (48+(sges-1)*16)/64 + 1 }

// perPut returns the operand that has a value for each put of each rank, in a loop over
// the puts of a rank.
func perPut(all [][]onePut, value func(x onePut) int64) program.Expr {
	most := 1
	for _, puts := range all {
		most = max(most, len(puts))
	}
	e := iteration(0, 1)
	e.R, e.Of = int64(most), make([]int64, most*len(all))
	for r, puts := range all {
		for i, x := range puts {
			e.Of[r*most+i] = value(x)
		}
	}
	return e
}

// perRank returns the operand that has a value for each rank.
func perRank(all [][]onePut, value func(puts []onePut) int) program.Expr {
	e := program.Expr{R: 1, Of: make([]int64, len(all))}
	for r := range all {
		e.Of[r] = int64(value(all[r]))
	}
	return e
}

func recordMicro(p *Plan, c *Call) {
	all := c.allPuts()
	size := int64(1)
	for r := range all {
		size = max(size, total(all[r]))
	}
	input := p.buffer("input", program.Buffer{Size: engine.Bytes(size)})
	target := p.buffer("target", program.Buffer{Window: true, Size: engine.Bytes(max(int64(c.Ranks)*c.most(), 1))})
	text := c.microText(all, input, target)
	first := len(p.Job.Tasks)
	p.calls(func(k int) []program.Task {
		t := c.task(text)
		t.Name = p.item.Name
		look := program.Task{Name: checkName(p.item.Name), Op: "check", Blocks: 1, Barrier: true,
			Promises: []program.Promise{{Buf: target, Ranges: p.putGolden(all, input, k)}}}
		return []program.Task{t, look}
	}, []program.Buf{target}, func(int) []program.Rewrite { return []program.Rewrite{{Buf: input}} })
	p.outside(first)
}

// checkName is what the task that looks at the data of an item is called.
func checkName(item string) string { return strings.TrimSpace(item + " check") }

// outside takes the tasks that look at the data out of the reported time.
func (p *Plan) outside(first int) {
	for i := range p.Job.Tasks[first:] {
		if t := &p.Job.Tasks[first+i]; t.Op == "check" {
			t.Timed = false
		}
	}
}

// microText is the program of all ranks.
func (c *Call) microText(all [][]onePut, input, target program.Buf) *program.Program {
	text := &program.Program{Name: "micro/" + c.Form}
	count := perRank(all, func(puts []onePut) int { return len(puts) })
	spend := func(d engine.Duration) {
		if d > 0 {
			text.Add(program.Op{Kind: program.Spend, Value: program.Const(int64(d))})
		}
	}
	if c.Software.First > 0 {
		text.Phase("api").Loop(perRank(all, func(puts []onePut) int { return min(len(puts), 1) }), func() { spend(c.Software.First) })
	}
	q := c.wqes()
	op := program.Op{
		Kind: program.Submit, Dst: target, Src: input, WQEs: q,
		Peer:   perPut(all, func(x onePut) int64 { return int64(x.peer) }),
		SrcOff: perPut(all, func(x onePut) int64 { return x.src }),
		DstOff: perPut(all, func(x onePut) int64 { return x.dst }),
		Bytes:  perPut(all, func(x onePut) int64 { return x.n / int64(q.N) }),
	}
	text.Phase("issue").Loop(count, func() {
		if q.Each == 0 { // else it is that of each WQE
			spend(c.Software.Put)
		}
		text.Add(op)
	})
	op.Kind = program.Flush
	text.Phase("flush").Loop(count, func() { text.Add(op) })
	return text
}

// putGolden is what every rank has got when all puts of a repetition are over.
func (p *Plan) putGolden(all [][]onePut, input program.Buf, k int) ranges {
	version := p.version(k)
	return func(rank int, yield func(off, n int64, from program.Origin)) {
		for s, puts := range all {
			ahead := func(peer int) int { return (peer - s - 1 + len(all)) % len(all) }
			i, ok := slices.BinarySearchFunc(puts, ahead(rank), func(x onePut, n int) int { return ahead(x.peer) - n })
			if ok && rank != s {
				x := &puts[i]
				yield(x.dst, x.n, program.Origin{Rank: s, Buf: input, Version: version, Off: x.src})
			}
		}
	}
}

func recordLaunch(p *Plan, c *Call) {
	quiet := p.buffer("quiet", program.Buffer{Words: true, Size: 4})
	p.calls(func(int) []program.Task {
		return []program.Task{{
			Name: p.item.Name, Op: c.Op, Blocks: 1, Grid: max(c.Grid, 1), Program: &program.Program{Name: "micro/launch"},
			Promises: []program.Promise{{Buf: quiet, Words: func(int) []int32 { return []int32{0} }}},
		}}
	}, nil, func(int) []program.Rewrite { return nil })
}

func (c *Call) microFormula(rank int) (out result.Counters) {
	q := c.wqes()
	given, puts := c.given(rank)
	n := int64(puts) * int64(q.N)
	out[result.Puts], out[result.SQEs], out[result.CQEs], out[result.Sends] = n, n, n, n/int64(q.N)
	out[result.SGEs], out[result.WQEBBs] = n*int64(q.SGEs), n*int64(used(q.SGEs))
	out[result.DescriptorBytes] = 64 * out[result.WQEBBs]
	out[result.Doorbells] = n / int64(q.Bells())
	out[result.BytesSent] = given
	out[result.BytesReceived] = c.taken(rank)
	return out
}

// microBounds: a rank cannot be done before its launch, what its software spends, and the
// busiest of what carries its bytes.
func microBounds(c *Call, l *hw.Limits, _ int) []Bound {
	begin := l.Launch(1) + c.Software.First + c.Software.Put
	var fixed, egress, ingress, pair engine.Duration
	most := 0
	for r := range c.Ranks {
		given, puts := c.given(r)
		most = max(most, puts)
		ingress = max(ingress, l.Ingress(r).Span(engine.Bytes(c.taken(r))))
		if puts == 0 {
			continue
		}
		egress = max(egress, l.Egress(r).Span(engine.Bytes(given)))
		near := engine.Duration(-1)
		for i := range c.Ranks - 1 {
			peer := (r + 1 + i) % c.Ranks
			n := c.between(r, peer)
			if n == 0 {
				continue
			}
			pair = max(pair, l.Pair(r, peer).Span(engine.Bytes(n)))
			if way := l.Latency(r, peer); near < 0 || way < near {
				near = way
			}
		}
		fixed = max(fixed, begin+engine.Duration(puts-1)*c.Software.Put+near)
	}
	what := "launch"
	if c.Software.First+c.Software.Put > 0 {
		what = "launch, the software's part of the first put"
	}
	return []Bound{
		{"latency", max(fixed, l.Launch(1)), fmt.Sprintf("launch, the software's part of %s and one message", amountOf(most, "put"))},
		{"egress", begin + egress, what + " and bytes of the busiest sender at its fabric rate"},
		{"ingress", begin + ingress, what + " and bytes of the busiest receiver at its fabric rate"},
		{"pair", begin + pair, what + " and bytes of the busiest pair at its rate"},
	}
}

// amountOf prints a number of things.
func amountOf(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
