package fit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/workloads/fit"
)

// puts is a fit of a machine's and a call's parameter to puts of several sizes.
const puts = `
title: puts
machine: 950dt-64
params:
  - {path: machine.fabric.mesh.efficiency, low: 80 %, high: 100 %, cause: share}
  - {path: call.software.put, low: 1 us, high: 30 us, cause: software}
cases:
  - name: put
    data: puts.csv
    held_out: [{bytes: 16777216}]
    workload: {ranks: 2, call: {op: micro, form: hcomm_put, dtype: INT8}}
    set: {call.message: {column: bytes, unit: B}}
    measured: {column: us, unit: us}
    clock: {covers: core}
    baseline: {column: bytes}
    band: 2 %
`

const putTable = "# my lab\nbytes,us\n1048576,36.0\n4194304,95\n16777216,331\n67108864,1280\n"

// all calls whatever reads a spec, and returns the first error of each.
func all(t *testing.T, file string) (errs map[string]error) {
	t.Helper()
	errs = map[string]error{}
	s, err := fit.Load(file)
	if err != nil {
		return map[string]error{"load": err}
	}
	_, errs["check"] = s.Verify()
	_, errs["validate"] = s.Evaluate(context.Background(), fit.Options{Workers: 1})
	_, errs["calibrate"] = s.Calibrate(context.Background(), fit.Options{Workers: 1, Evaluations: 2})
	return errs
}

func TestWhatIsWrongIsFoundByEveryReaderOfAFileBeforeItSimulates(t *testing.T) {
	for _, x := range []struct{ from, to, cell, want string }{
		{"{column: us, unit", "{column: uss, unit", "95", `fit.yaml:13:15: cases.0.measured: no column "uss"; there are bytes, us`},
		{"{column: bytes, unit: B}", "{column: bytes}", "95", `fit.yaml:12:25: cases.0.set."call.message": line 3 of puts.csv: "1048576" has no unit`},
		{"low: 80 %, high: 100 %", "low: 80, high: 100", "95", `fit.yaml:5:49: params.0.low: machine.fabric.mesh.efficiency: "80" has no unit`},
		{"high: 100 %", "high: 200 %", "95", `fit.yaml:5:61: params.0.high: machine.fabric.mesh.efficiency: 200 % is not above 0 %`},
		{"mesh.efficiency", "mesh.eficiency", "95", `fit.yaml:5:12: params.0.path: machine.fabric.mesh.eficiency: unknown key; did you mean "efficiency"?`},
		{"", "", "NaN", `fit.yaml:13:15: cases.0.measured: line 4 of puts.csv: want a number above 0, got "NaN"`},
		{"", "", "inf", `line 4 of puts.csv: want a number above 0, got "inf"`},
		{"", "", "-95", `line 4 of puts.csv: want a number above 0, got "-95"`},
		{"", "", "fast", `line 4 of puts.csv: want a number above 0, got "fast"`},
		{"machine.fabric.mesh.efficiency", `""`, "95", "params.0.path: the path is empty"},
		{"machine: 950dt-64", "machine: 950dt-6", "95", `fit.yaml:3:10: machine: no file "950dt-6"`},
		{"bytes, unit: B", "byte, unit: B", "95", `the table has no column "byte"`},
		{"ranks: 2, call", "ranks: 2, cal", "95", `did you mean "call"?`},
		{"covers: core", "covers: reasons, reasons: [mte4]", "95", `cases.0.clock.reasons.0: a block's account has no reason "mte4"`},
		{putCases, "cases: []\n", "95", "cases: there is no case"},
		{"", "", `95"`, `cases.0.data: puts.csv`},
	} {
		file := folder(t, "fit.yaml", strings.Replace(puts, x.from, x.to, 1), "puts.csv", strings.Replace(putTable, "95", x.cell, 1))
		for who, err := range all(t, file) {
			if assert.Error(t, err, "%s of %s%s", who, x.to, x.cell) {
				assert.Contains(t, strings.ReplaceAll(err.Error(), strings.TrimSuffix(file, "fit.yaml"), ""), x.want, who)
			}
		}
	}
}

