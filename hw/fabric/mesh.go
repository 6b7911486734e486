package fabric

import (
	"fmt"

	"pldperf/engine"
)

var _ = register("mesh", model{
	check: func(s *Spec, report func(path, format string, args ...any)) {
		m := &s.Mesh
		s.checkQuantum(report)
		checkPort("mesh", m.Port, m.Efficiency, m.Ports, report)
		checkCaps("mesh", m.Egress, m.Ingress, m.Latency, report)
	},
	make: func(eng *engine.Engine, s *Spec, ranks int) (Fabric, error) {
		if ranks-1 > s.Mesh.Ports {
			return nil, fmt.Errorf("fabric.mesh.ports: a full mesh of %d ranks needs %d ports a rank, but there are %d; kind clos shares ports", ranks, ranks-1, s.Mesh.Ports)
		}
		return newMesh(newNetwork(eng, s.Quantum, ranks), s.Mesh), nil
	},
})

func newMesh(n *network, spec MeshSpec) *mesh {
	return &mesh{
		network: n, spec: spec, port: spec.Port.Times(spec.Efficiency),
		out: make([]int32, n.ranks), in: make([]int32, n.ranks), ports: make([][]int32, n.ranks),
	}
}

// MeshSpec describes a one-dimensional full mesh: a port of its own, and a wire, for each ordered pair of ranks.
type MeshSpec struct {
	// src: Ascend 950 white paper, 72 HiLink lanes as 18 ports of 4, 2,016 GB/s in both directions together.
	Port engine.Rate `yaml:"port" default:"56 GB/s" help:"raw rate of one x4 port, one direction"`
	// fit: 53.1 GB/s of 56, the asymptote of HCOMM puts of 1 to 64 MiB between two Ascend 950 (DeepEP-Ascend, CANN 9.3.0).
	Efficiency engine.Fraction `yaml:"efficiency" default:"94.8214 %" help:"payload share of the raw rate, after headers and flow control"`
	// src: Ascend 950 white paper; an 8-NPU server uses 7 of them for its mesh (HCOMM product_pod.c).
	Ports int `yaml:"ports" min:"1" default:"18" help:"x4 ports of a rank; a mesh needs one a peer"`
	// src: HCOMM product_pod.c, the mesh of an 8-NPU server.
	MaxRanks int `yaml:"max_ranks" min:"0" when:"^kind=mesh" default:"8" help:"ranks that are built so, at most: runs of more are marked; 0 is no statement"`
	// fit: 8 ranks that put 32 MiB to each of 7 peers reach 350 to 354 GB/s a rank, below 7 ports (DeepEP-Ascend). The
	// rows cannot tell a cap from a derated port.
	Egress engine.Rate `yaml:"egress_cap" default:"352 GB/s" help:"payload of all ports of a rank outwards; unlimited switches it off"`
	// est: as the other direction, since in that all-to-all each rank receives as fast as it sends.
	Ingress engine.Rate `yaml:"ingress_cap" default:"352 GB/s" help:"payload of all ports of a rank inwards; unlimited switches it off"`
	// est: about half of the 0.74 us that a remote load adds to a local one (RACM fit on Ascend 950PR); 0.2 to 0.6 us.
	Latency engine.Duration `yaml:"latency" default:"0.35 us" help:"first byte, one way, from rank to rank"`
}

type mesh struct {
	*network
	spec    MeshSpec
	port    engine.Rate // payload
	out, in []int32     // links of each rank, made when first touched
	ports   [][]int32   // [source][destination]
	side    int32       // 1 in a frame, whose ranks have caps of a Clos, too
}

// Open implements Fabric.
func (m *mesh) Open(src, dst int) Flow {
	checkPair(src, dst, m.ranks)
	if m.ports[src] == nil {
		m.ports[src] = make([]int32, m.ranks)
	}
	return m.open(src, dst, path{
		out:      m.touch(&m.out[src], link{what: egressCap, owner: int32(src), number: m.side, rate: m.spec.Egress}),
		outPort:  m.touch(&m.ports[src][dst], link{what: meshPort, owner: int32(src), peer: int32(dst), rate: m.port}),
		outPorts: 1,
		in:       m.touch(&m.in[dst], link{what: ingressCap, owner: int32(dst), number: m.side, rate: m.spec.Ingress}),
		near:     m.spec.Latency,
	})
}

// Latency implements Fabric.
func (m *mesh) Latency(src, dst int) engine.Duration {
	if src == dst {
		return 0
	}
	return m.spec.Latency
}

// Egress implements Fabric.
func (m *mesh) Egress(int) engine.Rate { return min(m.spec.Egress, times(m.port, max(1, m.ranks-1))) }

// Ingress implements Fabric.
func (m *mesh) Ingress(int) engine.Rate { return min(m.spec.Ingress, times(m.port, max(1, m.ranks-1))) }

// Pair implements Fabric.
func (m *mesh) Pair(int, int) engine.Rate { return min(m.port, m.spec.Egress, m.spec.Ingress) }
