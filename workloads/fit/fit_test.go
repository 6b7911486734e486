package fit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
	"pldperf/engine"
	"pldperf/workloads/fit"
)

// folder writes files of a test and returns the path of the first.
func folder(t *testing.T, files ...string) string {
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o644))
	}
	return filepath.Join(dir, files[0])
}

// launch is a fit of the two launch parameters to a table of grids and times.
const launch = `
title: launch
machine: 950dt-64
noise: 0.1 %
params:
  - {path: machine.aiv.launch.first, low: 0.1 us, high: 20 us, cause: dispatch of the first block}
  - {path: machine.aiv.launch.block, low: 1 ns, high: 500 ns, cause: dispatch of each further block}
cases:
  - name: launch
    data: launch.csv
    held_out: [{role: held}]
    workload: {ranks: 2, call: {op: micro, form: launch}}
    set: {call.grid: {column: blocks}}
    measured: {column: us, unit: us}
    baseline: {column: blocks}
    band: 5 %
`

// launched is what the model says of a launch, in us.
func launched(first, block engine.Duration, blocks int) float64 {
	return (first + engine.Duration(blocks-1)*block).Micros()
}

func launchTable(us func(blocks int) float64, held ...int) string {
	b := strings.Builder{}
	b.WriteString("# made by the simulator\nblocks,us,role\n")
	for _, n := range []int{1, 30, 200, 1000} {
		fmt.Fprintf(&b, "%d,%.6f,fit\n", n, us(n))
	}
	for _, n := range held {
		fmt.Fprintf(&b, "%d,%.6f,held\n", n, us(n))
	}
	return b.String()
}

func calibrate(t *testing.T, file string, opt fit.Options) *fit.Calibration {
	s, err := fit.Load(file)
	require.NoError(t, err)
	opt.Workers, opt.Evaluations = 2, 80
	c, err := s.Calibrate(context.Background(), opt)
	require.NoError(t, err)
	return c
}

func within(t *testing.T, p fit.Fitted, truth engine.Duration) {
	t.Helper()
	var low, high engine.Duration
	require.NoError(t, low.UnmarshalText([]byte(p.Low)))
	require.NoError(t, high.UnmarshalText([]byte(p.High)))
	assert.LessOrEqual(t, low, truth, p.Label)
	assert.GreaterOrEqual(t, high, truth, p.Label)
	assert.Less(t, float64(high-low), 0.05*float64(truth), "%s: an interval that is not narrow shows little", p.Label)
}

func TestAFitFindsTheTruthInDataThatTheSimulatorMade(t *testing.T) {
	first, block := 2345*engine.Nanosecond, 77*engine.Nanosecond
	table := launchTable(func(n int) float64 { return launched(first, block, n) }, 64, 500)
	c := calibrate(t, folder(t, "fit.yaml", launch, "launch.csv", table), fit.Options{})
	require.Len(t, c.Params, 2)
	within(t, c.Params[0], first)
	within(t, c.Params[1], block)
	for _, p := range c.Params {
		assert.True(t, p.Known, p.Label)
	}
	assert.Empty(t, c.Warnings)
	assert.Equal(t, []int{4, 2}, []int{c.Fit.N, c.HeldOut.N})
	assert.Less(t, c.Fit.Max, 0.001)
	assert.Less(t, c.HeldOut.Max, 0.001, "the model that made the data predicts rows that were held out")
	assert.Equal(t, []string{"1.22 us", "14.8 ns"}, []string{c.Params[0].Start, c.Params[1].Start}, "the machine's own values are the first guess")
}

func TestHeldOutRowsNeverInfluenceAFit(t *testing.T) {
	us := func(n int) float64 {
		return launched(1500*engine.Nanosecond, 20*engine.Nanosecond, n) * (1 + 0.01*float64(n%3))
	}
	right := calibrate(t, folder(t, "fit.yaml", launch, "launch.csv", launchTable(us, 64, 500)), fit.Options{})
	table := launchTable(us) + "64,900,held\n500,0.001,held\n"
	wrong := calibrate(t, folder(t, "fit.yaml", launch, "launch.csv", table), fit.Options{})
	assert.Equal(t, right.Params, wrong.Params)
	assert.Equal(t, right.Fit, wrong.Fit)
	assert.NotEqual(t, right.HeldOut, wrong.HeldOut)
	assert.Positive(t, right.Fit.Max, "noise, so that the fit has a choice")
}

