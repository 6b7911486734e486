package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/reports/document"
)

// results are commands that write a document, with their exit codes and its kind.
var results = []struct {
	kind document.Kind
	code int
	args string
}{
	{document.KindRun, 0, "run indexed-example"},
	{document.KindRun, 0, "run indexed-example --wqe 0:1 --perturb 2 --path=off"},
	{document.KindRun, 0, "run indexed-example --band=2"},
	{document.KindRun, 0, "run a5-persistent-reuse"},
	{document.KindRun, 1, "run f05-right-by-luck"},
	{document.KindRun, 1, "run f06-wait-first"},
	{document.KindRun, 1, "run f48-bad-count"},
	{document.KindRun, 1, "run f01-wrong-peer"},
	{document.KindSweep, 0, "sweep testdata/golden/indexed.yaml -o - --no-cache"},
	{document.KindSweep, 0, "sweep a5-transport -o - --no-cache"},
	{document.KindValidation, 0, "validate a5-launch-barrier"},
	{document.KindCalibration, 0, "calibrate a5-wqe-issue --evaluations 3"},
	{document.KindDiff, 0, "diff testdata/golden/example.json testdata/golden/example.json"},
	{document.KindDiff, 1, "diff indexed-example indexed-example --set-b call.core_num=1"},
}

func TestWhatCommandsWriteIsADocumentThatFitsTheSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "configs", "schema", "result.json"))
	require.NoError(t, err)
	for _, x := range results {
		out, errs, code := pldperf(append(strings.Fields(x.args), "--json")...)
		assert.Equal(t, x.code, code, "%s: %s", x.args, errs)
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
		require.NoError(t, err, x.args)
		assert.NoError(t, schema.Validate(v), x.args)
		d, err := document.Read(strings.NewReader(out))
		require.NoError(t, err, x.args)
		assert.Equal(t, x.kind, d.Kind, x.args)
		var again strings.Builder
		require.NoError(t, d.Write(&again))
		assert.Equal(t, out, again.String(), "%s: what is read is what was written", x.args)
	}
}

func TestARunSaysWhereEachOfItsValuesComesFrom(t *testing.T) {
	out, errs, code := pldperf("run", "indexed-example", "--json", "--set", "machine.aiv.count=8", "--set", "call.core_num=1")
	require.Zero(t, code, errs)
	d, err := document.Read(strings.NewReader(out))
	require.NoError(t, err)
	found := map[string]document.Leaf{}
	for _, l := range d.Run.Config {
		assert.NotContains(t, found, l.Path, "a value is there once")
		found[l.Path] = l
		assert.NotEmpty(t, l.Kind, l.Path)
		assert.Equal(t, l.Kind == document.Default, l.File == "", l.Path)
	}
	assert.Equal(t, document.Leaf{Path: "machine.aiv.count", Value: "8", Kind: document.User, File: "--set machine.aiv.count"}, found["machine.aiv.count"])
	assert.Equal(t, document.Leaf{Path: "call.core_num", Value: "1", Kind: document.User, File: "--set call.core_num"}, found["call.core_num"])
	assert.Equal(t, document.Default, found["call.split"].Kind)
	clock := found["machine.aiv.clock"]
	assert.Equal(t, document.Documented, clock.Kind)
	assert.Equal(t, "configs/machines/950dt-64.yaml", clock.File)
	assert.Positive(t, clock.Line)
	assert.NotEmpty(t, clock.Text)
	assert.Equal(t, document.Stated, found["ranks"].Kind)
	assert.True(t, found["machine.sdma.rate"].Unread, "URMA carries this call")
	assert.False(t, clock.Unread)
}
