package fabric

import (
	"math/bits"

	"pldperf/engine"
)

var _ = register("clos", model{
	check: func(s *Spec, report func(path, format string, args ...any)) {
		s.checkQuantum(report)
		s.Clos.check(report)
	},
	make: func(eng *engine.Engine, s *Spec, ranks int) (Fabric, error) {
		return newClos(newNetwork(eng, s.Quantum, ranks), s.Clos), nil
	},
})

func newClos(n *network, spec ClosSpec) *clos {
	return &clos{
		network: n, spec: spec, port: spec.Port.Times(spec.Efficiency),
		out: make([]ports, n.ranks), in: make([]ports, n.ranks), groups: make([]group, (n.ranks-1)/spec.TierRanks+1),
		opened: map[ends]uint32{},
	}
}

// ClosSpec describes ranks behind switches: all ports of a rank lead to all peers. Ranks of one group share a tier of
// switches; a second tier joins the groups.
type ClosSpec struct {
	// src: Ascend 950 white paper, as for the mesh.
	Port engine.Rate `yaml:"port" default:"56 GB/s" help:"raw rate of one x4 port, one direction"`
	// fit: 53.1 GB/s of 56, as for the mesh; no row measures one port of a Clos.
	Efficiency engine.Fraction `yaml:"efficiency" default:"94.8214 %" help:"payload share of the raw rate, after headers and flow control"`
	// src: Ascend 950 white paper, one CTP transport uses at most 9 ports, those of one IO die.
	Ports int `yaml:"ports" min:"1" max:"255" default:"9" help:"ports of a rank that lead to the switches"`
	// fit: DeepEP dispatch on 8 to 32 Ascend 950DT puts 327 GB/s a rank on the wire, if records that stay are counted out.
	Egress engine.Rate `yaml:"egress_cap" default:"327 GB/s" help:"payload of all ports of a rank outwards; unlimited switches it off"`
	// est: as the other direction, since that dispatch is uniform.
	Ingress engine.Rate `yaml:"ingress_cap" default:"327 GB/s" help:"payload of all ports of a rank inwards; unlimited switches it off"`
	// est: load balancing of CTP is not published; hashing is the pessimistic twin.
	Spread string `yaml:"spread" enum:"spray,hash" default:"spray" help:"spray: each quantum takes the port that is free first, at either end; hash: each flow keeps to one port, of the same number at both ends"`
	// src: HCOMM product description of the Ascend 950 POD, 64 NPUs a frame.
	TierRanks int `yaml:"tier_ranks" min:"1" default:"64" help:"ranks in a group: one tier of switches among them, two beyond"`
	// est: sixteen groups of 64.
	MaxRanks int `yaml:"max_ranks" min:"0" when:"^kind=clos" default:"1024" help:"ranks that are built so, at most: runs of more are marked; 0 is no statement"`
	// est: as one hop of the mesh, 0.2 to 0.6 us.
	Latency engine.Duration `yaml:"latency" default:"0.35 us" help:"first byte, one way, for each tier"`
	// est: none unless a machine's files give one.
	Window engine.Bytes `yaml:"window" default:"0 B" help:"what a rank has on its way and not acknowledged, at most, to all peers together, in segments; 0 is no limit"`
	// est: what fits DeepEP's records of 14,336 B, of which one travels in a segment of its own.
	Segment engine.Bytes `yaml:"segment" default:"16 KiB" help:"what of a window a part of a long message takes, or a record that travels alone"`
	// est: messages are long unless a case says otherwise.
	Record engine.Bytes `yaml:"record" default:"0 B" help:"bytes of a segment that are used, where messages are records that travel alone; 0 is all"`
	// fit: DeepEP combine, whose rate falls by a tenth where half of the records cross the second tier.
	Turnaround engine.Duration `yaml:"turnaround" default:"2.3 us" help:"beside the latency there and back, from a segment's leave to that of the one for which its acknowledgement makes room"`
	// est: the published supernode is non-blocking.
	Uplink engine.Fraction `yaml:"uplink" default:"100 %" help:"rate of a group's uplinks, shared by its ranks, over what a full group can send; from 100 % on they never bind"`
}

// maxWindow keeps a window times a record within 64 bits.
const maxWindow = 1 << 30

func (c *ClosSpec) check(report func(path, format string, args ...any)) {
	checkPort("clos", c.Port, c.Efficiency, c.Ports, report)
	checkCaps("clos", c.Egress, c.Ingress, c.Latency, report)
	if c.Ports > 255 {
		report("clos.ports", "must be at most 255")
	}
	if c.Spread != "spray" && c.Spread != "hash" {
		report("clos.spread", "no way %q to spread; there are spray, hash", c.Spread)
	}
	if c.TierRanks < 1 {
		report("clos.tier_ranks", "must be at least 1")
	}
	if c.Window < 0 || c.Window > maxWindow {
		report("clos.window", "%v is not from 0 B, which is no limit, to %v", c.Window, maxWindow)
	}
	if c.Window > 0 && (c.Segment <= 0 || c.Turnaround < 0 || c.Latency+c.Turnaround == 0) {
		report("clos.window", "a limit needs a segment of some bytes and a way there and back of some time")
	}
	if c.Record < 0 || c.Record > c.Segment {
		report("clos.record", "%v is not from 0 B, which is a whole segment, to %v", c.Record, c.Segment)
	}
	if c.Uplink <= 0 {
		report("clos.uplink", "must be positive")
	}
}

