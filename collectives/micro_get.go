package collectives

import (
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// Benchmarks in which rank 0 reads from rank 1, which does nothing:
//
// hcomm_get  WQEs READs of N bytes each through an HCOMM-like API, a doorbell each, whose
//
//	CQEs are read after every flush_every of them; what the software spends is there
//	once (software.first) and for each (software.put)
//
// sdma_get   one TGET_ASYNC of N bytes by the system DMA
var (
	_ = register(getter("hcomm_get", "READs from a peer through an HCOMM-like API, flushed every so many", "wqes", "flush_every", "software"))
	_ = register(getter("sdma_get", "one get from a peer by the system DMA", "software"))
)

func getter(form, doc string, fields ...string) Algorithm {
	return Algorithm{
		Op: "micro", Form: form, Doc: doc, Fields: append([]string{"dtype", "size", "message"}, fields...),
		Check:   checkMicro,
		Clock:   core,
		Record:  recordGetter,
		Formula: func(c *Call, rank, _ int) result.Counters { return c.getterFormula(rank) },
		Formulas: [][2]string{
			{"gets", "1; hcomm_get: as many as WQEs"}, {"bytes_received", "N of each, at rank 0"},
			{"doorbells", "hcomm_get: as WQEs"}, {"cqes", "as doorbells"},
		},
		Bounds: func(c *Call, l *hw.Limits, _ int) []Bound {
			begin := l.Launch(1) + c.Software.First + engine.Duration(c.wqes().N)*c.Software.Put
			return []Bound{
				{"latency", begin + l.Latency(0, 1) + l.Latency(1, 0), "launch, the software's part, a request and its answer"},
				{"pair", begin + l.Pair(1, 0).Span(engine.Bytes(c.gotten())), "launch, the software's part and the bytes at the pair's rate"},
			}
		},
		Bytes: func(c *Call, rank, _ int) engine.Bytes {
			if rank != 1 {
				return 0
			}
			return engine.Bytes(c.gotten())
		},
	}
}

// gotten is what rank 0 reads in all.
func (c *Call) gotten() int64 { return c.Chunk() * int64(c.wqes().N) }

func recordGetter(p *Plan, c *Call) {
	n := c.gotten()
	shared := p.buffer("shared", program.Buffer{Window: true, Size: engine.Bytes(n), Fill: c.ramp(int(n / c.Elem().Size()))})
	output := p.buffer("output", program.Buffer{Size: engine.Bytes(n), Fill: program.Zero{}})
	text := &program.Program{Name: "micro/" + c.Form}
	text.Phase("get").Loop(only(c.Ranks, 0), func() {
		if c.Software.First > 0 {
			text.Add(program.Op{Kind: program.Spend, Value: program.Const(int64(c.Software.First))})
		}
		c.getterText(text, output, shared)
	})
	p.calls(func(k int) []program.Task {
		t := c.task(text)
		t.Name = p.item.Name
		version := p.version(k)
		t.Promises = []program.Promise{{Buf: output, Ranges: func(rank int, yield func(off, n int64, from program.Origin)) {
			if rank == 0 {
				yield(0, n, program.Origin{Rank: 1, Buf: shared, Version: version})
			}
		}}}
		return []program.Task{t}
	}, []program.Buf{output}, func(int) []program.Rewrite { return []program.Rewrite{{Buf: shared}} })
}

// getterText records what rank 0 does.
func (c *Call) getterText(text *program.Program, output, shared program.Buf) {
	op := program.Op{Kind: program.Get, Dst: output, Src: shared, Peer: program.Const(1), Bytes: program.Const(c.Chunk()), Transport: program.SDMA}
	if c.Form == "sdma_get" {
		text.Add(program.Op{Kind: program.Spend, Value: program.Const(int64(c.Software.Put))})
		text.Add(op)
		return
	}
	each := c.FlushEach
	if each == 0 {
		each = c.wqes().N
	}
	batch := func(n int, at program.Expr) {
		o := op
		o.Transport, o.SrcOff, o.DstOff = program.URMA, at, at
		o.WQEs = &program.WQEs{N: n, SGEs: 1, Bell: 1, Read: true, Each: c.Software.Put}
		for _, o.Kind = range []program.Kind{program.Submit, program.Flush} {
			text.Add(o)
		}
	}
	full, rest := c.wqes().N/each, c.wqes().N%each
	if full > 0 {
		text.Loop(program.Const(int64(full)), func() { batch(each, iteration(1, int64(each)*c.Chunk())) })
	}
	if rest > 0 {
		batch(rest, program.Const(int64(full*each)*c.Chunk()))
	}
}

func (c *Call) getterFormula(rank int) (out result.Counters) {
	n := int64(c.wqes().N)
	switch rank {
	case 0:
		out[result.BytesReceived] = c.gotten()
		if c.Form == "sdma_get" {
			by := *c
			by.Options.Transport = "sdma"
			by.carried(&out, program.Get, 1, c.Chunk())
			return out
		}
		out[result.Gets], out[result.SQEs], out[result.SGEs], out[result.WQEBBs] = n, n, n, n
		out[result.Doorbells], out[result.CQEs], out[result.DescriptorBytes] = n, n, 64*n
		each := int64(c.FlushEach)
		if each == 0 {
			each = n
		}
		out[result.Sends] = ceil(n, each)
	case 1:
		out[result.BytesSent] = c.gotten()
	}
	return out
}
