package hw

import (
	"pldperf/engine"
	"pldperf/hw/aiv"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// Events of the machine: kind, task and rank in one argument.
const (
	evRank    = iota // a rank may start its tasks
	evCompute        // a compute item is over on a rank
)

func event(kind, task, rank int) uint64 { return uint64(kind)<<56 | uint64(task)<<24 | uint64(rank) }

// Handle implements engine.Handler.
func (m *machine) Handle(arg uint64) {
	kind, task, rank := arg>>56, int(arg>>24&0xffffffff), int(arg&0xffffff)
	m.eng.Progress()
	switch kind {
	case evRank:
		m.ranks[rank].begun = true
		for i := range m.tasks {
			m.offer(i, rank)
		}
	case evCompute:
		m.endTask(task, rank)
	}
}

// offer puts a task into the rank's queue once nothing stands before it.
func (m *machine) offer(task, rank int) {
	t := &m.tasks[task][rank]
	if t.state != waiting || t.missing > 0 || !m.ranks[rank].begun {
		return
	}
	t.state = ready
	m.ranks[rank].queue = append(m.ranks[rank].queue, task)
	m.admitNext(rank)
}

// admitNext starts the ready tasks of a rank in order while AIVs are free.
func (m *machine) admitNext(rank int) {
	r := &m.ranks[rank]
	for len(r.queue) > 0 {
		task := r.queue[0]
		blocks := m.job.Tasks[task].Blocks
		if blocks > r.free {
			return
		}
		r.queue = r.queue[1:]
		r.free -= blocks
		m.begin(task, rank)
	}
}

// begin launches a task's blocks on a rank.
func (m *machine) begin(task, rank int) {
	t, run := &m.job.Tasks[task], &m.tasks[task][rank]
	now := m.eng.Now()
	run.state, run.blocks, run.span.Start = running, t.Blocks, now
	m.markTimed(task)
	m.prepare(t, rank)
	start := now.Add(m.spec.AIV.LaunchTime(t.Blocks).Scale(m.slow(rank)))
	if t.Program == nil && t.Perblock == nil {
		m.eng.At(start.Add(t.Compute.Scale(m.slow(rank))), m, event(evCompute, task, rank))
		return
	}
	run.cores = make([]*aiv.Core, t.Blocks)
	cores := make([]aiv.Core, t.Blocks)
	for b := range cores {
		run.cores[b] = &cores[b]
		p := t.Program
		if t.Perblock != nil {
			p = t.Perblock(rank, b)
		}
		m.aivs++
		cores[b].Start(&m.env, aiv.Task{
			Rank: rank, Block: b, Blocks: t.Blocks, ID: uint32(m.aivs), Tag: task, Slow: m.slow(rank),
			Program: p, Counters: &m.counter[task][rank], Start: now,
		}, start)
	}
}

// prepare applies what the task's producers write before it.
func (m *machine) prepare(t *program.Task, rank int) {
	for _, w := range t.Before {
		m.mem.Rewrite(rank, m.env.Buffers[w.Buf], w.Table)
	}
}

// Ended implements aiv.Reporter.
func (m *machine) Ended(c *aiv.Core) {
	run := &m.tasks[c.Tag()][c.Rank()]
	run.span.BarrierExit = max(run.span.BarrierExit, c.BarrierExit)
	if run.blocks--; run.blocks == 0 {
		m.endTask(c.Tag(), c.Rank())
	}
}

// endTask checks the data that a consumer could now read and releases what waits.
func (m *machine) endTask(task, rank int) {
	t, run := &m.job.Tasks[task], &m.tasks[task][rank]
	run.state, run.span.End = ended, m.eng.Now()
	m.ranks[rank].free += t.Blocks
	m.verify(t, rank)
	if m.left[task]--; m.left[task] == 0 {
		m.quiet(task)
	}
	for i := range m.job.Tasks {
		m.release(i, task, rank)
	}
	m.admitNext(rank)
}

// release tells task i that another has ended on a rank.
func (m *machine) release(i, ended, rank int) {
	t := &m.job.Tasks[i]
	for _, d := range t.After {
		if d != ended {
			continue
		}
		if !t.Barrier {
			m.tasks[i][rank].missing--
			m.offer(i, rank)
			continue
		}
		for r := range m.tasks[i] {
			m.tasks[i][r].missing--
			m.offer(i, r)
		}
	}
}

// Violated implements aiv.Reporter: one rank's abort ends the whole group (S-62).
func (m *machine) Violated(a result.Abort) {
	if m.res.Abort == nil {
		m.res.Abort = &a
	}
	m.eng.Stop()
}

// Received implements aiv.Reporter. Data that lands before the previous call with
// the same window has ended at its owner overwrites what nobody has consumed yet.
func (m *machine) Received(task, rank int, n int64) {
	m.counter[task][rank][result.BytesReceived] += n
	for i := range task {
		if m.job.Tasks[i].Op == m.job.Tasks[task].Op && m.tasks[i][rank].state != ended && m.sharesTarget(i, task) {
			m.hazard("window reuse: %s writes %s of rank %d before %s has been consumed there; put a barrier between the calls", m.job.Tasks[task].Name, m.target(task), rank, m.job.Tasks[i].Name)
		}
	}
}

func (m *machine) sharesTarget(i, j int) bool {
	a, b := m.job.Tasks[i].Promises, m.job.Tasks[j].Promises
	return len(a) > 0 && len(b) > 0 && a[0].Buf == b[0].Buf
}

func (m *machine) target(task int) string {
	return m.job.Buffers[m.job.Tasks[task].Promises[0].Buf].Name
}

// Noted implements aiv.Reporter.
func (m *machine) Noted(text string) {
	if !m.noted[text] {
		m.noted[text] = true
		m.res.Notes = append(m.res.Notes, text)
	}
}

// timed returns the first start and the last end of the timed calls.
func (m *machine) timed() (start, end engine.Time) {
	start = -1
	for i := range m.res.Calls {
		c := &m.res.Calls[i]
		if c.Timed && c.End >= c.Start {
			if start < 0 || c.Start < start {
				start = c.Start
			}
			end = max(end, c.End)
		}
	}
	return max(start, 0), end
}
