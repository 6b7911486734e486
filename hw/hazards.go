package hw

import (
	"fmt"

	"pldperf/hw/hazard"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// hazardLimit is up to which size a run is looked at for hazards unless it is asked for:
// AIVs of the widest call on all ranks, times ranks. A barrier is a join of clocks for
// each AIV and rank, and a clock has a component for each AIV. It is 64 ranks of 16
// blocks, or 256 ranks of one.
const hazardLimit = 1 << 16

// check prepares the search for hazards, and says whether there is one.
func (m *machine) checkHazards() {
	most := 0
	for i := range m.job.Tasks {
		most = max(most, m.job.Tasks[i].Blocks)
	}
	switch n := most * m.job.Ranks * m.job.Ranks; {
	case m.opt.Hazards == "off":
		m.res.Data.Hazards = "no: switched off"
		return
	case m.opt.Hazards != "on" && n > hazardLimit:
		m.res.Data.Hazards = fmt.Sprintf("no: %d ranks of %d blocks are too many, --hazards=on does it", m.job.Ranks, most)
		return
	}
	m.res.Data.Hazards = "yes"
	m.env.Hazards = hazard.New(m.job, m.eng, m.mem)
	m.env.Signals.Check(m.env.Hazards)
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