var putCases = puts[strings.Index(puts, "cases:"):]

func TestTheXOfALineMustBeANumber(t *testing.T) {
	for _, x := range []struct{ baseline, cell, want string }{
		{"{column: kind}", "odd", `puts.csv: want a number, got "odd"`},
		{"{column: kind}", "NaN", `want a number, got "NaN"`},
		{"{column: kind, kind: log2}", "0", "want a number above 0"},
	} {
		table := "# my lab\nbytes,us,kind\n1048576,36.0," + x.cell + "\n4194304,95,1\n16777216,331,1\n"
		for who, err := range all(t, folder(t, "fit.yaml", strings.Replace(puts, "{column: bytes}\n", x.baseline+"\n", 1), "puts.csv", table)) {
			assert.ErrorContains(t, err, x.want, who)
		}
	}
}

func TestAllRowsHeldOutLeaveNothingToFitToButSomethingToCompare(t *testing.T) {
	errs := all(t, folder(t, "fit.yaml", strings.Replace(puts, "{bytes: 16777216}", "{}", 1), "puts.csv", putTable))
	assert.NoError(t, errs["check"])
	assert.NoError(t, errs["validate"])
	assert.ErrorContains(t, errs["calibrate"], "every row is held out, so there is nothing to fit to")
}

func TestAProblemWithAValueOfTheTableNamesItsLineAlsoBehindComments(t *testing.T) {
	table := "\ufeff# one\n# two\nbytes,us\n1048576,36\n\n4e6,95\n16777216,331\n"
	file := folder(t, "fit.yaml", puts, "puts.csv", table)
	for who, err := range all(t, file) {
		assert.ErrorContains(t, err, `line 6 of puts.csv: "4e6 B"`, who)
	}
	huge := strings.Replace(table, "4e6", "671088640000000", 1)
	for who, err := range all(t, folder(t, "fit.yaml", puts, "puts.csv", huge)) {
		assert.ErrorContains(t, err, "one WQE moves at most 256 MiB (line 6 of puts.csv)", who)
	}
	good := strings.Replace(table, "4e6", "4194304", 1)
	for who, err := range all(t, folder(t, "fit.yaml", puts, "puts.csv", good)) {
		assert.NoError(t, err, "%s: a byte order mark is no part of a name", who)
	}
	twice := strings.Replace(good, "bytes,us", "us,us", 1)
	for who, err := range all(t, folder(t, "fit.yaml", puts, "puts.csv", twice)) {
		assert.ErrorContains(t, err, `two columns are called "us"`, who)
	}
}

func TestLinesLeftOutAndRowsThatContradictEachOtherAreNamed(t *testing.T) {
	file := folder(t, "fit.yaml", puts, "puts.csv", putTable+"1048576,72\n8388608,\n16777216,400\n")
	c := calibrate(t, file, fit.Options{})
	said := strings.Join(c.Warnings, "\n")
	assert.Contains(t, said, `put: line 8 of puts.csv left out: nothing in column "us"`)
	assert.Contains(t, said, "put: lines 3 and 7 of puts.csv are one point to the simulation, and measured 36 and 72 us: no fit is nearer to both than 41 %")
	assert.NotContains(t, said, "331 and 400", "rows that are held out contradict no fit")
	s, err := fit.Load(file)
	require.NoError(t, err)
	odd, err := s.Verify()
	require.NoError(t, err)
	assert.Len(t, odd, 2)
	e, err := s.Evaluate(context.Background(), fit.Options{Workers: 1})
	require.NoError(t, err)
	assert.Equal(t, odd, e.Odd)
	assert.Contains(t, said, "machine.fabric.mesh.efficiency: the rows know no more of it than its bounds, 80 % to 100 %")
	assert.NotContains(t, said, "factor of 10", "no factor is larger than the bounds allow")
	assert.False(t, c.Params[0].Known)
}

