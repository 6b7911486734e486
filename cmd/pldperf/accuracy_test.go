package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/reports"
	"pldperf/workloads"
	"pldperf/workloads/fit"
)

const accuracyFile = "../../docs/ACCURACY.md"

// accuracyData is the same for the pages of `pldperf report`.
const accuracyData = "accuracy.json"

func TestAccuracyPageShowsWhatValidateFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("with the race detector it takes minutes, and it has no goroutines of its own")
	}
	all, err := evaluate(context.Background(), fit.Load, caseFiles(), fit.Options{Workers: 2}, nil)
	require.NoError(t, err)
	acc := accuracyOf(all)
	assert.Zero(t, acc.Outside(), "a row is outside its band: pldperf validate")
	var now bytes.Buffer
	require.NoError(t, acc.Write(&now, reports.Markdown, reports.Options{}))
	var data bytes.Buffer
	require.NoError(t, acc.Write(&data, reports.JSON, reports.Options{}))
	if *update {
		require.NoError(t, os.WriteFile(accuracyFile, now.Bytes(), 0o644))
		require.NoError(t, os.WriteFile(accuracyData, data.Bytes(), 0o644))
	}
	old, err := os.ReadFile(accuracyFile)
	require.NoError(t, err)
	assert.Equal(t, now.String(), string(old), "run: go test ./cmd/pldperf -run Accuracy -update")
	kept, err := os.ReadFile(accuracyData)
	require.NoError(t, err)
	assert.Equal(t, data.String(), string(kept), "run: go test ./cmd/pldperf -run Accuracy -update")
	checkDomains(t, all)
}

// checkDomains checks that the tables of what was measured and calibrated are those of
// the cases.
func checkDomains(t *testing.T, all []*fit.Evaluation) {
	var domains []workloads.Domain
	var ranges []workloads.Calibrated
	for _, e := range all {
		domains, ranges = append(domains, e.Domains...), append(ranges, e.Ranges...)
	}
	for name, now := range map[string][]byte{"domain": workloads.FormatDomains(domains), "ranges": workloads.FormatRanges(workloads.MergeRanges(ranges))} {
		file := filepath.Join("../../configs/fit", name+".csv")
		if *update {
			require.NoError(t, os.WriteFile(file, now, 0o644))
		}
		old, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(now), string(old), "run: go test ./cmd/pldperf -run Accuracy -update")
	}
}
