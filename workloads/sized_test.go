package workloads_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
	"pldperf/hw"
	"pldperf/workloads"
)

const sized = "machine: 950dt-64\nranks: 4\n"

// checked reads a workload of four ranks.
func checked(t *testing.T, text string) (*workloads.Workload, error) {
	t.Helper()
	doc, err := configs.Load("w.yaml", []byte(sized+text))
	require.NoError(t, err)
	return workloads.LoadDoc("w.yaml", doc, nil)
}

// What says how much moves is read, or an error: never a run of nothing that ends right.
func TestASizeIsReadOrRefused(t *testing.T) {
	for text, want := range map[string]string{
		"call: {op: indexed_all_to_all_v, core_num: 2, message: 16 KiB}\nrouting: {kind: uniform}":                        "w.yaml:3:7: call.hidden: 0, must be positive: a message goes as whole rows",
		"call: {op: all_to_all_v, message: 16 KiB}\nrouting: {kind: uniform}":                                             "call.hidden: ",
		"call: {op: indexed_all_to_all_v, core_num: 2, hidden: 64}\nrouting: {kind: uniform}":                             "w.yaml:4:17: routing.kind: uniform needs rows",
		"call: {op: indexed_all_to_all_v, core_num: 2, hidden: 64}\nrouting: {kind: random}":                              "routing.kind: random needs rows",
		"call: {op: indexed_all_to_all_v, core_num: 2, hidden: 64, message: 1 KiB}\nrouting: {kind: uniform, rows: 3}":    "call.message: give message or the routing's rows, not both",
		"call: {op: indexed_all_to_all_v, core_num: 2, hidden: 64, message: 1 KiB}\nrouting: {kind: random, rows: 3}":     "call.message: a routing of kind random does not read it",
		"chain: [{name: a, call: {op: indexed_all_to_all_v, core_num: 2, hidden: 64}, routing: {kind: uniform}}]":         "chain.0.routing.kind: uniform needs rows",
		"chain: [{name: a, call: {op: indexed_all_to_all_v, core_num: 2, message: 1 KiB}, routing: {kind: uniform}}]":     "chain.0.call.hidden: 0, must be positive: a message",
		"call: {op: indexed_all_to_all_v, core_num: 2, message: 16 KiB}\nrouting: {kind: moe_topk, experts: 8, top_k: 2}": "call.message: a routing of kind moe_topk does not read it",
	} {
		_, err := checked(t, text)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want, text)
	}
}

func TestAMessageMovesItsBytes(t *testing.T) {
	for _, text := range []string{
		"call: {op: indexed_all_to_all_v, core_num: 2, dtype: INT8, hidden: 1024, message: 16 KiB}",
		"model: deepseek-v3\ncall: {op: indexed_all_to_all_v, core_num: 2, dtype: INT8, message: 14336 B}",
		"call: {op: indexed_all_to_all_v, core_num: 2, dtype: INT8, hidden: 1024, message: 512 B}\nrouting: {kind: uniform}",
	} {
		w, err := checked(t, text)
		require.NoError(t, err, text)
		out, err := w.Run(hw.Options{})
		require.NoError(t, err)
		assert.Equal(t, w.Config.Call.Message, out.Message, text)
	}
}

func TestARunThatMovesNothingOnPurposeSaysSo(t *testing.T) {
	w, err := checked(t, "call: {op: indexed_all_to_all_v, core_num: 2, hidden: 64}\nrouting: {kind: uniform, rows: 0}")
	require.NoError(t, err)
	out, err := w.Run(hw.Options{})
	require.NoError(t, err)
	assert.Contains(t, strings.Join(out.Warnings, "\n"), "the routing has no rows, so no payload moves")
}

func TestAnInputOfAWorkloadWithoutAChainHasAPlainName(t *testing.T) {
	w, err := checked(t, "call: {op: indexed_all_to_all_v, core_num: 2, hidden: 64}\nrouting: {kind: uniform, rows: 1}")
	require.NoError(t, err)
	out, err := w.Run(hw.Options{})
	require.NoError(t, err)
	for _, in := range append(out.Inputs, w.CostInputs()...) {
		assert.Equal(t, strings.TrimSpace(in.Key), in.Key)
	}
}
