package hw

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"pldperf/engine"
	"pldperf/hw/fabric"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// finish turns the state of the machine into the Result.
func (m *machine) finish() *result.Result {
	res := m.res
	res.Events = m.eng.Events()
	m.calls()
	m.stuck()
	m.accounts()
	m.showCut()
	m.rankTotals()
	m.resources()
	m.steps()
	if res.Abort == nil && res.Stuck == nil {
		m.conserve()
		m.leftCredits()
	}
	res.Hazards = append(res.Hazards, m.env.Hazards.Hazards()...)
	res.Status = m.status()
	if m.opt.Inspect != nil {
		m.opt.Inspect(m.mem)
	}
	res.Digests.Events = fmt.Sprintf("%016x", m.eng.Digest())
	res.Digests.Result = digest(res)
	return res
}

// digest hashes the result without its digests; its long lists item by item, so that
// the text never exists as a whole.
func digest(r *result.Result) string {
	h := sha256.New()
	w := json.NewEncoder(h)
	put := func(v any) {
		if err := w.Encode(v); err != nil {
			panic(err) // the result is plain data
		}
	}
	short := *r
	short.Data.Hazards, short.Path = "", nil                                                                      // whether it is looked at changes nothing
	short.Digests, short.Blocks, short.Ranks, short.Resources, short.Steps = result.Digests{}, nil, nil, nil, nil // steps only observe
	put(&short)
	for i := range r.Blocks {
		b := r.Blocks[i]
		b.Held = nil // as the path
		put(&b)
	}
	for i := range r.Ranks {
		put(&r.Ranks[i])
	}
	for i := range r.Resources {
		x := r.Resources[i]
		x.Held = nil
		put(&x)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (m *machine) status() result.Status {
	d := &m.res.Data
	switch {
	case m.res.Abort != nil:
		return result.Aborted
	case m.res.Stuck != nil:
		return result.Deadlock
	case d.Wrong > 0 || d.WrongWords > 0:
		return result.WrongData
	case len(m.res.Hazards) > 0:
		return result.Hazardous
	}
	return result.OK
}

// calls sums up each task, and the time from the first start of a timed one to the
// last end. A task that still runs is cut off now.
func (m *machine) calls() {
	var start, end engine.Time
	timed := false
	for i := range m.job.Tasks {
		c, begun := m.call(i)
		m.res.Calls = append(m.res.Calls, c)
		if !c.Timed || !begun {
			continue
		}
		if !timed || c.Start < start {
			start = c.Start
		}
		timed, end = true, max(end, c.End)
	}
	m.res.Elapsed = end.Sub(start)
	if end == m.eng.Now() && m.cutOff() {
		m.last = m.eng.Here()
	}
	m.res.Path = m.path(start, end)
}

// cutOff reports whether a timed task has not ended.
func (m *machine) cutOff() bool {
	for i := range m.tasks {
		for r := range m.tasks[i] {
			if m.job.Tasks[i].Timed && m.tasks[i][r].state == running {
				return true
			}
		}
	}
	return false
}

// call sums up one task; begun is false when no rank has started it.
func (m *machine) call(i int) (c result.Call, begun bool) {
	t := &m.job.Tasks[i]
	c = result.Call{Name: t.Name, Op: t.Op, Repeat: t.Repeat, Blocks: t.Blocks, Timed: t.Timed, Ranks: make([]result.Span, m.job.Ranks)}
	for r := range m.tasks[i] {
		run := &m.tasks[i][r]
		if run.state == running {
			run.span.End = m.eng.Now()
		}
		c.Ranks[r] = run.span
		if run.state < running {
			continue
		}
		if !begun || run.span.Start < c.Start {
			c.Start = run.span.Start
		}
		begun, c.End = true, max(c.End, run.span.End)
	}
	c.Elapsed = c.End.Sub(c.Start)
	return c, begun
}

func (m *machine) rankTotals() {
	m.res.Ranks = make([]result.Rank, m.job.Ranks)
	for r := range m.res.Ranks {
		out := &m.res.Ranks[r]
		out.Rank, out.Counters, out.PeakSQ = r, m.timed[r], m.env.NICs[r].Peak()
		out.Elapsed = m.covered(r)
		m.res.Totals.Add(&out.Counters)
	}
}

// covered returns for how long a rank was at work on timed calls; calls that overlap
// count once.
func (m *machine) covered(rank int) (d engine.Duration) {
	var spans []result.Span
	for i := range m.job.Tasks {
		if m.job.Tasks[i].Timed {
			spans = append(spans, m.res.Calls[i].Ranks[rank])
		}
	}
	slices.SortStableFunc(spans, func(a, b result.Span) int { return cmp.Compare(a.Start, b.Start) })
	var end engine.Time
	for _, s := range spans {
		if from := max(s.Start, end); s.End > from {
			d += s.End.Sub(from)
		}
		end = max(end, s.End)
	}
	return d
}

func (m *machine) resources() {
	for _, r := range m.net.Resources() {
		m.res.Resources = append(m.res.Resources, result.Resource{Name: r.Name, Rank: r.Rank, Peer: r.Peer, Rate: r.Rate, Bytes: r.Bytes, Busy: r.Busy, Blocked: r.Blocked, Held: heldAt(r.Held)})
	}
	for r := range m.job.Ranks {
		h, l := m.mem.HBM(r), m.mem.L2(r)
		m.res.Resources = append(m.res.Resources,
			result.Resource{Name: "hbm", Rank: r, Peer: -1, Rate: m.spec.Memory.HBM.Rate, Bytes: h.Bytes, Busy: h.Busy},
			result.Resource{Name: "l2", Rank: r, Peer: -1, Rate: m.spec.Memory.L2.Rate, Bytes: l.Bytes, Busy: l.Busy})
		if busy, moved := m.env.DMAs[r].Busy(); busy > 0 { // the mean of the channels
			m.res.Resources = append(m.res.Resources, result.Resource{
				Name: "sdma", Rank: r, Peer: -1, Rate: m.spec.SDMA.Rate, Bytes: moved, Busy: busy / engine.Duration(m.spec.SDMA.Channels),
			})
		}
		if nic := m.env.NICs[r]; nic.Busy() > 0 { // its time goes by SQEs, not by bytes; of several engines it is the mean
			m.res.Resources = append(m.res.Resources, result.Resource{
				Name: "nic engine", Rank: r, Peer: -1, Rate: engine.Unlimited, Bytes: engine.Bytes(nic.Counters().Bytes),
				Busy: nic.Busy() / engine.Duration(m.spec.URMA.Engine.Count),
			})
		}
	}
}

// heldAt says of a port whose traffic it waited for at the cap.
func heldAt(by []fabric.Held) (out []result.Held) {
	for _, h := range by {
		out = append(out, result.Held{Reason: "cap", Peer: h.Peer, Time: h.Time})
	}
	return out
}

func (m *machine) steps() {
	for _, w := range m.opt.Watch {
		for _, s := range m.env.NICs[w.Rank].Steps(w.Peer) {
			m.res.Steps = append(m.res.Steps, result.Step{
				Rank: w.Rank, Peer: w.Peer, Seq: s.Seq, Bytes: s.Bytes, SGEs: s.SGEs, Build: s.Build, Doorbell: s.Doorbell,
				Fetch: s.Fetch, Gather: s.Gather, Wire: s.Wire, Left: s.Left, Land: s.Land, Ack: s.Ack, CQE: s.CQE,
			})
		}
	}
}

// stuck describes a deadlock: no event is left and blocks have not ended.
func (m *machine) stuck() {
	if m.res.Abort != nil {
		return
	}
	s := &result.Stuck{Time: m.eng.Now()}
	unfinished := false
	add := func(w result.Waiting) {
		if len(s.Waits) == maxListed {
			s.More++
			return
		}
		s.Waits = append(s.Waits, w)
	}
	for i := range m.tasks {
		for r := range m.tasks[i] {
			run := &m.tasks[i][r]
			unfinished = unfinished || run.state != ended
			for _, c := range run.cores {
				if c != nil && c.Running() {
					add(c.Waiting())
				}
			}
			if run.state == waiting && run.asked {
				m.deferredWaits(i, r, add)
			}
		}
	}
	if unfinished {
		m.res.Stuck = s
	}
}

// deferredWaits describes the cells for which a task's deferred wait still waits.
func (m *machine) deferredWaits(task, rank int, add func(result.Waiting)) {
	t, h := &m.job.Tasks[task], program.Here{Rank: rank}
	for _, u := range t.Until {
		cell := u.Cell.At(&h)
		if v := int64(m.mem.Word(rank, m.env.Buffers[u.Signal], int(cell))); v < u.Value {
			add(result.Waiting{
				Rank: rank, Op: "deferred wait of " + t.Name, Cell: fmt.Sprintf("%s[%d]", m.job.Buffers[u.Signal].Name, cell),
				Value: v, Expected: u.Value, Missing: fmt.Sprintf("notifies to cell %d of rank %d", cell, rank),
			})
		}
	}
}

// conserve checks that every byte that landed was sent, moved within its rank or
// stored from a tile, less what remote loads have brought into tiles, over all tasks, and that all of what was sent to a rank was received.
// A difference is a fault of the models.
func (m *machine) conserve() {
	moved, sent, received := m.env.Copied-m.env.Tiled, int64(0), int64(0)
	for r := range m.timed {
		for _, c := range []*result.Counters{&m.timed[r], &m.untimed[r]} {
			moved += c[result.BytesSent] + c[result.BytesSelf]
			sent += c[result.BytesSent]
			received += c[result.BytesReceived]
		}
	}
	if landed := m.mem.Landed(); landed != moved || sent != received {
		panic(fmt.Sprintf("hw: %d bytes landed, but %d were moved; %d were sent and %d received", landed, moved, sent, received))
	}
}
