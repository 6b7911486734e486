package hw

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"pldperf/engine"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/urma"
)

// finish turns the state of the machine into the Result.
func (m *machine) finish() *result.Result {
	res := m.res
	res.Events = m.eng.Events()
	m.calls()
	start, end := m.timed()
	res.Elapsed = end.Sub(start)
	m.accounts()
	m.rankTotals()
	m.resources()
	m.steps()
	m.stuck()
	m.conserve()
	res.Status = m.status()
	if m.opt.Inspect != nil {
		m.opt.Inspect(m.mem)
	}
	res.Digests.Events = fmt.Sprintf("%016x", m.eng.Digest())
	res.Digests.Result = digest(res)
	return res
}

// digest hashes the result without its digests.
func digest(r *result.Result) string {
	bare := *r
	bare.Digests = result.Digests{}
	b, err := json.Marshal(&bare)
	if err != nil {
		panic(err) // the result is plain data
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
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
		return result.Hazard
	}
	return result.OK
}

func (m *machine) calls() {
	for i := range m.job.Tasks {
		t := &m.job.Tasks[i]
		c := result.Call{Name: t.Name, Op: t.Op, Repeat: t.Repeat, Blocks: t.Blocks, Timed: t.Timed, Start: -1}
		for r := range m.tasks[i] {
			run := &m.tasks[i][r]
			if run.state == running || run.state == ended {
				if c.Start < 0 || run.span.Start < c.Start {
					c.Start = run.span.Start
				}
				if run.state == running {
					run.span.End = m.eng.Now()
				}
				c.End = max(c.End, run.span.End)
			}
			c.Ranks = append(c.Ranks, run.span)
		}
		c.Start = max(c.Start, 0)
		c.Elapsed = c.End.Sub(c.Start)
		m.res.Calls = append(m.res.Calls, c)
	}
}

// accounts closes the blocks' accounts so that each tiles its call exactly: before
// the rank started and after the block ended it was idle.
func (m *machine) accounts() {
	for i := range m.tasks {
		call := &m.res.Calls[i]
		for r := range m.tasks[i] {
			for _, c := range m.tasks[i][r].cores {
				c.Close(call.End)
				a := c.Acct
				a.Time[result.Idle] += a.Start.Sub(call.Start)
				if call.Timed {
					m.res.Blocks = append(m.res.Blocks, a)
				}
			}
		}
	}
}

func (m *machine) rankTotals() {
	res := m.res
	res.Ranks = make([]result.Rank, m.job.Ranks)
	for r := range res.Ranks {
		out := &res.Ranks[r]
		out.Rank = r
		for i := range m.job.Tasks {
			if m.job.Tasks[i].Timed {
				out.Counters.Add(&m.counter[i][r])
				span := &m.res.Calls[i].Ranks[r]
				out.Elapsed += span.End.Sub(span.Start)
			}
		}
		m.nicTotals(out)
		res.Totals.Add(&out.Counters)
	}
}

// nicTotals adds what the rank's NIC counted since the first timed call began;
// warm-up calls come before it.
func (m *machine) nicTotals(out *result.Rank) {
	nic := m.env.NICs[out.Rank]
	n := nic.Counters()
	base := m.nicBase(out.Rank)
	c := &out.Counters
	c[result.SQEs] += n.SQEs - base.SQEs
	c[result.SGEs] += n.SGEs - base.SGEs
	c[result.WQEBBs] += n.WQEBBs - base.WQEBBs
	c[result.NOPs] += n.NOPs - base.NOPs
	c[result.Doorbells] += n.Doorbells - base.Doorbells
	c[result.CQEs] += n.CQEs - base.CQEs
	c[result.Sends] += n.Sends - base.Sends
	c[result.BytesSent] += n.Bytes - base.Bytes
	c[result.DescriptorBytes] += 64 * (n.WQEBBs - base.WQEBBs)
	out.PeakSQ = nic.Peak()
}

func (m *machine) nicBase(rank int) urma.Counters {
	if rank < len(m.bases) {
		return m.bases[rank]
	}
	return urma.Counters{}
}

func (m *machine) resources() {
	for _, r := range m.net.Resources() {
		m.res.Resources = append(m.res.Resources, result.Resource{Name: r.Name, Rank: r.Rank, Peer: r.Peer, Rate: r.Rate, Bytes: r.Bytes, Busy: r.Busy})
	}
	for r := range m.job.Ranks {
		h, l := m.mem.HBM(r), m.mem.L2(r)
		m.res.Resources = append(m.res.Resources,
			result.Resource{Name: "hbm", Rank: r, Peer: -1, Rate: m.spec.Memory.HBM.Rate, Bytes: h.Bytes, Busy: h.Busy},
			result.Resource{Name: "l2", Rank: r, Peer: -1, Rate: m.spec.Memory.L2.Rate, Bytes: l.Bytes, Busy: l.Busy})
	}
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
	for i := range m.tasks {
		unfinished = unfinished || m.left[i] > 0
		for r := range m.tasks[i] {
			for _, c := range m.tasks[i][r].cores {
				if !c.Running() {
					continue
				}
				if len(s.Waits) == maxListed {
					s.More++
					continue
				}
				s.Waits = append(s.Waits, c.Waiting())
			}
		}
	}
	if unfinished {
		m.res.Stuck = s
	}
}

// conserve checks that every byte that landed was sent, moved within its rank or
// read back, over all tasks. A difference is a fault of the models.
func (m *machine) conserve() {
	if m.res.Abort != nil || m.res.Stuck != nil {
		return
	}
	var sent int64
	for i := range m.counter {
		for r := range m.counter[i] {
			c := &m.counter[i][r]
			sent += c[result.BytesSent] + c[result.BytesSelf]
		}
	}
	for _, n := range m.env.NICs {
		sent += n.Counters().Bytes
	}
	sent += m.copies()
	if landed := m.mem.Landed(); landed != sent {
		panic(fmt.Sprintf("hw: %d bytes landed, but %d were sent", landed, sent))
	}
}

// copies returns the bytes of the read-back copies in all tasks.
func (m *machine) copies() (n int64) {
	for i := range m.job.Tasks {
		t := &m.job.Tasks[i]
		for r := range m.job.Ranks {
			for b := range t.Blocks {
				p := t.Program
				if t.Perblock != nil {
					p = t.Perblock(r, b)
				}
				if p != nil {
					n += copied(p)
				}
			}
		}
	}
	return n
}

func copied(p *program.Program) (n int64) {
	for i := range p.Ops {
		switch p.Ops[i].Kind {
		case program.Return:
			return n
		case program.CopyTile:
			n += p.Ops[i].Bytes
		}
	}
	return n
}

// markTimed remembers the NICs' counters when the first timed call begins.
func (m *machine) markTimed(task int) {
	if m.bases != nil || !m.job.Tasks[task].Timed {
		return
	}
	m.bases = make([]urma.Counters, m.job.Ranks)
	for r := range m.bases {
		m.bases[r] = m.env.NICs[r].Counters()
	}
}

var _ engine.Handler = (*machine)(nil)
