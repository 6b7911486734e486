package hw

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// maxListed is how many differences, waits and hazards a Result describes. All
// differences and waits are counted; of hazards, each kind needs to be known once.
const maxListed = 16

// verify compares what a call promised with what the rank's memory holds now.
func (m *machine) verify(t *program.Task, rank int) {
	for _, p := range t.Promises {
		if p.Words != nil {
			m.verifyWords(p, rank)
			continue
		}
		v := m.mem.Verify(rank, m.env.Buffers[p.Buf])
		if p.Values != nil {
			p.Values(rank, v.Values)
		} else {
			p.Ranges(rank, func(off, n int64, from program.Origin) {
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

// hazard records something that is right by luck, or not at all; each once.
func (m *machine) hazard(kind result.HazardKind, format string, args ...any) {
	if len(m.res.Hazards) == maxListed {
		return
	}
	text := fmt.Sprintf(format, args...)
	for i := range m.res.Hazards {
		if h := &m.res.Hazards[i]; h.Text == text {
			h.Count++
			return
		}
	}
	m.res.Hazards = append(m.res.Hazards, result.Hazard{Kind: kind, Text: text, Count: 1})
}

// suspectSignals looks for what lets a barrier pass early or hang: cells that are not
// zero before the first call, and cells that a call sets although an earlier one has
// set them already (a Set barrier is for a single use, S-13).
func (m *machine) suspectSignals() {
	for i, b := range m.job.Buffers {
		if b.Signal && b.Table != nil {
			m.nonzero(result.CellsSet, program.Buf(i), "before the first call: above zero a barrier passes early, below it hangs")
		}
	}
	used := map[program.Buf]string{}
	for i := range m.job.Tasks {
		t := &m.job.Tasks[i]
		for _, w := range t.Before {
			if w.Zero {
				delete(used, w.Buf)
			}
		}
		b, ok := sets(t)
		if !ok {
			continue
		}
		if by, again := used[b]; again {
			m.hazard(result.StaleCredit, "signal reuse: %s waits on %s, which %s has set and nobody has reset; its barrier passes early", t.Name, m.job.Buffers[b].Name, by)
		}
		used[b] = t.Name
	}
}

// sets returns the signal on which a task has a Set barrier.
func sets(t *program.Task) (program.Buf, bool) {
	if t.Program == nil {
		return 0, false
	}
	for i := range t.Program.Ops {
		if op := &t.Program.Ops[i]; op.Kind == program.NotifyPeers && op.Set {
			return op.Signal, true
		}
	}
	return 0, false
}

// leftCredits looks for cells that should be zero at the end of the run.
func (m *machine) leftCredits() {
	seen := map[program.Buf]bool{}
	for i := range m.job.Tasks {
		for _, b := range m.job.Tasks[i].Zero {
			if !seen[b] {
				seen[b] = true
				m.nonzero(result.CreditsLeft, b, "after the last call: credits are left over")
			}
		}
	}
}

// nonzero reports every cell of a signal that is not zero.
func (m *machine) nonzero(kind result.HazardKind, b program.Buf, why string) {
	name := m.job.Buffers[b].Name
	for r := range m.job.Ranks {
		for cell, v := range m.mem.Words(r, m.env.Buffers[b]) {
			if v != 0 {
				m.hazard(kind, "rank %d: cell %d of %s is %d, not 0, %s", r, cell, name, v, why)
			}
		}
	}
}
