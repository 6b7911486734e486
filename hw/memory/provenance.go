package memory

import "slices"

// Origin says where a range of payload came from: offset Off of version Version
// of a rank's buffer, as the buffer's producer wrote it. The initial content of a
// window is its own origin.
type Origin struct {
	Rank    int32
	Buf     ID
	Version uint32
	Off     int64
}

// Frag is Len bytes of known origin at Off of a Data.
type Frag struct {
	From Origin
	Off  int64
	Len  int64
}

// pageBits is the logarithm of a page of provenance: large enough that a page's
// fragments (about 36 rows of 7 KiB) repay its header, small enough to search.
const (
	pageBits = 18
	pageSize = 1 << pageBits
)

// frag is a Frag in a page, packed to 24 bytes: millions of rows are kept.
type frag struct {
	srcOff  int64
	off     uint32
	len     uint32
	src     uint32 // rank<<bufBits | buffer
	version uint32
}

// What an origin of a frag has room for.
const (
	bufBits    = 12
	maxBuffers = 1 << bufBits
	maxRanks   = 1 << (32 - bufBits)
)

// page holds the fragments written since the buffer's last rewrite, sorted by
// offset, disjoint and not empty. What they leave out has its initial content.
type page []frag

func pack(o Origin) uint32 { return uint32(o.Rank)<<bufBits | uint32(o.Buf) }

func (f *frag) origin(skip int64) Origin {
	return Origin{int32(f.src >> bufBits), ID(f.src % maxBuffers), f.version, f.srcOff + skip}
}

func (f *frag) end() uint32 { return f.off + f.len }

// after returns the first fragment that ends after off.
func (p page) after(off uint32) int {
	lo, hi := 0, len(p)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); p[mid].end() > off {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// join appends f to fragments that end at or before it, and makes one of two where
// f continues the last.
func join(p []frag, f frag) []frag {
	if n := len(p); n > 0 {
		if l := &p[n-1]; l.end() == f.off && l.src == f.src && l.version == f.version && l.srcOff+int64(l.len) == f.srcOff {
			l.len += f.len
			return p
		}
	}
	return append(p, f)
}

// put writes f into the page, over whatever was there.
func (p page) put(f frag, s *slab) page {
	n := len(p)
	if n == 0 || p[n-1].end() <= f.off { // rows mostly land in ascending order
		return join(s.room(p, 1), f)
	}
	i := p.after(f.off)
	if old := &p[i]; old.off == f.off && old.len == f.len { // a window used again
		*old = f
		return p
	}
	var three [3]frag // f and its neighbours, in place of [i, j)
	mid, j := three[:0], i
	if old := p[i]; old.off < f.off {
		old.len = f.off - old.off
		mid = append(mid, old)
	} else if i > 0 && p[i-1].end() == f.off {
		i--
		mid = append(mid, p[i])
	}
	mid = join(mid, f)
	for j < n && p[j].end() <= f.end() {
		j++
	}
	if j < n && p[j].off <= f.end() { // touches f, or sticks out behind it
		old := p[j]
		skip := f.end() - old.off
		old.srcOff, old.off, old.len = old.srcOff+int64(skip), f.end(), old.len-skip
		mid = join(mid, old)
		j++
	}
	return slices.Replace(s.room(p, len(mid)-(j-i)), i, j, mid...)
}

// slab gives pages their storage, in sizes of a few fragments: a page has about 36,
// and doubling would waste half. What a page outgrows serves the next.
type slab struct {
	rest   []frag
	unused [slabClasses + 1][][]frag
}

const (
	slabStep    = 8 // fragments between two sizes
	slabClasses = 8 // sizes
	slabBlock   = 4096
)

// room returns p with space for d more fragments.
func (s *slab) room(p page, d int) page {
	if len(p)+d <= cap(p) {
		return p
	}
	class := cap(p)/slabStep + 1
	if class > slabClasses {
		return slices.Grow(p, d)
	}
	to := append(s.take(class), p...)
	s.give(p)
	return to
}

func (s *slab) take(class int) []frag {
	if list := s.unused[class]; len(list) > 0 {
		s.unused[class] = list[:len(list)-1]
		return list[len(list)-1]
	}
	n := class * slabStep
	if len(s.rest) < n {
		s.rest = make([]frag, slabBlock)
	}
	p := s.rest[:0:n]
	s.rest = s.rest[n:]
	return p
}

// give takes back a page's storage.
func (s *slab) give(p page) {
	if class := cap(p) / slabStep; class > 0 && class <= slabClasses {
		s.unused[class] = append(s.unused[class], p[:0])
	}
}

// landFrags stores fragments at a place.
func (s *Space) landFrags(a Addr, frags []Frag) {
	in := &s.inst[a.Buf][a.Rank]
	if in.prov == nil {
		in.prov = make([]page, (int64(s.bufs[a.Buf].Size)+pageSize-1)>>pageBits)
	}
	for i := range frags {
		o := frags[i].From
		for at, n := a.Off+frags[i].Off, frags[i].Len; n > 0; {
			k := min(n, pageSize-at&(pageSize-1))
			pg := &in.prov[at>>pageBits]
			*pg = pg.put(frag{o.Off, uint32(at & (pageSize - 1)), uint32(k), pack(o), o.Version}, &s.slab)
			at, o.Off, n = at+k, o.Off+k, n-k
		}
	}
}

// captureFrags appends the fragments of [a.Off, a.Off+n) to dst with offsets from
// base on. It is exact: ranges never written are their own origin.
func (s *Space) captureFrags(dst []Frag, base int64, a Addr, n int64) []Frag {
	in := &s.inst[a.Buf][a.Rank]
	own := Origin{int32(a.Rank), a.Buf, in.version, a.Off}
	if in.prov == nil {
		return follow(dst, own, base, n)
	}
	for at, end := a.Off, a.Off+n; at < end; {
		stop := min(end, (at>>pageBits+1)<<pageBits)
		dst = in.prov[at>>pageBits].capture(dst, own, base-a.Off, at, stop)
		at = stop
	}
	return dst
}

// follow appends n bytes of an origin at off to dst, and makes one fragment of two
// where they continue the last.
func follow(dst []Frag, from Origin, off, n int64) []Frag {
	if k := len(dst); k > 0 {
		l := &dst[k-1]
		if f := l.From; f.Off+l.Len == from.Off && f.Rank == from.Rank && f.Buf == from.Buf && f.Version == from.Version && l.Off+l.Len == off {
			l.Len += n
			return dst
		}
	}
	return append(dst, Frag{from, off, n})
}

// capture appends what the page holds of [at, stop), which are offsets in the
// buffer; shift turns such an offset into one of the captured Data.
func (p page) capture(dst []Frag, own Origin, shift, at, stop int64) []Frag {
	start := at &^ (pageSize - 1)
	i := p.after(uint32(at - start))
	for ; i < len(p) && start+int64(p[i].off) < stop; i++ {
		lo, hi := start+int64(p[i].off), start+int64(p[i].end())
		if lo > at {
			own.Off = at
			dst = follow(dst, own, at+shift, lo-at)
			at = lo
		}
		to := min(hi, stop)
		dst = follow(dst, p[i].origin(at-lo), at+shift, to-at)
		at = to
	}
	if at < stop {
		own.Off = at
		dst = follow(dst, own, at+shift, stop-at)
	}
	return dst
}
