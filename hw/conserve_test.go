package hw

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"pldperf/engine"
	"pldperf/hw/memory"
	"pldperf/hw/result"
)

func TestBytesThatLandWithoutHavingBeenSentArePanics(t *testing.T) {
	m := &machine{timed: make([]result.Counters, 2), untimed: make([]result.Counters, 2)}
	m.mem = memory.New(engine.New(engine.Options{}), memory.Spec{Kind: "ideal"}, memory.Options{Ranks: 2})
	assert.NotPanics(t, m.conserve)
	m.untimed[1][result.BytesSelf] = 5
	assert.PanicsWithValue(t, "hw: 0 bytes landed, but 5 were moved; 0 were sent and 0 received", m.conserve)
	m.untimed[1][result.BytesSelf] = 0
	m.timed[0][result.BytesReceived] = 3
	assert.Panics(t, m.conserve, "received, but never sent")
}
