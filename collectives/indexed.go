package collectives

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// indexed_all_to_all_v on A5 URMA (S-30 ... S-92): each rank sends chosen rows of its
// input straight to every peer, without packing them.
//
//	ready     +1 to every peer's [rank, block], wait for >= 1 from all   (round A)
//	counts    recv_counts[s] <- send_counts_s[rank], s shared among blocks
//	check     own counts in [0, C]; every owned queue can hold its send
//	submit    SQEs of 12 rows, 64 SQEs a doorbell, to the owned peers
//	local     self rows through the 8 x 8 KiB stage ring
//	wait      the one CQE of each owned send
//	complete  fence, +1 to every peer, wait for >= 2 from all             (round B)
//	clear     -2 on the own cells
//
// Cost per rank: sum of n_d*row bytes over remote d; sum of ceil(n_d/12) SQEs of 4
// WQEBBs; 2*B*(P-1) notifies (semantics 7.9).
var _ = register(Algorithm{
	Op: "indexed_all_to_all_v", Form: "l2", Columns: true, Routed: true,
	Fields: []string{"core_num", "dtype", "hidden", "message", "signal_columns", "piece", "split", "drain", "transport", "queues"},
	Mistakes: []Mistake{
		{"unordered_consumer", "has a consumer copy target, and does not make the next call wait for it", "F49"},
	},
	Doc:    "chosen rows of the raw input to every peer by URMA, double-round credit",
	Check:  checkIndexed,
	Record: recordIndexed,
	Formula: func(c *Call, rank, repeat int) result.Counters {
		return indexedFormula(c, c.traffic(repeat), rank)
	},
	Formulas: [][2]string{
		{"bytes_sent", "sum over remote d of n_d * row"},
		{"bytes_received", "sum over remote s of n_(s->r) * row"},
		{"bytes_self", "n_r * row"},
		{"sqes", "sum over remote d of ceil(n_d/12)"},
		{"wqebbs", "4 * SQEs"},
		{"doorbells", "sum of ceil(SQEs_d/64)"},
		{"cqes", "remote d with n_d > 0"},
		{"notifies", "2 * B * (P-1)"},
	},
	Bounds: indexedBounds,
	Bytes: func(c *Call, rank, repeat int) engine.Bytes {
		t := c.traffic(repeat)
		var n int64
		for d := range c.Ranks {
			n += int64(t.Count(rank, d))
		}
		return engine.Bytes(n * c.Row())
	},
})

// traffic returns the rows of a repetition: the last ones given serve the rest.
func (c *Call) traffic(repeat int) Traffic { return c.Traffic[min(repeat, len(c.Traffic)-1)] }

func checkIndexed(c *Call) (errs []error) {
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if c.CoreNum <= 0 {
		bad("core_num: %d, must be a positive compile-time int", c.CoreNum)
	}
	if c.Platform != "" && c.Platform != "a5" {
		bad("platform: indexed_all_to_all_v needs A5 URMA, the machine is %s (S-39)", c.Platform)
	}
	if c.DType != "FP32" && c.DType != "INT8" {
		bad("dtype: %s, must be FP32 or INT8 (S-40)", c.DType)
	}
	errs = append(errs, c.checkTransport("urma")...)
	if q := c.Options.Queues; q != "" && q != "per_peer" {
		bad("queues: %s is not supported, only per_peer (S-39, S-46)", q)
	}
	if c.Signal != 0 && c.Signal < c.CoreNum {
		bad("signal_columns: S = %d is below core_num = %d (S-56, INVALID_ARGS)", c.Signal, c.CoreNum)
	}
	if c.SGEs < 0 || c.SGEs > rowsPerSQE {
		bad("sges: %d rows in an SQE, at most %d (S-64)", c.SGEs, rowsPerSQE)
	}
	if c.Segment < 0 || c.Segment > sqesPerDoorbell {
		bad("segment: %d SQEs for a doorbell, at most %d (S-67)", c.Segment, sqesPerDoorbell)
	}
	errs = append(errs, c.Options.check()...)
	if c.Hidden <= 0 {
		bad("hidden: %d, must be positive", c.Hidden)
	}
	errs = append(errs, c.checkOperands([]operand{
		{"input", false, true}, {"target", true, false}, {"signal", true, false}, {"send_counts", true, false},
		{"recv_counts", false, true}, {"index", false, true},
	}, [][2]string{
		{"signal", "send_counts"}, {"signal", "recv_counts"}, {"send_counts", "recv_counts"}, // S-44
		{"target", "input"}, {"target", "index"}, {"target", "signal"}, {"target", "send_counts"}, {"target", "recv_counts"}, // S-33
	})...)
	return errs
}

