package memory

import (
	"math/bits"

	"pldperf/engine"
	"pldperf/hw/timeline"
)

// Spec describes a rank's memory system.
type Spec struct {
	Kind string  `yaml:"kind" enum:"shared,ideal" help:"shared: HBM and L2 have a rate and a latency; ideal: they cost nothing"`
	HBM  HBMSpec `yaml:"hbm" help:"high-bandwidth memory"`
	L2   L2Spec  `yaml:"l2" when:"kind!=ideal" help:"the last-level cache, past which payload stores go"`
}

// HBMSpec is the high-bandwidth memory of one rank; its rate is reads and writes
// together (hardware parameters 1.1).
type HBMSpec struct {
	Rate     engine.Rate   `yaml:"rate" when:"^kind!=ideal" help:"reads and writes together, all AIVs and the NIC engine"`
	Latency  engine.Cycles `yaml:"latency" when:"^kind!=ideal" help:"first byte of a load that misses the L2, AIV cycles"`
	Capacity engine.Bytes  `yaml:"capacity" help:"all buffers of a rank must fit"`
}

// L2Spec is the last-level cache of one rank. A read hits when its range has been
// touched before and everything touched so far fits (defaults of the headline
// case); stores of payload bypass it.
type L2Spec struct {
	Rate     engine.Rate   `yaml:"rate" help:"reads that hit, all AIVs and the NIC engine"`
	Latency  engine.Cycles `yaml:"latency" help:"first byte of a load that hits, AIV cycles"`
	Capacity engine.Bytes  `yaml:"capacity" help:"a range that was touched before hits while all that was touched fits"`
	Stores   string        `yaml:"stores" enum:"bypass,allocate" help:"payload stores go past the L2, or allocate a line first, which reads it from HBM"`
}

// Check reports what no single field shows.
func (s *Spec) Check(report func(path, format string, args ...any)) {
	if s.Kind == "ideal" {
		return
	}
	if s.HBM.Rate <= 0 {
		report("hbm.rate", "must be positive")
	}
	if s.L2.Rate <= 0 {
		report("l2.rate", "must be positive")
	}
}

// Ideal reports whether memory costs nothing.
func (s Spec) Ideal() bool { return s.Kind == "ideal" }

// lineBits is the logarithm of what the L2 model remembers as touched: a line of
// 512 B (Ascend 950 white paper; hardware parameters 1.1).
const lineBits = 9

// Use is what one level of a rank's memory has carried.
type Use struct {
	Bytes engine.Bytes
	Busy  engine.Duration
}

type channels struct {
	hbm, l2   engine.Server
	hbmN, l2N engine.Bytes
	touched   int64 // lines
	hbmLine   *timeline.Server
	l2Line    *timeline.Server
}

// level is what HBM and L2 have in common. Most accesses are rows of one size, so the
// last span is worth keeping.
type level struct {
	rate    engine.Rate
	latency engine.Duration
	n       engine.Bytes
	span    engine.Duration // of n
}

func newLevel(rate engine.Rate, latency engine.Cycles, clock engine.Hertz) level {
	return level{rate: rate, latency: clock.Span(latency)}
}

func (l *level) reserve(v *engine.Server, now engine.Time, n engine.Bytes, owner uint32, line *timeline.Server) Access {
	if n != l.n {
		l.n, l.span = n, l.rate.Span(n)
	}
	b, e, prev := v.Reserve(now, l.span, owner)
	line.Carry(b, e, int64(n), "busy", -1)
	return Access{Begin: b, End: e, Latency: l.latency, Blamed: prev}
}

// Access is the timing of one read or write: the span in which its bytes pass,
// and the latency of the first byte, which is on top and overlaps other accesses.
type Access struct {
	Begin, End engine.Time
	Latency    engine.Duration
	Blamed     uint32 // owner of the access that it queued behind
}

// Read charges n bytes read at a, arriving now, to the L2 or the HBM of its rank.
func (s *Space) Read(a Addr, n int64, owner uint32) Access {
	s.check(a, n)
	if s.spec.Ideal() {
		return Access{Begin: s.eng.Now(), End: s.eng.Now()}
	}
	c := &s.chans[a.Rank]
	if s.touch(a, n) && c.touched <= int64(s.spec.L2.Capacity)>>lineBits {
		c.l2N += engine.Bytes(n)
		return s.l2.reserve(&c.l2, s.eng.Now(), engine.Bytes(n), owner, c.l2Line)
	}
	c.hbmN += engine.Bytes(n)
	return s.hbm.reserve(&c.hbm, s.eng.Now(), engine.Bytes(n), owner, c.hbmLine)
}

// Write charges n bytes stored at a, arriving now, to the HBM of its rank; with
// write-allocate it reads the line first.
func (s *Space) Write(a Addr, n int64, owner uint32) Access {
	s.check(a, n)
	if s.spec.Ideal() {
		return Access{Begin: s.eng.Now(), End: s.eng.Now()}
	}
	c, moved := &s.chans[a.Rank], engine.Bytes(n)
	if s.spec.L2.Stores == "allocate" {
		s.touch(a, n)
		moved *= 2
	}
	c.hbmN += moved
	return s.hbm.reserve(&c.hbm, s.eng.Now(), moved, owner, c.hbmLine)
}

// touch marks a range as seen by the L2 and reports whether all of it was before.
func (s *Space) touch(a Addr, n int64) bool {
	in := &s.inst[a.Buf][a.Rank]
	if in.touched == nil {
		in.touched = make([]uint64, int64(s.bufs[a.Buf].Size)>>(lineBits+6)+1)
	}
	first, last := a.Off>>lineBits, (a.Off+n-1)>>lineBits
	hit := true
	for w := first >> 6; w <= last>>6; w++ {
		lines := ^uint64(0)
		if w == first>>6 {
			lines <<= first & 63
		}
		if w == last>>6 {
			lines &= ^uint64(0) >> (63 - last&63)
		}
		if fresh := lines &^ in.touched[w]; fresh != 0 {
			in.touched[w] |= fresh
			s.chans[a.Rank].touched += int64(bits.OnesCount64(fresh))
			hit = false
		}
	}
	return hit
}

// Show makes HBM and L2 of every rank appear in a timeline.
func (s *Space) Show(line *timeline.Recorder) {
	for r := range s.chans {
		c := &s.chans[r]
		c.hbmLine = line.Server(timeline.Place{Kind: timeline.Memory, Rank: r, Group: "memory", Name: "HBM"}, true)
		c.l2Line = line.Server(timeline.Place{Kind: timeline.Memory, Rank: r, Index: 1, Group: "memory", Name: "L2"}, true)
	}
}

// HBM returns what a rank's HBM has carried so far, reads and writes together.
func (s *Space) HBM(rank int) Use { return Use{s.chans[rank].hbmN, s.chans[rank].hbm.Busy()} }

// L2 returns what a rank's L2 has carried so far: reads that hit.
func (s *Space) L2(rank int) Use { return Use{s.chans[rank].l2N, s.chans[rank].l2.Busy()} }
