package aiv

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
)

const us = engine.Microsecond

var backoff = PollSpec{Kind: "backoff", First: us / 10, Max: 1600 * engine.Nanosecond}

// polled simulates every poll: one samples when it begins, takes read, and after a
// failed one there is a pause that doubles up to the longest.
func polled(p PollSpec, start, ready engine.Time, read engine.Duration) (engine.Time, int64) {
	pause := p.First
	for n := int64(1); ; n++ {
		if start >= ready {
			return start.Add(read), n
		}
		start = start.Add(read + pause)
		if pause *= 2; pause > p.Max {
			pause = p.Max
		}
	}
}

func TestSuccessIsWhatSimulatingEveryPollGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Int64Range(1, 5000).Draw(t, "first")
		p := PollSpec{Kind: "backoff", First: engine.Duration(first), Max: engine.Duration(first + rapid.Int64Range(0, 50000).Draw(t, "more"))}
		start := engine.Time(rapid.Int64Range(0, 1000).Draw(t, "start"))
		ready := engine.Time(rapid.Int64Range(0, 2_000_000).Draw(t, "ready"))
		read := engine.Duration(rapid.Int64Range(0, 3000).Draw(t, "read"))
		seen, polls := p.Success(start, ready, read)
		wantSeen, wantPolls := polled(p, start, ready, read)
		require.Equal(t, wantSeen, seen)
		require.Equal(t, wantPolls, polls)
	})
}

func TestSpinIsWhatSimulatingEveryPollGives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := engine.Duration(rapid.Int64Range(1, 5000).Draw(t, "period"))
		start := engine.Time(rapid.Int64Range(0, 1000).Draw(t, "start"))
		ready := engine.Time(rapid.Int64Range(0, 200_000).Draw(t, "ready"))
		seen, polls := backoff.spin(start, ready, period)
		at, n := start, int64(1)
		for ; at < ready; n++ {
			at = at.Add(period)
		}
		require.Equal(t, at.Add(period), seen)
		require.Equal(t, n, polls)
	})
}

func TestAPollIsAGateOfOnePicosecond(t *testing.T) {
	read := 190 * engine.Nanosecond
	// Polls begin at 0, 0.29, 0.68, 1.27, 2.26, 4.05, 5.84 ... us: pauses 0.1, 0.2, 0.4, 0.8, 1.6, 1.6.
	begins := []engine.Time{0, 290, 680, 1270, 2260, 4050, 5840, 7630}
	for i, b := range begins {
		b *= engine.Time(engine.Nanosecond)
		seen, polls := backoff.Success(0, b, read)
		assert.Equal(t, b.Add(read), seen, "ready just when poll %d begins", i)
		assert.Equal(t, int64(i+1), polls)
		if i+1 < len(begins) {
			seen, polls = backoff.Success(0, b+1, read)
			assert.Equal(t, begins[i+1]*engine.Time(engine.Nanosecond), seen-engine.Time(read), "a picosecond late for poll %d", i)
			assert.Equal(t, int64(i+2), polls)
		}
	}
}

func TestAnIdealPollSucceedsTheMomentItCan(t *testing.T) {
	p := PollSpec{Kind: "ideal"}
	for _, ready := range []engine.Time{0, 5, 1234567} {
		seen, polls := p.Success(5, ready, us)
		assert.Equal(t, max(5, ready), seen)
		assert.Equal(t, int64(1), polls)
		seen, _ = p.spin(5, ready, us)
		assert.Equal(t, max(5, ready), seen)
	}
}
