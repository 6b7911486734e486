package reports

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/diff"
	"pldperf/reports/document"
)

func difference(t require.TestingT, a, b *document.Document, tolerances ...string) *Difference {
	var tol diff.Tolerances
	for _, x := range tolerances {
		require.NoError(t, tol.Parse(x))
	}
	d, err := diff.Compare(diff.Named{Name: "a.json", Document: a}, diff.Named{Name: "b.json", Document: b}, tol)
	require.NoError(t, err)
	return (*Difference)(d)
}

// fakeSlower is the fabricated run with a SIMT build that takes 7 us longer, and CQEs
// that come 2 us earlier after it.
func fakeSlower() *Card {
	c := fakeCard()
	r := c.Result
	r.Elapsed += 5 * engine.Microsecond
	for i := range r.Blocks {
		r.Blocks[i].Time[result.SIMTBuild] += 7 * engine.Microsecond
		r.Blocks[i].Time[result.CQEWait] -= 2 * engine.Microsecond
		r.Blocks[i].End = r.Blocks[i].End.Add(5 * engine.Microsecond)
	}
	r.Calls[0].End, r.Calls[0].Elapsed = r.Calls[0].End.Add(5*engine.Microsecond), r.Elapsed
	r.Totals[result.PollsAttempted] -= 12
	r.Digests.Result = "fedcba9876543210"
	c.Config = []document.Leaf{{Path: "machine.urma.build.lanes", Value: "32", Low: "16", High: "64", Kind: document.User, File: "--set machine.urma.build.lanes"}}
	return c
}

func fakeDifference(t require.TestingT) *Difference {
	a := fakeCard()
	a.Config = []document.Leaf{{Path: "machine.urma.build.lanes", Value: "64", Kind: document.Assumed, Text: "a <guess>", File: "m.yaml", Line: 9}}
	return difference(t, a.Document("v1"), fakeSlower().Document("v2"))
}

func TestDifferencesKeepTheirForm(t *testing.T) {
	d := fakeDifference(t)
	goldens(t, "diff", func(b *bytes.Buffer, f Format) error { return d.Write(b, f, Options{}) })
	var b bytes.Buffer
	require.NoError(t, d.HTML(&b))
	golden(t, "diff.html", b.Bytes())
}

func TestADifferenceIsSaidInWords(t *testing.T) {
	text := said(t, fakeDifference(t))
	assert.Contains(t, text, "DIFFERENT: results or digests are not the same; B takes 5.000000 us more than A (+4.05 %)")
	assert.Contains(t, text, "Largest cause: simt_build grew by 7 us, from 1.556035 us to 8.556035 us: 140 % of the difference")
	assert.Regexp(t, `simt_build +1.556035 +8.556035 +\+7.000000 +140.0\n`, text)
	assert.Regexp(t, `cqe_wait +68.\d+ +66.\d+ +-2.000000 +-40.0\n`, text)
	assert.Regexp(t, `sum +123.456789 +128.456789 +\+5.000000 +100.0\n`, text)
	assert.Regexp(t, `polls_attempted +166 +154 +-12 +-7.23 +differs`, text)

	same := difference(t, fakeCard().Document(""), fakeCard().Document(""), "1 %", "sges=2 %")
	assert.Contains(t, said(t, same), "EQUAL: all results are within the tolerance; B takes as long as A")
	assert.Contains(t, said(t, same), "tolerance: 1 %, sges 2 %, of the larger one")
	assert.NotContains(t, said(t, same), "Where the difference comes from")
	less := difference(t, fakeSlower().Document(""), fakeCard().Document(""))
	assert.Contains(t, said(t, less), "B takes 5.000000 us less than A (-3.89 %)")
}

func said(t *testing.T, d *Difference) string {
	var b bytes.Buffer
	require.NoError(t, d.Write(&b, Text, Options{}))
	return b.String()
}

func sweepOf(points ...Point) *document.Document {
	return (&Comparison{Title: "s", Axis: "core_num", Points: points}).Document("")
}

