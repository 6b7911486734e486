package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// reportOfBad writes the page of a run that does not end well.
func reportOfBad(t *testing.T, name string, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	var out, errs bytes.Buffer
	code := run(context.Background(), append([]string{"report", "-o", file, name}, args...), strings.NewReader(""), &out, &errs)
	require.Equal(t, exitBad, code, "the page is there, and the exit code says how the run ended: %s", errs.String())
	return file
}

// writtenBy runs a command that writes a file, and returns the file.
func writtenBy(t *testing.T, name string, code int, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	var out, errs bytes.Buffer
	require.Equal(t, code, run(context.Background(), append(args, "-o", file), strings.NewReader(""), &out, &errs), errs.String())
	return file
}

func (b *browser) text(selector string) string {
	b.t.Helper()
	return eval[string](b, `[...document.querySelectorAll(`+quoted(selector)+`)].map(e => e.innerText).join('\n')`)
}

// looks keeps a page in light, dark, Chinese, narrow and on paper, where PICTURES names a folder, and requires of the
// narrow one that nothing sticks out.
func (b *browser) looks(name string) {
	b.t.Helper()
	b.picture(name, true)
	b.scheme(true)
	b.run(chromedp.Sleep(200e6))
	b.picture(name+"-dark", true)
	b.scheme(false)
	b.run(chromedp.Click("#language"), chromedp.Sleep(300e6))
	b.picture(name+"-zh", true)
	b.run(chromedp.Click("#language"))
	b.print(name + "-print")
	b.run(emulation.SetEmulatedMedia().WithMedia(""), emulation.SetDeviceMetricsOverride(420, 900, 1, true), chromedp.Sleep(400e6))
	assert.LessOrEqual(b.t, eval[int](b, `document.documentElement.scrollWidth`), 420, "a narrow window shows all of it")
	b.picture(name+"-420", true)
	b.run(emulation.ClearDeviceMetricsOverride(), chromedp.Sleep(200e6))
}

func TestThePageOfAnExplanationShowsWhatEachPartCosts(t *testing.T) {
	b := browse(t, reportOf(t, "--explain", "a5-uniform-small"))
	b.waits(drawn)
	b.hover(`[data-section=twins] .half`, 30, 8)
	assert.Contains(t, b.hint(), "elapsed", "a twin says how long it takes")
	b.hover(`[data-section=moves] .half`, 30, 8)
	assert.Contains(t, b.hint(), "…", "a parameter says between which values it was moved")
	b.run(chromedp.Evaluate(`document.querySelector('[data-chart=blocks]').scrollIntoView({block: 'center'})`, nil))
	assert.Contains(t, eval[string](b, `(() => {
		const o = document.querySelector('[data-chart=blocks] .u-over'), r = o.getBoundingClientRect();
		for (let x = 0; x < r.width; x += 6) for (let y = 0; y < r.height; y += 6) {
			o.dispatchEvent(new PointerEvent('pointermove', {clientX: r.left + x, clientY: r.top + y, bubbles: true}));
			if (!document.getElementById('hint').hidden) return document.getElementById('hint').innerText;
		}
		return '';
	})()`), "core_num")
	b.looks("explanation")
}

func TestThePageOfAValidationShowsEveryRow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "accuracy.json")
	require.NoError(t, os.WriteFile(file, accuracyText, 0o644))
	b := browse(t, reportOf(t, file))
	rows := 0
	for _, f := range shippedAccuracy().Files {
		rows += len(f.Rows)
	}
	assert.Equal(t, rows, eval[int](b, `document.querySelectorAll('.signed .half').length`))
	b.hover(`.signed .half`, 30, 8)
	assert.Contains(t, b.hint(), "measured")
	assert.Contains(t, b.hint(), "simulated")
	b.looks("validation")
}

func TestThePageOfADiffShowsWhatGrewAndShrank(t *testing.T) {
	one := writtenBy(t, "a.json", exitOK, "run", "a5-uniform-small", "--json")
	two := writtenBy(t, "b.json", exitOK, "run", "a5-uniform-small", "--set", "call.core_num=2", "--json")
	d := writtenBy(t, "d.json", exitBad, "diff", one, two, "--format", "json")
	b := browse(t, reportOf(t, d))
	assert.Positive(t, eval[int](b, `document.querySelectorAll('[data-section=changes] .half').length`))
	b.hover(`[data-section=changes] .half`, 30, 8)
	assert.Regexp(t, `A [\d.,]+ us`, b.hint())
	assert.Contains(t, b.text(`[data-section=card]`), "call.core_num", "the inputs that differ")
	b.looks("diff")
}

