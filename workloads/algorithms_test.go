package workloads_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
	"pldperf/workloads"
)

func sweepOf(t *testing.T, text string, sets ...string) (*workloads.Sweep, error) {
	t.Helper()
	doc, err := configs.Load("s.yaml", []byte(text))
	require.NoError(t, err)
	return workloads.SweepFromDoc("s.yaml", doc, sets)
}

func opsOf(s *workloads.Sweep) []string {
	for _, a := range s.Axes {
		if a.Path == workloads.OpPath {
			return a.Values
		}
	}
	return nil
}

func TestAPatternStandsForTheFormsOfAnOperation(t *testing.T) {
	all := []string{"all_to_all/hand", "all_to_all/host", "all_to_all/incore"}
	for text, want := range map[string][]string{
		"axes: {op: all_to_all/*}":                            all,
		"axes: {call.op: [all_to_all/*]}":                     all,
		"axes: {op: [all_to_all/host, all_to_all/h*]}":        {"all_to_all/host", "all_to_all/hand"},
		"axes: {op: [all_to_all]}":                            {"all_to_all/hand"},
		"axes: {call.size: [8, 16]}\nset: {op: all_to_all/*}": all,
		"axes: {call.size: [8, 16]}\nset: {call.form: '*'}":   all,
	} {
		s, err := sweepOf(t, "base: all-to-all-p4\n"+text)
		require.NoError(t, err, text)
		assert.Equal(t, want, opsOf(s), text)
		assert.Equal(t, workloads.OpPath, s.Config.Recommend, text)
		assert.True(t, s.Compares())
	}
	s, err := sweepOf(t, "base: all-to-all-p4\naxes: {call.size: [8]}", "call.op=all_to_all/*")
	require.NoError(t, err)
	assert.Equal(t, all, opsOf(s))
	s, err = sweepOf(t, "base: all-to-all-p4\naxes: {call.size: [8]}")
	require.NoError(t, err)
	assert.False(t, s.Compares())
}

func TestFieldsBehindAnAlgorithmHoldForItAlone(t *testing.T) {
	s, err := sweepOf(t, "base: all-to-all-p4\naxes: {op: [all_to_all/hand, all_to_all/hand  chunk_cols=16, 'all_to_all/* size=8']}")
	require.NoError(t, err)
	assert.Equal(t, []string{"all_to_all/hand", "all_to_all/hand chunk_cols=16", "all_to_all/hand size=8", "all_to_all/host size=8", "all_to_all/incore size=8"}, opsOf(s))
	for i, want := range []int{0, 16, 0} {
		w, err := s.Points[i].Workload()
		require.NoError(t, err)
		assert.Equal(t, want, w.Config.Call.Chunk)
		assert.Equal(t, map[bool]int{true: 64, false: 8}[i < 2], w.Config.Call.Size)
	}
	_, err = sweepOf(t, "base: all-to-all-p4\naxes: {op: [all_to_all/hand chunk_cols]}")
	assert.ErrorContains(t, err, `"chunk_cols" is no field=value of the call`)
	_, err = sweepOf(t, "base: all-to-all-p4\naxes: {op: [all_to_all/hand chunk_col=3]}")
	assert.ErrorContains(t, err, `s.yaml:2:13: call.chunk_col: unknown key; did you mean "chunk_cols"?`)
}

func TestAWrongAlgorithmIsNamedWhereItStands(t *testing.T) {
	for text, want := range map[string]string{
		"axes: {op: all_to_al/*}":                       `s.yaml:2:12: axes.op: no algorithm is called "all_to_al/*"`,
		"axes: {op: [all_to_all/hand, all_to_all/hst]}": `s.yaml:2:30: axes.op.1: all_to_all has no form "hst"; there are hand, host, incore; did you mean "host"?`,
		"axes: {op: [all_to_al]}":                       `did you mean "all_to_all"?`,
		"axes: {op: {from: 1}}":                         "an axis of algorithms is a pattern",
		"axes: {op: all_to_all/*, call.op: [barrier]}":  "call.op is an axis already",
	} {
		_, err := sweepOf(t, "base: all-to-all-p4\n"+text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestAPointThatAnAlgorithmCannotDoIsNoFaultOfTheSweep(t *testing.T) {
	s, err := sweepOf(t, "base: all-to-all-p4\naxes:\n  op: all_to_all/*\n  call.dtype: [FP32, INT8]")
	require.NoError(t, err)
	impossible := map[string]string{}
	for i := range s.Points {
		if p := &s.Points[i]; p.Impossible != "" {
			impossible[s.Name(p)] = p.Impossible
		}
	}
	assert.Equal(t, map[string]string{"call.op=all_to_all/host call.dtype=INT8": "dtype: the HOST builtin takes FP32, not INT8"}, impossible)
}

func TestWhatNoAlgorithmCanDoIsAFaultOfTheSweep(t *testing.T) {
	for text, want := range map[string]string{
		"axes:\n  op: all_to_all/*\n  call.dtype: [FP32, INT7]":     "s.yaml:4:22: call.dtype:",
		"axes:\n  op: all_to_all/*\n  call.sise: [8]":               `did you mean "size"`,
		"axes: {op: all_to_all/*}\nset: {call.core_num: 4}":         "s.yaml:3:22: call.core_num:",
		"axes: {op: [all_to_all/hand]}\nset: {call.core_num: 4}":    "call.core_num:",
		"axes:\n  op: all_to_all/*\n  machine: [950dt-64, 950dt-6]": "950dt-6",
	} {
		_, err := sweepOf(t, "base: all-to-all-p4\n"+text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestAnOperationCanNameItsForm(t *testing.T) {
	w, err := workloads.Load("all-to-all-p4", []string{"call.op=all_to_all/host"})
	require.NoError(t, err)
	assert.Equal(t, "host", w.Config.Call.Form)

	text := "machine: 950dt-64\nranks: 4\ncall: {op: all_to_all/incore, size: 8}"
	doc, err := configs.Load("w.yaml", []byte(text))
	require.NoError(t, err)
	w, err = workloads.FromDoc("w.yaml", doc)
	require.NoError(t, err)
	assert.Equal(t, []string{"all_to_all", "incore"}, []string{w.Config.Call.Op, w.Config.Call.Form})

	doc, err = configs.Load("w.yaml", []byte("machine: 950dt-64\nranks: 4\ncall: {op: all_to_all/hots, size: 8}"))
	require.NoError(t, err)
	_, err = workloads.FromDoc("w.yaml", doc)
	assert.ErrorContains(t, err, "w.yaml:3:12:")
	assert.ErrorContains(t, err, `did you mean "host"?`)
}
