package fit_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
	"pldperf/workloads/fit"
)

func evaluate(t *testing.T, file string, opt fit.Options) *fit.Evaluation {
	t.Helper()
	s, err := fit.Load(file)
	require.NoError(t, err)
	opt.Workers = 1
	e, err := s.Evaluate(context.Background(), opt)
	require.NoError(t, err)
	return e
}

func TestRowsAreFittedOnlyWhereValuesComeFromAFitToThem(t *testing.T) {
	file := folder(t, "fit.yaml", puts, "puts.csv", putTable)
	before := evaluate(t, file, fit.Options{})
	assert.Equal(t, []int{0, 0}, []int{before.Params, before.Fitted})
	for _, r := range before.Rows {
		assert.False(t, r.Fitted)
	}
	require.Len(t, before.Kept, 2)
	assert.Equal(t, fit.Kept{Label: "machine.fabric.mesh.efficiency", Value: "94.8214 %", Why: before.Kept[0].Why}, before.Kept[0])
	assert.Contains(t, before.Kept[0].Why, "fitted to other data: a5_urma_p2p_hcomm_put")
	assert.Equal(t, fit.Kept{Label: "call.software.put", Why: "no file says it"}, before.Kept[1])
	assert.Greater(t, -before.Rows[0].Error, 0.3)

	c := calibrate(t, file, fit.Options{})
	overlay, err := c.Overlay("")
	require.NoError(t, err)
	name := filepath.Join(filepath.Dir(file), "overlay.yaml")
	require.NoError(t, os.WriteFile(name, overlay, 0o644))
	starts, err := fit.Starts("calls", c.Calls(""))
	require.NoError(t, err)
	after := evaluate(t, file, fit.Options{Machine: name, Start: starts})
	assert.Equal(t, []int{2, 3}, []int{after.Params, after.Fitted})
	assert.Empty(t, after.Kept)
	assert.Equal(t, c.Rows, after.Rows, "what calibrate shows is what its output gives")
	assert.True(t, after.Rows[0].Fitted)
	assert.False(t, after.Rows[2].Fitted, "held out")

	named := strings.Replace(strings.Replace(puts, "950dt-64", name, 1), "unit: B}}", "unit: B}, call.software.put: 12.2 us}", 1)
	half := evaluate(t, folder(t, "fit.yaml", named, "puts.csv", putTable), fit.Options{})
	assert.Equal(t, 1, half.Params, "an overlay's comments name the table that it was fitted to")
	assert.Equal(t, []fit.Kept{{Label: "call.software.put", Value: "12.2 us", Why: "set by the case"}}, half.Kept)
}

func TestAnEarlierFitOfAnotherMachineOrAnotherFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "overlay.yaml")
	require.NoError(t, os.WriteFile(name, []byte("based_on: 950pr-64\nname: x\n"), 0o644))
	s, err := fit.Load(folder(t, "fit.yaml", puts, "puts.csv", putTable))
	require.NoError(t, err)
	for _, x := range []struct {
		opt  fit.Options
		want string
	}{
		{fit.Options{Machine: name}, "overlay.yaml is based on 950pr-64, but "},
		{fit.Options{Start: map[string]string{"call.software.first": "1 us"}}, `a value of "call.software.first", which is no parameter of `},
		{fit.Options{Start: map[string]string{"call.software.put": "1 GB/s"}}, `want a time, got "1 GB/s"`},
	} {
		_, err := s.Calibrate(context.Background(), x.opt)
		assert.ErrorContains(t, err, x.want)
		_, err = s.Evaluate(context.Background(), x.opt)
		assert.ErrorContains(t, err, x.want)
	}
}

