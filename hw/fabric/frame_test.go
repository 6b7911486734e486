package fabric

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"pldperf/engine"
)

// In a frame of servers of 8, rank 0 reaches ranks 1 to 7 by a port each and 352 GB/s in all, and the others by the
// switches at 327 GB/s; both at once do not slow each other down.
func TestARankOfAFrameHasTheEgressOfItsMeshAndOfItsClos(t *testing.T) {
	const n = 8 * mib
	for _, c := range []struct {
		dsts []int
		rate engine.Rate // of all together
	}{
		{[]int{1}, port},
		{[]int{1, 2, 3, 4, 5, 6, 7}, 352e9},
		{[]int{8, 16, 24, 32, 40, 48, 56}, 327e9},
		{[]int{1, 2, 3, 4, 5, 6, 7, 8, 16, 24, 32, 40, 48, 56}, 2 * 327e9}, // the slower half is the last
	} {
		r := newRig(t, with("frame", nil), 64, "")
		for _, d := range c.dsts {
			r.send(0, 0, d, n, 0)
		}
		assertWithin(t, 0.5, c.rate.Span(engine.Bytes(len(c.dsts))*n), r.run().Sub(0), c.dsts)
	}
}

func TestAFrameIsAMeshInAServerAndAClosBeyond(t *testing.T) {
	frame, mesh, clos := newRig(t, with("frame", nil), 128, "").net, newRig(t, with("mesh", nil), 8, "").net, newRig(t, with("clos", nil), 128, "").net
	assert.Equal(t, mesh.Latency(0, 7), frame.Latency(8, 15))
	assert.Equal(t, mesh.Pair(0, 7), frame.Pair(8, 15))
	for _, d := range []int{8, 63, 64} {
		assert.Equal(t, clos.Latency(0, d), frame.Latency(0, d))
		assert.Equal(t, clos.Pair(0, d), frame.Pair(0, d))
	}
	assert.Equal(t, mesh.Egress(0)+clos.Egress(0), frame.Egress(0))
	assert.Equal(t, mesh.Ingress(0)+clos.Ingress(0), frame.Ingress(0))
	assert.Equal(t, mesh.Egress(0), newRig(t, with("frame", nil), 8, "").net.Egress(0), "one server has no use for the switches")
	assert.Equal(t, clos.Egress(0), newRig(t, with("frame", nil), 9, "").net.Egress(8), "alone in its server")
	assert.Equal(t, clos.Egress(0), newRig(t, with("frame", func(s *Spec) { s.Frame.Server = 1 }), 9, "").net.Egress(3))
}

// An all-to-all of 64 ranks is bound by the switches, through which 56 of the 63 messages of a rank go.
func TestAllToAllOfAFrameIsBoundByTheSwitches(t *testing.T) {
	const ranks, n = 64, 256 * kib
	r := newRig(t, with("frame", nil), ranks, "")
	for i := range ranks {
		for step := 1; step < ranks; step++ {
			r.send(0, i, (i+step)%ranks, n, 0)
		}
	}
	assertWithin(t, 3, engine.Rate(327e9).Span(56*n), r.run().Sub(0))
}
