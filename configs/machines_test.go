package configs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
)

func TestEveryLeafOfAMachineHasAUnitAndASource(t *testing.T) {
	for _, name := range configs.Names(configs.Machines) {
		doc, err := configs.Preset(configs.Machines, name)
		require.NoError(t, err)
		assert.Empty(t, configs.CheckSourced(doc, "name", "title", "platform", "family", "based_on"), name)
	}
}

func TestALeafWithoutASourceIsFound(t *testing.T) {
	doc, err := configs.Load("m.yaml", []byte("aiv:\n  clock: 1.65 GHz # src: a\n  count: 64\n"))
	require.NoError(t, err)
	problems := configs.CheckSourced(doc)
	require.Len(t, problems, 1)
	assert.Equal(t, "aiv.count", problems[0].Path)
}
