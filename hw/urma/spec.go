// Package urma models the send side of the Unified Bus: one queue (jetty) for each
// remote peer, in which an AIV's SIMT lanes write work requests (SQEs) of up to
// twelve scattered rows each, and the NIC engine that fetches them after a doorbell,
// gathers their rows, sends them, and writes a completion (CQE) when the last of a
// send is in the peer's memory. Descriptors are real: they are encoded into ring
// memory and the engine moves what it decodes from there. A queue is counted in
// 64-byte WQEBBs (S-63 ... S-72). In a long send, a queue needs for each SQE of n bytes
// the largest of
//
//	n / port + wqe_gap    (fetch.latency + engine.wqe) / in_flight    (gather + n / port) / in_flight
//
// and all queues of an engine together engine.wqe; memory and shared links come on top.
package urma

import (
	"math/bits"

	"pldperf/engine"
)

// Spec describes the queues and NIC engine of a rank.
type Spec struct {
	Kind     string          `yaml:"kind" when:"@urma" enum:"real,ideal" help:"ideal: building, ringing, fetching, gathering and completing cost nothing"`
	Depth    int             `yaml:"depth" when:"@urma" min:"16" max:"32768" help:"WQEBBs of a send queue, a power of two"`
	CQDepth  int             `yaml:"cq_depth" when:"@urma" min:"1" max:"32768" help:"CQEs of a completion queue, a power of two"`
	MaxSGEs  int             `yaml:"max_sges" when:"@urma" min:"1" max:"12" help:"rows in an SQE"`
	Segment  int             `yaml:"segment" when:"@urma" min:"1" help:"SQEs for which one doorbell is rung"`
	Build    BuildSpec       `yaml:"build" when:"kind!=ideal @urma_batch" help:"SIMT lanes write SQEs"`
	Doorbell DoorbellSpec    `yaml:"doorbell" when:"kind!=ideal @urma" help:"publication of SQEs to the NIC engine"`
	Fetch    FetchSpec       `yaml:"fetch" when:"@urma" help:"the NIC engine reads SQEs"`
	Engine   EngineSpec      `yaml:"engine" when:"@urma" help:"the NIC engine works on SQEs"`
	Gather   engine.Duration `yaml:"gather" when:"kind!=ideal @urma" help:"first byte of the rows, once an SQE, pipelined"`
	Reads    int             `yaml:"reads_in_flight" when:"@urma_read" min:"0" max:"1024" help:"READs of a queue whose data is not back yet, at once"`
	Gap      engine.Duration `yaml:"wqe_gap" when:"kind!=ideal @urma" help:"idle time of a queue's flow between two SQEs"`
	Window   engine.Bytes    `yaml:"window" when:"kind!=ideal @urma_write" help:"WRITEs of a queue on their way and not acknowledged, at most, but always one; 0 is no limit"`
	CQE      CQESpec         `yaml:"cqe" when:"kind!=ideal @urma" help:"completion"`
	Timeout  engine.Duration `yaml:"timeout" when:"@dead_link" help:"after which a send to a dead link completes with an error"`
}

// BuildSpec is the writing of SQEs by SIMT lanes.
type BuildSpec struct {
	Lanes      int             `yaml:"lanes" min:"1" help:"SIMT lanes that write an SQE each at once"`
	WQE        engine.Duration `yaml:"wqe" help:"an SQE of one SGE, by one lane"`
	SGE        engine.Duration `yaml:"sge" when:"@urma_sges" help:"each further SGE of the SQE"`
	NOP        engine.Duration `yaml:"nop" when:"@urma_rows" help:"a NOP WQEBB"`
	Store      engine.Bytes    `yaml:"store" help:"bytes a cycle that the lanes of an AIV can store"`
	Efficiency engine.Fraction `yaml:"efficiency" help:"share of the lanes' parallelism that is real"`
}

// DoorbellSpec is the publication of a new head.
type DoorbellSpec struct {
	Issue   engine.Duration `yaml:"issue" help:"fence and doorbell store by the AIV"`
	Latency engine.Duration `yaml:"latency" help:"doorbell to the engine's first fetch"`
}

// FetchSpec is the reading of SQEs by the engine.
type FetchSpec struct {
	Latency  engine.Duration `yaml:"latency" help:"read of one SQE of 256 B"`
	InFlight int             `yaml:"in_flight" min:"1" help:"SQEs of a queue being fetched, and being gathered or sent, at once"`
}

// EngineSpec is the NIC's processing of SQEs, shared by its queues.
type EngineSpec struct {
	WQE   engine.Duration `yaml:"wqe" help:"engine time of one SQE"`
	Count int             `yaml:"count" min:"1" help:"engines of a rank, one an IO die in use; queues are dealt to them"`
}