func TestThePageOfABandedSweepShowsTheBand(t *testing.T) {
	b := browse(t, reportOf(t, "--no-cache", "--band=4", "a5-core-num"))
	b.waits(`document.querySelectorAll('.u-over').length === 2`)
	assert.Contains(t, b.text(`[data-section=charts] .legend`), "band of the parameters")
	assert.Regexp(t, `across the band .+ wins in \d of 4 draws`, b.text(`[data-advice]`))
	b.click(`.points tbody tr:nth-of-type(2)`, 30, 12)
	assert.Regexp(t, `band [\d.]+ – [\d.]+ us`, b.text(`[data-section=points] .about`))
	b.looks("banded")
	b.run(chromedp.Click("#language"))
	assert.NotRegexp(t, `take |hardly|across|wins in`, b.text(`[data-advice]`), "a recommendation in Chinese")
	if strings.Contains(eval[string](b, `page.results[0].sweep.advice[0].text`), "* us") {
		assert.Contains(t, b.text(`[data-advice]`), "* 超出实测范围", "the mark is explained")
	}
	assert.NotRegexp(t, `\bok\b`, b.text(`.verdict`))
	assert.Contains(t, b.text(`.points tbody`), "正常")
}

func TestThePageOfADeadlockShowsWhoWaitsForWhat(t *testing.T) {
	b := browse(t, reportOfBad(t, "../../configs/mistakes/f06-wait-first.yaml"))
	b.waits(drawn)
	stuck := b.text(`[data-section=stuck]`)
	assert.True(t, eval[bool](b, `document.querySelector('[data-section=stuck]').checkVisibility()`), "without opening anything")
	assert.Equal(t, 4, eval[int](b, `document.querySelectorAll('[data-section=stuck] tbody tr').length`), stuck)
	assert.Contains(t, stuck, "expected")
	assert.Contains(t, b.text(`[data-section=diagnosis]`), "F6")
	b.looks("deadlock")
	// The chart ends where the run does, not with the last microsecond of its counters.
	assert.InDelta(t, eval[float64](b, `page.results[0].run.result.elapsed_ps`), eval[float64](b, `+document.querySelector('canvas.lanes').dataset.to`), 1)
	b.run(chromedp.Click("#language"))
	assert.Contains(t, b.text(`.verdict`), "死锁")
}

func TestThePageOfAHazardNamesBothAccesses(t *testing.T) {
	b := browse(t, reportOfBad(t, "../../configs/mistakes/f05-right-by-luck.yaml"))
	b.waits(drawn)
	assert.True(t, eval[bool](b, `document.querySelector('[data-section=hazards]').checkVisibility()`))
	text := b.text(`[data-section=hazards]`)
	for _, want := range []string{"read_before_publication", "first", "second", "missing"} {
		assert.Contains(t, text, want)
	}
	b.looks("hazard")
	b.run(chromedp.Click("#language"))
	assert.NotRegexp(t, `(?m)^(first|second|missing|Symptom|Cause|Fix)\b`, b.text(`[data-section=hazards], [data-section=diagnosis]`))
}

func TestTheMapsOfAFrameShowAllTraffic(t *testing.T) {
	b := browse(t, reportOf(t, "a5-frame-all-to-all"))
	b.waits(drawn)
	sum := `[...page.results[0].traffic.flat()].reduce((a, b) => a + b, 0)`
	assert.Equal(t, eval[int64](b, `page.results[0].run.result.totals.bytes_sent`), eval[int64](b, sum), "the map has what the card says")
	assert.Equal(t, 64*63, eval[int](b, `document.querySelectorAll('[data-heat=traffic] td[data-from]').length`), "from each rank to each other")
	b.hover(`[data-heat=traffic] td[data-from="1"][data-to="60"]`, 4, 4)
	assert.Contains(t, b.hint(), "from 1 → to 60")
	assert.Contains(t, b.hint(), "64 KiB")
	b.hover(`[data-heat=ports-out] td[data-from="1"][data-to="3"]`, 4, 4)
	assert.Contains(t, b.hint(), "rank 1 → port 3")
	assert.Contains(t, b.hint(), "of the run")
	// The busiest port is darkest, however little the run needs of it.
	shade := func(selector string) string {
		return eval[string](b, `document.querySelector('`+selector+`').getAttribute('style')`)
	}
	assert.Contains(t, shade(`[data-heat=ports-out] td[data-from="1"][data-to="3"]`), "96%")
	assert.Contains(t, b.text(`[data-sentences]`), "incoming ports are idle")
	b.hover(`[data-heat=waits] td[data-from="1"][data-to="3"]`, 4, 4)
	assert.Contains(t, b.hint(), "rank 1 → waits for 3")
	b.looks("frame")
}

