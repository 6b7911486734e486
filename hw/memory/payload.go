package memory

import (
	"encoding/binary"
	"slices"
)

// Content generates what a buffer's producer writes, for payload kept as bytes.
type Content interface {
	// Generate fills dst with the content from byte off on of the given version
	// of a rank's buffer.
	Generate(dst []byte, rank int, version uint32, off int64)
}

// Data is payload in flight: sampled from memory by Capture, stored by Land. Reset
// one to use it again.
type Data struct {
	Frags []Frag // provenance; offsets from the start of the Data
	Raw   []byte // real bytes, when the Space keeps bytes
	Len   int64
}

// Reset empties d and keeps its storage.
func (d *Data) Reset() { d.Frags, d.Raw, d.Len = d.Frags[:0], d.Raw[:0], 0 }

// Capture appends what n bytes at a hold now to d. It panics outside the buffer.
func (s *Space) Capture(d *Data, a Addr, n int64) {
	s.check(a, n)
	if s.opt.Bytes {
		k := len(d.Raw)
		d.Raw = slices.Grow(d.Raw, int(n))[:k+int(n)]
		s.readRaw(d.Raw[k:], a)
	} else {
		d.Frags = s.captureFrags(d.Frags, d.Len, a, n)
	}
	d.Len += n
}

// Land stores d at a. It panics outside the buffer.
func (s *Space) Land(a Addr, d *Data) {
	s.check(a, d.Len)
	s.landed += d.Len
	if s.opt.Bytes {
		s.writeRaw(a, d.Raw)
		return
	}
	s.landFrags(a, d.Frags)
}

// Bytes reports whether payload is kept as real bytes.
func (s *Space) Bytes() bool { return s.opt.Bytes }

// rawBits is the logarithm of a page of real bytes.
const (
	rawBits = 14
	rawSize = 1 << rawBits
)

func (s *Space) readRaw(dst []byte, a Addr) {
	in := &s.inst[a.Buf][a.Rank]
	for at := a.Off; len(dst) > 0; {
		k := min(int64(len(dst)), rawSize-at&(rawSize-1))
		if in.raw != nil && in.raw[at>>rawBits] != nil {
			copy(dst[:k], in.raw[at>>rawBits][at&(rawSize-1):])
		} else {
			s.initial(dst[:k], a.Rank, a.Buf, in.version, at)
		}
		dst, at = dst[k:], at+k
	}
}

func (s *Space) writeRaw(a Addr, src []byte) {
	in := &s.inst[a.Buf][a.Rank]
	size := int64(s.bufs[a.Buf].Size)
	if in.raw == nil {
		in.raw = make([][]byte, (size+rawSize-1)>>rawBits)
	}
	for at := a.Off; len(src) > 0; {
		pg := &in.raw[at>>rawBits]
		if *pg == nil {
			start := at &^ (rawSize - 1)
			*pg = make([]byte, min(rawSize, size-start))
			if whole := at == start && len(src) >= len(*pg); !whole && s.bufs[a.Buf].Fill != nil {
				s.initial(*pg, a.Rank, a.Buf, in.version, start)
			}
		}
		k := copy((*pg)[at&(rawSize-1):], src)
		src, at = src[k:], at+int64(k)
	}
}

// initial fills dst with a buffer's content before any write.
func (s *Space) initial(dst []byte, rank int, id ID, version uint32, off int64) {
	if c := s.bufs[id].Fill; c != nil {
		c.Generate(dst, rank, version, off)
		return
	}
	clear(dst)
}

// Unique is content in which 8 bytes differ from all others of the same place, rank
// or version, and from all others of the run but for chance (2^-64 a pair), so that
// a byte from a wrong place, rank or version does not look right. ID is the buffer's.
type Unique struct{ ID ID }

// Generate implements Content.
func (u Unique) Generate(dst []byte, rank int, version uint32, off int64) {
	key := uint64(version)<<32 | uint64(rank)<<bufBits | uint64(u.ID)
	for i := 0; i < len(dst); off = off&^7 + 8 {
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], mix(key^mix(uint64(off>>3))))
		i += copy(dst[i:], w[off&7:])
	}
}

// mix is the finaliser of splitmix64 (S. Vigna): a bijection, so distinct inputs
// give distinct words.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