type clos struct {
	*network
	spec    ClosSpec
	port    engine.Rate // payload
	out, in []ports     // of each rank, made when first touched
	groups  []group
	opened  map[ends]uint32 // flows of a pair so far; only to hash
}

// ports are the links of one side of a rank.
type ports struct{ cap, first int32 }

// group is the links of a group of ranks to the second tier.
type group struct{ up, down int32 }

// Open implements Fabric.
func (c *clos) Open(src, dst int) Flow {
	checkPair(src, dst, c.ranks)
	out := c.side(&c.out[src], src, egressCap, portOut, c.spec.Egress)
	in := c.side(&c.in[dst], dst, ingressCap, portIn, c.spec.Ingress)
	p := path{out: out.cap, outPort: out.first, in: in.cap, inPort: in.first, near: c.Latency(src, dst), window: c.window(c.tiers(src, dst))}
	p.outPorts, p.inPorts = uint8(c.spec.Ports), uint8(c.spec.Ports)
	if c.spec.Spread == "hash" {
		k := c.hash(ends{int32(src), int32(dst)})
		p.outPort, p.inPort, p.outPorts, p.inPorts = out.first+k, in.first+k, 1, 1
	}
	if a, b := src/c.spec.TierRanks, dst/c.spec.TierRanks; a != b && c.spec.Uplink < engine.One {
		p.up = c.touch(&c.groups[a].up, link{what: uplink, owner: int32(a), rate: c.uplinkRate()})
		p.down = c.touch(&c.groups[b].down, link{what: downlink, owner: int32(b), rate: c.uplinkRate()})
		p.near, p.far = c.spec.Latency, c.spec.Latency
	}
	return c.open(src, dst, p)
}

// window returns the rate at which a rank can send over a way of so many tiers when all that it may have on its way goes
// there: that, over the time there and back (Little's law). It is 0 without a limit.
func (c *clos) window(tiers engine.Duration) engine.Rate {
	if c.spec.Window == 0 {
		return 0
	}
	away := c.spec.Window
	if c.spec.Record > 0 {
		away = away * c.spec.Record / c.spec.Segment
	}
	hi, lo := bits.Mul64(uint64(away), uint64(engine.Second))
	back := uint64(2*tiers*c.spec.Latency + c.spec.Turnaround)
	if hi >= back {
		return engine.Unlimited
	}
	rate, _ := bits.Div64(hi, lo, back)
	return engine.Rate(min(rate, uint64(engine.Unlimited)))
}

// tiers returns how many tiers of switches are between two ranks.
func (c *clos) tiers(src, dst int) engine.Duration {
	switch {
	case src == dst:
		return 0
	case src/c.spec.TierRanks == dst/c.spec.TierRanks:
		return 1
	}
	return 2
}

// side makes the links of one side of a rank when they are first touched.
func (c *clos) side(s *ports, rank int, capRole, portRole role, limit engine.Rate) ports {
	if s.cap == 0 {
		s.cap = c.link(link{what: capRole, owner: int32(rank), rate: limit})
		for k := range c.spec.Ports {
			i := c.link(link{what: portRole, owner: int32(rank), number: int32(k), rate: c.port})
			if k == 0 {
				s.first = i
			}
		}
	}
	return *s
}

// hash chooses the port of a pair's next flow. It counts the flows of the pair, not all, so that the port does not
// depend on what other ranks do.
func (c *clos) hash(e ends) int32 {
	nth := c.opened[e]
	c.opened[e]++
	x := mix(mix(uint64(e.src)<<32|uint64(e.dst)) + uint64(nth))
	k, _ := bits.Mul64(x, uint64(c.spec.Ports))
	return int32(k)
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014) after one step.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Latency implements Fabric.
func (c *clos) Latency(src, dst int) engine.Duration { return c.tiers(src, dst) * c.spec.Latency }

// Egress implements Fabric.
func (c *clos) Egress(int) engine.Rate { return c.within(c.egress(), 1) }

// egress is what the links of a rank carry outwards, whatever it may have on its way.
func (c *clos) egress() engine.Rate { return min(c.spec.Egress, times(c.port, c.spec.Ports)) }

// within returns a rate, or what the window lets through over so many tiers if that is less.
func (c *clos) within(rate engine.Rate, tiers engine.Duration) engine.Rate {
	if w := c.window(tiers); w > 0 {
		return min(rate, w)
	}
	return rate
}

// Ingress implements Fabric.
func (c *clos) Ingress(int) engine.Rate { return min(c.spec.Ingress, times(c.port, c.spec.Ports)) }

// Pair implements Fabric.
func (c *clos) Pair(src, dst int) engine.Rate {
	rate := c.within(min(c.egress(), c.Ingress(dst)), c.tiers(src, dst))
	if src/c.spec.TierRanks != dst/c.spec.TierRanks && c.spec.Uplink < engine.One {
		rate = min(rate, c.uplinkRate())
	}
	return rate
}

// uplinkRate is what a group can send to others: it is built for a full group, however many of its ranks take part.
func (c *clos) uplinkRate() engine.Rate {
	return times(c.egress(), c.spec.TierRanks).Times(c.spec.Uplink)
}
