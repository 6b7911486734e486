package workloads_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/hw/result"
	"pldperf/workloads"
)

func TestAMistakeThatNobodyMakesIsAnErrorWithTheNearestOne(t *testing.T) {
	for word, want := range map[string][]string{
		"no_barier": {`all_to_all/hand cannot make "no_barier"; did you mean "no_barrier"?`},
		"xxxxxxxxx": {`all_to_all/hand cannot make "xxxxxxxxx"; it can make alias, `, "wrong_peer"},
	} {
		_, err := workloads.Load("all-to-all-p4", []string{"call.mistake=" + word})
		for _, w := range want {
			assert.ErrorContains(t, err, w)
		}
	}
	_, err := workloads.Load("all-to-all-p4", []string{"call.mistake=one_row"})
	require.NoError(t, err, "only the program shows that there is nothing of the kind")
}

func TestARunThatGoesWrongNamesItsRowAndARightOneNone(t *testing.T) {
	out := run(t, "all-to-all-p4", "call.mistake=wrong_peer")
	require.Equal(t, result.WrongData, out.Result.Status)
	require.Len(t, out.Result.Diagnoses, 1)
	assert.Equal(t, "F1", out.Result.Diagnoses[0].Row)
	assert.NotEmpty(t, out.Result.Diagnoses[0].Evidence)
	assert.Empty(t, run(t, "all-to-all-p4").Result.Diagnoses)
}

func TestWhatTheCompilerRefusesComesWithTheRowOfTheTable(t *testing.T) {
	for set, want := range map[string]string{
		"call.size=1000000":                                 "F17: ",
		"call={op: broadcast, root: 7}":                     "F35: ",
		"call={op: put, pipeline: true, size: 64, rows: 8}": "F17: ",
	} {
		_, err := workloads.Load("all-to-all-p4", []string{set})
		assert.ErrorContains(t, err, want, set)
	}
}