func TestAParameterThatNoRowReactsToIsFlaggedAndStays(t *testing.T) {
	file := strings.Replace(launch, "cases:", "  - {path: machine.urma.gather, low: 1 ns, high: 10 us, cause: nothing here}\ncases:", 1)
	us := func(n int) float64 { return launched(1500*engine.Nanosecond, 20*engine.Nanosecond, n) }
	c := calibrate(t, folder(t, "fit.yaml", file, "launch.csv", launchTable(us, 64)), fit.Options{})
	p := c.Params[2]
	assert.False(t, p.Known)
	assert.Equal(t, p.Start, p.Value)
	assert.Equal(t, []string{"1 ns", "10 us"}, []string{p.Low, p.High}, "all that is known are its bounds")
	assert.Zero(t, p.RowsMoved)
	require.Len(t, c.Warnings, 1)
	assert.Contains(t, c.Warnings[0], "machine.urma.gather: the fitted rows do not react to it")
}

// put is a fit of two parts of an API's cost to single puts, which have both of them.
const put = `
title: put
machine: 950dt-64
params:
  - {path: call.software.first, low: 1 us, high: 50 us, cause: once}
  - {path: call.software.put, low: 1 us, high: 50 us, cause: each put}
cases:
  - name: put
    data: put.csv
    workload: {ranks: 3, call: {op: micro, form: hcomm_put, dtype: INT8}}
    set: {call.form: {column: form}, call.message: {column: bytes, unit: B}}
    measured: {column: us, unit: us}
    clock: {covers: core}
    baseline: {column: bytes}
    band: 5 %
`

func TestOnlyACombinationIsKnownWhereEveryRowHasBoth(t *testing.T) {
	one := "form,bytes,us\nhcomm_put,1024,30\nhcomm_put,65536,31.3\nhcomm_ring,1024,30\n"
	c := calibrate(t, folder(t, "fit.yaml", put, "put.csv", one), fit.Options{})
	assert.False(t, c.Params[0].Known)
	assert.False(t, c.Params[1].Known)
	assert.Contains(t, strings.Join(c.Warnings, "\n"), "call.software.first, call.software.put: the fitted rows know only a combination of them")

	several := one + "hcomm_all_to_all,1024,45\n" // a second put tells them apart
	c = calibrate(t, folder(t, "fit.yaml", put, "put.csv", several), fit.Options{})
	assert.True(t, c.Params[0].Known)
	assert.True(t, c.Params[1].Known)
	assert.NotContains(t, strings.Join(c.Warnings, "\n"), "only a combination")
}

func TestAFitThatBeginsAtItsOwnOutcomeEndsThere(t *testing.T) {
	us := func(n int) float64 {
		return launched(3*engine.Microsecond, 31*engine.Nanosecond, n) * (1 + 0.02*float64(n%3))
	}
	file := folder(t, "fit.yaml", launch, "launch.csv", launchTable(us, 64))
	first := calibrate(t, file, fit.Options{})
	overlay, err := first.Overlay("2026-08")
	require.NoError(t, err)
	name := filepath.Join(filepath.Dir(file), "overlay.yaml")
	require.NoError(t, os.WriteFile(name, overlay, 0o644))

	second := calibrate(t, file, fit.Options{Machine: name})
	again, err := second.Overlay("2026-08")
	require.NoError(t, err)
	assert.Equal(t, string(overlay), string(again))
	for i := range first.Params {
		assert.Equal(t, first.Params[i].Value, second.Params[i].Start)
		assert.Equal(t, first.Params[i].Value, second.Params[i].Value)
	}
	assert.NotEqual(t, first.Params[0].Start, first.Params[0].Value, "the first fit has moved")
	assert.Equal(t, first.Rows, second.Rows)
}

func TestAFitBeginsAtItsOutcomeAlsoWhereACaseHasAMachineOfItsOwn(t *testing.T) {
	own := strings.Replace(launch, "workload: {ranks: 2,", "workload: {machine: 950pr-64, ranks: 2,", 1)
	us := func(n int) float64 {
		return launched(3*engine.Microsecond, 31*engine.Nanosecond, n) * (1 + 0.02*float64(n%3))
	}
	file := folder(t, "fit.yaml", own, "launch.csv", launchTable(us, 64))
	first := calibrate(t, file, fit.Options{})
	overlay, err := first.Overlay("")
	require.NoError(t, err)
	name := filepath.Join(filepath.Dir(file), "overlay.yaml")
	require.NoError(t, os.WriteFile(name, overlay, 0o644))
	second := calibrate(t, file, fit.Options{Machine: name})
	for i := range first.Params {
		assert.NotEqual(t, first.Params[i].Start, first.Params[i].Value)
		assert.Equal(t, first.Params[i].Value, second.Params[i].Start)
		assert.Equal(t, first.Params[i].Value, second.Params[i].Value)
	}
}

