// Package aiv models the vector cores of a rank: how blocks are launched, how a
// core executes its program op by op, and where its time goes. A core is a state
// machine woken by the engine; its program counter is blocked on exactly one
// reason at each instant, so the reasons of a block add up to the elapsed time to
// the picosecond. The pipes (MTE2, MTE3) and the SIMT unit have busy times of
// their own. Control words are read from simulated memory when an op runs, so bad
// or stale counts are found where the real kernel would find them.
package aiv

import "pldperf/engine"

// Spec describes the vector cores of one rank.
type Spec struct {
	Count       int             `yaml:"count" min:"1" help:"AIVs of the chip: the limit for blocks that start together"`
	BlockCap    int             `yaml:"block_cap" min:"0" help:"a runtime's own cap on blocks; 0 is none"`
	Clock       engine.Hertz    `yaml:"clock" help:"AIV clock"`
	Launch      LaunchSpec      `yaml:"launch" help:"start of a kernel: all blocks start together"`
	Scalar      ScalarSpec      `yaml:"scalar" help:"the scalar unit: uncached words and loops"`
	SIMT        SIMTSpec        `yaml:"simt" help:"regions in which SIMT lanes work"`
	Signal      SignalSpec      `yaml:"signal" help:"atomics on signal cells, and their polls"`
	Remote      RemoteSpec      `yaml:"remote" help:"what reaches a peer without a queue"`
	Poll        PollSpec        `yaml:"poll" help:"pauses between the polls of a SIMT wait"`
	Vector      VectorSpec      `yaml:"vector" help:"the vector unit, which combines tiles"`
	FenceTime   engine.Duration `yaml:"fence" when:"@fence" help:"fence before a notify publishes"`
	PipeBarrier engine.Duration `yaml:"pipe_barrier" when:"@pipe_barrier" help:"PIPE_ALL: all pipes of the core drained"`
}

// LaunchSpec is the kernel launch: all blocks start together, when the last one
// has been dispatched (sync-start).
type LaunchSpec struct {
	First  engine.Duration `yaml:"first" help:"launch of a kernel of one block"`
	Block  engine.Duration `yaml:"block" help:"each further block"`
	Notice engine.Duration `yaml:"notice" when:"@deferred" help:"deferred wait: cell right to noticed by the scheduler"`
}

// ScalarSpec is the scalar unit's uncached traffic and loop work.
type ScalarSpec struct {
	Read     engine.Duration `yaml:"read" when:"@counts" help:"uncached 4-byte read of the own memory"`
	Write    engine.Duration `yaml:"write" when:"@published" help:"issue of an uncached 4-byte write"`
	Visible  engine.Duration `yaml:"visible" when:"@published" help:"issue of an uncached write to visible"`
	Coalesce engine.Duration `yaml:"coalesce" when:"@intervals" help:"per row of index: find intervals of consecutive rows"`
	Flag     engine.Duration `yaml:"flag" when:"@cores" help:"per block of a rank: look at its flag in the Unified Buffer"`
}

// SIMTSpec is the entry to a SIMT region, paid per segment, notify or poll phase.
type SIMTSpec struct {
	Entry engine.Duration `yaml:"entry" when:"@simt" help:"call of a SIMT region"`
}

// SignalSpec is the cost of signal atomics.
type SignalSpec struct {
	Issue    engine.Duration `yaml:"issue" when:"@simt_notify" help:"between two SIMT atomics to distinct sectors, one AIV"`
	Shared   engine.Duration `yaml:"shared" when:"@signal" help:"service of a sector that several AIVs write, per atomic"`
	Single   engine.Duration `yaml:"single" when:"@signal" help:"service of a sector that one AIV writes again"`
	Sector   engine.Bytes    `yaml:"sector" when:"@signal" help:"granule in which the L2 serialises atomics"`
	Local    engine.Duration `yaml:"local" when:"@own_signal" help:"atomic to the own memory, issue to arrival at the sector"`
	Returned engine.Duration `yaml:"returned" when:"@storm" help:"service of a sector, per atomic that returns the old value"`
	Line     engine.Duration `yaml:"line" when:"@storm" help:"service of the bank of a 512-B line, per atomic that returns the old value"`
	Read     engine.Duration `yaml:"read" when:"@simt_wait" help:"one poll sweep over a signal column, by SIMT lanes"`
	TNotify  engine.Duration `yaml:"tnotify" when:"@notify" help:"issue of a scalar TNOTIFY"`
	TWait    engine.Duration `yaml:"twait" when:"@wait" help:"one scalar TWAIT poll"`
	PollHits string          `yaml:"poll_occupies" when:"@polls" enum:"no,yes" help:"whether polls occupy the sector"`
}

