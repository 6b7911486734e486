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
			{Case: "put", Row: "bytes 8", Unit: "us", Measured: 10, Simulated: 10.5, Error: 0.05, Fitted: true, Band: 0.02, Baseline: 9, BaseError: -0.1},
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
	assert.Contains(t, text, "warning: no fewer parameters than fitted rows")
	assert.NotContains(t, text, "no row is held out")
	assert.Contains(t, text, "largest error of fitted rows 5 %, of held-out rows 1 %; where there is a baseline 1 %, baseline 10 %")
	assert.Contains(t, text, "put: a note")
	assert.Contains(t, text, "1 row outside the band")

	a.Files[0].Rows[0].Inside = true
	b.Reset()
	require.NoError(t, a.Write(&b, Markdown, Options{}))
	assert.Contains(t, b.String(), "every row is within its band")
	assert.NotContains(t, b.String(), "OUTSIDE")
}

func TestAccuracySaysWhatItsNumbersRestOn(t *testing.T) {
	row := func(name string, err, base float64, held, fitted bool) AccuracyRow {
		r := AccuracyRow{Case: "put", Row: name, Unit: "us", Measured: 10, Simulated: 10 * (1 + err), Error: err, HeldOut: held, Fitted: fitted, Band: 1, Inside: true}
		if base != 0 {
			r.Baseline, r.BaseError = 10*(1+base), base
		}
		return r
	}
	a := &Accuracy{Files: []AccuracyFile{{
		File: "a.yaml", Title: "puts", Params: 1, Fitted: 2,
		Rows: []AccuracyRow{
			row("f1", 0.01, 0, false, true), row("f2", 0.01, 0, false, true),
			row("won", 0.01, -0.2, true, false), row("lost", -0.3, 0.2, true, false), row("tie", 0.1, -0.100004, true, false), row("none", 0.5, 0, true, false),
		},
		Overrides: []document.Override{{Cases: []string{"put", "ring"}, Machine: "m", Path: "urma.window", Value: "64 KiB", Own: "0 B"}, {Cases: []string{"put"}, Machine: "m", Path: "x", Value: "1"}},
		Baselines: []KV{{Key: "put", Value: "a line in bytes"}}, Odd: []string{"lines 3 and 4 differ"},
	}, {
		File: "b.yaml", Title: "gets", Rows: []AccuracyRow{row("g1", 0.4, 0, false, false)},
		Kept: []document.KeptValue{{Label: "urma.gap", Value: "1 us", Why: "assumed"}, {Label: "software", Why: "no file says it"}},
	}, {File: "c.yaml", Title: "three", Params: 3, Fitted: 2, Rows: []AccuracyRow{row("f1", 0, 0, false, true), row("f2", 0, 0, false, true)}}}}
	var b bytes.Buffer
	require.NoError(t, a.Write(&b, Text, Options{Width: 400}))
	text := b.String()
	for _, want := range []string{
		"a.yaml: 1 fitted parameter for 2 fitted rows; 2 values of the machine set for its cases\n",
		"set for put, ring: urma.window = 64 KiB, on m, which has 0 B\n",
		"set for put: x = 1, on m, which says nothing of it\n",
		"baseline of put: a line in bytes\n",
		"the table: lines 3 and 4 differ\n",
		"largest error of fitted rows n/a, of held-out rows n/a, of rows that nothing was fitted to 40 %\n",
		"not from a fit to these rows: urma.gap = 1 us, assumed\n",
		"not from a fit to these rows: software, no file says it\n",
		"4 fitted parameters for 4 fitted rows, and 2 values of machines set for cases; files with no fewer parameters than fitted rows: 1 of 3\n",
		"held out: 4 rows, of which 3 can have a baseline; nearer than it: 1, as near: 1, farther: 1\n",
		"farther than the baseline: put, lost (-30.00 % against 20.00 %)\n",
		"as near as the baseline: put, tie (10.00 % against -10.00 %)\n",
	} {
		assert.Contains(t, text, want)
	}
	assert.Regexp(t, `put +g1 .* 40.00 +not fitted `, text)
	assert.Equal(t, 2, strings.Count(text, "warning: no row is held out"))
	assert.Equal(t, 1, strings.Count(text, "warning: no fewer parameters than fitted rows"))
}

func TestAccuracyAsCSVAndJSONHasTheExactValues(t *testing.T) {
	a := accuracyFixture()
	var b bytes.Buffer
	require.NoError(t, a.Write(&b, CSV, Options{}))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	assert.Equal(t, []string{"a.yaml", "put", "bytes 64", "GB/s", "50", "49.5", "-0.01", "true", "false", "0.02", "true", "45", "-0.1"}, rows[2])
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
		Fit:    RowErrors{N: 1, P50: 0.05, P90: 0.05, Max: 0.05, RMS: 0.05}, Warnings: []string{"careful"}, Wrote: []string{"o.yaml", "o.png"},
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
	assert.Regexp(t, `put +bytes 8 .* fitted, OUTSIDE +2 +9 +-10.00`, text)
	assert.Contains(t, text, "warning: 1 row outside the band")
	assert.Contains(t, text, "wrote o.yaml, o.png")
}
