package workloads

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
)

// sweep reads a sweep from its text.
func sweep(t *testing.T, text string, sets ...string) (*Sweep, error) {
	t.Helper()
	doc, err := configs.Load("s.yaml", []byte(text))
	require.NoError(t, err)
	return SweepFromDoc("s.yaml", doc, sets)
}

func TestASweepIsAllCombinationsWithTheLastAxisFastest(t *testing.T) {
	s, err := sweep(t, `{base: a5-uniform-small, axes: {ranks: [2, 4], call.message: [1 KiB, 2 KiB], call.core_num: [1, 3]}}`)
	require.NoError(t, err)
	var names []string
	for i := range s.Points {
		names = append(names, s.Name(&s.Points[i]))
	}
	assert.Equal(t, []string{
		"ranks=2 call.message=1 KiB call.core_num=1", "ranks=2 call.message=1 KiB call.core_num=3",
		"ranks=2 call.message=2 KiB call.core_num=1", "ranks=2 call.message=2 KiB call.core_num=3",
		"ranks=4 call.message=1 KiB call.core_num=1", "ranks=4 call.message=1 KiB call.core_num=3",
		"ranks=4 call.message=2 KiB call.core_num=1", "ranks=4 call.message=2 KiB call.core_num=3",
	}, names)
	w, err := s.Points[7].Workload()
	require.NoError(t, err)
	assert.Equal(t, 4, w.Config.Ranks)
	assert.Equal(t, 3, w.Config.Call.CoreNum)
	assert.Equal(t, "2 KiB", w.Config.Call.Message.String())
}

func TestSettingsApplyToAllPointsAndTheCommandLineWins(t *testing.T) {
	s, err := sweep(t, `{base: a5-uniform-small, set: {call.dtype: FP32, ranks: 4}, axes: {call.core_num: [1, 3]}}`, "ranks=2")
	require.NoError(t, err)
	for i := range s.Points {
		w, err := s.Points[i].Workload()
		require.NoError(t, err)
		assert.Equal(t, 2, w.Config.Ranks)
		assert.Equal(t, "FP32", w.Config.Call.DType)
	}
}

func TestAnAxisOverMachinesKeepsWhatElseIsSaidOfTheMachine(t *testing.T) {
	s, err := sweep(t, `{base: a5-uniform-small, set: {machine.fabric.kind: ideal}, axes: {machine: [950dt-64, 950pr-64]}}`)
	require.NoError(t, err)
	for i, want := range []string{"950dt-64", "950pr-64"} {
		w, _, err := s.Points[i].Open()
		require.NoError(t, err)
		assert.Equal(t, want, w.Config.Machine.Name)
		assert.Equal(t, "ideal", w.Config.Machine.Fabric.Kind)
	}
}

func TestTooManyPointsAreRefused(t *testing.T) {
	_, err := sweep(t, `{base: a5-uniform-small, axes: {call.core_num: {from: 1, to: 1000, step: 1}, ranks: {from: 1, to: 1000, step: 1}}}`)
	assert.ErrorContains(t, err, "more than 100000 points")
}

func TestAFaultOfManyPointsIsReportedOnceAtTheAxis(t *testing.T) {
	_, err := sweep(t, "base: a5-uniform-small\naxes:\n  call.core_num: [1, 2, 3, 4]\n  call.cor: [1, 2, 3]\n")
	assert.EqualError(t, err, `s.yaml:4:14: call.cor: unknown key; did you mean "core_num"?`)
}

func TestEveryShippedSweepIsValid(t *testing.T) {
	for _, name := range configs.Names(configs.Sweeps) {
		s, err := LoadSweep("sweeps/"+name, nil)
		require.NoError(t, err, name)
		assert.NotNil(t, s.axis(s.Config.Recommend), name)
		assert.NotEmpty(t, s.Config.Title, name)
	}
}

func TestTheLargeSweepHasItsStatedSize(t *testing.T) {
	s, err := LoadSweep("a5-core-num-by-size", nil)
	require.NoError(t, err)
	assert.Len(t, s.Points, 64*20*3)
}

// key returns the key of the only point of a sweep over a workload with a CSV matrix.
func key(t *testing.T, set ...string) string {
	t.Helper()
	s, err := LoadSweep("s.yaml", set)
	require.NoError(t, err)
	_, k, err := s.Points[0].Open()
	require.NoError(t, err)
	return string(k)
}

func TestAKeyCoversTheMergedDocumentAndTheFilesThatItNames(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	write("s.yaml", "base: w.yaml\naxes: {call.core_num: [1]}\n")
	write("m.yaml", "based_on: 950dt-64\nname: mine\n")
	write("rows.csv", "0,1\n1,0\n")
	write("w.yaml", "machine: m.yaml\nranks: 2\ncall: {op: indexed_all_to_all_v, core_num: 2, hidden: 64}\nrouting: {kind: matrix, csv: rows.csv, unit: rows}\n")
	first := key(t)
	assert.Equal(t, first, key(t))

	write("w.yaml", "# a comment\nranks: 2\nmachine: m.yaml\ncall: {hidden: 64, op: indexed_all_to_all_v}\nrouting: {kind: matrix, csv: rows.csv, unit: rows}\n")
	assert.Equal(t, first, key(t), "layout, comments and what the axis replaces do not matter")
	assert.NotEqual(t, first, key(t, "call.dtype=INT8"))

	write("rows.csv", "0,2\n1,0\n")
	second := key(t)
	assert.NotEqual(t, first, second, "the matrix matters")
	write("m.yaml", "based_on: 950dt-64\nname: mine\naiv: {count: 32}\n")
	third := key(t)
	assert.NotEqual(t, second, third, "the machine matters")

	write("w.yaml", "machine: m.yaml\nranks: 2\ncall: {op: indexed_all_to_all_v, core_num: 2, hidden: 64}\nmodel: deepseek-v3\nrouting: {kind: moe_topk, tokens: 8}\n")
	fourth := key(t)
	_, shapes, err := configs.Find("measured/moe_model_shapes.csv")
	require.NoError(t, err)
	write("measured/moe_model_shapes.csv", string(shapes)+"\n")
	assert.NotEqual(t, fourth, key(t), "a table of models beside the workload matters")
}

func TestEachRunsEveryPointOnceAndStopsAtAnError(t *testing.T) {
	s, err := sweep(t, `{base: a5-uniform-small, axes: {call.core_num: {from: 1, to: 40, step: 1}}}`)
	require.NoError(t, err)
	seen := make([]atomic.Int32, len(s.Points))
	require.NoError(t, s.Each(context.Background(), 4, func(i int, p *Point) error {
		assert.Same(t, &s.Points[i], p)
		seen[i].Add(1)
		return nil
	}))
	for i := range seen {
		assert.EqualValues(t, 1, seen[i].Load(), i)
	}

	var ran atomic.Int32
	err = s.Each(context.Background(), 1, func(i int, _ *Point) error {
		ran.Add(1)
		if i == 3 {
			return errors.New("broken")
		}
		return nil
	})
	require.EqualError(t, err, "broken")
	assert.EqualValues(t, 4, ran.Load())

	ctx, cancel := context.WithCancel(context.Background())
	ran.Store(0)
	require.NoError(t, s.Each(ctx, 1, func(i int, _ *Point) error {
		if ran.Add(1) == 5 {
			cancel()
		}
		return nil
	}))
	assert.EqualValues(t, 5, ran.Load(), "once it is cancelled, no further point starts")
}
