package fabric

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"pldperf/engine"
)

// A free port is blocked from when its quantum is there until the cap has carried the traffic before it, to the picosecond.
func TestAPortIsBlockedWhileOthersHoldTheCap(t *testing.T) {
	spec := with("mesh", func(s *Spec) { s.Mesh.Egress = 50e9 })
	cap := engine.Rate(50e9).Span(16 * kib)
	for _, at := range []engine.Duration{0, 1, cap - 1, cap, cap + 1} {
		for _, recording := range []bool{true, false} {
			r := newRig(t, spec, 3, "")
			if recording {
				r.eng.Record(1000)
			}
			r.send(0, 0, 1, 16*kib, 0)
			r.send(engine.Time(at), 0, 2, 16*kib, 0)
			r.run()
			held := max(0, cap-at)
			for _, x := range r.net.Resources() {
				want, by := engine.Duration(0), []Held(nil)
				if x.Name == "port" && x.Peer == 2 {
					want = held
					if held > 0 && recording {
						by = []Held{{Peer: 1, Time: held}}
					}
				}
				assert.Equal(t, want, x.Blocked, "%+v", x)
				assert.Equal(t, by, x.Held, "%+v", x)
			}
		}
	}
}

// While a port carries what came before, it is busy and not blocked, whatever holds the cap.
func TestABusyPortIsNotBlocked(t *testing.T) {
	spec := with("mesh", func(s *Spec) { s.Mesh.Egress = 100e9 })
	cap := engine.Rate(100e9).Span(16 * kib)
	r := newRig(t, spec, 3, "")
	r.send(0, 0, 1, 16*kib, 0)
	r.send(0, 0, 2, 16*kib, 0) // until 2 caps
	r.send(1, 0, 1, 16*kib, 0) // at the cap until 2 caps, behind it at a port that is busy until then or longer
	end := r.run()
	for _, x := range r.net.Resources() {
		want := engine.Duration(0)
		switch {
		case x.Name == "port" && x.Peer == 1:
			want = max(0, 2*cap-full)
		case x.Name == "port" && x.Peer == 2:
			want = cap
		}
		assert.Equal(t, want, x.Blocked, "%+v", x)
		assert.LessOrEqual(t, x.Busy+x.Blocked, end.Sub(0))
	}
}
