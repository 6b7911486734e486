package workloads

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
)

func TestEveryValueThatARunDependsOnIsListedOnce(t *testing.T) {
	w, err := Load("a5-moe-decode", []string{"machine.aiv.count=16"})
	require.NoError(t, err)
	found := map[string]Leaf{}
	for _, l := range w.Leaves() {
		assert.NotContains(t, found, l.Path)
		found[l.Path] = l
		assert.NotEmpty(t, l.Value, l.Path)
		assert.Equal(t, l.Default, l.File == "", "%s: what no file says is a default", l.Path)
	}
	assert.Equal(t, "16", found["machine.aiv.count"].Value)
	assert.Equal(t, configs.User, found["machine.aiv.count"].Kind)
	assert.True(t, found["call.split"].Default)
	assert.Equal(t, "floor", found["call.split"].Value)
	assert.NotContains(t, found, "repeat.between", "a section that is not there has no values")
	assert.True(t, found["machine.fabric.clos.port"].Unread || found["machine.fabric.clos.port"].Path == "", "the fabric is a mesh")
	assert.False(t, found["machine.fabric.mesh.latency"].Unread)
	for _, p := range w.Doc.Params() {
		assert.Contains(t, found, p.Path)
	}
}