func TestDifferencesOfSweepsListPairsAndWhatIsMissing(t *testing.T) {
	a, b := fakeCard(), fakeSlower()
	axes := func(n string) []KV { return []KV{{Key: "core_num", Value: n}} }
	d := difference(t, sweepOf(NewPoint(axes("1"), 0, a), NewPoint(axes("2"), 0, a), NewPoint(axes("4"), 0, a)),
		sweepOf(NewPoint(axes("2"), 0, a), NewPoint(axes("1"), 0, b), NewPoint(axes("8"), 0, a)))
	text := said(t, d)
	assert.Contains(t, text, "2 pairs compared, 1 of them equal, 1 point only in\n  A, 1 point only in B")
	assert.Regexp(t, `core_num 1 +123.457 +128.457 +\+5.000 +\+4.05 +differs +simt_build \+7.000`, text)
	assert.NotContains(t, text, "core_num 2")
	assert.NotContains(t, said(t, difference(t, sweepOf(NewPoint(axes("1"), 0, a)), sweepOf(NewPoint(axes("1"), 0, a)))), "Pairs that differ")
	assert.Regexp(t, `Points only in A\npoint\n-+\ncore_num 4\n`, text)
	assert.Regexp(t, `Points only in B\npoint\n-+\ncore_num 8\n`, text)
}

func TestManyPairsAreCutWithANote(t *testing.T) {
	var a, b []Point
	for i := range 30 {
		axes := []KV{{Key: "n", Value: string(rune('a' + i))}}
		a, b = append(a, NewPoint(axes, 0, fakeCard())), append(b, NewPoint(axes, 0, fakeSlower()))
	}
	d := difference(t, sweepOf(a...), sweepOf(b...))
	assert.Contains(t, said(t, d), "10 further pairs with smaller changes; JSON and CSV have all")
	var all bytes.Buffer
	require.NoError(t, d.Write(&all, CSV, Options{}))
	rows, err := csv.NewReader(&all).ReadAll()
	require.NoError(t, err)
	n := 0
	for _, r := range rows {
		if r[2] == "elapsed_ps" {
			assert.Equal(t, []string{"figure", "elapsed_ps", "123456789", "128456789", "5000000", "4.0500", "false"}, r[1:])
			n++
		}
	}
	assert.Equal(t, 30, n)
}

func TestThePageOfADifferenceStandsAloneAndEscapes(t *testing.T) {
	d := fakeDifference(t)
	d.A.Title = `<script>alert("x")</script>`
	var b bytes.Buffer
	require.NoError(t, d.HTML(&b))
	page := b.String()
	assert.NotContains(t, page, "<script")
	assert.Contains(t, page, "&lt;guess&gt;")
	for _, remote := range []string{"http:", "https:", "src=", "url(", "@import"} {
		assert.NotContains(t, page, remote)
	}
	assert.Contains(t, page, `<span style="width: 100.0%"></span></div><div class="right">&#43;7.000000</div>`)
	assert.Contains(t, page, `<span class="less" style="width: 28.6%"></span>`, "2 of 7")
}

// FuzzDiff: whatever can be read can be compared with itself, and is equal, and shown.
func FuzzDiff(f *testing.F) {
	for _, d := range []*document.Document{fakeSlower().Document("v"), sweepOf(NewPoint([]KV{{Key: "n", Value: "1"}}, 9, fakeCard()))} {
		var b bytes.Buffer
		require.NoError(f, d.Write(&b))
		f.Add(b.String())
	}
	f.Add(`{"schema":"pldperf/result","version":2,"kind":"run","summary":{"status":"aborted","elapsed_ps":9223372036854775807,"slowest_block_ps":{"launch":-9223372036854775808}},"run":{"result":{"schema":1}}}`)
	other := sweepOf(NewPoint([]KV{{Key: "n", Value: "1"}}, 9, fakeCard()))
	f.Fuzz(func(t *testing.T, in string) {
		d, err := document.Read(strings.NewReader(in))
		if err != nil || d.Summary == nil && d.Sweep == nil {
			return
		}
		same := difference(t, d, d)
		assert.True(t, same.Equal)
		all := []*Difference{same}
		if d.Sweep != nil {
			all = append(all, difference(t, d, other), difference(t, other, d))
		}
		for _, x := range all {
			for _, f := range Formats() {
				require.NoError(t, x.Write(&bytes.Buffer{}, f, Options{}))
			}
			require.NoError(t, x.HTML(&bytes.Buffer{}))
		}
	})
}
