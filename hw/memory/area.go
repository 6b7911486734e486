package memory

import "slices"

// Area is a rectangle in the memory of one rank: Rows rows of Width bytes, the first
// at Addr, whose starts are Pitch bytes apart.
type Area struct {
	Addr
	Rows, Width, Pitch int64
}

// Flat returns the area of n bytes in a row.
func Flat(a Addr, n int64) Area { return Area{a, 1, n, n} }

// Bytes returns the size of the area.
func (a *Area) Bytes() int64 { return a.Rows * a.Width }

// Holds reports whether all of an area is within its buffer.
func (s *Space) Holds(a *Area) bool {
	last := a.Off + (a.Rows-1)*a.Pitch + a.Width
	return a.Off >= 0 && (a.Bytes() <= 0 || last <= int64(s.bufs[a.Buf].Size))
}

// row returns where row i starts.
func (a *Area) row(i int64) Addr {
	at := a.Addr
	at.Off += i * a.Pitch
	return at
}

// CaptureArea appends what an area holds now to d, row by row. It panics outside the
// buffer.
func (s *Space) CaptureArea(d *Data, a *Area) {
	for i := range a.Rows {
		s.Capture(d, a.row(i), a.Width)
	}
}

// LandArea stores d in an area, row by row. It panics outside the buffer.
func (s *Space) LandArea(a *Area, d *Data) {
	if a.Rows == 1 {
		s.Land(a.Addr, d)
		return
	}
	var part Data
	for i := range a.Rows {
		part.Reset()
		d.part(&part, i*a.Width, a.Width)
		s.Land(a.row(i), &part)
	}
}

// AddArea combines d into what an area holds, as an atomic add does: sum(dst, src) adds
// src to dst. The Space must keep bytes.
func (s *Space) AddArea(a *Area, d *Data, sum func(dst, src []byte)) {
	if !s.opt.Bytes {
		panic("memory: an atomic add needs real bytes")
	}
	var now Data
	for i := range a.Rows {
		now.Reset()
		s.Capture(&now, a.row(i), a.Width)
		sum(now.Raw, d.Raw[i*a.Width:(i+1)*a.Width])
		s.Land(a.row(i), &now)
	}
}

// ReadArea charges a read of an area, arriving now: its rows pass one after another.
func (s *Space) ReadArea(a *Area, owner uint32) Access { return a.each(owner, s.Read) }

// WriteArea charges a store to an area, arriving now.
func (s *Space) WriteArea(a *Area, owner uint32) Access { return a.each(owner, s.Write) }

func (a *Area) each(owner uint32, do func(Addr, int64, uint32) Access) Access {
	all := do(a.Addr, a.Width, owner)
	for i := int64(1); i < a.Rows; i++ {
		all.End = do(a.row(i), a.Width, owner).End
	}
	return all
}

// Trim cuts d to its first n bytes. It panics when d has fewer.
func (d *Data) Trim(n int64) {
	if n > d.Len {
		panic("memory: less data than is to be kept")
	}
	if n == d.Len {
		return
	}
	if len(d.Raw) > 0 {
		d.Raw = d.Raw[:n]
	}
	for i := range d.Frags {
		if f := &d.Frags[i]; f.Off+f.Len > n {
			if f.Len = n - f.Off; f.Len <= 0 {
				d.Frags = d.Frags[:i]
				break
			}
		}
	}
	d.Len = n
}

// Set makes d a copy of o.
func (d *Data) Set(o *Data) {
	d.Raw = append(d.Raw[:0], o.Raw...)
	d.Frags = append(d.Frags[:0], o.Frags...)
	d.Len = o.Len
}

// part appends bytes [off, off+n) of d to dst.
func (d *Data) part(dst *Data, off, n int64) {
	if len(d.Raw) > 0 {
		dst.Raw = append(dst.Raw, d.Raw[off:off+n]...)
	}
	first, _ := slices.BinarySearchFunc(d.Frags, off, func(f Frag, off int64) int {
		if f.Off+f.Len <= off {
			return -1
		}
		return 1
	})
	for _, f := range d.Frags[first:] {
		lo, hi := max(f.Off, off), min(f.Off+f.Len, off+n)
		if lo >= hi {
			break
		}
		f.From.Off += lo - f.Off
		f.Off, f.Len = dst.Len+lo-off, hi-lo
		dst.Frags = append(dst.Frags, f)
	}
	dst.Len += n
}
