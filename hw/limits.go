package hw

import (
	"pldperf/engine"
	"pldperf/hw/fabric"
)

// Limits are what no schedule on a machine can beat: the answers that lower bounds
// ask for. Rates are of payload; an ideal part is Unlimited or takes no time.
type Limits struct {
	Ranks   int
	Egress  func(rank int) engine.Rate
	Ingress func(rank int) engine.Rate
	Pair    func(src, dst int) engine.Rate
	Latency func(src, dst int) engine.Duration // one way
	HBM     engine.Rate                        // reads and writes of a rank together
	Load    engine.Rate                        // MTE2 of one AIV
	Store   engine.Rate                        // MTE3 of one AIV
	Remote  engine.Rate                        // remote MTE to one peer
	Hop     engine.Duration                    // endpoint part of a remote access
	Launch  func(blocks int) engine.Duration
	Usable  engine.Bytes // of the Unified Buffer
}

// Limits returns the limits of the machine with so many ranks.
func (s *Spec) Limits(ranks int) (Limits, error) {
	net, err := fabric.New(engine.New(engine.Options{}), s.Fabric, ranks)
	if err != nil {
		return Limits{}, err
	}
	l := Limits{
		Ranks: ranks, Egress: net.Egress, Ingress: net.Ingress, Pair: net.Pair, Latency: net.Latency,
		HBM: s.Memory.HBM.Rate, Load: s.UB.Load, Store: s.UB.Store, Remote: s.AIV.Remote.Rate,
		Hop: s.AIV.Remote.Hop, Launch: s.AIV.LaunchTime, Usable: s.UB.Usable,
	}
	if s.Memory.Ideal() {
		l.HBM = engine.Unlimited
	}
	if s.UB.Ideal() {
		l.Load, l.Store = engine.Unlimited, engine.Unlimited
	}
	return l, nil
}