// check reports options that are none.
func (o *Options) check() (errs []error) {
	for _, x := range []struct {
		name, value string
		known       []string
	}{
		{"piece", o.Piece, []string{"", "bytes", "rows"}},
		{"split", o.Split, []string{"", "floor", "front"}},
		{"drain", o.Drain, []string{"", "before_cqe", "after_cqe"}},
	} {
		if !slices.Contains(x.known, x.value) {
			errs = append(errs, fmt.Errorf("%s: no choice %q; there are %s and %s", x.name, x.value, x.known[1], x.known[2]))
		}
	}
	return errs
}

// counts and indices of one repetition as control words.
type countTable struct {
	t     Traffic
	ranks int
}

func (c countTable) Row(rank, _ int) []int32 {
	out := make([]int32, c.ranks)
	for d := range out {
		out[d] = int32(c.t.Count(rank, d))
	}
	return out
}

type indexTable struct{ t Traffic }

func (x indexTable) Row(rank, row int) []int32 { return x.t.Index(rank, row) }

// rowsPerSQE and sqesPerDoorbell are the most that the specification allows, and what
// a call that names none takes (S-64, S-67).
const (
	rowsPerSQE      = 12
	sqesPerDoorbell = 64
)

func (c *Call) sges() int    { return cmp.Or(c.SGEs, rowsPerSQE) }
func (c *Call) segment() int { return cmp.Or(c.Segment, sqesPerDoorbell) }

// operands returns the static shapes that hold all repetitions.
func (c *Call) operands() (*program.Rows, error) {
	if len(c.Traffic) == 0 {
		return nil, errors.New("traffic: there is none")
	}
	r := &program.Rows{
		Ranks: c.Ranks, Blocks: c.CoreNum, Row: c.Row(), SGEs: c.sges(), Segment: c.segment(),
		Piece: c.Options.Piece, Split: c.Options.Split, Capacity: 1,
	}
	if c.carrier() != program.URMA {
		r.SGEs = 0 // no queue
	}
	for _, t := range c.Traffic {
		if t.Ranks() != c.Ranks {
			return nil, fmt.Errorf("traffic: of %d ranks for a call of %d", t.Ranks(), c.Ranks)
		}
		r.Nmax, r.Capacity = max(r.Nmax, t.Tokens()), max(r.Capacity, t.Capacity())
	}
	return r, nil
}

func recordIndexed(p *Plan, c *Call) {
	rows, err := c.operands()
	if err != nil {
		p.err = err
		return
	}
	t, ranks, columns := c.traffic(0), c.Ranks, max(c.Signal, c.CoreNum)
	words := func(n int) engine.Bytes { return engine.Bytes(4 * n) }
	rows.Input = p.buffer("input", program.Buffer{Size: engine.Bytes(int64(max(rows.Nmax, 1)) * rows.Row)})
	rows.Target = p.buffer("target", program.Buffer{Window: true, Size: engine.Bytes(int64(ranks) * int64(rows.Capacity) * rows.Row)})
	signal := p.buffer("signal", program.Buffer{Window: true, Words: true, Signal: true, Size: words(ranks * columns)})
	rows.SendCounts = p.buffer("send_counts", program.Buffer{Window: true, Words: true, Size: words(ranks), Table: countTable{t, ranks}})
	rows.RecvCounts = p.buffer("recv_counts", program.Buffer{Words: true, Size: words(ranks)})
	rows.Index = p.buffer("index", program.Buffer{Words: true, Size: words(ranks * rows.Capacity), Table: indexTable{t}})

	text := c.indexedProgram(rows, signal, int64(columns))
	first := len(p.Job.Tasks)
	p.calls(func(k int) []program.Task {
		task := c.task(text)
		task.Name = p.item.Name
		task.Promises = []program.Promise{
			{Buf: rows.Target, Ranges: p.indexedGolden(c, rows, k)},
			{Buf: rows.RecvCounts, Words: func(rank int) []int32 { return c.received(k, rank) }},
		}
		task.Zero = []program.Buf{signal}
		return []program.Task{task}
	}, []program.Buf{rows.Target, signal}, func(k int) []program.Rewrite {
		return []program.Rewrite{
			{Buf: rows.Input},
			{Buf: rows.SendCounts, Table: countTable{c.traffic(k), ranks}},
			{Buf: rows.Index, Table: indexTable{c.traffic(k)}},
		}
	})
	if c.Mistake == "unordered_consumer" {
		p.consumers(c, rows, first)
	}
}

