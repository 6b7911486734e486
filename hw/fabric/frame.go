package fabric

import "pldperf/engine"

var _ = register("frame", model{
	check: func(s *Spec, report func(path, format string, args ...any)) {
		models["mesh"].check(s, report)
		s.Clos.check(report)
		s.Frame.check(s, report)
	},
	make: func(eng *engine.Engine, s *Spec, ranks int) (Fabric, error) {
		n := newNetwork(eng, s.Quantum, ranks)
		f := &frame{network: n, mesh: newMesh(n, s.Mesh), clos: newClos(n, s.Clos), server: s.Frame.Server}
		f.mesh.side = 1
		return f, nil
	},
})

// FrameSpec describes servers that are a full mesh inside, by the ports of one IO die, and
// joined by switches through the ports of the other. The ports, their caps and latencies
// are those of sections mesh and clos.
type FrameSpec struct {
	// src: HCOMM product description of the Ascend 950 server: IO die 1 has 7 ports for a mesh of 8 NPUs, IO die 0 has 8
	// for the switches.
	Server int `yaml:"server_ranks" min:"1" default:"8" help:"ranks of a server: a mesh among them, switches beyond"`
	// src: HCOMM product description of the Ascend 950 POD, 64 NPUs a frame.
	MaxRanks int `yaml:"max_ranks" min:"0" when:"^kind=frame" default:"64" help:"ranks that are built so, at most: runs of more are marked; 0 is no statement"`
}

func (f *FrameSpec) check(s *Spec, report func(path, format string, args ...any)) {
	switch {
	case f.Server < 1:
		report("frame.server_ranks", "must be at least 1")
	case f.Server-1 > s.Mesh.Ports:
		report("frame.server_ranks", "a full mesh of %d ranks needs %d ports a rank, but there are %d", f.Server, f.Server-1, s.Mesh.Ports)
	case s.Clos.TierRanks%f.Server != 0:
		report("frame.server_ranks", "a group of clos.tier_ranks, %d, is no whole number of servers of %d ranks", s.Clos.TierRanks, f.Server)
	}
}

// frame is a mesh in each server and a Clos beyond, on one set of links. Neither takes
// anything from the other: a rank that talks to both has the egress of both.
type frame struct {
	*network
	mesh   *mesh
	clos   *clos
	server int
}

// way is how src reaches dst.
func (f *frame) way(src, dst int) Fabric {
	if src/f.server == dst/f.server {
		return f.mesh
	}
	return f.clos
}

// Open implements Fabric.
func (f *frame) Open(src, dst int) Flow { return f.way(src, dst).Open(src, dst) }

// Latency implements Fabric.
func (f *frame) Latency(src, dst int) engine.Duration { return f.way(src, dst).Latency(src, dst) }

// Pair implements Fabric.
func (f *frame) Pair(src, dst int) engine.Rate { return f.way(src, dst).Pair(src, dst) }

// Egress implements Fabric.
func (f *frame) Egress(rank int) engine.Rate {
	return f.both(rank, f.mesh.spec.Egress, f.clos.Egress(rank))
}

// Ingress implements Fabric.
func (f *frame) Ingress(rank int) engine.Rate {
	return f.both(rank, f.mesh.spec.Ingress, f.clos.Ingress(rank))
}

// both returns what a rank has towards its server, capped, and towards the switches.
func (f *frame) both(rank int, limit, clos engine.Rate) engine.Rate {
	first := rank / f.server * f.server
	peers := min(f.server, f.ranks-first) - 1
	near := min(limit, times(f.mesh.port, max(peers, 1)))
	switch {
	case peers == f.ranks-1:
		return near
	case peers == 0:
		return clos
	case near > engine.Unlimited-clos:
		return engine.Unlimited
	}
	return near + clos
}
