package hw

import (
	"bytes"

	"pldperf/engine"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// headBytes is how much of a range that is wrong a Result keeps: enough to recognise
// where it comes from. searched bounds the content in which that place is looked for, and
// rounds how many versions of each buffer.
const (
	headBytes = 32
	searched  = 16 << 20
	rounds    = 4
)

// where records a mismatch in a form that programs can read. Where payload is kept as
// bytes, it looks for the place that the wrong bytes come from.
func (m *machine) where(t *program.Task, p *program.Promise, x *memory.Mismatch) {
	if len(m.res.Data.Where) == maxListed {
		return
	}
	out := result.Mismatch{Task: t.Name, Rank: x.At.Rank, Buffer: m.job.Buffers[p.Buf].Name, Off: x.At.Off, Len: x.Len}
	if p.Values == nil {
		out.Want = m.origin(x.Want)
	}
	if !m.mem.Bytes() {
		out.Got = m.origin(x.Got)
		m.res.Data.Where = append(m.res.Data.Where, out)
		return
	}
	var d memory.Data
	n := min(x.Len, headBytes)
	m.mem.Capture(&d, x.At, n)
	out.GotBytes = d.Raw
	if p.Values == nil {
		out.WantBytes = make([]byte, n)
		m.content(out.WantBytes, x.Want)
		out.Got = m.find(d.Raw, x)
	} else {
		p.Values(x.At.Rank, func(off int64, want []byte) {
			if i := x.At.Off - off; i >= 0 && i < int64(len(want)) {
				out.WantBytes = bytes.Clone(want[i:min(i+n, int64(len(want)))])
			}
		})
	}
	m.res.Data.Where = append(m.res.Data.Where, out)
}

func (m *machine) origin(o memory.Origin) *result.Origin {
	return &result.Origin{Rank: int(o.Rank), Buffer: m.job.Buffers[m.number(o.Buf)].Name, Version: o.Version, Off: o.Off}
}

// number returns the job's number of a buffer.
func (m *machine) number(id memory.ID) int {
	for i, b := range m.env.Buffers {
		if b == id {
			return i
		}
	}
	panic("hw: no such buffer")
}

// content fills dst with what the producer of an origin wrote there.
func (m *machine) content(dst []byte, o memory.Origin) {
	b := &m.job.Buffers[m.number(o.Buf)]
	switch {
	case b.Fill != nil:
		b.Fill.Generate(dst, int(o.Rank), o.Version, o.Off)
	case !b.Window && !b.Words:
		memory.Unique{ID: o.Buf}.Generate(dst, int(o.Rank), o.Version, o.Off)
	default:
		clear(dst)
	}
}

// find looks for the producer's content that equals the bytes found in the place of a
// mismatch: what lay there from the start, an earlier version of what is wanted, then
// all of every buffer of every rank. It returns nil when there is none.
func (m *machine) find(got []byte, x *memory.Mismatch) *result.Origin {
	same := make([]byte, len(got))
	is := func(o memory.Origin) bool {
		m.content(same, o)
		return bytes.Equal(same, got)
	}
	own := memory.Origin{Rank: int32(x.At.Rank), Buf: x.At.Buf, Version: m.mem.Version(x.At.Rank, x.At.Buf), Off: x.At.Off}
	if is(own) {
		return m.origin(own)
	}
	for o := x.Want; o.Version > 0; {
		if o.Version--; is(o) {
			return m.origin(o)
		}
	}
	if o, ok := m.search(got, x.Want); ok {
		return m.origin(o)
	}
	return nil
}

// search goes through the content of all buffers, that of the wanted rank and buffer first.
func (m *machine) search(got []byte, want memory.Origin) (memory.Origin, bool) {
	left := engine.Bytes(searched)
	for k := range m.job.Ranks {
		rank := (int(want.Rank) + k) % m.job.Ranks
		for i := range m.job.Buffers {
			b := &m.job.Buffers[(m.number(want.Buf)+i)%len(m.job.Buffers)]
			id := m.env.Buffers[(m.number(want.Buf)+i)%len(m.job.Buffers)]
			last := int64(m.mem.Version(rank, id))
			for v := last; v >= 0 && v > last-rounds && !b.Words && b.Size <= left; v-- {
				left -= b.Size
				o := memory.Origin{Rank: int32(rank), Buf: id, Version: uint32(v)}
				all := make([]byte, b.Size)
				m.content(all, o)
				if at := bytes.Index(all, got); at >= 0 {
					o.Off = int64(at)
					return o, true
				}
			}
		}
	}
	return memory.Origin{}, false
}