func TestASearchThatIsCutShortSaysSo(t *testing.T) {
	file := folder(t, "fit.yaml", puts, "puts.csv", putTable)
	s, err := fit.Load(file)
	require.NoError(t, err)
	for evaluations, cut := range map[int]bool{1: true, 0: false} {
		c, err := s.Calibrate(context.Background(), fit.Options{Workers: 2, Evaluations: evaluations})
		require.NoError(t, err)
		assert.Equal(t, cut, strings.Contains(strings.Join(c.Warnings, "\n"), "before it settled"), evaluations)
	}
}

func TestAParameterThatNothingReadsGetsOneWarning(t *testing.T) {
	unused := strings.Replace(puts, "cases:", "  - {path: machine.fabric.clos.window, low: 1 KiB, high: 1 MiB, cause: nothing here}\ncases:", 1)
	c := calibrate(t, folder(t, "fit.yaml", unused, "puts.csv", putTable), fit.Options{})
	n := 0
	for _, w := range c.Warnings {
		if strings.HasPrefix(w, "machine.fabric.clos.window") {
			n++
		}
	}
	assert.Equal(t, 1, n, "it is at a bound, because it stays at what the machine has: %v", c.Warnings)
}

// steps is a window that lets one WQE of 64 KiB go at a time, or several.
const steps = `
machine: 950dt-64
noise: 1 %
params:
  - {path: machine.urma.window, low: 4 KiB, high: 1 MiB, start: 64 KiB, cause: bytes on their way}
cases:
  - name: completion
    data: wqe.csv
    workload: {ranks: 2, call: {op: micro, form: wqe_issue, dtype: INT8, message: 64 KiB, wqes: 64, commit: last, wqe_sges: 1}}
    measured: {column: us, unit: us}
    clock: {covers: core}
    baseline: {kind: none}
    band: 5 %
`

func TestAStepIsNotTakenForAParameterThatDoesNothing(t *testing.T) {
	s, err := fit.Load(folder(t, "fit.yaml", steps, "wqe.csv", "us\n1\n"))
	require.NoError(t, err)
	at := func(window string) float64 {
		e, err := s.Evaluate(context.Background(), fit.Options{Workers: 1, Start: map[string]string{"machine.urma.window": window}})
		require.NoError(t, err)
		return e.Rows[0].Simulated
	}
	small, large := at("64 KiB"), at("1 MiB")
	require.Greater(t, small, 1.1*large, "the window is a switch")
	require.InEpsilon(t, small, at("4 KiB"), 1e-9)

	// The measurement lies 2 % off, so that the search looks around.
	c := calibrate(t, folder(t, "fit.yaml", steps, "wqe.csv", fmt.Sprintf("us\n%f\n", 1.02*small)), fit.Options{})
	p := c.Params[0]
	assert.Equal(t, "64 KiB", p.Value, "what the rows cannot tell stays where it was")
	assert.False(t, p.Known)
	assert.Equal(t, "4 KiB", p.Low)
	assert.NotEqual(t, "1 MiB", p.High)
	said := strings.Join(c.Warnings, "\n")
	assert.Contains(t, said, "machine.urma.window: the fitted rows are the same from 4 KiB to "+p.High+" and change beyond")
	assert.Contains(t, said, "it stays at 64 KiB")
	assert.NotContains(t, said, "do not react")
}

func FuzzATableIsReadOrRefusedButNeverHalfRead(f *testing.F) {
	f.Add("bytes,us\n1048576,36\n16777216,331\n")
	f.Add("\ufeffbytes,us\r\n1048576,\"36\"\r\n16777216,NaN\r\n")
	f.Add("# only a comment")
	f.Add("us,us\n1,2\n")
	f.Fuzz(func(t *testing.T, data string) {
		s, err := fit.Load(folder(t, "fit.yaml", puts, "puts.csv", data))
		require.NoError(t, err)
		if _, err := s.Verify(); err == nil {
			assert.Contains(t, data, "us")
		}
	})
}