// CQESpec is completion.
type CQESpec struct {
	Visible engine.Duration `yaml:"visible" help:"acknowledgement to a CQE that can be read"`
	Drain   engine.Duration `yaml:"drain" help:"the poller's work for one CQE"`
}

// Check reports what no tag shows.
func (s *Spec) Check(report func(path, format string, args ...any)) {
	powerOfTwo := func(path string, n int) {
		if n > 0 && bits.OnesCount(uint(n)) != 1 { // the owner bit tells laps apart by one bit
			report(path, "%d is no power of two; the driver would make it %d", n, 1<<bits.Len(uint(n)))
		}
	}
	powerOfTwo("depth", s.Depth)
	powerOfTwo("cq_depth", s.CQDepth)
	for _, f := range []struct {
		path string
		d    engine.Duration
	}{
		{"build.wqe", s.Build.WQE}, {"build.sge", s.Build.SGE}, {"build.nop", s.Build.NOP},
		{"doorbell.issue", s.Doorbell.Issue}, {"doorbell.latency", s.Doorbell.Latency}, {"fetch.latency", s.Fetch.Latency},
		{"engine.wqe", s.Engine.WQE}, {"gather", s.Gather}, {"wqe_gap", s.Gap},
		{"cqe.visible", s.CQE.Visible}, {"cqe.drain", s.CQE.Drain}, {"timeout", s.Timeout},
	} {
		if f.d < 0 {
			report(f.path, "%v is negative", f.d)
		}
	}
	if s.Window < 0 {
		report("window", "%v is negative", s.Window)
	}
	if s.Kind != "ideal" && (s.Build.Store <= 0 || s.Build.Efficiency <= 0 || s.Build.Efficiency > engine.One) {
		report("build", "store must be positive and efficiency above 0 %% and up to 100 %%")
	}
}

// normal returns s as the models use it: the ideal twin has no times.
func (s Spec) normal() Spec {
	if s.Kind == "ideal" {
		s.Build = BuildSpec{Lanes: s.Build.Lanes}
		s.Doorbell, s.Fetch.Latency, s.Engine.WQE, s.Gather, s.Gap, s.Window, s.CQE = DoorbellSpec{}, 0, 0, 0, 0, 0, CQESpec{}
	}
	return s
}

// DoorbellIssue returns what ringing a doorbell costs the AIV.
func (s *Spec) DoorbellIssue() engine.Duration { return s.normal().Doorbell.Issue }

// DrainTime returns what the poller's work for a CQE costs the AIV.
func (s *Spec) DrainTime() engine.Duration { return s.normal().CQE.Drain }

// lane returns how long one lane writes an SQE of m SGEs.
func (b *BuildSpec) lane(m int) engine.Duration {
	return b.WQE + engine.Duration(m-1)*b.SGE + engine.Duration(SQEBBs-Used(m))*b.NOP
}

// Lane returns how long one lane writes an SQE of m SGEs that takes only the WQEBBs it needs.
func (s *Spec) Lane(m int) engine.Duration {
	b := s.normal().Build
	return b.WQE + engine.Duration(m-1)*b.SGE
}

// PackedSpan returns how long one AIV takes to write so many SQEs of one SGE without
// NOPs: a SIMT lane each, in rounds, but no less than it needs to store them.
func (s *Spec) PackedSpan(sqes int, clock engine.Hertz) engine.Duration {
	b := &s.Build
	if s.Kind == "ideal" || sqes == 0 {
		return 0
	}
	lanes := b.parallel()
	store := engine.Cycles((int64(sqes)*WQEBB + int64(b.Store) - 1) / int64(b.Store))
	return max(engine.Duration((sqes+lanes-1)/lanes)*b.WQE, clock.Span(store))
}

// parallel returns how many lanes really write at once.
func (b *BuildSpec) parallel() int {
	return max(int(int64(b.Lanes)*int64(b.Efficiency)/int64(engine.One)), 1)
}

// BuildSpan returns how long the SIMT lanes of one AIV take to write the SQEs of so
// many rows: the slowest lane of each round, one round after another, but no less
// than the AIV needs to store the descriptors.
func (s *Spec) BuildSpan(rows int, clock engine.Hertz) engine.Duration {
	b := &s.Build
	if s.Kind == "ideal" || rows == 0 {
		return 0
	}
	sqes := (rows + s.MaxSGEs - 1) / s.MaxSGEs
	lanes := b.parallel()
	rounds := (sqes + lanes - 1) / lanes
	full, last := b.lane(s.MaxSGEs), b.lane(rows-(sqes-1)*s.MaxSGEs)
	if sqes-(rounds-1)*lanes > 1 { // the last round has full SQEs too
		last = max(last, full)
	}
	store := engine.Cycles((int64(sqes)*SQESize + int64(b.Store) - 1) / int64(b.Store))
	return max(engine.Duration(rounds-1)*full+last, clock.Span(store))
}
