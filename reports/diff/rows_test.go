package diff_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/reports/diff"
	"pldperf/reports/document"
)

func row(name string, simulated float64, inside bool) document.ValidationRow {
	return document.ValidationRow{Case: "put", Row: name, Unit: "us", Measured: 100, Simulated: simulated, Error: simulated/100 - 1, Band: 0.02, Inside: inside}
}

func validation(rows ...document.ValidationRow) diff.Named {
	return diff.Named{Name: "v", Document: &document.Document{Head: document.NewHead(document.KindValidation, ""), Validation: &document.Validation{Files: []document.ValidationFile{{File: "f", Rows: rows}}}}}
}

func calibration(value string, rows ...document.ValidationRow) diff.Named {
	c := &document.Calibration{Title: "a fit", File: "f", Rows: rows, Params: []document.FittedValue{{Label: "same", Value: "1 us"}, {Label: "rate", Value: value}}}
	return diff.Named{Name: "c", Document: &document.Document{Head: document.NewHead(document.KindCalibration, ""), Calibration: c}}
}

func TestRowsOfMeasurementsAreComparedByWhatIsSimulatedAndByTheirBands(t *testing.T) {
	a := validation(row("1", 100, true), row("2", 101.9, true), row("3", 50, false), row("gone", 1, true))
	b := validation(row("new", 1, true), row("3", 50, false), row("1", 100.5, true), row("2", 102.1, false))
	d, err := diff.Compare(a, b, diff.Tolerances{})
	require.NoError(t, err)
	assert.False(t, d.Equal)
	require.Len(t, d.Rows, 3)
	assert.Equal(t, []string{"1", "2", "3"}, []string{d.Rows[0].Row, d.Rows[1].Row, d.Rows[2].Row}, "the largest change first")
	assert.InDelta(t, 0.005, d.Rows[0].Share, 1e-12)
	assert.Equal(t, []bool{false, false, true}, []bool{d.Rows[0].Equal, d.Rows[1].Equal, d.Rows[2].Equal})
	at := func(row string) [][]document.KV {
		return [][]document.KV{{{Key: "file", Value: "f"}, {Key: "case", Value: "put"}, {Key: "row", Value: row}}}
	}
	assert.Equal(t, at("gone"), d.OnlyA)
	assert.Equal(t, at("new"), d.OnlyB)
	assert.Equal(t, 4, d.A.Points)

	var one diff.Tolerances
	require.NoError(t, one.Parse("1 %"))
	d, err = diff.Compare(a, b, one)
	require.NoError(t, err)
	assert.Equal(t, []bool{true, false, true}, []bool{d.Rows[0].Equal, d.Rows[1].Equal, d.Rows[2].Equal}, "one has left its band")
}

func TestARowThatWasMeasuredAnewIsNotTheSame(t *testing.T) {
	b := row("1", 100, true)
	b.Measured = 99
	d, err := diff.Compare(validation(row("1", 100, true)), validation(b), diff.Tolerances{})
	require.NoError(t, err)
	assert.False(t, d.Equal)
	d, err = diff.Compare(validation(row("1", 100, true)), validation(row("1", 100, true)), diff.Tolerances{})
	require.NoError(t, err)
	assert.True(t, d.Equal)
}

func TestWhatIsFittedIsAnInput(t *testing.T) {
	d, err := diff.Compare(calibration("5 GB/s", row("1", 100, true)), calibration("6 GB/s", row("1", 101, true)), diff.Tolerances{})
	require.NoError(t, err)
	assert.Equal(t, []document.Changed{{Path: "rate", A: "5 GB/s", B: "6 GB/s", FromA: "fit", FromB: "fit"}}, d.Inputs)
	assert.Len(t, d.Rows, 1)
	d, err = diff.Compare(calibration("5 GB/s", row("1", 100, true)), validation(row("1", 100, true)), diff.Tolerances{})
	require.NoError(t, err)
	assert.True(t, d.Equal, "a validation has the rows of a fit, too")
	_, err = diff.Compare(calibration("5 GB/s"), diff.Named{Name: "r", Document: &document.Document{Head: document.NewHead(document.KindSweep, ""), Sweep: &document.Sweep{}}}, diff.Tolerances{})
	assert.ErrorContains(t, err, "both must be of one kind")
}

func TestARowWithoutANumberIsRefused(t *testing.T) {
	d := &document.Diff{Rows: []document.RowPair{{File: "f", Case: "c", Row: "r", Share: math.NaN()}}}
	assert.ErrorContains(t, d.Check(), "f: c, r: NaN is no number")
}
