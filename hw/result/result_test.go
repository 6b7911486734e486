package result_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/result"
)

func TestEveryReasonAndCounterHasAPlainNameOfItsOwn(t *testing.T) {
	plain := regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`)
	seen := map[string]bool{}
	check := func(name string) {
		assert.Regexp(t, plain, name)
		assert.False(t, seen[name], name)
		seen[name] = true
	}
	for r := range result.NumReasons {
		check(r.String())
	}
	for k := range result.NumCounters {
		check(k.String())
		assert.Contains(t, []string{"", "B"}, k.Unit())
	}
}

func TestAResultReadsBackAsItWasWritten(t *testing.T) {
	r := result.Result{Schema: result.Schema, Status: result.Hazardous, Elapsed: 5, Hazards: []result.Hazard{{Text: "x"}}, Totals: result.Counters{result.SQEs: 7}}
	b := result.Block{Rank: 2, Start: 1, End: 6}
	b.Time[result.Launch], b.Time[result.Idle] = 3, 4
	r.Blocks = []result.Block{b}
	r.Stuck = &result.Stuck{Waits: []result.Waiting{{Rank: 1, Cell: "signal[0,0]", Missing: `a "notify"`}}}
	text, err := json.Marshal(&r)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"launch":3`)
	var back result.Result
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, r, back)
	assert.Equal(t, engine.Duration(7), back.Blocks[0].Time.Sum())
}

func TestUnknownNamesInAResultAreErrors(t *testing.T) {
	var c result.Counters
	require.NoError(t, json.Unmarshal([]byte(`{"sqes":3}`), &c))
	assert.Equal(t, int64(3), c[result.SQEs])
	assert.ErrorContains(t, json.Unmarshal([]byte(`{"sqes":3,"squees":1}`), &c), `"squees"`)
	var d result.Times
	assert.ErrorContains(t, json.Unmarshal([]byte(`{"lunch":1}`), &d), `"lunch"`)
	assert.Error(t, json.Unmarshal([]byte(`[]`), &d))
}

func TestCountersAdd(t *testing.T) {
	a, b := result.Counters{1, 2}, result.Counters{10, 20}
	a.Add(&b)
	assert.Equal(t, result.Counters{11, 22}, a)
}
