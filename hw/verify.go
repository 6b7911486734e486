package hw

import (
	"fmt"
	"slices"

	"pldperf/engine"
	"pldperf/hw/memory"
	"pldperf/hw/program"
)

// maxListed is how many differences, waits and hazards a Result describes; all are
// counted.
const maxListed = 16

// verify compares what a call promised with what the rank's memory holds now.
func (m *machine) verify(t *program.Task, rank int) {
	for _, p := range t.Promises {
		if p.Words != nil {
			m.verifyWords(p, rank)
			continue
		}
		v := m.mem.Verify(rank, m.env.Buffers[p.Buf])
		p.Ranges(rank, func(off, n int64, from program.Origin) {
			v.Expect(off, n, memory.Origin{Rank: int32(from.Rank), Buf: m.env.Buffers[from.Buf], Version: from.Version, Off: from.Off})
		})
		v.Done()
		d := &m.res.Data
		d.Checked += engine.Bytes(v.Bytes)
		d.Wrong += engine.Bytes(v.Wrong)
		for _, x := range v.First {
			m.mismatch("%s: %s", t.Name, x.Text)
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

func (m *machine) hazard(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(m.res.Hazards) < maxListed && !slices.Contains(m.res.Hazards, text) {
		m.res.Hazards = append(m.res.Hazards, text)
	}
}

// initialSignals looks for cells that are not zero before the first call: a credit
// nobody gave lets a barrier pass early, and a debt makes it hang.
func (m *machine) initialSignals() {
	for i, b := range m.job.Buffers {
		if b.Signal && b.Table != nil {
			m.nonzero(m.env.Buffers[i], "starts at", "is not zero before its first use")
		}
	}
}

// quiet looks for credits that a finished call has left behind. Where a fast rank
// may be in the next call already, only the end of the run is looked at.
func (m *machine) quiet(task int) {
	if task != len(m.job.Tasks)-1 {
		return
	}
	seen := map[program.Buf]bool{}
	for i := range m.job.Tasks {
		for _, b := range m.job.Tasks[i].Zero {
			if !seen[b] {
				seen[b] = true
				m.nonzero(m.env.Buffers[b], "ends at", "credits are left over")
			}
		}
	}
}

func (m *machine) nonzero(id memory.ID, how, why string) {
	for r := range m.job.Ranks {
		for cell, v := range m.mem.Words(r, id) {
			if v != 0 {
				m.hazard("rank %d %s cell %d %s %d: %s", r, m.mem.Buffer(id).Name, cell, how, v, why)
			}
		}
	}
}