// RemoteSpec is what crosses to a peer without URMA.
type RemoteSpec struct {
	Hop  engine.Duration `yaml:"hop" when:"@peer" help:"endpoint part of a remote load, store or atomic; the fabric adds its one-way latency"`
	Rate engine.Rate     `yaml:"rate" when:"@remote_mte" help:"remote MTE of a rank to one peer, shared by its AIVs"`
	// Together holds only while several pairs of a rank are busy: a lone pair has Rate.
	Together engine.Rate     `yaml:"together" when:"@remote_mte" help:"remote MTE of a rank to all peers in all, while it moves data to several; unlimited: each pair has its rate"`
	Store    engine.Duration `yaml:"store" when:"@remote_store" help:"least time between two remote stores of tiles of one AIV"`
}

// PollSpec is the back-off of SIMT polls (S-84).
type PollSpec struct {
	Kind  string          `yaml:"kind" enum:"backoff,ideal" help:"ideal: a poll succeeds the moment that it can, SIMT or scalar"`
	First engine.Duration `yaml:"first" when:"kind=backoff @simt_wait" help:"pause after the first failed poll; doubles each time"`
	Max   engine.Duration `yaml:"max" when:"kind=backoff @simt_wait" help:"longest pause"`
}

// Check reports what no single field shows.
func (s *Spec) Check(report func(path, format string, args ...any)) {
	positive := func(path string, v int64) {
		if v <= 0 {
			report(path, "must be positive")
		}
	}
	positive("clock", int64(s.Clock))
	positive("remote.rate", int64(s.Remote.Rate))
	positive("remote.together", int64(s.Remote.Together))
	if s.Remote.Store < 0 {
		report("remote.store", "%v is negative", s.Remote.Store)
	}
	positive("signal.sector", int64(s.Signal.Sector))
	if s.Vector.Kind != "ideal" {
		positive("vector.width", int64(s.Vector.Width))
	}
	if s.Poll.Kind != "ideal" {
		positive("poll.first", int64(s.Poll.First))
		if s.Poll.Max < s.Poll.First {
			report("poll.max", "%v is below poll.first, %v", s.Poll.Max, s.Poll.First)
		}
	}
}

// Limit returns how many blocks can start together (S-48).
func (s *Spec) Limit() int {
	if s.BlockCap > 0 {
		return min(s.Count, s.BlockCap)
	}
	return s.Count
}

// LaunchTime returns the time from a task's start to the start of its blocks.
func (s *Spec) LaunchTime(blocks int) engine.Duration {
	return s.Launch.First + engine.Duration(blocks-1)*s.Launch.Block
}

// Success returns when a SIMT poll that began at start sees what is there from ready
// on, and how many polls that took: a poll samples when it begins, takes read, and a
// failed one is followed by a pause that doubles. Polls are never simulated one by
// one; their times follow from the back-off.
func (p PollSpec) Success(start, ready engine.Time, read engine.Duration) (seen engine.Time, polls int64) {
	if p.Kind == "ideal" {
		return max(start, ready), 1
	}
	at, pause := start, p.First
	for polls = 1; at < ready; polls++ {
		if pause == p.Max { // from here on the period is constant
			n := ceil(ready.Sub(at), read+pause)
			return at.Add(engine.Duration(n) * (read + pause)).Add(read), polls + n
		}
		at = at.Add(read + pause)
		pause = min(2*pause, p.Max)
	}
	return at.Add(read), polls
}

// spin is Success for scalar polls, which follow one another without a pause.
func (p PollSpec) spin(start, ready engine.Time, period engine.Duration) (seen engine.Time, polls int64) {
	if p.Kind == "ideal" || period == 0 {
		return max(start, ready), 1
	}
	n := int64(1)
	if ready > start {
		n += ceil(ready.Sub(start), period)
	}
	return start.Add(engine.Duration(n) * period), n
}

// slowed returns the back-off of a rank whose AIVs are slower by a factor.
func (p PollSpec) slowed(f engine.Fraction) PollSpec {
	p.First, p.Max = p.First.Scale(f), p.Max.Scale(f)
	return p
}

func ceil(a, b engine.Duration) int64 { return int64((a + b - 1) / b) }