func TestARateCanBeOfManyMessagesAndInBits(t *testing.T) {
	// 8 WQEs of 1 KiB in 8 * (1.226 + 0.906 + 0.43) us.
	s, err := fit.Load(folder(t, "cases.yaml", `
machine: 950dt-64
cases:
  - name: rate
    data: wqe.csv
    workload: {ranks: 2, call: {op: micro, form: wqe_issue, dtype: INT8, message: 1 KiB, wqes: 8}}
    measured: {column: gbps, unit: Gbit/s, bytes: 1024, times: {column: wqes}}
    clock: {covers: core}
    baseline: {kind: none}
    band: 1 %
`, "wqe.csv", "wqes,gbps\n8,3.1975\n"))
	require.NoError(t, err)
	e, err := s.Evaluate(context.Background(), fit.Options{Workers: 1})
	require.NoError(t, err)
	assert.InEpsilon(t, 8*1024*8/(8*2.562e-6)/1e9, e.Rows[0].Simulated, 1e-4)
}

func TestAnOverlayIsAMachineThatSaysWhereItsValuesComeFrom(t *testing.T) {
	us := func(n int) float64 { return launched(3*engine.Microsecond, 31*engine.Nanosecond, n) }
	c := calibrate(t, folder(t, "fit.yaml", launch, "launch.csv", launchTable(us, 64)), fit.Options{})
	text, err := c.Overlay("2026-08")
	require.NoError(t, err)
	doc, err := configs.Load("overlay", text)
	require.NoError(t, err)
	assert.Equal(t, "950dt-64", doc.At("based_on").Text())
	assert.Nil(t, configs.CheckSourced(doc, "based_on", "name", "title"))
	for _, p := range doc.Params("aiv") {
		assert.Equal(t, configs.Fitted, p.Kind)
		assert.Contains(t, p.Source, "launch.csv; 2 parameters, 4 rows, error P50 ")
		assert.Contains(t, p.Source, "2026-08")
	}
	assert.Nil(t, c.Calls(""), "no field of a call was fitted")

	c = calibrate(t, folder(t, "fit.yaml", put, "put.csv", "form,bytes,us\nhcomm_put,1024,30\nhcomm_all_to_all,1024,45\nhcomm_ring,2048,30\n"), fit.Options{})
	text, err = c.Overlay("")
	require.NoError(t, err)
	assert.False(t, c.OfMachine())
	doc, err = configs.Load("overlay", text)
	require.NoError(t, err)
	assert.Equal(t, []string{"based_on", "name", "title"}, doc.Keys(), "the machine as it was")
	starts, err := fit.Starts("calls", c.Calls(""))
	require.NoError(t, err)
	assert.Equal(t, c.Params[0].Value, starts["call.software.first"])
	assert.Equal(t, c.Params[1].Value, starts["call.software.put"])
}

func TestRivalExplanationsThatFitAlikeAreSaidToBeUndecided(t *testing.T) {
	rivals := strings.Replace(put, "cases:", `alternatives:
  - name: wire
    params: [{path: machine.fabric.mesh.latency, low: 0.1 us, high: 20 us, cause: the wire}]
  - name: queue
    params: [{path: machine.urma.fetch.latency, low: 0.1 us, high: 20 us, cause: the queue}]
cases:`, 1)
	table := "form,bytes,us\nhcomm_put,1024,30\nhcomm_all_to_all,1024,45\nhcomm_ring,65536,32\n"
	c := calibrate(t, folder(t, "fit.yaml", rivals, "put.csv", table), fit.Options{})
	require.Len(t, c.Alternatives, 2)
	assert.Contains(t, strings.Join(c.Warnings, "\n"), `the fitted rows cannot tell "wire" from "queue"`)
	assert.Len(t, c.Params, 3)
	assert.Equal(t, c.Alternatives[0].Params, c.Params, "the first one is written")
}

