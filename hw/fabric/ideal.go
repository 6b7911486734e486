package fabric

import (
	"pldperf/engine"
	"pldperf/hw/cause"
	"pldperf/hw/timeline"
)

var _ = register("ideal", model{
	check: func(s *Spec, report func(path, format string, args ...any)) {
		if s.Ideal.Latency < 0 {
			report("ideal.latency", "%v is negative", s.Ideal.Latency)
		}
	},
	make: func(eng *engine.Engine, s *Spec, ranks int) (Fabric, error) {
		return &ideal{eng: eng, latency: s.Ideal.Latency, ranks: ranks, out: make([]engine.Bytes, ranks), in: make([]engine.Bytes, ranks)}, nil
	},
})

// IdealSpec describes the fabric without limits.
type IdealSpec struct {
	// est: nothing; any latency is a choice, and none shows what the fabric costs as a whole.
	Latency engine.Duration `yaml:"latency" default:"0 ns" help:"from any rank to any other"`
}

// ideal delivers after the latency alone, at any rate: what to compare with when asking what the fabric costs.
type ideal struct {
	eng     *engine.Engine
	latency engine.Duration
	ranks   int
	flows   []ends         // flow i is flows[i-1]
	out, in []engine.Bytes // of each rank
}

// ends are the two ranks of a flow.
type ends struct{ src, dst int32 }

func (f *ideal) Open(src, dst int) Flow {
	checkPair(src, dst, f.ranks)
	f.flows = append(f.flows, ends{int32(src), int32(dst)})
	return Flow(len(f.flows))
}

func (f *ideal) Send(m Message) {
	if m.Flow == 0 || int(m.Flow) > len(f.flows) {
		panicFlow(m)
	}
	m.check(f.flows[m.Flow-1])
	f.out[m.Src] += m.Bytes
	f.in[m.Dst] += m.Bytes
	if m.Left != nil {
		f.eng.After(0, m.Left, m.LeftArg)
	}
	f.eng.Because(cause.Wire.Why(int(m.Flow), 0))
	f.eng.After(f.latency, m.Landed, m.LandedArg)
}

// Show does nothing: there are no links.
func (f *ideal) Show(*timeline.Recorder) {}

func (f *ideal) Ends(flow Flow) (src, dst int) {
	e := &f.flows[flow-1]
	return int(e.src), int(e.dst)
}

func (f *ideal) Latency(src, dst int) engine.Duration {
	if src == dst {
		return 0
	}
	return f.latency
}

func (f *ideal) Egress(int) engine.Rate    { return engine.Unlimited }
func (f *ideal) Ingress(int) engine.Rate   { return engine.Unlimited }
func (f *ideal) Pair(int, int) engine.Rate { return engine.Unlimited }

func (f *ideal) Resources() []Resource {
	var all []Resource
	for r := range f.ranks {
		for _, side := range []struct {
			name  string
			bytes engine.Bytes
		}{{EgressCap, f.out[r]}, {IngressCap, f.in[r]}} {
			if side.bytes > 0 {
				all = append(all, Resource{Name: side.name, Rank: r, Peer: -1, Rate: engine.Unlimited, Bytes: side.bytes})
			}
		}
	}
	return all
}