// consumerStage is the bytes of a tile of a consumer.
const consumerStage = 64 << 10

// consumers adds to each call a task that copies target, and that nothing waits for.
func (p *Plan) consumers(c *Call, rows *program.Rows, first int) {
	size := int64(p.Job.Buffers[rows.Target].Size)
	out := p.buffer("consumed", program.Buffer{Window: true, Size: engine.Bytes(size)})
	text := &program.Program{Name: "consume"}
	text.Phase("consume").Add(program.Op{
		Kind: program.CopyTile, Dst: out, Src: rows.Target, Bytes: program.Const(size), Chunk: consumerStage,
	})
	for i, call := range p.Job.Tasks[first:] {
		t := program.Task{Name: call.Name + " consumer", Op: "read_back", Blocks: 1, Program: text, After: []int{first + i}, Timed: call.Timed, Repeat: call.Repeat}
		t.Promises = []program.Promise{{Buf: out, Ranges: p.indexedGolden(c, rows, call.Repeat)}}
		t.Reads = []program.Buf{rows.Target}
		p.push(t)
	}
}

// received returns the counts that a rank publishes in repetition k.
func (c *Call) received(k, rank int) []int32 {
	out := make([]int32, c.Ranks)
	for s := range out {
		out[s] = int32(c.traffic(k).Count(s, rank))
	}
	return out
}

// indexedProgram is the text that every block of every rank runs (semantics 7.3).
func (c *Call) indexedProgram(rows *program.Rows, signal program.Buf, stride int64) *program.Program {
	late, queued := c.Options.Drain == "after_cqe", rows.SGEs > 0
	p := &program.Program{Name: "indexed_all_to_all_v"}
	notify := program.Op{Kind: program.NotifyPeers, Signal: signal, Col: program.OwnBlock, Stride: stride, Value: program.Const(1), SIMT: true}
	wait := program.Op{Kind: program.WaitPeers, Signal: signal, Col: program.OwnBlock, Stride: stride, SIMT: true}
	until := func(n int64) program.Op { w := wait; w.Value = program.Const(n); return w }

	p.Phase("ready").Add(notify)
	p.Add(until(1))
	p.Phase("counts").Add(program.Op{Kind: program.PullCounts, Rows: rows})
	p.Phase("check").Add(program.Op{Kind: program.CheckCounts, Rows: rows})
	if queued {
		p.Phase("submit").Add(program.Op{Kind: program.SendOwned, Rows: rows})
	} else {
		p.Phase("put").Add(program.Op{Kind: program.PutOwned, Rows: rows, Transport: c.carrier(), Chunk: stageCap})
	}
	p.Phase("local").Add(program.Op{Kind: program.CopyRows, Rows: rows, NoDrain: late})
	if queued {
		p.Phase("wait").Add(program.Op{Kind: program.PollOwned, Rows: rows})
	}
	if late {
		p.Phase("drain").Add(program.Op{Kind: program.DrainRows, Rows: rows})
	}
	p.Phase("complete").Add(program.Op{Kind: program.Fence})
	p.Add(notify)
	p.Add(until(2))
	clear := notify
	clear.Kind, clear.Value = program.AddPeers, program.Const(-2)
	p.Phase("clear").Add(clear)
	return p
}

// indexedGolden promises the rows of repetition k, and behind them in each partition
// those that longer earlier calls have left (S-34, S-36).
func (p *Plan) indexedGolden(c *Call, rows *program.Rows, k int) func(rank int, yield func(off, n int64, from program.Origin)) {
	first := p.history(k)
	return func(rank int, yield func(off, n int64, from program.Origin)) {
		for s := range c.Ranks {
			base, next := int64(s)*int64(rows.Capacity)*rows.Row, 0
			for j := k; j >= first; j = min(j, len(c.Traffic)) - 1 { // the last traffic serves all later calls
				index := c.traffic(j).Index(s, rank)
				for n := c.traffic(j).Count(s, rank); next < n; {
					run := 1
					for next+run < n && index[next+run] == index[next]+int32(run) {
						run++
					}
					yield(base+int64(next)*rows.Row, int64(run)*rows.Row, program.Origin{
						Rank: s, Buf: rows.Input, Version: p.version(j), Off: int64(index[next]) * rows.Row,
					})
					next += run
				}
			}
		}
	}
}

