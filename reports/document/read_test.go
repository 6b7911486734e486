package document

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/result"
)

func written(t testing.TB, d *Document) string {
	var b bytes.Buffer
	require.NoError(t, d.Write(&b))
	return b.String()
}

func TestADocumentComesBackAsItWas(t *testing.T) {
	for _, d := range samples() {
		text := written(t, d)
		back, err := Read(strings.NewReader(text))
		require.NoError(t, err)
		assert.Equal(t, d, back)
		assert.Equal(t, text, written(t, back))
	}
}

func TestEveryPointOfADocumentIsFoundTheSameWay(t *testing.T) {
	all := samples()
	assert.Equal(t, []Point{*all[0].Summary}, all[0].Points())
	assert.Equal(t, all[1].Sweep.Points, all[1].Points())
	assert.Empty(t, all[2].Points())
}

func TestAFileThatIsCutOffAnywhereSaysSo(t *testing.T) {
	text := strings.TrimSpace(written(t, samples()[0]))
	for n := range text {
		_, err := Read(strings.NewReader(text[:n]))
		if n == 0 {
			require.EqualError(t, err, "the file is empty")
		} else {
			require.ErrorContains(t, err, "the file is cut off", "after %d bytes", n)
		}
	}
}

func TestWhatIsNoDocumentOfThisVersionSaysWhy(t *testing.T) {
	head := `{"schema":"pldperf/result","version":2,"kind":"validation","validation":{"files":[]}`
	for in, want := range map[string]string{
		" \n":                    "the file is empty",
		`{"schema":1,"card":{}}`: "schema 1, older than pldperf/result version 2, which this pldperf reads; write it again",
		`{"schema":"pldperf/result","version":1}`: "version 1 is not version 2, which this pldperf reads; write it again",
		`{"schema":"pldperf/result","version":3}`: "version 3 is newer than version 2, which this pldperf reads; read it with a newer pldperf",
		`{"schema":"pldperf/result"}`:             "version <nil> is not version 2",
		`{"a":1}`:                                 "this is no result of pldperf",
		`[1]`:                                     "line 1: a document is no place for a JSON array",
		"{\n x":                                   "line 2: no JSON: invalid character 'x'",
		`{"schema":"pldperf/result","version":2,"kind":"cost","cost":{}}`: `kind "cost" cannot be read back; there are run, sweep, validation, calibration, diff`,
		head + `} {}`:                             "something follows the document",
		head + ",\n\"colour\":1}":                 `line 2: unknown field "colour"`,
		head + `,"sweep":{}}`:                     `a document of kind validation has no field "sweep"`,
		strings.Replace(head, `[]`, `7`, 1) + "}": "validation.files is no place for a JSON number",
		strings.Replace(head, `"kind":"validation"`, `"kind":"run"`, 1) + "}": `a document of kind run needs the field "run"`,
	} {
		_, err := Read(strings.NewReader(in))
		assert.ErrorContains(t, err, want, in)
	}
}

func TestNonsenseIsNeitherWrittenNorRead(t *testing.T) {
	for want, spoil := range map[string]func(all []*Document){
		"NaN is no number":                                   func(all []*Document) { all[2].Validation.Files[0].Rows[0].Error = math.NaN() },
		"+Inf is no number":                                  func(all []*Document) { all[2].Validation.Files[0].Rows[0].Measured = math.Inf(1) },
		"an error of a fit is no number":                     func(all []*Document) { all[3].Calibration.Alternatives[0].HeldOut.RMS = math.NaN() },
		"needs a result":                                     func(all []*Document) { all[0].Run.Result = nil },
		`"fine" is no status`:                                func(all []*Document) { all[0].Summary.Status = "fine" },
		"negative time":                                      func(all []*Document) { all[1].Sweep.Points[1].Elapsed = -1 },
		"at least one point":                                 func(all []*Document) { all[1].Sweep.Points = nil },
		"a tolerance of -1 millionths":                       func(all []*Document) { all[1].Sweep.Tolerance = -1 },
		`the field "summary" belong together`:                func(all []*Document) { all[0].Summary = nil },
		"the parts change by 4 ps, the elapsed time by 3 ps": func(all []*Document) { all[4].Diff.Pairs[0].Parts[0] = PartPair{"a", 1, 7, 6} },
		"the change of a is 5 ps and not B - A":              func(all []*Document) { all[4].Diff.Pairs[0].Parts[0].A = 0 },
		"belongs to no call or rank of the result":           func(all []*Document) { all[0].Run.Result.Blocks = make([]result.Block, 1) },
	} {
		all := samples()
		spoil(all)
		refused := 0
		for _, d := range all {
			var b bytes.Buffer
			if err := d.Write(&b); err != nil {
				assert.ErrorContains(t, err, want)
				assert.Zero(t, b.Len(), "nothing is half written")
				refused++
			}
		}
		assert.Equal(t, 1, refused, want)
	}
}

func TestThePartsOfATimeAddUpToIt(t *testing.T) {
	p := samples()[0].Summary
	assert.Equal(t, []Part{{"launch", 2}, {"idle", 1}, {"between_calls", 2}}, p.Parts())
	p.Elapsed = 9
	assert.Equal(t, []Part{{"launch", 2}, {"idle", 1}, {"between_calls", 2}, {"unaccounted", 4}}, p.Parts(), "what the account lacks is shown")
	var sum engine.Duration
	for _, part := range p.Parts() {
		sum += part.Time
	}
	assert.Equal(t, p.Elapsed, sum)
}

// FuzzRead: whatever is read can be written, and comes back the same.
func FuzzRead(f *testing.F) {
	for _, d := range samples() {
		f.Add([]byte(written(f, d)))
	}
	f.Add([]byte(`{"schema":1}`))
	f.Add([]byte(`{"schema":"pldperf/result","version":2,"kind":"run","summary":{"status":"ok"},"run":{"result":{"schema":1}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		d, err := Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		text := written(t, d)
		back, err := Read(strings.NewReader(text))
		require.NoError(t, err)
		assert.Equal(t, text, written(t, back))
	})
}
