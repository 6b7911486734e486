package hw

import (
	"pldperf/engine"
	"pldperf/hw/aiv"
	"pldperf/hw/cause"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// Events of the machine: kind, task and rank in one argument.
const (
	evRank    = iota // a rank may start its tasks
	evCompute        // a compute item is over on a rank
	evNoticed        // a cell that a deferred wait waits for is right
)

func event(kind, task, rank int) uint64 { return uint64(kind)<<56 | uint64(task)<<24 | uint64(rank) }

// plan prepares the state of every task on every rank.
func (m *machine) plan() {
	n, ranks := len(m.job.Tasks), m.job.Ranks
	m.tasks, m.next, m.first = make([][]taskRun, n), make([][]int, n), make([]int, n)
	m.timed, m.untimed = make([]result.Counters, ranks), make([]result.Counters, ranks)
	accounts := 0
	for i := range m.tasks {
		t := &m.job.Tasks[i]
		missing := len(t.After)
		if t.Barrier {
			missing *= ranks
		}
		m.tasks[i] = make([]taskRun, ranks)
		for r := range m.tasks[i] {
			m.tasks[i][r].missing = missing
		}
		for _, d := range t.After {
			m.next[d] = append(m.next[d], i)
		}
		m.first[i] = -1
		if t.Timed {
			m.first[i] = accounts
			accounts += ranks * t.Blocks
		}
	}
	m.res.Blocks = make([]result.Block, accounts)
	m.ranks = make([]rankState, ranks)
	for r := range m.ranks {
		m.ranks[r].free = m.spec.AIV.Count
	}
}

// Handle implements engine.Handler.
func (m *machine) Handle(arg uint64) {
	kind, task, rank := arg>>56, int(arg>>24&0xffffffff), int(arg&0xffffff)
	m.eng.Progress()
	switch kind {
	case evRank:
		m.ranks[rank].here = true
		for i := range m.tasks {
			m.offer(i, rank)
		}
	case evCompute:
		m.endTask(task, rank)
	case evNoticed:
		m.tasks[task][rank].missing--
		m.offer(task, rank)
	}
}

// offer puts a task into the rank's queue once nothing stands before it. What its
// producers write is there from then on: before a task behind a barrier, on all ranks
// at once.
func (m *machine) offer(task, rank int) {
	t := &m.tasks[task][rank]
	if t.state != waiting || t.missing > 0 || !m.ranks[rank].here || m.deferred(task, rank) {
		return
	}
	t.state = ready
	m.env.Hazards.Offer(task, rank)
	for _, w := range m.job.Tasks[task].Before {
		m.mem.Rewrite(rank, m.env.Buffers[w.Buf], w.Table)
	}
	m.ranks[rank].queue = append(m.ranks[rank].queue, task)
	m.admit(rank)
}

// deferred registers the conditions of a task's deferred wait with the scheduler, the
// first time, and reports whether there are any to wait for.
func (m *machine) deferred(task, rank int) bool {
	run := &m.tasks[task][rank]
	if run.asked {
		return false
	}
	run.asked = true
	until := m.job.Tasks[task].Until
	run.missing = len(until)
	h := program.Here{Rank: rank}
	for i := range until {
		w := &until[i]
		m.env.Signals.Await(rank, m.env.Buffers[w.Signal], int(w.Cell.At(&h)), int32(w.Value), &notice{m, task, rank})
	}
	return len(until) > 0
}

// notice tells the scheduler of a rank that a cell is right.
type notice struct {
	m          *machine
	task, rank int
}

// Signalled implements aiv.Waker.
func (n *notice) Signalled(ready engine.Time) {
	n.m.eng.Through(ready, cause.Sector.Why(0, 0))
	n.m.eng.Because(cause.Notice.Why(n.rank, 0))
	n.m.eng.At(ready.Add(n.m.spec.AIV.Launch.Notice), n.m, event(evNoticed, n.task, n.rank))
}

// admit starts the ready tasks of a rank in order while AIVs are free.
func (m *machine) admit(rank int) {
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
	now, slow := m.eng.Now(), m.slow(rank)
	run.state, run.blocks, run.span.Start = running, t.Blocks, now
	run.begun = now.Add(m.spec.AIV.LaunchTime(max(t.Blocks, t.Grid)).Scale(slow))
	if t.Program == nil && t.Perblock == nil {
		m.env.Hazards.Compute(task, rank)
		m.showCompute(task, rank)
		m.eng.Through(run.begun, cause.Launch.Why(0, 0))
		m.eng.Because(cause.Compute.Why(rank, task))
		m.eng.At(run.begun.Add(t.Compute.Scale(slow)), m, event(evCompute, task, rank))
		return
	}
	run.cores = make([]*aiv.Core, t.Blocks)
	for b := range run.cores {
		p := t.Program
		if t.Perblock != nil {
			p = t.Perblock(rank, b)
		}
		m.launched++
		if m.eng.Recording() {
			m.births = append(m.births, birth{task, rank, b, p})
		}
		run.cores[b] = m.core()
		run.cores[b].Start(&m.env, aiv.Task{
			Rank: rank, Block: b, Blocks: t.Blocks, ID: uint32(m.launched), Tag: task, Slow: slow, Line: m.launch(task, rank, b),
			Program: p, Counters: m.counters(task, rank), Start: now,
		}, run.begun)
	}
}

// counters returns where a task counts.
func (m *machine) counters(task, rank int) *result.Counters {
	if m.job.Tasks[task].Timed {
		return &m.timed[rank]
	}
	return &m.untimed[rank]
}

// slab is how many cores are made at once.
const slab = 64

// core returns a core that is not in use.
func (m *machine) core() *aiv.Core {
	if len(m.idle) == 0 {
		cores := make([]aiv.Core, slab)
		for i := range cores {
			m.idle = append(m.idle, &cores[i])
		}
	}
	n := len(m.idle) - 1
	c := m.idle[n]
	m.idle = m.idle[:n]
	return c
}

// Ended implements aiv.Reporter.
func (m *machine) Ended(c *aiv.Core) {
	task, rank := c.Task.Tag, c.Task.Rank
	run := &m.tasks[task][rank]
	run.span.BarrierExit = max(run.span.BarrierExit, c.BarrierExit)
	if a := m.account(task, rank, c.Task.Block); a != nil {
		*a = c.Acct
	}
	run.cores[c.Task.Block] = nil
	if !c.Busy() {
		m.idle = append(m.idle, c)
	}
	if run.blocks--; run.blocks == 0 {
		m.endTask(task, rank)
	}
}

// account returns the place of a block's account, nil where the task is not timed.
func (m *machine) account(task, rank, block int) *result.Block {
	if m.first[task] < 0 {
		return nil
	}
	return &m.res.Blocks[m.first[task]+rank*m.job.Tasks[task].Blocks+block]
}

// endTask checks the data that a consumer could now read and releases what waits.
func (m *machine) endTask(task, rank int) {
	t, run := &m.job.Tasks[task], &m.tasks[task][rank]
	run.state, run.span.End, run.cores = ended, m.eng.Now(), nil
	m.ranks[rank].free += t.Blocks
	if t.Timed {
		m.last = m.eng.Here()
	}
	m.verify(task, rank)
	m.showEnd(task, rank)
	m.env.Hazards.Ended(task, rank)
	for _, i := range m.next[task] {
		if !m.job.Tasks[i].Barrier {
			m.release(i, rank)
			continue
		}
		for r := range m.ranks {
			m.release(i, r)
		}
	}
	m.admit(rank)
}

// release takes one dependency from a task on a rank.
func (m *machine) release(task, rank int) {
	m.tasks[task][rank].missing--
	m.offer(task, rank)
}

// Violated implements aiv.Reporter: one rank's abort ends the whole group (S-62).
func (m *machine) Violated(a result.Abort) {
	if m.res.Abort == nil {
		m.res.Abort = &a
	}
	m.eng.Stop()
}

// Received implements aiv.Reporter.
func (m *machine) Received(task, rank int, n int64) {
	m.counters(task, rank)[result.BytesReceived] += n
}

// Served implements aiv.Reporter.
func (m *machine) Served(task, rank int, n int64) { m.counters(task, rank)[result.BytesSent] += n }

// Noted implements aiv.Reporter: a program returned early without doing its work.
func (m *machine) Noted(text string) {
	if !m.noted[text] {
		m.noted[text] = true
		m.hazard(result.NothingDone, "%s", text) // nothing was done, which must not pass for success
	}
}

var _ engine.Handler = (*machine)(nil)
