package memory

import (
	"slices"

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

// L2Spec is the last-level cache of one rank: lines of four sectors, of which the one that
// came in first leaves first. A read hits when all of its sectors are there, and brings
// them in when not.
type L2Spec struct {
	Rate     engine.Rate   `yaml:"rate" help:"reads that hit, all AIVs and the NIC engine"`
	Latency  engine.Cycles `yaml:"latency" help:"first byte of a load that hits, AIV cycles"`
	Capacity engine.Bytes  `yaml:"capacity" help:"lines that came in before those that fill it are gone"`
	Stores   string        `yaml:"stores" enum:"bypass,allocate,write_back" help:"payload stores go past the L2 to HBM; or bring in lines, which reads sectors that are written in part, and go to HBM as others leave; or stay while all that are stored fit, and reads bring in nothing"`
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

// A line of the L2 is 512 B in four sectors of 128 B (Ascend 950 white paper; hardware
// parameters 1.1). What is known of a line is one word: how many lines came in before it,
// and which of its sectors are there. The words of 64 KiB are made at first touch.
const (
	lineBits   = 9
	sectorBits = 7
	sectors    = 1 << (lineBits - sectorBits)
	sector     = 1 << sectorBits
	pageLines  = 128
)

type lines [pageLines]uint64

// Use is what one level of a rank's memory has carried.
type Use struct {
	Bytes engine.Bytes
	Busy  engine.Duration
}

type channels struct {
	hbm, l2   engine.Server
	hbmN, l2N engine.Bytes
	came      uint64 // lines that have come into the L2
	looked    uint64 // came when pages of lines were last given back
	pages     []linesAt
	spare     []*lines // pages to use again
	hbmLine   *timeline.Server
	l2Line    *timeline.Server
}

// linesAt is where a page of lines is: it is the at-th of a buffer.
type linesAt struct {
	buf ID
	at  int64
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
	if s.touch(a, n, s.spec.L2.Stores != "write_back") == 0 {
		c.l2N += engine.Bytes(n)
		return s.l2.reserve(&c.l2, s.eng.Now(), engine.Bytes(n), owner, c.l2Line)
	}
	c.hbmN += engine.Bytes(n)
	return s.hbm.reserve(&c.hbm, s.eng.Now(), engine.Bytes(n), owner, c.hbmLine)
}

// Write charges n bytes stored at a, arriving now: to the HBM of its rank, with what lines
// that are written in part need of it first; or to its L2, with what leaves that.
func (s *Space) Write(a Addr, n int64, owner uint32) Access {
	s.check(a, n)
	if s.spec.Ideal() {
		return Access{Begin: s.eng.Now(), End: s.eng.Now()}
	}
	c, moved := &s.chans[a.Rank], engine.Bytes(n)
	switch s.spec.L2.Stores {
	case "write_back":
		return s.writeBack(c, a, n, owner)
	case "allocate":
		moved += partly(a.Off, n)
		s.touch(a, n, true)
	}
	c.hbmN += moved
	return s.hbm.reserve(&c.hbm, s.eng.Now(), moved, owner, c.hbmLine)
}

// partly is what sectors that [off, off+n) covers in part are large.
func partly(off, n int64) (b engine.Bytes) {
	first, last := off>>sectorBits, (off+n)>>sectorBits
	if off%sector != 0 {
		b += sector
	}
	if (off+n)%sector != 0 && (last != first || b == 0) {
		b += sector
	}
	return b
}

// Show makes HBM and L2 of every rank appear in a timeline.
func (s *Space) Show(line *timeline.Recorder) {
	for r := range s.chans {
		c := &s.chans[r]
		c.hbmLine = line.Server(timeline.Place{Kind: timeline.Memory, Rank: r, Group: "memory", Name: "HBM"}, true)
		c.l2Line = line.Server(timeline.Place{Kind: timeline.Memory, Rank: r, Index: 1, Group: "memory", Name: "L2"}, true)
	}
}

// writeBack is a store to the L2; lines for which others leave take as much of HBM.
func (s *Space) writeBack(c *channels, a Addr, n int64, owner uint32) Access {
	fresh := s.touch(a, n, true)
	c.l2N += engine.Bytes(n)
	acc := s.l2.reserve(&c.l2, s.eng.Now(), engine.Bytes(n), owner, c.l2Line)
	if left := min(fresh, int64(c.came)-s.spec.L2.lines()); left > 0 {
		out := min(engine.Bytes(left)<<lineBits, engine.Bytes(n))
		c.hbmN += out
		acc.End = max(acc.End, s.hbm.reserve(&c.hbm, s.eng.Now(), out, owner, c.hbmLine).End)
	}
	return acc
}

// lines is how many lines the L2 holds.
func (l *L2Spec) lines() int64 { return int64(l.Capacity) >> lineBits }

// touch brings a range into the L2, or with keep false only looks, and returns how many of
// its lines were not there, or not with all the sectors that the range needs.
func (s *Space) touch(a Addr, n int64, keep bool) (fresh int64) {
	in, c, most := &s.inst[a.Buf][a.Rank], &s.chans[a.Rank], uint64(s.spec.L2.lines())
	if in.lines == nil {
		in.lines = make([]*lines, int64(s.bufs[a.Buf].Size)>>lineBits/pageLines+1)
	}
	if c.came-c.looked > most {
		s.forget(a.Rank, most)
	}
	end := a.Off + n
	for at := a.Off; at < end; at = (at>>lineBits + 1) << lineBits {
		line := at >> lineBits
		p := &in.lines[line/pageLines]
		if *p == nil {
			if !keep {
				fresh++
				continue
			}
			*p = c.page()
			c.pages = append(c.pages, linesAt{a.Buf, line / pageLines})
		}
		word := &(*p)[line%pageLines]
		need := needed(at, min(end, (line+1)<<lineBits))
		switch there := *word != 0 && c.came-*word>>sectors <= most; {
		case there && *word&need == need:
			continue
		case !keep:
		case there:
			*word |= need
		default:
			*word = c.came<<sectors | need
			c.came++
		}
		fresh++
	}
	return fresh
}

// page returns a page of no lines.
func (c *channels) page() *lines {
	if n := len(c.spare); n > 0 {
		p := c.spare[n-1]
		c.spare = c.spare[:n-1]
		*p = lines{}
		return p
	}
	return new(lines)
}

// forget gives pages back of which all lines have left the L2, so that memory grows with
// what the L2 holds and not with what has passed through it. It looks at each page once
// for as many lines as the L2 holds.
func (s *Space) forget(rank int, most uint64) {
	c := &s.chans[rank]
	c.looked = c.came
	c.pages = slices.DeleteFunc(c.pages, func(x linesAt) bool {
		p := &s.inst[x.buf][rank].lines[x.at]
		newest := slices.Max((*p)[:])
		if newest != 0 && c.came-newest>>sectors <= most {
			return false
		}
		c.spare = append(c.spare, *p)
		*p = nil
		return true
	})
}

// needed are the sectors of a line that [from, to) covers, as bits.
func needed(from, to int64) uint64 {
	first, last := from>>sectorBits%sectors, (to-1)>>sectorBits%sectors
	return 1<<(last+1) - 1<<first
}

// Hit returns the latency of a read that hits the L2.
func (s *Space) Hit() engine.Duration { return s.l2.latency }

// HBM returns what a rank's HBM has carried so far, reads and writes together.
func (s *Space) HBM(rank int) Use { return Use{s.chans[rank].hbmN, s.chans[rank].hbm.Busy()} }

// L2 returns what a rank's L2 has carried so far: reads that hit.
func (s *Space) L2(rank int) Use { return Use{s.chans[rank].l2N, s.chans[rank].l2.Busy()} }
