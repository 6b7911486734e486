// Package ub models the Unified Buffer of an AIV as the self path of a collective
// uses it: a ring of stages through which MTE2 loads and MTE3 stores stream. Each
// pipe takes its instructions in order; a load waits for an old store only when the
// stage that it needs is still occupied, and a store only for its own load, so
// later loads overlap earlier stores (S-73 ... S-77).
package ub

import (
	"pldperf/engine"
	"pldperf/hw/cause"
	"pldperf/hw/memory"
	"pldperf/hw/timeline"
)

// Spec describes the Unified Buffer and the two pipes between it and memory.
type Spec struct {
	Kind         string        `yaml:"kind" when:"@tiles" enum:"real,ideal" help:"real: pipes have issue cost, rate and latency; ideal: moving a piece costs nothing"`
	Usable       engine.Bytes  `yaml:"usable" help:"what a kernel may use of the Unified Buffer"`
	Stages       int           `yaml:"stages" when:"@ring" min:"1" help:"stages of the ring; 1 is the synchronous twin"`
	Stage        engine.Bytes  `yaml:"stage" when:"@ring" help:"bytes of one stage"`
	Issue        engine.Cycles `yaml:"issue" when:"kind!=ideal @tiles" help:"least time between two instructions of one pipe"`
	Row          engine.Cycles `yaml:"row" when:"kind!=ideal @tiles" help:"least time of a row of a rectangle within one instruction"`
	Load         engine.Rate   `yaml:"load" when:"kind!=ideal @tiles" help:"MTE2, memory to Unified Buffer, one AIV"`
	Store        engine.Rate   `yaml:"store" when:"kind!=ideal @tiles" help:"MTE3, Unified Buffer to memory, one AIV"`
	StoreLatency engine.Cycles `yaml:"store_latency" when:"kind!=ideal @stores" help:"last byte sent to store visible"`
}

// Check reports what no single field shows.
func (s *Spec) Check(report func(path, format string, args ...any)) {
	if s.Stages > 0 && s.Stage > 0 && engine.Bytes(s.Stages)*s.Stage > s.Usable {
		report("stages", "%d stages of %v are %v, but only %v of the Unified Buffer are usable",
			s.Stages, s.Stage, engine.Bytes(s.Stages)*s.Stage, s.Usable)
	}
	if !s.Ideal() && s.Load <= 0 {
		report("load", "must be positive")
	}
	if !s.Ideal() && s.Store <= 0 {
		report("store", "must be positive")
	}
	if s.Stage < 32 {
		report("stage", "%v is below 32 B, the granularity of a tile load", s.Stage)
	}
}

// Ideal reports whether the pipes cost nothing.
func (s *Spec) Ideal() bool { return s.Kind == "ideal" }

// Pipes are the MTE2 and MTE3 of one AIV.
type Pipes struct {
	eng     *engine.Engine
	who     uint32 // AIV, in the record
	spec    *Spec
	mem     *memory.Space
	clock   engine.Hertz
	slow    engine.Fraction
	load    pipe
	store   pipe
	overlap engine.Duration
	line    *timeline.Block // nil: nobody watches
}

// pipe is busy from the start of an instruction until its last byte has passed.
type pipe struct {
	free engine.Time
	busy engine.Duration
	held Held // part of busy
}

// Held is how long a pipe was held by what it moves data from or to, which was slower.
type Held struct {
	Memory engine.Duration // of the own rank
	Remote engine.Duration // of another rank, or the fabric to it
}

// Init prepares the pipes of core who, whose clock runs slow times slower.
func (p *Pipes) Init(eng *engine.Engine, who uint32, spec *Spec, mem *memory.Space, clock engine.Hertz, slow engine.Fraction) {
	*p = Pipes{eng: eng, who: who, spec: spec, mem: mem, clock: clock, slow: slow}
}

// Watch shows what the pipes do in the timeline of a block.
func (p *Pipes) Watch(line *timeline.Block) { p.line = line }

// why names the core as whose time it is; the op is not known here.
func (p *Pipes) why(k cause.Kind) engine.Why { return k.Why(int(p.who), 0) }

// Busy returns how long MTE2, MTE3 and both at once have been busy.
func (p *Pipes) Busy() (mte2, mte3, both engine.Duration) {
	return p.load.busy, p.store.busy, p.overlap
}

// Held returns which part of that memory and peers were slower than MTE2 and MTE3.
func (p *Pipes) Held() (mte2, mte3 Held) { return p.load.held, p.store.held }

// LoadFree returns when MTE2 can take its next instruction.
func (p *Pipes) LoadFree() engine.Time { return p.load.free }

