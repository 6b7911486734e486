package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ticks runs so many events, two at an instant, and returns the engine.
func ticks(t *testing.T, n int, o Options) *Engine {
	t.Helper()
	e := New(o)
	var tick call
	tick = func(arg uint64) {
		if arg < uint64(n) {
			e.After(Duration(arg%2), tick, arg+1)
		}
	}
	e.At(0, tick, 1)
	require.NoError(t, e.Run())
	return e
}

func TestASampleIsTakenEverySoManyEventsAndChangesNothing(t *testing.T) {
	for _, queue := range []string{Radix, Reference} {
		samples := 0
		with := ticks(t, 3*SampleEvents-1, Options{Queue: queue, Sample: func() { samples++ }})
		assert.Equal(t, 2, samples, "the third is one event away")
		ticks(t, 3*SampleEvents, Options{Queue: queue, Sample: func() { samples++ }})
		assert.Equal(t, 2+3, samples)
		without := ticks(t, 3*SampleEvents-1, Options{Queue: queue})
		assert.Equal(t, without.Digest(), with.Digest())
		assert.Equal(t, without.Now(), with.Now())
	}
}
