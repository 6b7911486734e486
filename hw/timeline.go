package hw

import (
	"cmp"
	"fmt"

	"pldperf/hw/result"
	"pldperf/hw/timeline"
)

// show connects the parts of the machine to the timeline.
func (m *machine) show() {
	m.line = timeline.New(m.opt.Timeline)
	if m.line == nil {
		return
	}
	m.shown = make([]timeline.Call, len(m.job.Tasks))
	for i := range m.shown {
		t := &m.job.Tasks[i]
		m.shown[i] = timeline.Call{ID: i, Task: t.Name, Name: cmp.Or(t.Name, t.Op, fmt.Sprintf("task %d", i)), Timed: t.Timed}
	}
	m.net.Show(m.line)
	m.mem.Show(m.line)
	m.env.Links.Show(m.line)
	for r := range m.job.Ranks {
		m.env.NICs[r].Show(m.line)
		m.env.DMAs[r].Show(m.line)
	}
}

// launch begins to show a block.
func (m *machine) launch(task, rank, block int) *timeline.Block {
	if m.line == nil {
		return nil
	}
	return m.line.Launch(rank, block, &m.shown[task], m.eng.Now(), result.Launch.String())
}

// showCompute begins to show a compute item, which is busy from its launch to its end.
func (m *machine) showCompute(task, rank int) {
	if m.line == nil {
		return
	}
	run := &m.tasks[task][rank]
	run.shown = make([]*timeline.Block, m.job.Tasks[task].Blocks)
	for b := range run.shown {
		run.shown[b] = m.launch(task, rank, b)
	}
}

// showEnd shows a task that has ended.
func (m *machine) showEnd(task, rank int) {
	if m.line == nil {
		return
	}
	run := &m.tasks[task][rank]
	m.showComputed(run)
	m.line.Called(rank, &m.shown[task], run.span.Start, run.span.End)
}

// showComputed ends the blocks of a compute item, at the end of the run perhaps early.
func (m *machine) showComputed(run *taskRun) {
	for _, b := range run.shown {
		b.Turn(min(run.begun, m.eng.Now()), result.Compute.String(), "compute", "", -1, -1)
		b.Done(m.eng.Now(), true)
	}
	run.shown = nil
}

// showCut shows what is not over at the end of the run as far as it has come.
func (m *machine) showCut() {
	if m.line == nil {
		return
	}
	for i := range m.tasks {
		for r := range m.tasks[i] {
			if run := &m.tasks[i][r]; run.state == running {
				m.showEnd(i, r)
			}
		}
	}
	for r := range m.job.Ranks {
		m.env.NICs[r].Cut()
	}
	m.line.Close(m.eng.Now())
}
