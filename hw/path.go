package hw

import (
	"slices"

	"pldperf/engine"
	"pldperf/hw/cause"
	"pldperf/hw/fabric"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// pathLimit is how many parts of paths a run records at a time unless more is asked for: 16 B each.
const pathLimit = 24 << 20

// pathMost is the same for a run that asks for its path.
const pathMost = 128 << 20

// pathSteps is how many steps of a path a result lists at most, the last ones; its parts are those of the whole path.
const pathSteps = 10_000

// told is one part of a path as the engine tells it.
type told struct {
	from, to engine.Time
	why      engine.Why
}

// birth is what an AIV's number of launch stands for.
type birth struct {
	task, rank, block int
	program           *program.Program
}

// record prepares the record of why things happen when they happen.
func (m *machine) record() {
	switch m.opt.Path {
	case "off":
		return
	case "on":
		m.eng.Record(pathMost)
	default:
		m.eng.Record(pathLimit)
	}
}

// path splits the elapsed time into what it was spent on, back from the end of the call that ended last.
func (m *machine) path(start, end engine.Time) *result.Path {
	if !m.eng.Recording() {
		if m.opt.Path == "off" {
			return nil
		}
		return &result.Path{Note: "not recorded: the run has too many events"}
	}
	p := &result.Path{}
	var parts [cause.NumKinds]result.PathPart
	var steps []told
	m.eng.Back(m.last, func(from, to engine.Time, why engine.Why) bool {
		from, to = max(from, start), min(to, end)
		if from < to {
			k := cause.KindOf(why)
			parts[k].Time += to.Sub(from)
			parts[k].Count++
			p.Total += to.Sub(from)
			switch {
			case m.opt.Path == "parts":
			case len(steps) < pathSteps:
				steps = append(steps, told{from, to, why})
			default:
				p.Omitted++
			}
		}
		return from > start
	})
	p.Steps = m.listed(steps)
	for k := range parts {
		if x := &parts[k]; x.Count > 0 {
			x.Cause, x.Group, x.What = cause.Kind(k).String(), cause.Kind(k).Group().String(), cause.Kind(k).Help()
			p.Parts = append(p.Parts, *x)
		}
	}
	return p
}

// listed lists the parts of a path, of which the last one comes first. Equal parts in a row are one step, and so are the
// turns of a flow at a link and what it waits for there.
func (m *machine) listed(parts []told) []result.PathStep {
	out := make([]result.PathStep, 0, len(parts))
	for _, x := range parts {
		k, a, b := cause.Of(x.why)
		s := m.place(k, a, b)
		s.From, s.To = x.from, x.to
		if k.Waits() {
			s.Queued = x.to.Sub(x.from)
		}
		if n := len(out); n == 0 || !s.Joins(&out[n-1]) {
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}

// place translates the numbers of a cause.
func (m *machine) place(k cause.Kind, a, b int) result.PathStep {
	s := result.PathStep{Cause: k.String(), Rank: a, Block: -1, Peer: -1}
	if k.Waits() {
		s.Cause = k.Held().String()
	}
	switch {
	case k.OfBlock():
		m.ofBlock(&s, a, b)
	case k.OfPair():
		s.Peer = b
	case k.OfFlow():
		s.Rank, s.Peer = m.net.Ends(fabric.Flow(a))
		if k.Waits() && b > 0 {
			src, dst := m.net.Ends(fabric.Flow(b))
			s.Holder = &result.Pair{Rank: src, Peer: dst}
		}
	}
	return s
}

// ofBlock names the block that was launched as number id, and its op.
func (m *machine) ofBlock(s *result.PathStep, id, op int) {
	if id == 0 || id > len(m.births) {
		s.Rank = -1
		return
	}
	x := &m.births[id-1]
	s.Rank, s.Block, s.Task = x.rank, x.block, m.job.Tasks[x.task].Name
	if x.program != nil && op < len(x.program.Ops) {
		o := &x.program.Ops[op]
		s.Op, s.Phase = o.Kind.String(), o.Phase
	}
}
