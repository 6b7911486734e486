package memory

import "sort"

// Origin says where a range of payload came from: offset Off of version Version
// of a rank's buffer, as the buffer's producer wrote it. The initial content of a
// window is its own origin.
type Origin struct {
	Rank    int32
	Buf     ID
	Version uint32
	Off     int64
}

// Frag is Len bytes of known origin at Off of a page or of a Data.
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
	src     uint32 // rank<<12 | buffer
	version uint32
}

// page holds the fragments written since the buffer's last rewrite, sorted by
// offset and disjoint. What they leave out still has its initial content.
type page []frag

func pack(o Origin) uint32 { return uint32(o.Rank)<<12 | uint32(o.Buf) }

func (f *frag) origin(skip int64) Origin {
	return Origin{int32(f.src >> 12), ID(f.src & 0xfff), f.version, f.srcOff + skip}
}

// put writes f into the page, over whatever was there.
func (p page) put(f frag) page {
	n := len(p)
	if n == 0 || p[n-1].off+p[n-1].len <= f.off {
		return p.push(f)
	}
	i := sort.Search(n, func(i int) bool { return p[i].off+p[i].len > f.off })
	var cut [2]frag // what remains of an old fragment on either side
	pieces := cut[:0]
	j := i
	for ; j < n && p[j].off < f.off+f.len; j++ {
		if old := p[j]; old.off < f.off {
			old.len = f.off - old.off
			pieces = append(pieces, old)
		}
		if old := p[j]; old.off+old.len > f.off+f.len {
			skip := f.off + f.len - old.off
			old.srcOff, old.off, old.len = old.srcOff+int64(skip), old.off+skip, old.len-skip
			pieces = append(pieces, old)
		}
	}
	return splice(p, i, j, f, pieces)
}

// push appends f behind the last fragment, merging the two where one continues
// the other.
func (p page) push(f frag) page {
	if n := len(p); n > 0 {
		l := &p[n-1]
		if l.off+l.len == f.off && l.src == f.src && l.version == f.version && l.srcOff+int64(l.len) == f.srcOff {
			l.len += f.len
			return p
		}
	}
	return append(p, f)
}

func splice(p page, i, j int, f frag, around []frag) page {
	mid := make([]frag, 0, 3)
	for k := range around {
		if around[k].off < f.off {
			mid = append(mid, around[k])
		}
	}
	mid = append(mid, f)
	for k := range around {
		if around[k].off > f.off {
			mid = append(mid, around[k])
		}
	}
	out := make(page, 0, len(p)+len(mid)-(j-i))
	out = append(out, p[:i]...)
	out = append(out, mid...)
	return append(out, p[j:]...)
}

// landFrags stores fragments at a place.
func (s *Space) landFrags(a Addr, frags []Frag) {
	in := &s.inst[a.Buf][a.Rank]
	if in.prov == nil {
		in.prov = make([]page, (int64(s.bufs[a.Buf].Size)+pageSize-1)>>pageBits)
	}
	for _, f := range frags {
		for at, o, n := a.Off+f.Off, f.From, f.Len; n > 0; {
			k := min(n, pageSize-at&(pageSize-1))
			pg := &in.prov[at>>pageBits]
			*pg = pg.put(frag{o.Off, uint32(at & (pageSize - 1)), uint32(k), pack(o), o.Version})
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
		return append(dst, Frag{own, base, n})
	}
	for at, end := a.Off, a.Off+n; at < end; {
		stop := min(end, (at>>pageBits+1)<<pageBits)
		dst = in.prov[at>>pageBits].capture(dst, own, base-a.Off, at, stop)
		at = stop
	}
	return dst
}

// capture appends what the page holds of [at, stop), which are offsets in the
// buffer; shift turns such an offset into one of the captured Data.
func (p page) capture(dst []Frag, own Origin, shift, at, stop int64) []Frag {
	start := at &^ (pageSize - 1)
	initial := func(from, to int64) {
		o := own
		o.Off = from
		dst = append(dst, Frag{o, from + shift, to - from})
	}
	i := sort.Search(len(p), func(i int) bool { return start+int64(p[i].off+p[i].len) > at })
	for ; i < len(p) && start+int64(p[i].off) < stop; i++ {
		lo, hi := start+int64(p[i].off), start+int64(p[i].off+p[i].len)
		if lo > at {
			initial(at, lo)
		}
		from, to := max(lo, at), min(hi, stop)
		dst = append(dst, Frag{p[i].origin(from - lo), from + shift, to - from})
		at = to
	}
	if at < stop {
		initial(at, stop)
	}
	return dst
}