// StoreFree returns when MTE3 can take its next instruction.
func (p *Pipes) StoreFree() engine.Time { return p.store.free }

// Load starts an MTE2 load now, when the pipe is free, and returns when its data
// is in the Unified Buffer.
func (p *Pipes) Load(now engine.Time, a memory.Addr, n int64, owner uint32) engine.Time {
	if p.spec.Ideal() {
		return now
	}
	return p.loaded(now, p.mem.Read(a, n, owner), a.Rank, n, 1)
}

// LoadArea is Load of a rectangle by one instruction.
func (p *Pipes) LoadArea(now engine.Time, a *memory.Area, owner uint32) engine.Time {
	if p.spec.Ideal() {
		return now
	}
	return p.loaded(now, p.mem.ReadArea(a, owner), a.Rank, a.Bytes(), a.Rows)
}

func (p *Pipes) loaded(now engine.Time, acc memory.Access, rank int, n, rows int64) engine.Time {
	span := max(p.span(p.spec.Load, n), p.rows(rows))
	p.eng.Through(now.Add(span), p.why(cause.MTE2))
	p.eng.Through(acc.End, cause.HBM.Why(rank, int(acc.Blamed)))
	p.eng.Because(cause.Latency.Why(rank, 0))
	p.load.held.Memory += p.run(&p.load, &p.store, now, span, acc.End)
	p.line.Work(timeline.MTE2, now, p.load.free, "load", n, -1)
	return p.load.free.Add(acc.Latency)
}

// LoadRemote occupies MTE2 from then until the last byte of a peer's data is there at
// end.
func (p *Pipes) LoadRemote(then engine.Time, n int64, end engine.Time) {
	if !p.spec.Ideal() {
		p.load.held.Remote += p.run(&p.load, &p.store, then, p.span(p.spec.Load, n), end)
		p.line.Remote(timeline.MTE2, then, max(then, end), "remote load", n) // the block goes on then
	}
}

// Store starts an MTE3 store to the own memory now, when the pipe is free, and
// returns when it is visible there.
func (p *Pipes) Store(now engine.Time, a memory.Addr, n int64, owner uint32) engine.Time {
	if p.spec.Ideal() {
		return now
	}
	return p.stored(now, p.mem.Write(a, n, owner), a.Rank, n, 1)
}

// StoreArea is Store to a rectangle by one instruction.
func (p *Pipes) StoreArea(now engine.Time, a *memory.Area, owner uint32) engine.Time {
	if p.spec.Ideal() {
		return now
	}
	return p.stored(now, p.mem.WriteArea(a, owner), a.Rank, a.Bytes(), a.Rows)
}

func (p *Pipes) stored(now engine.Time, acc memory.Access, rank int, n, rows int64) engine.Time {
	span := max(p.span(p.spec.Store, n), p.rows(rows))
	p.eng.Through(now.Add(span), p.why(cause.MTE3))
	p.eng.Through(acc.End, cause.HBM.Why(rank, int(acc.Blamed)))
	p.eng.Because(p.why(cause.MTE3))
	p.store.held.Memory += p.run(&p.store, &p.load, now, span, acc.End)
	p.line.Work(timeline.MTE3, now, p.store.free, "store", n, -1)
	return p.store.free.Add(p.clock.Span(p.spec.StoreLatency).Scale(p.slow))
}

// StoreRemote occupies MTE3 from now until its last byte has left at end.
func (p *Pipes) StoreRemote(now engine.Time, n int64, end engine.Time) {
	if !p.spec.Ideal() {
		p.store.held.Remote += p.run(&p.store, &p.load, now, p.span(p.spec.Store, n), end)
		p.line.Remote(timeline.MTE3, now, max(now, end), "remote store", n) // the block goes on then
	}
}

// run books a pipe from now on for its own span, or longer when memory or the
// fabric take their data more slowly: by how much, it returns.
func (p *Pipes) run(own, other *pipe, now engine.Time, span engine.Duration, end engine.Time) (held engine.Duration) {
	own.free = max(now.Add(span), end)
	own.busy += own.free.Sub(now)
	if both := min(own.free, other.free).Sub(now); both > 0 {
		p.overlap += both
	}
	return own.free.Sub(now.Add(span))
}

// rows is the least time of a rectangle's rows.
func (p *Pipes) rows(n int64) engine.Duration {
	return p.clock.Span(engine.Cycles(n) * p.spec.Row).Scale(p.slow)
}

func (p *Pipes) span(r engine.Rate, n int64) engine.Duration {
	return max(p.clock.Span(p.spec.Issue), r.Span(engine.Bytes(n))).Scale(p.slow)
}
