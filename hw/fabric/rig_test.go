package fabric

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
)

const (
	kib engine.Bytes = 1 << 10
	mib engine.Bytes = 1 << 20

	us = engine.Microsecond
)

// A rig is a fabric on an engine of its own, and a diary of what became of the messages sent with it.
type rig struct {
	t       require.TestingT
	eng     *engine.Engine
	net     Fabric
	sent    []post
	landing []int
}

// post is one message. Times are -1 until they are known.
type post struct {
	Message
	at, left, landed engine.Time
}

func newRig(t require.TestingT, spec Spec, ranks int, queue string) *rig {
	r := &rig{t: t, eng: engine.New(engine.Options{Queue: queue})}
	net, err := New(r.eng, spec, ranks)
	require.NoError(t, err)
	r.net = net
	return r
}

// Handle gives a message to the fabric when its time has come.
func (r *rig) Handle(i uint64) { r.net.Send(r.sent[i].Message) }

type (
	landed rig
	left   rig
)

func (r *landed) Handle(i uint64) {
	require.EqualValues(r.t, -1, r.sent[i].landed, "message %d lands twice", i)
	r.sent[i].landed = r.eng.Now()
	r.landing = append(r.landing, int(i))
}

func (r *left) Handle(i uint64) {
	require.EqualValues(r.t, -1, r.sent[i].left, "message %d leaves twice", i)
	r.sent[i].left = r.eng.Now()
}

// send sends n bytes from src to dst at time t, in flow f or in one of its own if f is 0, and returns its number.
func (r *rig) send(t engine.Time, src, dst int, n engine.Bytes, f Flow) int {
	if f == 0 {
		f = r.net.Open(src, dst)
	}
	i := uint64(len(r.sent))
	m := Message{Src: src, Dst: dst, Bytes: n, Flow: f, Landed: (*landed)(r), LandedArg: i, Left: (*left)(r), LeftArg: i}
	r.sent = append(r.sent, post{m, t, -1, -1})
	r.eng.At(t, r, i)
	return int(i)
}

// run runs to the end and returns the last landing.
func (r *rig) run() engine.Time {
	require.NoError(r.t, r.eng.Run())
	var end engine.Time
	for i := range r.sent {
		require.NotEqualValues(r.t, -1, r.sent[i].landed, "message %d never lands", i)
		end = max(end, r.sent[i].landed)
	}
	if n, ok := r.net.(interface{ outstanding() int }); ok {
		require.Zero(r.t, n.outstanding(), "something is left under way")
	}
	return end
}

// lone returns when n bytes land that are sent at time 0 on a free fabric.
func lone(t *testing.T, spec Spec, ranks, src, dst int, n engine.Bytes) engine.Duration {
	r := newRig(t, spec, ranks, "")
	r.send(0, src, dst, n, 0)
	return r.run().Sub(0)
}

// with returns the default spec of a kind after a change.
func with(kind string, change func(*Spec)) Spec {
	s := Default()
	s.Kind = kind
	if change != nil {
		change(&s)
	}
	return s
}

// assertWithin compares two durations in per cent.
func assertWithin(t *testing.T, percent float64, want, got engine.Duration, what ...any) {
	t.Helper()
	assert.InEpsilon(t, float64(want), float64(got), percent/100, what...)
}

// assertRounded compares two durations of which the second may be later by one picosecond of rounding a quantum.
func assertRounded(t *testing.T, want, got engine.Duration, quanta int) {
	t.Helper()
	assert.GreaterOrEqual(t, got, want)
	assert.LessOrEqual(t, got, want+engine.Duration(quanta)*engine.Picosecond)
}

// quanta returns how many quanta n bytes are cut in.
func quanta(s Spec, n engine.Bytes) int { return max(1, int((n+s.Quantum-1)/s.Quantum)) }