func TestEvaluationComparesWhatTheClockCovered(t *testing.T) {
	// 8 WQEs of 1 KiB with a doorbell each: 8 * (1.226 + 0.906) us of issue, then 8 CQEs.
	file := folder(t, "cases.yaml", `
machine: 950dt-64
cases:
  - name: issue
    data: wqe.csv
    workload: {ranks: 2, call: {op: micro, form: wqe_issue, dtype: INT8, message: 1 KiB, wqes: 8}}
    measured: {column: issue_ns, unit: ns}
    clock: {covers: reasons, reasons: [simt_build, doorbell], per: {column: wqes}}
    baseline: {kind: none}
    band: 0.1 %
  - name: rate
    data: wqe.csv
    workload: {ranks: 2, call: {op: micro, form: wqe_issue, dtype: INT8, message: 1 KiB, wqes: 8}}
    measured: {column: gbs, unit: GB/s, bytes: {column: bytes}}
    clock: {covers: core}
    baseline: {kind: none}
    band: 1 %
  - name: launch too
    data: wqe.csv
    workload: {ranks: 2, call: {op: micro, form: wqe_issue, dtype: INT8, message: 1 KiB, wqes: 8}}
    measured: {column: us, unit: us}
    clock: {plus: 2 us}
    baseline: {kind: none}
    band: 1 %
`, "wqe.csv", "wqes,issue_ns,bytes,gbs,us\n8,2132,8192,0.4,20\n")
	s, err := fit.Load(file)
	require.NoError(t, err)
	e, err := s.Evaluate(context.Background(), fit.Options{Workers: 2})
	require.NoError(t, err)
	require.Len(t, e.Rows, 3)
	assert.InDelta(t, 2132, e.Rows[0].Simulated, 1e-6)
	assert.True(t, e.Rows[0].Inside)
	core := 8192 / e.Rows[1].Simulated / 1e3 // us
	assert.InDelta(t, core+1.22+2, e.Rows[2].Simulated, 1e-6, "elapsed has the launch, and what the measurement adds")
	assert.InDelta(t, 8*(2.132+0.43), core, 1e-6, "issue, then a drain that hides the way of the last WQE")
}

func TestBaselinesAreFittedToTheSameRows(t *testing.T) {
	// Held-out rows lie on no line through the fitted ones.
	table := "blocks,us,role\n1,10,fit\n11,20,fit\n21,90,held\n"
	s, err := fit.Load(folder(t, "fit.yaml", launch, "launch.csv", table))
	require.NoError(t, err)
	e, err := s.Evaluate(context.Background(), fit.Options{Workers: 1})
	require.NoError(t, err)
	assert.InDelta(t, 10, e.Rows[0].Baseline, 1e-9)
	assert.InDelta(t, 20, e.Rows[1].Baseline, 1e-9)
	assert.InDelta(t, 30, e.Rows[2].Baseline, 1e-9)
	assert.InDelta(t, 30.0/90-1, e.Rows[2].BaseError, 1e-9)
	assert.Equal(t, []int{0, 0}, []int{e.Params, e.Fitted}, "the machine's values were fitted to other tables")
}

func TestWhatIsWrongWithAFileIsSaidWhereItStands(t *testing.T) {
	table := launchTable(func(n int) float64 { return float64(n) }, 64)
	for _, x := range []struct{ from, to, want string }{
		{"column: us,", "column: ms,", `fit.yaml:14:15: cases.0.measured: no column "ms"; there are blocks, us, role`},
		{"{role: held}", "{role: nobody}", "held_out: no row of the case is such"},
		{"band: 5 %", "bands: 5 %", `did you mean "band"?`},
		{"low: 0.1 us", "low: 0.1", `params.0.low: "0.1" is no quantity`},
		{"high: 20 us", "high: 20 GB/s", "want a time as low is"},
		{"call.grid: {column: blocks}", "call.grid: {column: block}", `the table has no column "block"`},
		{"path: machine.aiv.launch.first", "path: machine.aiv.launch.furst", `did you mean "first"?`},
		{"data: launch.csv", "data: lunch.csv", "lunch.csv"},
	} {
		s, err := fit.Load(folder(t, "fit.yaml", strings.Replace(launch, x.from, x.to, 1), "launch.csv", table))
		if err == nil {
			_, err = s.Calibrate(context.Background(), fit.Options{})
		}
		require.Error(t, err, x.to)
		assert.Contains(t, err.Error(), x.want, x.to)
	}
}
