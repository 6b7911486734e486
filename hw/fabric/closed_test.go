package fabric

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
)

// A port carries 94.8214 % of 56 GB/s.
const port engine.Rate = 53_099_984_000

func TestALoneMessageTakesOneLatencyAndOneSerialisation(t *testing.T) {
	slow := func(cap engine.Rate, out bool) Spec {
		return with("mesh", func(s *Spec) {
			if out {
				s.Mesh.Egress = cap
			} else {
				s.Mesh.Ingress = cap
			}
		})
	}
	hash := func(s *Spec) { s.Clos.Spread = "hash" }
	for _, c := range []struct {
		name    string
		spec    Spec
		latency engine.Duration
		rate    engine.Rate
		dst     int
	}{
		{"ideal", with("ideal", func(s *Spec) { s.Ideal.Latency = us }), us, engine.Unlimited, 1},
		{"mesh", with("mesh", nil), 350_000, port, 1},
		{"mesh, egress cap below the port", slow(40e9, true), 350_000, 40e9, 1},
		{"mesh, ingress cap below the port", slow(40e9, false), 350_000, 40e9, 1},
		{"clos, one port", with("clos", hash), 350_000, port, 1},
		{"clos, two tiers", with("clos", hash), 700_000, port, 64},
		{"clos, two tiers, shared uplinks", with("clos", func(s *Spec) { hash(s); s.Clos.Uplink = 500_000 }), 700_000, port, 64},
	} {
		ranks := 2
		if c.dst > 1 {
			ranks = 70
		}
		for _, n := range []engine.Bytes{0, 1, 64, 16*kib - 1, 16 * kib, 16*kib + 1, mib, 32*mib + 5} {
			t.Run(fmt.Sprintf("%s, %v", c.name, n), func(t *testing.T) {
				assertRounded(t, c.latency+c.rate.Span(n), lone(t, c.spec, ranks, 0, c.dst, n), quanta(c.spec, n))
			})
		}
	}
}

// On a spraying Clos the quanta of a message leave over several ports at the rate of the cap, and each still needs its
// port's time: n-1 quanta at the cap, then one at a port.
func TestALoneSprayedMessageTakesTheCapAndOneQuantumAtAPort(t *testing.T) {
	spec := with("clos", nil)
	for _, n := range []engine.Bytes{16 * kib, 64 * kib, mib, 32 * mib} {
		want := 350_000 + engine.Rate(327e9).Span(n-16*kib) + port.Span(16*kib)
		assertRounded(t, want, lone(t, spec, 2, 0, 1, n), quanta(spec, n))
	}
	assertWithin(t, 0.6, engine.Rate(327e9).Span(32*mib), lone(t, spec, 2, 0, 1, 32*mib), "a long one is as fast as the cap")
}

func TestANeighbourInARingGetsAWholePort(t *testing.T) {
	const ranks, n = 8, 32 * mib
	r := newRig(t, with("mesh", nil), ranks, "")
	for i := range ranks {
		r.send(0, i, (i+1)%ranks, n, 0)
	}
	assertWithin(t, 0.1, engine.Rate(53.1e9).Span(n), r.run().Sub(0))
}

// k peers get k ports until the cap binds, and then equal shares of it: each message ends near the last one.
func TestPeersShareTheEgressCapOfAMesh(t *testing.T) {
	for peers := 1; peers <= 7; peers++ {
		const n = 32 * mib
		r := newRig(t, with("mesh", nil), 8, "")
		for p := range peers {
			r.send(0, 0, p+1, n, 0)
		}
		want := min(engine.Rate(peers)*port, 352e9).Span(engine.Bytes(peers) * n)
		assertWithin(t, 0.1, want, r.run().Sub(0), peers)
		for i := range r.sent {
			assertWithin(t, 0.1, want, r.sent[i].landed.Sub(0), peers)
		}
	}
}

// The all-to-all of 8 Ascend 950 with 32 MiB for each peer is bound by the wire at 350 to 354 GB/s out of each rank.
func TestAllToAllOnTheMeshReachesTheMeasuredEgress(t *testing.T) {
	const ranks, n = 8, 32 * mib
	r := newRig(t, with("mesh", nil), ranks, "")
	for i := range ranks {
		for step := 1; step < ranks; step++ {
			r.send(0, i, (i+step)%ranks, n, 0)
		}
	}
	end := r.run().Sub(0)
	rate := float64(7*n) / (float64(end) / 1e12) / 1e9
	assert.InDelta(t, 352, rate, 2)
	for i := range r.sent {
		assertWithin(t, 1, end, r.sent[i].landed.Sub(0), "all end together")
	}
}

