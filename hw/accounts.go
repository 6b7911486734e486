package hw

import "pldperf/hw/result"

// accounts completes the blocks' accounts so that each tiles its call exactly:
//
//	call.Start                                                  call.End
//	|-- idle --|-- dependency_wait --|-- the block's own --|-- idle --|
//	      rank arrives           its task starts        it ends
func (m *machine) accounts() {
	for task := range m.tasks {
		if m.first[task] < 0 {
			continue
		}
		call := &m.res.Calls[task]
		for rank := range m.tasks[task] {
			arrives := min(max(m.arrival(rank), call.Start), call.End)
			for block := range m.job.Tasks[task].Blocks {
				a := m.account(task, rank, block)
				m.own(a, task, rank, block)
				a.Call, a.Rank, a.Block = task, rank, block
				a.Time[result.Idle] += arrives.Sub(call.Start) + call.End.Sub(a.End)
				a.Time[result.DependencyWait] += a.Start.Sub(arrives)
			}
		}
	}
}

// own fills in a block's own part where no core did when it ended.
func (m *machine) own(a *result.Block, task, rank, block int) {
	run := &m.tasks[task][rank]
	end := m.res.Calls[task].End
	switch {
	case run.state < running: // and never will
		*a = result.Block{Start: end, End: end}
	case m.job.Tasks[task].Program == nil && m.job.Tasks[task].Perblock == nil:
		*a = result.Block{Start: run.span.Start, End: run.span.End}
		begun := min(run.begun, a.End)
		a.Time[result.Launch] = begun.Sub(a.Start)
		a.Time[result.Compute] = a.End.Sub(begun)
	case run.cores != nil && run.cores[block] != nil: // it is cut off
		c := run.cores[block]
		c.Close(end)
		*a = c.Acct
		a.End = end
	}
}
