// Package hwtest loads machine presets for tests, so that a test says in a line which
// machine it runs on and what differs from the preset.
package hwtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"pldperf/configs"
	"pldperf/hw"
)

// Machine returns a shipped machine with overrides ("fabric.kind=clos").
func Machine(t testing.TB, name string, sets ...string) hw.Spec {
	t.Helper()
	doc := *preset(t, name)
	for _, s := range sets {
		require.NoError(t, doc.Set(s))
	}
	var spec hw.Spec
	require.NoError(t, doc.Decode(&spec))
	return spec
}

// preset loads a machine with everything that it is based on below it.
func preset(t testing.TB, name string) *configs.Doc {
	t.Helper()
	doc, err := configs.Preset(configs.Machines, name)
	require.NoError(t, err)
	if !doc.Has("based_on") {
		return doc
	}
	var base string
	require.NoError(t, doc.At("based_on").Decode(&base))
	return configs.Merge(preset(t, base), doc)
}

// Ideal makes the fabric and the memory cost nothing.
var Ideal = []string{"fabric.kind=ideal", "memory.kind=ideal"}

// Free makes everything that a machine does to move data and signals cost nothing,
// but for the launch and the endpoint part of a remote access.
var Free = append([]string{
	"ub.kind=ideal", "urma.kind=ideal", "aiv.poll.kind=ideal", "aiv.scalar.read=0 us", "aiv.scalar.write=0 us",
	"aiv.scalar.visible=0 us", "aiv.scalar.coalesce=0 us", "aiv.simt.entry=0 us", "aiv.signal.issue=0 us",
	"aiv.signal.shared=0 us", "aiv.signal.single=0 us", "aiv.signal.local=0 us", "aiv.signal.read=0 us",
	"aiv.signal.tnotify=0 us", "aiv.signal.twait=0 us", "aiv.fence=0 us", "aiv.pipe_barrier=0 us",
	"aiv.vector.kind=ideal", "aiv.launch.notice=0 us", "sdma.kind=ideal",
}, Ideal...)