func TestIncastIsBoundByTheIngressCap(t *testing.T) {
	const senders, n = 7, 8 * mib
	for _, c := range []struct {
		spec Spec
		rate engine.Rate
	}{
		{with("mesh", nil), 352e9},
		{with("mesh", func(s *Spec) { s.Mesh.Ingress = engine.Unlimited }), senders * port},
		{with("clos", nil), 327e9},
		{with("clos", func(s *Spec) { s.Clos.Ingress = engine.Unlimited }), 9 * port},
	} {
		r := newRig(t, c.spec, senders+1, "")
		for i := range senders {
			r.send(0, i+1, 0, n, 0)
		}
		want := c.rate.Span(senders * n)
		assertWithin(t, 1, want, r.run().Sub(0), c.spec.Kind)
		for i := range r.sent {
			assertWithin(t, 1, want, r.sent[i].landed.Sub(0), "the senders are served alike")
		}
	}
}

// outPort returns the port that a flow of a hashing Clos keeps to, as a number of the sender.
func outPort(t *testing.T, r *rig, f Flow) int {
	c, ok := r.net.(*clos)
	require.True(t, ok)
	require.EqualValues(t, 1, c.flows.at(uint32(f)).outPorts)
	return int(c.links[c.flows.at(uint32(f)).outPort].number)
}

// twoFlows opens flows from rank 0 until two are on one port, or on different ones.
func twoFlows(t *testing.T, r *rig, collide bool) (a, b Flow) {
	a = r.net.Open(0, 1)
	for range 100 {
		if b = r.net.Open(0, 2); (outPort(t, r, a) == outPort(t, r, b)) == collide {
			return a, b
		}
	}
	require.Fail(t, "no such pair in a hundred")
	return 0, 0
}

func TestFlowsThatHashToOnePortShareIt(t *testing.T) {
	const n = 8 * mib
	for _, collide := range []bool{true, false} {
		r := newRig(t, with("clos", func(s *Spec) { s.Clos.Spread = "hash" }), 3, "")
		a, b := twoFlows(t, r, collide)
		r.send(0, 0, 1, n, a)
		r.send(0, 0, 2, n, b)
		want := port.Span(n)
		if collide {
			want *= 2
		}
		r.run()
		assertWithin(t, 0.5, want, r.sent[0].landed.Sub(0), collide)
		assertWithin(t, 0.5, want, r.sent[1].landed.Sub(0), collide)
	}
}

// Each flow's port is as good as random: of 9 ports none gets more than twice its share of 9,000 flows, and the port of
// a pair's flow does not depend on what others open.
func TestHashingSpreadsFlowsOverAllPorts(t *testing.T) {
	spec := with("clos", func(s *Spec) { s.Clos.Spread = "hash" })
	r, other := newRig(t, spec, 32, ""), newRig(t, spec, 32, "")
	var load [9]int
	for i := range 9000 {
		src, dst := i%31, i%31+1
		f := r.net.Open(src, dst)
		load[outPort(t, r, f)]++
		if src == 30 {
			assert.Equal(t, outPort(t, r, f), outPort(t, other, other.net.Open(src, dst)))
		}
	}
	for k, n := range load {
		assert.InDelta(t, 1000, n, 150, "port %d", k)
	}
}

// Of a group of two ranks, each of which can send 327 GB/s, a quarter gets through the uplinks: 163.5 GB/s. Within the
// group nothing is lost, and at full bisection neither is across groups.
func TestSharedUplinksBoundTrafficBetweenGroups(t *testing.T) {
	const n = 16 * mib
	for _, c := range []struct {
		uplink engine.Fraction
		dst    [2]int
		rate   engine.Rate
	}{
		{250_000, [2]int{2, 3}, 163_500_000_000},
		{250_000, [2]int{1, 0}, 2 * 327e9},
		{engine.One, [2]int{2, 3}, 2 * 327e9},
	} {
		r := newRig(t, with("clos", func(s *Spec) { s.Clos.TierRanks, s.Clos.Uplink = 2, c.uplink }), 4, "")
		r.send(0, 0, c.dst[0], n, 0)
		r.send(0, 1, c.dst[1], n, 0)
		want := r.net.Latency(0, c.dst[0]) + c.rate.Span(2*n)
		assertWithin(t, 1, want, r.run().Sub(0))
		assertWithin(t, 1, want, r.sent[0].landed.Sub(0))
	}
}

