// Package memory models the global memory of every rank: windows that peers may
// reach, plain tensors, INT32 control words, and the bandwidth of HBM and L2 that
// all accesses of a rank share. What a buffer holds is kept either as real bytes
// or as provenance (which buffer, version and offset each range came from, exact
// to the byte); a read samples the content when the hardware reads it and a write
// changes it when its last byte lands, so stale data is seen as the machine would
// see it. Time (Read, Write) and content (Capture, Land) are apart: the model that
// moves the data calls each at its moment.
package memory

import (
	"fmt"
	"slices"

	"pldperf/engine"
)

// ID names a buffer; the same ID means the same symmetric buffer on every rank.
type ID int32

// Addr is a place in the memory of one rank: Off bytes into a buffer.
type Addr struct {
	Rank int
	Buf  ID
	Off  int64
}

// Buffer describes one symmetric allocation.
type Buffer struct {
	Name   string
	Window bool         // peers may read and write it; at least 4 KiB (semantics 3.1)
	Words  bool         // INT32 control data (signal cells, counts, index): always real values
	Size   engine.Bytes // of one rank's instance
	Fill   Content      // initial payload; nil is zero, as windows are
	Table  Table        // initial control words; nil is zero
}

// Table supplies the words of a control buffer row by row, so that a large index
// need not exist as a whole. A row may be shorter than the buffer's row. The caller
// must not modify it.
type Table interface {
	Row(rank, row int) []int32
}

// minBuffer is what the smallest window occupies (semantics 3.1).
const minBuffer = 4 << 10

// addrBits is the width of the part of a device address below the rank: 16 TiB.
const addrBits = 44

// Options choose how a Space keeps payload.
type Options struct {
	Ranks int
	Bytes bool // real bytes instead of provenance
	Clock engine.Hertz
}

// Space is the memory of all ranks of one simulation.
type Space struct {
	eng    *engine.Engine
	spec   Spec
	opt    Options
	bufs   []Buffer
	bases  []int64 // of each buffer below the rank bits; ascending
	inst   [][]instance
	next   int64
	chans  []channels
	landed int64 // bytes of payload stored by the hardware, on all ranks
	slab   slab
	hbm    level
	l2     level
}

// Landed returns how many bytes of payload the hardware has stored, on all ranks:
// what a run must account for as sent, copied or moved within a rank.
func (s *Space) Landed() int64 { return s.landed }

// instance is one rank's copy of a buffer.
type instance struct {
	version uint32
	prov    []page
	raw     [][]byte
	words   []int32
	table   Table
	lines   []*lines // what the L2 knows of the buffer
}

// New makes an empty Space. It panics on more ranks than an address can name.
func New(eng *engine.Engine, spec Spec, opt Options) *Space {
	if opt.Ranks > maxRanks {
		panic(fmt.Sprintf("memory: %d ranks, at most %d", opt.Ranks, maxRanks))
	}
	s := &Space{eng: eng, spec: spec, opt: opt, next: minBuffer, chans: make([]channels, opt.Ranks)}
	if !spec.Ideal() {
		s.hbm = newLevel(spec.HBM.Rate, spec.HBM.Latency, opt.Clock)
		s.l2 = newLevel(spec.L2.Rate, spec.L2.Latency, opt.Clock)
	}
	return s
}

// Alloc adds a buffer to every rank. It fails when the ranks' HBM is full.
func (s *Space) Alloc(b Buffer) (ID, error) {
	size := max(b.Size, minBuffer)
	switch limit := s.limit(); {
	case b.Size <= 0:
		return 0, fmt.Errorf("buffer %s: size %v, must be positive", b.Name, b.Size)
	case len(s.bufs) == maxBuffers:
		return 0, fmt.Errorf("buffer %s: there are %d buffers already", b.Name, maxBuffers)
	case size > limit-s.Used():
		return 0, fmt.Errorf("buffer %s: %v more does not fit in %v of HBM (%v are taken)", b.Name, b.Size, limit, s.Used())
	}
	s.bufs = append(s.bufs, b)
	s.bases = append(s.bases, s.next)
	s.next += (int64(size) + minBuffer - 1) / minBuffer * minBuffer
	in := make([]instance, s.opt.Ranks)
	for r := range in {
		in[r].table = b.Table
	}
	s.inst = append(s.inst, in)
	return ID(len(s.bufs) - 1), nil
}

// limit returns what the buffers of a rank may take: without a capacity, what its
// addresses can name.
func (s *Space) limit() engine.Bytes {
	most := engine.Bytes(1)<<addrBits - 2*minBuffer
	if c := s.spec.HBM.Capacity; c > 0 {
		return min(c, most)
	}
	return most
}

// Ranks returns how many ranks have a memory.
func (s *Space) Ranks() int { return s.opt.Ranks }

// Buffer returns the description of a buffer.
func (s *Space) Buffer(id ID) *Buffer { return &s.bufs[id] }

// Buffers returns how many buffers there are; their IDs are 0 up to that.
func (s *Space) Buffers() int { return len(s.bufs) }

// Used returns the HBM that one rank's buffers take, each rounded up to 4 KiB.
func (s *Space) Used() engine.Bytes { return engine.Bytes(s.next - minBuffer) }

// Device returns the 64-bit device address of a place: the rank in the high bits.
func (s *Space) Device(a Addr) uint64 {
	return uint64(a.Rank)<<addrBits | uint64(s.bases[a.Buf]+a.Off)
}

// Resolve is the inverse of Device; ok is false when no buffer of a known rank
// holds all n bytes from there.
func (s *Space) Resolve(dev uint64, n int64) (a Addr, ok bool) {
	rank, low := int(dev>>addrBits), int64(dev&(1<<addrBits-1))
	i, _ := slices.BinarySearch(s.bases, low+1) // the last base at or below low is before it
	if i--; i < 0 || rank >= s.opt.Ranks {
		return a, false
	}
	a = Addr{rank, ID(i), low - s.bases[i]}
	return a, a.Off+n <= int64(s.bufs[i].Size)
}

// Rewrite gives a rank's buffer fresh content, as its producer does between two
// calls: a new version of its fill, or the rows of t where it holds words. A buffer
// without a fill or a table is zero again, whatever its version.
func (s *Space) Rewrite(rank int, id ID, t Table) {
	in := &s.inst[id][rank]
	in.version++
	for _, p := range in.prov {
		s.slab.give(p)
	}
	in.prov, in.raw = nil, nil
	if s.bufs[id].Words {
		in.table, in.words = t, nil
	}
}

// Version tells how often a rank's buffer has been rewritten.
func (s *Space) Version(rank int, id ID) uint32 { return s.inst[id][rank].version }

func (s *Space) check(a Addr, n int64) {
	if a.Off < 0 || n < 0 || a.Off+n > int64(s.bufs[a.Buf].Size) {
		panic(fmt.Sprintf("memory: [%d, %d) is outside buffer %s of %d bytes", a.Off, a.Off+n, s.bufs[a.Buf].Name, s.bufs[a.Buf].Size))
	}
}
