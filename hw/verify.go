package hw

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/memory"
	"pldperf/hw/program"
)

// maxListed is how many differences, waits and hazards a Result describes. All
// differences and waits are counted; of hazards, each kind needs to be known once.
const maxListed = 16

// verify compares what a call promised with what the rank's memory holds now.
func (m *machine) verify(task, rank int) {
	t := &m.job.Tasks[task]
	for _, p := range t.Promises {
		if p.Words != nil {
			m.verifyWords(p, rank)
			m.env.Hazards.Consumed(task, rank, p.Buf, 0, int64(m.job.Buffers[p.Buf].Size))
			continue
		}
		v := m.mem.Verify(rank, m.env.Buffers[p.Buf])
		if p.Values != nil {
			p.Values(rank, func(off int64, want []byte) {
				m.env.Hazards.Consumed(task, rank, p.Buf, off, int64(len(want)))
				v.Values(off, want)
			})
		} else {
			p.Ranges(rank, func(off, n int64, from program.Origin) {
				m.env.Hazards.Consumed(task, rank, p.Buf, off, n)
				v.Expect(off, n, memory.Origin{Rank: int32(from.Rank), Buf: m.env.Buffers[from.Buf], Version: from.Version, Off: from.Off})
			})
		}
		v.Done()
		d := &m.res.Data
		d.Checked += engine.Bytes(v.Bytes)
		d.Wrong += engine.Bytes(v.Wrong)
		for _, x := range v.First {
			m.mismatch("%s: %s", t.Name, x.Text)
			m.where(t, &p, &x)
		}
	}
}

func (m *machine) verifyWords(p program.Promise, rank int) {
	want, got := p.Words(rank), m.mem.Words(rank, m.env.Buffers[p.Buf])
	for i := range want {
		m.res.Data.Words++
		if want[i] != got[i] {
			m.res.Data.WrongWords++
			m.mismatch("rank %d %s[%d] is %d, want %d", rank, m.job.Buffers[p.Buf].Name, i, got[i], want[i])
		}
	}
}

func (m *machine) mismatch(format string, args ...any) {
	if len(m.res.Data.Mismatches) < maxListed {
		m.res.Data.Mismatches = append(m.res.Data.Mismatches, fmt.Sprintf(format, args...))
	}
}