func TestIncastFromManyGroupsQueuesAtTheDownlink(t *testing.T) {
	const n = 4 * mib
	r := newRig(t, with("clos", func(s *Spec) { s.Clos.TierRanks, s.Clos.Uplink = 2, 500_000 }), 8, "")
	for i, src := range []int{2, 4, 6} { // each group could send 327 GB/s into the group of ranks 0 and 1
		r.send(0, src, i%2, n, 0)
	}
	assertWithin(t, 1, r.net.Latency(2, 0)+engine.Rate(327e9).Span(3*n), r.run().Sub(0))
}

func TestLatencyCountsTiers(t *testing.T) {
	r := newRig(t, with("clos", nil), 200, "")
	assert.Equal(t, 350*engine.Nanosecond, r.net.Latency(0, 63))
	assert.Equal(t, 700*engine.Nanosecond, r.net.Latency(0, 64))
	assert.Equal(t, 700*engine.Nanosecond, r.net.Latency(127, 128))
	assert.Equal(t, 350*engine.Nanosecond, r.net.Latency(128, 191))
	assert.Zero(t, r.net.Latency(5, 5))
}

func TestLimitsForLowerBounds(t *testing.T) {
	mesh := newRig(t, with("mesh", nil), 8, "").net
	assert.EqualValues(t, 352e9, mesh.Egress(0))
	assert.EqualValues(t, 352e9, mesh.Ingress(0))
	assert.Equal(t, port, mesh.Pair(0, 1))
	assert.Equal(t, port, newRig(t, with("mesh", nil), 2, "").net.Egress(0), "with one peer the port is the limit")
	assert.Positive(t, newRig(t, with("mesh", nil), 1, "").net.Egress(0))

	clos := newRig(t, with("clos", func(s *Spec) { s.Clos.TierRanks, s.Clos.Uplink = 2, 250_000 }), 4, "").net
	assert.EqualValues(t, 327e9, clos.Egress(0))
	assert.EqualValues(t, 327e9, clos.Pair(0, 1))
	assert.EqualValues(t, 163_500_000_000, clos.Pair(0, 2))
	open := newRig(t, with("clos", func(s *Spec) { s.Clos.Egress = engine.Unlimited }), 4, "").net
	assert.Equal(t, 9*port, open.Egress(0))
}

// 256 KiB on the way at once in 0.7 + 0.3 us are 262 GB/s, in 1.4 + 0.3 us to the other group 154 GB/s; half of each
// takes the time of both.
func TestAWindowIsSharedOverTheTimeThereAndBack(t *testing.T) {
	const n, windows = 16 * mib, 64 // 256 KiB on the way at once
	near, far := 1000*engine.Nanosecond, 1700*engine.Nanosecond
	spec := with("clos", func(s *Spec) {
		s.Clos.TierRanks, s.Clos.Window, s.Clos.Turnaround = 4, 256*kib, 300*engine.Nanosecond
	})
	for _, c := range []struct {
		dsts []int
		want engine.Duration
	}{
		{[]int{1, 2, 3}, 3 * windows * near},
		{[]int{4, 5, 6}, 3 * windows * far},
		{[]int{1, 4}, windows * (near + far)},
	} {
		r := newRig(t, spec, 8, "")
		for _, d := range c.dsts {
			r.send(0, 0, d, n, 0)
		}
		assertWithin(t, 1, c.want, r.run().Sub(0), c.dsts)
	}
	assert.InEpsilon(t, 262.144e9, float64(newRig(t, spec, 8, "").net.Pair(0, 1)), 1e-6)
	assert.InEpsilon(t, 154.202e9, float64(newRig(t, spec, 8, "").net.Pair(0, 4)), 1e-5)

	full := lone(t, with("clos", nil), 8, 0, 1, n)
	assert.Equal(t, full, lone(t, with("clos", func(s *Spec) { s.Clos.Window = 16 * mib }), 8, 0, 1, n), "a window wider than the cap changes nothing")
	spec.Clos.Record = 8 * kib
	assert.InEpsilon(t, 131.072e9, float64(newRig(t, spec, 8, "").net.Pair(0, 1)), 1e-6, "a record uses half of its segment")
}