// Of a result in a file the ports are all that is known; what they lack is said.
func TestAMapOfAFileSaysWhatItLacks(t *testing.T) {
	b := browse(t, reportOf(t, writtenBy(t, "frame.json", exitOK, "run", "a5-frame-all-to-all", "--json")))
	assert.Regexp(t, `28 MiB of 252 MiB`, b.text(`[data-lacks]`))
}

func TestEveryResourceHasARowWhoseBusyBlockedAndIdleMakeUpTheRun(t *testing.T) {
	b := browse(t, reportOf(t, "a5-moe-dispatch"))
	b.waits(drawn)
	b.run(chromedp.Evaluate(`document.querySelector('[data-section=resources] button.link').click()`, nil))
	assert.Equal(t, eval[int](b, `page.results[0].run.result.resources.length`), eval[int](b, `document.querySelectorAll('[data-section=resources] tbody tr').length`))
	assert.True(t, eval[bool](b, `[...document.querySelectorAll('[data-section=resources] tbody tr')].every(r => {
		const f = k => +r.cells[k].innerText.replace(/,/g, '');
		return Math.abs(f(2) + f(4) + f(6) - page.results[0].run.result.elapsed_ps / 1e6) < 0.0016;
	})`))
	assert.Regexp(t, `rank \d [\d.]+ %`, b.text(`[data-section=resources] tbody`), "who blocks it")
	// Cells that differ read differently.
	assert.Greater(t, eval[int](b, `new Set([...document.querySelectorAll('[data-heat=traffic] td[data-from]')].map(e => e.innerText)).size`), 8)
}

func TestThePathNamesItsWaitsAndIsOnTheLaneOfItsSQE(t *testing.T) {
	b := browse(t, reportOf(t, "a5-moe-dispatch"))
	b.waits(drawn)
	// The first part of the long step waits: others hold the link, and it is named who.
	b.hover(`canvas.lanes`, 400, 24+10)
	assert.Contains(t, b.hint(), "critical path: egress_queue")
	assert.Regexp(t, `others held it for [\d.]+ us, the last \d → \d`, b.hint())
	b.hover(`canvas.lanes`, 1000, 24+10)
	assert.Contains(t, b.hint(), "critical path: egress\n")
	// What blocks wait for others has a name too.
	b.hover(`canvas.lanes`, 700, 24+22+7*22+9)
	assert.Regexp(t, `waits for rank \d`, b.hint())
	b.run(chromedp.Focus(`canvas.lanes`), chromedp.KeyEvent("n"))
	assert.Empty(t, b.hint(), "what the pointer was on has moved away")
	b.run(chromedp.KeyEvent("0"))
	// Each acknowledgement of the path is on the lane that shows it.
	wrong := eval[[]string](b, `page.results[0].run.result.path.steps.flatMap((st, i) => {
		const line = page.results[0].line, t = line.tracks[line.stops[i]];
		if (st.cause !== 'ack') return [];
		if (t) for (let k = 0; k < t.n; k++) if (t.end[k] === st.to_ps && line.words[line.details[t.detail[k]][0]] === 'ack') return [];
		return ['step ' + i + ' on ' + (t ? t.group + ' ' + laneName(t) : 'nothing')];
	})`)
	assert.Empty(t, wrong)
	assert.True(t, eval[bool](b, `page.results[0].run.result.path.steps.some(st => st.cause === 'ack')`))
}

