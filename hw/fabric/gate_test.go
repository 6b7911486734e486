package fabric

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"pldperf/engine"
)

// full is what a quantum takes at a port; a cap is passed meanwhile.
var full = port.Span(16 * kib)

// Two flows to one peer: the second finds the port busy until one picosecond before it is sent, or to the picosecond.
func TestAPortIsBusyUntilItsLastByteHasPassed(t *testing.T) {
	for _, late := range []engine.Duration{-1, 0, 1} {
		r := newRig(t, with("mesh", nil), 2, "")
		r.send(0, 0, 1, 16*kib, 0)
		at := engine.Time(full + late)
		r.send(at, 0, 1, 16*kib, 0)
		r.run()
		assert.Equal(t, engine.Time(full)+350_000, r.sent[0].landed)
		assert.Equal(t, max(at, engine.Time(full)).Add(full+350_000), r.sent[1].landed, late)
	}
}

// The same gate within one flow, whose next quantum is offered when the last one has been granted.
func TestAFlowOffersItsNextQuantumWhenTheLastOneIsGranted(t *testing.T) {
	for _, late := range []engine.Duration{-1, 0, 1} {
		r := newRig(t, with("mesh", nil), 2, "")
		f := r.net.Open(0, 1)
		r.send(0, 0, 1, 16*kib, f)
		r.send(0, 0, 1, 16*kib, f) // granted at full
		at := engine.Time(full + late)
		r.send(at, 0, 1, 16*kib, f)
		r.run()
		assert.Equal(t, engine.Time(3*full)+350_000, r.sent[2].landed, late)
		assert.Equal(t, engine.Time(3*full), r.sent[2].left, late)
	}
}

// Who arrives first is served first, by a picosecond; of two at one instant it is the one who was sent first.
func TestIncastIsServedInOrderOfArrival(t *testing.T) {
	spec := with("mesh", func(s *Spec) { s.Mesh.Ingress = 50e9 })
	one := engine.Rate(50e9).Span(16 * kib)
	for late := engine.Duration(-1); late <= 1; late++ {
		r := newRig(t, spec, 3, "")
		r.send(100, 0, 2, 16*kib, 0)
		r.send(engine.Time(100+late), 1, 2, 16*kib, 0)
		r.run()
		first, second := 0, 1
		if late < 0 {
			first, second = 1, 0
		}
		begin := r.sent[first].at.Add(350_000)
		assert.Equal(t, begin.Add(one), r.sent[first].landed, late)
		assert.Equal(t, begin.Add(2*one), r.sent[second].landed, late)
	}
}

// A receiver that is busy does not make an earlier arrival wait for a later one: its links are booked when the first
// byte is there, not when it is sent. The far sender sends first and arrives last.
func TestALinkIsNotHeldForWhatIsStillUnderWay(t *testing.T) {
	r := newRig(t, with("clos", func(s *Spec) { s.Clos.TierRanks, s.Clos.Ingress = 2, 10e9 }), 4, "")
	r.send(0, 3, 0, 16*kib, 0)
	r.send(1000, 1, 0, 16*kib, 0)
	r.run()
	one := engine.Rate(10e9).Span(16 * kib)
	assert.Equal(t, engine.Time(351_000).Add(one), r.sent[1].landed)
	assert.Equal(t, engine.Time(351_000).Add(2*one), r.sent[0].landed)
}

// A short message of another flow waits for a quantum or two, not for the long one that came before it. In the same flow
// it waits for all of it.
func TestAShortMessageOvertakesALongOneOfAnotherFlowOnly(t *testing.T) {
	for _, c := range []struct {
		same        bool
		least, most engine.Duration
	}{
		{false, 0, 3 * full},
		{true, port.Span(32*mib) - 10*us, port.Span(32*mib) + us},
	} {
		r := newRig(t, with("mesh", nil), 2, "")
		long := r.net.Open(0, 1)
		other := Flow(0)
		if c.same {
			other = long
		}
		r.send(0, 0, 1, 32*mib, long)
		at := engine.Time(10 * us)
		r.send(at, 0, 1, 64, other)
		r.run()
		d := r.sent[1].landed.Sub(at) - 350_000
		assert.GreaterOrEqual(t, d, c.least)
		assert.LessOrEqual(t, d, c.most)
	}
}

// Four flows to one peer and one to another, under a cap that both ports together exceed: the cap is shared, nothing
// idles, and a flow that is alone on its port is not starved.
func TestTheCapIsNeverIdleWhilePortsWait(t *testing.T) {
	const n = 16 * mib
	spec := with("mesh", func(s *Spec) { s.Mesh.Egress = 100e9 })
	r := newRig(t, spec, 3, "")
	for range 4 {
		r.send(0, 0, 1, n, 0)
	}
	alone := r.send(0, 0, 2, n, 0)
	end := r.run().Sub(0)
	// The port with four flows always has one that waits, so it runs at its full rate; the lone flow has the rest of the
	// cap, which is not idle until that flow ends.
	assertWithin(t, 1, (100e9 - port).Span(n), r.sent[alone].landed.Sub(0)-350_000)
	assertWithin(t, 1, port.Span(4*n), end-350_000)
}

// A flow of the two that ends leaves its share to the other.
func TestTheShareOfAFlowThatEndsIsUsed(t *testing.T) {
	r := newRig(t, with("mesh", nil), 2, "")
	r.send(0, 0, 1, 2*mib, 0)
	r.send(0, 0, 1, 8*mib, 0)
	r.run()
	assertWithin(t, 1, port.Span(4*mib), r.sent[0].landed.Sub(0)-350_000)
	assertWithin(t, 0.1, port.Span(10*mib), r.sent[1].landed.Sub(0)-350_000)
}

// A flow that is given its messages one by one gets no more turns than one that has a long message: a message of another
// flow waits for the quantum that is passing and the one that is granted next, not for all that were sent before it.
func TestAFlowThatIsFedPieceByPieceStillTakesTurns(t *testing.T) {
	r := newRig(t, with("mesh", nil), 2, "")
	fed := r.net.Open(0, 1)
	for i := range 100 {
		r.send(engine.Time(i), 0, 1, 16*kib, fed)
	}
	other := r.send(1000, 0, 1, 16*kib, 0)
	r.run()
	assert.Equal(t, engine.Time(3*full)+350_000, r.sent[other].landed)
}