func indexedFormula(c *Call, t Traffic, rank int) result.Counters {
	out := unknown()
	for _, k := range []result.Counter{
		result.BytesSent, result.BytesReceived, result.BytesSelf, result.SQEs, result.SGEs, result.NOPs, result.Doorbells,
		result.CQEs, result.WQEBBs, result.Sends, result.DescriptorBytes, result.IndexReads, result.Puts, result.PutStages, result.PipeBarriers, result.Gets, result.RemoteLoads,
		result.RemoteStores, result.Combined,
	} {
		out[k] = 0
	}
	row, peers, blocks := c.Row(), int64(c.Ranks-1), int64(c.CoreNum)
	for d := range c.Ranks {
		n := int64(t.Count(rank, d))
		out[result.IndexReads] += n
		if d == rank {
			out[result.BytesSelf] = n * row
			continue
		}
		out[result.BytesReceived] += int64(t.Count(d, rank)) * row
		out[result.BytesSent] += n * row
		if c.carrier() == program.URMA {
			c.sendFormula(&out, n)
		} else if n > 0 {
			c.putOwnedFormula(&out, t.Index(rank, d)[:n])
		}
	}
	if c.carrier() == program.URMA {
		out[result.WQEBBs] = 4 * out[result.SQEs]
		out[result.Sends] = out[result.CQEs]
		out[result.DescriptorBytes] = 256 * out[result.SQEs]
	}
	out[result.CountReads] = peers
	out[result.Notifies], out[result.PollsSatisfied] = 2*blocks*peers, 2*blocks*peers
	out[result.SelfAdds] = blocks * peers
	return out
}

// sendFormula adds a send of n rows to one peer (semantics 7.4).
func (c *Call) sendFormula(out *result.Counters, n int64) {
	if n <= 0 {
		return
	}
	m := int64(c.sges())
	q := ceil(n, m)
	out[result.SQEs] += q
	out[result.SGEs] += n
	out[result.Doorbells] += ceil(q, int64(c.segment()))
	out[result.CQEs]++
	out[result.NOPs] += (q-1)*(4-usedBBs(m)) + 4 - usedBBs(n-(q-1)*m)
}

// usedBBs returns the WQEBBs that an SQE with m SGEs really fills.
func usedBBs(m int64) int64 { return ceil(3+m, 4) }

func ceil(a, b int64) int64 { return (a + b - 1) / b }

// indexedBounds are the times that no schedule of the exchange can beat: the fixed
// path (launch, two barrier messages that depend on each other, one crossing of the
// data) plus the busiest of its resources.
func indexedBounds(c *Call, l *hw.Limits, repeat int) []Bound {
	t, row := c.traffic(repeat), c.Row()
	var egress, ingress, pair, self, hbm engine.Duration
	near := engine.Duration(-1)
	for r := range c.Ranks {
		var out, in int64
		for d := range c.Ranks {
			if d == r {
				continue
			}
			n, m := int64(t.Count(r, d))*row, int64(t.Count(d, r))*row
			out, in = out+n, in+m
			pair = max(pair, l.Pair(r, d).Span(engine.Bytes(n)))
			if near < 0 || l.Latency(r, d) < near {
				near = l.Latency(r, d)
			}
		}
		own := int64(t.Count(r, r)) * row
		egress = max(egress, l.Egress(r).Span(engine.Bytes(out)))
		ingress = max(ingress, l.Ingress(r).Span(engine.Bytes(in)))
		share := ceil(int64(t.Count(r, r)), int64(c.CoreNum)) * row
		self = max(self, max(l.Load.Span(engine.Bytes(share)), l.Store.Span(engine.Bytes(share))))
		hbm = max(hbm, l.HBM.Span(engine.Bytes(in+own)))
	}
	fixed := l.Launch(c.CoreNum) + 2*(l.Hop+max(near, 0))
	part := func(name, text string, d engine.Duration) Bound {
		return Bound{Name: name, Time: fixed + d, Text: text}
	}
	return []Bound{
		part("latency", "launch of B blocks and two dependent barrier messages", 0),
		part("egress", "remote bytes of the busiest sender at its fabric rate", egress),
		part("ingress", "remote bytes of the busiest receiver at its fabric rate", ingress),
		part("pair", "bytes of the busiest pair at its rate", pair),
		part("self", "the largest share of self rows at the MTE rate of one AIV", self),
		part("hbm", "rows stored at the busiest rank at its HBM rate", hbm),
	}
}