func TestASweepOfAlgorithmsIsReadable(t *testing.T) {
	point := func(op string, size int64, elapsed engine.Duration) document.Point {
		p := document.Point{Axes: []document.KV{{Key: "call.op", Value: op}, {Key: "call.size", Value: fmt.Sprint(size)}}, Status: result.OK, Size: engine.Bytes(4 * size), Elapsed: elapsed, Bound: elapsed / 2, Busbw: 1e9}
		if elapsed == 0 {
			p.Status, p.Problem, p.Bound, p.Busbw, p.Size = "not_possible", "the tile is too small", 0, 0, 0
		}
		return p
	}
	s := &document.Sweep{Title: "algorithms", Axis: "call.op", Compare: "call.op", Along: "call.size", Inputs: []document.KV{
		{Key: "roof: egress of a rank, ranks 4", Value: "352 GB/s"}, {Key: "roof: egress of a rank, ranks 8", Value: "353 GB/s"},
	}}
	for i, op := range []string{"allreduce/ring_with_a_long_name", "allreduce/mesh_with_a_long_name", "allreduce/two_phase"} {
		for k := range int64(6) {
			elapsed := engine.Duration(1_000_000 * (int64(i) + k + 1))
			if i == 1 && k == 0 {
				elapsed = 0
			}
			s.Points = append(s.Points, point(op, 64<<(2*k), elapsed))
		}
	}
	var buf bytes.Buffer
	require.NoError(t, (&document.Document{Head: document.NewHead(document.KindSweep, ""), Sweep: s}).Write(&buf))
	file := filepath.Join(t.TempDir(), "algorithms.json")
	require.NoError(t, os.WriteFile(file, buf.Bytes(), 0o644))
	b := browse(t, reportOf(t, file))
	b.waits(`document.querySelectorAll('.u-over').length === 2`)
	for _, chart := range []string{"bandwidth", "core_num"} {
		assert.Contains(t, eval[string](b, `document.querySelector('[data-chart=`+chart+`]').getAttribute('aria-label')`), "message size", "an algorithm has no place on a scale")
	}
	labels := eval[string](b, `document.querySelector('[data-chart=bandwidth]').dataset.labels`)
	var first, second struct{ from, to, y int }
	_, err := fmt.Sscanf(labels, "%d %d %d;%d %d %d", &first.from, &first.to, &first.y, &second.from, &second.to, &second.y)
	require.NoError(t, err, labels)
	assert.Less(t, first.y-second.y, 14, "two roofs that are close")
	assert.Less(t, first.to, second.from, "have their names side by side")
	advice := strings.Split(b.text(`[data-advice]`), "\n")
	assert.Contains(t, advice[0], "for call.size 64: take allreduce/ring_with_a_long_name", "for what it is")
	// What was not possible has no figures, and comes last either way.
	last := `(() => { const r = [...document.querySelectorAll('tr[data-point]')]; return r[r.length - 1].innerText; })()`
	for range 2 {
		b.run(chromedp.Evaluate(`[...document.querySelectorAll('.points th button')].find(x => x.textContent === 'us').click()`, nil))
		assert.Contains(t, eval[string](b, last), "not_possible")
		assert.NotContains(t, eval[string](b, last), "0.000")
		assert.Contains(t, eval[string](b, last), "the tile is too small")
	}
	b.looks("algorithms")
	// Chosen as an axis, algorithms are points without lines, under labels that are cut and turned.
	b.run(chromedp.Evaluate(`(() => { const x = [...document.querySelectorAll('[data-section=charts] figure select')][1]; x.value = 'call.op'; x.dispatchEvent(new Event('change')); document.querySelector('[data-section=charts]').scrollIntoView(); })()`, nil), chromedp.Sleep(300e6))
	b.picture("algorithms-axis", false)
}

func TestTabsOfOneTitleAreToldApartAndTheFirstIsMarked(t *testing.T) {
	one := writtenBy(t, "one.json", exitOK, "run", "a5-uniform-small", "--json")
	two := writtenBy(t, "two.json", exitOK, "run", "a5-uniform-small", "--set", "call.core_num=2", "--json")
	b := browse(t, reportOf(t, one, two, two))
	selected := `[...document.querySelectorAll('[role=tab]')].map(e => e.getAttribute('aria-selected')).join(' ')`
	assert.Equal(t, "true false false", eval[string](b, selected))
	names := eval[[]string](b, `[...document.querySelectorAll('[role=tab]')].map(e => e.innerText)`)
	assert.Contains(t, names[0], "one.json")
	assert.NotEqual(t, names[1], names[2])
	assert.Less(t, eval[int](b, `document.querySelector('[data-section=beside] tbody tr').offsetHeight`), 100, "a row is no column of letters")
	b.run(chromedp.Focus(`#tab0`), chromedp.KeyEvent(kb.ArrowRight))
	assert.Equal(t, "false true false", eval[string](b, selected))
	b.looks("tabs-of-one-title")
}

func TestANarrowPageKeepsCausesWhole(t *testing.T) {
	b := browse(t, reportOf(t, "a5-moe-dispatch"))
	b.waits(drawn)
	b.run(emulation.SetDeviceMetricsOverride(420, 900, 1, true), chromedp.Sleep(400e6))
	assert.LessOrEqual(t, eval[int](b, `document.documentElement.scrollWidth`), 420)
	assert.True(t, eval[bool](b, `[...document.querySelectorAll('.causelist code')].every(e => e.getClientRects().length === 1)`), "no word is broken")
	assert.True(t, eval[bool](b, `[...document.querySelectorAll('.causelist tbody tr:not(.sum) td:last-child')].every(e => { const r = e.getBoundingClientRect(); return r.width > 200 && r.right <= 420; })`), "what a cause is stands in the window")
	b.picture("run-420", true)
}
