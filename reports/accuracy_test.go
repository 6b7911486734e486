package reports

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/reports/document"
)

func accuracyFixture() *Accuracy {
	return &Accuracy{Files: []AccuracyFile{{
		File: "a.yaml", Title: "puts", Params: 2, Fitted: 1, Notes: []KV{{Key: "put", Value: "a note"}},
		Rows: []AccuracyRow{
			{Case: "put", Row: "bytes 8", Unit: "us", Measured: 10, Simulated: 10.5, Error: 0.05, Band: 0.02, Baseline: 9, BaseError: -0.1},
			{Case: "put", Row: "bytes 64", Unit: "GB/s", Measured: 50, Simulated: 49.5, Error: -0.01, HeldOut: true, Band: 0.02, Inside: true, Baseline: 45, BaseError: -0.1},
		},
	}}}
}

func TestAccuracySaysWhichRowsAreOutsideAndWhatTheBaselineGets(t *testing.T) {
	a := accuracyFixture()
	assert.Equal(t, 1, a.Outside())
	var b bytes.Buffer
	require.NoError(t, a.Write(&b, Text, Options{Width: 160}))
	text := b.String()
	assert.Regexp(t, `put +bytes 8 +10 +10.5 +us +5.00 +fitted, OUTSIDE +2 +9 +-10.00`, text)
	assert.Regexp(t, `put +bytes 64 +50 +49.5 +GB/s +-1.00 +held out +2 +45 +-10.00`, text)
	assert.Contains(t, text, "a.yaml: 2 fitted parameters for 1 fitted row\n")
	assert.Contains(t, text, "largest error of fitted rows 5 %, of held-out rows 1 % (baseline 10 %)")
	assert.Contains(t, text, "put: a note")
	assert.Contains(t, text, "1 row outside the band")

	a.Files[0].Rows[0].Inside = true
	b.Reset()
	require.NoError(t, a.Write(&b, Markdown, Options{}))
	assert.Contains(t, b.String(), "every row is within its band")
	assert.NotContains(t, b.String(), "OUTSIDE")
}

func TestAccuracyAsCSVAndJSONHasTheExactValues(t *testing.T) {
	a := accuracyFixture()
	var b bytes.Buffer
	require.NoError(t, a.Write(&b, CSV, Options{}))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, []string{"a.yaml", "put", "bytes 64", "GB/s", "50", "49.5", "-0.01", "true", "0.02", "true", "45", "-0.1"}, rows[2])
	b.Reset()
	require.NoError(t, a.Write(&b, JSON, Options{}))
	var d document.Document
	require.NoError(t, json.Unmarshal(b.Bytes(), &d))
	assert.Equal(t, a, (*Accuracy)(d.Validation))
	assert.Equal(t, document.NewHead(document.KindValidation, ""), d.Head)
}

func TestCalibrationSetsValuesIntervalsErrorsAndRivalsOut(t *testing.T) {
	c := &Calibration{
		Title: "puts", File: "a.yaml", Machine: "m", Data: []string{"t"}, Rows: accuracyFixture().Files[0].Rows,
		Params: []FittedValue{{Label: "x", Start: "1 us", Value: "2 us", Low: "1.9 us", High: "2.1 us", Known: true, RowsMoved: 3, Cause: "a cause"}, {Label: "y", Value: "5 us"}},
		Fit:    RowErrors{N: 1, P50: 0.05, P90: 0.05, Max: 0.05, RMS: 0.05}, Warnings: []string{"careful"},
		Alternatives: []RivalFit{
			{Name: "one", Params: []FittedValue{{Label: "x", Value: "2 us"}, {Label: "cap", Value: "3 GB/s"}}, Fit: RowErrors{N: 1, RMS: 0.05}},
			{Name: "two", Params: []FittedValue{{Label: "x", Value: "2 us"}, {Label: "port", Value: "4 GB/s"}}, Fit: RowErrors{N: 1, RMS: 0.06}},
		},
	}
	var b bytes.Buffer
	require.NoError(t, c.Write(&b, Text, Options{Width: 160}))
	text := b.String()
	assert.Regexp(t, `x +1 us +2 us +1.9 us +2.1 us +3 +a cause`, text)
	assert.Contains(t, text, "y (not identified)")
	assert.Regexp(t, `fitted +1 +5.00 +5.00 +5.00 +5.00`, text)
	assert.Regexp(t, `held out +0 +n/a`, text)
	assert.Regexp(t, `two +6.00 .*port = 4 GB/s`, text)
	assert.NotContains(t, text[strings.Index(text, "Rival"):], "x = 2 us", "what rivals share is not named")
	assert.Contains(t, text, "warning: careful")
}