func TestWhatCasesSetOfAMachineIsListed(t *testing.T) {
	own := strings.Replace(puts, "workload: {ranks: 2,", "workload: {machine: {preset: 950dt-64, fabric: {quantum: 256 KiB}, urma: {window: 0 B}}, ranks: 2,", 1)
	own = strings.Replace(own, "set: {", "set: {machine.fabric.mesh.latency: {column: us, values: {\"36.0\": 1 us, \"95\": 0.35 us, \"331\": 2 us, \"1280\": 2 us}}, ", 1)
	e := evaluate(t, folder(t, "fit.yaml", own, "puts.csv", putTable), fit.Options{})
	put := []string{"put"}
	assert.Equal(t, []fit.Override{
		{Cases: put, Machine: "950dt-64", Path: "fabric.quantum", Value: "256 KiB", Own: "16 KiB"},
		{Cases: put, Machine: "950dt-64", Path: "fabric.mesh.latency", Value: "1 us", Own: "0.35 us"},
		{Cases: put, Machine: "950dt-64", Path: "fabric.mesh.latency", Value: "2 us", Own: "0.35 us"},
	}, e.Overrides, "0 B and 0.35 us are the machine's own")
}

func TestOneRowOrOneXGivesNoLineAndGroupsShareOne(t *testing.T) {
	one := strings.Replace(puts, "[{bytes: 16777216}]", "[{bytes: 16777216}, {bytes: 4194304}, {bytes: 67108864}]", 1)
	e := evaluate(t, folder(t, "fit.yaml", one, "puts.csv", putTable), fit.Options{})
	assert.Equal(t, []fit.Line{{Cases: []string{"put"}, Kind: "bytes", Column: "bytes", Rows: 1, Why: "one row is fitted"}}, e.Lines)
	for _, r := range e.Rows {
		assert.Zero(t, r.Baseline)
	}
	same := strings.Replace(puts, "baseline: {column: bytes}", "baseline: {column: x}", 1)
	e = evaluate(t, folder(t, "fit.yaml", same, "puts.csv", strings.NewReplacer("us\n", "us,x\n", "36.0", "36,8", "95", "95,8", "331", "331,9", "1280", "1280,8").Replace(putTable)), fit.Options{})
	assert.Equal(t, "no line: all fitted rows have one x", e.Lines[0].Text())

	second := strings.Replace(putCases[len("cases:\n"):], "name: put", "name: again", 1)
	second = strings.Replace(second, "baseline: {column: bytes}", "baseline: {column: bytes, group: put}", 1)
	e = evaluate(t, folder(t, "fit.yaml", puts+second, "puts.csv", putTable), fit.Options{})
	require.Len(t, e.Lines, 1, "a group may be called like a case")
	assert.Equal(t, "a line in bytes, fitted to 6 rows", e.Lines[0].Text())
	assert.Equal(t, e.Rows[2].Baseline, e.Rows[6].Baseline)

	_, err := fit.Load(folder(t, "fit.yaml", puts+strings.Replace(second, "bytes, group", "bytes, kind: log2, group", 1), "puts.csv", putTable))
	assert.ErrorContains(t, err, "of the same group has a line of kind bytes")
}

func TestAnOverlayHasWhatItsExplanationSets(t *testing.T) {
	rivals := strings.Replace(put, "cases:", `alternatives:
  - name: wire
    set: {machine.fabric.mesh.ingress_cap: unlimited}
    params: [{path: machine.fabric.mesh.latency, low: 0.1 us, high: 20 us, in: [put], cause: the wire}]
cases:`, 1)
	table := "form,bytes,us\nhcomm_put,1024,30\nhcomm_all_to_all,1024,45\nhcomm_ring,65536,32\n"
	c := calibrate(t, folder(t, "fit.yaml", rivals, "put.csv", table), fit.Options{})
	text, err := c.Overlay("")
	require.NoError(t, err)
	doc, err := configs.Load("overlay", text)
	require.NoError(t, err)
	assert.Equal(t, "unlimited", doc.At("fabric.mesh.ingress_cap").Text())
	assert.Nil(t, configs.CheckSourced(doc, "based_on", "name", "title"))
	assert.Contains(t, string(text), "# fit: set, not fitted: wire")
	assert.Contains(t, string(text), "; of put", "which cases a value belongs to")
}

func TestEveryShippedFileOfCasesVerifies(t *testing.T) {
	for _, name := range configs.Names(configs.Measured) {
		file, _, err := configs.Read(configs.Measured, name)
		require.NoError(t, err)
		if filepath.Ext(file) != ".yaml" {
			continue
		}
		s, err := fit.Load(file)
		require.NoError(t, err)
		odd, err := s.Verify()
		require.NoError(t, err)
		assert.Empty(t, odd, name)
	}
}
