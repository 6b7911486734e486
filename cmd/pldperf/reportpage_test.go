package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// reportOf writes the page of some results.
func reportOf(t *testing.T, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	var out, errs bytes.Buffer
	code := run(context.Background(), append([]string{"report", "-o", file}, args...), strings.NewReader(""), &out, &errs)
	require.Zero(t, code, errs.String())
	return file
}

const drawn = `document.querySelector('canvas.lanes') && document.querySelector('canvas.lanes').dataset.marks > 0`

func TestThePageOfARunShowsWhatThePointerIsOn(t *testing.T) {
	file := reportOf(t, "a5-moe-dispatch")
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Less(t, info.Size(), int64(10<<20), "a page of 8 ranks opens everywhere")
	b := browse(t, file)
	b.waits(drawn)

	// The parts of the path add up to the elapsed time to the picosecond, and say what they are.
	assert.Equal(t, eval[int64](b, `+document.querySelector('[data-elapsed]').dataset.elapsed`), eval[int64](b, `+document.querySelector('[data-sum]').dataset.sum`))
	b.hover(`.causes [data-cause=egress]`, 20, 10)
	assert.Contains(t, b.hint(), "the sender's cap or port carries this flow")

	// The third row below the open rank 6 is an AIV, which waits for CQEs in the middle.
	b.hover(`canvas.lanes`, 700, 24+22+7*22+9)
	assert.Contains(t, b.hint(), "cqe_wait")
	assert.Contains(t, b.hint(), "rank 6")
	b.hover(`canvas.lanes`, 700, 24+10)
	assert.Contains(t, b.hint(), "critical path: egress")

	// A cell of the map of link use.
	b.hover(`[data-heat=links] td[data-from="2"][data-to="5"]`, 10, 8)
	assert.Contains(t, b.hint(), "from 2 → to 5")
	assert.Contains(t, b.hint(), "of the run")
	b.hover(`[data-chart=wqebb] .u-over`, 300, 40)
	assert.Contains(t, b.hint(), "WQEBB")
	b.picture("run", true)
	b.run(chromedp.Evaluate(`document.querySelector('[data-section=swimlane]').scrollIntoView(); scrollBy(0, -50)`, nil))
	b.picture("run-swimlane", false)
	b.scheme(true)
	b.run(chromedp.Sleep(300 * time.Millisecond))
	b.picture("run-dark", true)
	b.scheme(false)
	b.run(chromedp.Click("#language"))
	b.waits(drawn)
	assert.Contains(t, eval[string](b, `document.querySelector('[data-section=causes] h2').textContent`), "时间花在哪里")
	assert.NotRegexp(t, `The run|Along|ports are`, eval[string](b, `document.querySelector('[data-sentences]').textContent`))
	b.picture("run-zh", true)
	b.print("run-print")
}

// print keeps how a page is printed, where PICTURES names a folder.
func (b *browser) print(name string) {
	b.run(emulation.SetEmulatedMedia().WithMedia("print"), chromedp.Sleep(300*time.Millisecond))
	assert.Zero(b.t, eval[int](b, `[...document.querySelectorAll('.screen')].filter(e => e.offsetHeight).length`), "controls are not printed")
	assert.Zero(b.t, eval[int](b, `[...document.querySelectorAll('article')].filter(e => !e.offsetHeight).length`), "all results are")
	b.picture(name, true)
}

func TestTheSwimlaneZoomsPansAndFollowsThePathByKeysWheelAndButtons(t *testing.T) {
	b := browse(t, reportOf(t, "a5-moe-dispatch"))
	b.waits(drawn)
	width := func() float64 {
		return eval[float64](b, `(() => { const d = document.querySelector('canvas.lanes').dataset; return d.to - d.from; })()`)
	}
	from := func() float64 { return eval[float64](b, `+document.querySelector('canvas.lanes').dataset.from`) }
	settle := func() { b.run(chromedp.Sleep(150 * time.Millisecond)) }
	whole := width()
	b.run(chromedp.Click(`[data-act=in]`))
	settle()
	assert.InDelta(t, 0.6*whole, width(), whole/100, "the button")
	b.run(chromedp.Focus(`canvas.lanes`), chromedp.KeyEvent("+"))
	settle()
	assert.InDelta(t, 0.36*whole, width(), whole/100, "the key")
	before := from()
	b.run(chromedp.KeyEvent(kb.ArrowRight))
	settle()
	assert.Greater(t, from(), before, "an arrow pans")
	b.run(chromedp.Evaluate(`document.querySelector('canvas.lanes').dispatchEvent(new WheelEvent('wheel', {deltaY: -120, ctrlKey: true, bubbles: true, cancelable: true}))`, nil))
	settle()
	assert.Less(t, width(), 0.3*whole, "the wheel")
	b.run(chromedp.KeyEvent("0"))
	settle()
	assert.InDelta(t, whole, width(), whole/50, "0 shows all")
	b.run(chromedp.KeyEvent("n"))
	settle()
	about := eval[string](b, `document.querySelector('[data-about]').innerText`)
	assert.Contains(t, about, "critical path: launch", "the path begins with the launch")
	assert.Less(t, width(), whole/10, "and it is moved into view")
	b.picture("path", false)
}

func TestASwimlaneOfManySpansDrawsFewMarks(t *testing.T) {
	b := browse(t, reportOf(t, "a5-moe-dispatch"))
	b.waits(drawn)
	kept := eval[float64](b, `page.results[0].line.kept`)
	assert.Greater(t, kept, 100_000.0)
	b.run(chromedp.Evaluate(`document.querySelector('canvas.lanes').dataset.marks`, nil))
	marks := eval[float64](b, `+document.querySelector('canvas.lanes').dataset.marks`)
	assert.Less(t, marks, 30_000.0, "no more than a few a pixel and row")
	t.Logf("%v spans and values, %v marks, drawn in %s ms", kept, marks, eval[string](b, `document.querySelector('canvas.lanes').dataset.ms`))

	// Merging loses no time: what a track draws over all is the sum of its spans.
	assert.True(t, eval[bool](b, `page.results[0].line.tracks.filter(t => !t.counter).every(t => {
		let all = 0, seen = 0;
		for (let i = 0; i < t.n; i++) all += t.end[i] - t.begin[i];
		visit(t, -1, 1e18, 1e7, i => { seen += t.end[i] - t.begin[i]; }, (b, e, busy) => { seen += busy; });
		return all === seen;
	})`))
}

// cpu says how long the page has kept the processor busy.
func (b *browser) cpu() (text string) {
	b.run(chromedp.ActionFunc(func(ctx context.Context) error {
		m, err := performance.GetMetrics().Do(ctx)
		for _, x := range m {
			if x.Name == "TaskDuration" || x.Name == "ScriptDuration" || x.Name == "ThreadTime" || x.Name == "ProcessTime" {
				text += fmt.Sprintf("%s %.2f s ", x.Name, x.Value)
			}
		}
		return err
	}))
	return text
}

// wide is a sweep of 4,320 points.
func wide(t *testing.T) string {
	s := &document.Sweep{Title: "4,320 points", Axis: "call.core_num", Inputs: []document.KV{{Key: "roof: egress of a rank", Value: "352 GB/s"}}}
	for ranks := 2; ranks <= 16; ranks *= 2 {
		for h := 1; h <= 9; h++ {
			for size := 0; size < 15; size++ {
				for core := 1; core <= 8; core++ {
					bytes := int64(1024) << size
					elapsed := engine.Duration(3_000_000 + bytes*int64(ranks-1)*int64(h)/int64(core)*20)
					p := document.Point{
						Axes:   []document.KV{{Key: "ranks", Value: fmt.Sprint(ranks)}, {Key: "call.row", Value: fmt.Sprint(h * 512)}, {Key: "routing.bytes", Value: engine.Bytes(bytes).String()}, {Key: "call.core_num", Value: fmt.Sprint(core * 2)}},
						Status: result.OK, Size: engine.Bytes(bytes), Elapsed: elapsed, Bound: elapsed / 2, BoundBy: "egress", Busbw: engine.Rate(bytes * 1_000_000_000_000 / int64(elapsed)), Limits: "egress (bound)",
						Path: []document.Part{{Name: "egress", Time: elapsed - 1000}, {Name: "launch", Time: 1000}}, Digest: fmt.Sprint(len(s.Points)),
					}
					s.Points = append(s.Points, p)
				}
			}
		}
	}
	require.Len(t, s.Points, 4320)
	d := &document.Document{Head: document.NewHead(document.KindSweep, ""), Sweep: s}
	var b bytes.Buffer
	require.NoError(t, d.Write(&b))
	file := filepath.Join(t.TempDir(), "sweep.json")
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
	return file
}

func TestRowsAndPointsOfASweepAreMarkedTogether(t *testing.T) {
	file := reportOf(t, wide(t))
	b := browse(t, file)
	b.waits(`document.querySelectorAll('tr[data-point]').length > 5`)
	info, err := os.Stat(file)
	require.NoError(t, err)
	t.Logf("4,320 points: %.1f MB, open after %.0f ms, of which %s ms its own program; %s", float64(info.Size())/1e6, eval[float64](b, `performance.getEntriesByType('navigation')[0].loadEventEnd`), eval[string](b, `document.documentElement.dataset.ready`), b.cpu())
	assert.Less(t, eval[int](b, `document.querySelectorAll('tr[data-point]').length`), 100, "only the rows in view are in the document")

	// Filters, headings.
	counted := `document.querySelector('[data-section=charts] [aria-live]').textContent`
	b.run(chromedp.SetValue(`[data-section=charts] .toolbar select`, "0"), chromedp.Evaluate(`document.querySelector('[data-section=charts] .toolbar select').dispatchEvent(new Event('change'))`, nil))
	assert.Contains(t, eval[string](b, counted), "1080 / 4320")
	b.run(chromedp.Evaluate(`[...document.querySelectorAll('.points th button')].find(x => x.textContent === 'us').click()`, nil))
	first := eval[[]float64](b, `[...document.querySelectorAll('tr[data-point]')].slice(0, 9).map(r => page.results[0].sweep.elapsed_ps[+r.dataset.point])`)
	assert.IsNonDecreasing(t, first)
	b.picture("sweep-wide", true)

	// From the row to the point, and back.
	b.click(`.points tbody tr:nth-of-type(3)`, 30, 12)
	row := eval[string](b, `document.querySelector('tr.picked').dataset.point`)
	assert.NotEmpty(t, row)
	assert.Contains(t, eval[string](b, `document.querySelector('[data-section=points] .about').innerText`), "exactly the elapsed time")
	b.run(chromedp.Focus(`.pane`), chromedp.KeyEvent(kb.ArrowDown))
	assert.NotEqual(t, row, eval[string](b, `document.querySelector('tr.picked').dataset.point`), "an arrow moves to the next row")
}

func TestASmallSweepShowsItsChartsAndTheRecommendation(t *testing.T) {
	b := browse(t, reportOf(t, "--no-cache", "a5-core-num"))
	b.waits(`document.querySelectorAll('.u-over').length === 2`)
	b.run(chromedp.Evaluate(`document.querySelector('[data-chart=core_num]').scrollIntoView({block: 'center'})`, nil))
	// Wherever in the chart a point is near, its row is marked.
	found := eval[bool](b, `(() => {
		const o = document.querySelector('[data-chart=core_num] .u-over'), r = o.getBoundingClientRect();
		for (let x = 0; x < r.width; x += 6) for (let y = 0; y < r.height; y += 6) {
			o.dispatchEvent(new PointerEvent('pointermove', {clientX: r.left + x, clientY: r.top + y, bubbles: true}));
			if (document.querySelector('tr.hover')) return true;
		}
		return false;
	})()`)
	assert.True(t, found)
	assert.Contains(t, b.hint(), "call.core_num")
	assert.Contains(t, eval[string](b, `document.querySelector('[data-advice]').innerText`), "core_num")
	b.picture("sweep", true)
	b.print("sweep-print")
}

func TestTitlesAndNamesNeverBecomeMarkup(t *testing.T) {
	const evil = `</script><script>document.title='taken'</script><img src=x onerror="document.title='taken'">&<b>`
	d := &document.Document{Head: document.NewHead(document.KindSweep, ""), Sweep: &document.Sweep{
		Title: evil, Axis: evil, Inputs: []document.KV{{Key: evil, Value: evil}}, Notes: []string{evil},
		Points: []document.Point{{Axes: []document.KV{{Key: evil, Value: evil}}, Status: result.Deadlock, Problem: evil, BoundBy: evil, Limits: evil, Digest: evil}},
	}}
	var buf bytes.Buffer
	require.NoError(t, d.Write(&buf))
	file := filepath.Join(t.TempDir(), "evil.json")
	require.NoError(t, os.WriteFile(file, buf.Bytes(), 0o644))
	b := browse(t, reportOf(t, "--title", evil, file))
	b.waits(`document.querySelectorAll('tr[data-point]').length === 1`)
	assert.Equal(t, evil+" - pldperf", eval[string](b, `document.title`))
	assert.Zero(t, eval[int](b, `document.querySelectorAll('img, b').length`))
	text, err := json.Marshal(evil)
	require.NoError(t, err)
	assert.True(t, eval[bool](b, `document.querySelector('h1').textContent === `+string(text)))
}

func TestSeveralResultsAreTabsBesideEachOther(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"2", "8"} {
		var out, errs bytes.Buffer
		require.Zero(t, run(context.Background(), []string{"run", "a5-uniform-small", "--set", "call.core_num=" + n, "--json", "-o", filepath.Join(dir, n+".json")}, strings.NewReader(""), &out, &errs), errs.String())
	}
	b := browse(t, reportOf(t, filepath.Join(dir, "2.json"), filepath.Join(dir, "8.json"), "a5-uniform-small"))
	assert.Equal(t, 3, eval[int](b, `document.querySelectorAll('[role=tab]').length`))
	assert.Contains(t, eval[string](b, `document.querySelector('#panel0 [data-section=swimlane]').innerText`), "pldperf report WORKLOAD.yaml", "a result has no timeline, and the page says how to get one")
	b.run(chromedp.Focus(`#tab0`), chromedp.KeyEvent(kb.ArrowRight))
	assert.True(t, eval[bool](b, `document.getElementById('panel0').hidden && !document.getElementById('panel1').hidden`))
	b.picture("tabs", true)
}

func TestEverythingThatCanBeUsedIsReachedByKeysAndHasAName(t *testing.T) {
	b := browse(t, reportOf(t, "a5-uniform-small"))
	b.waits(drawn)
	nameless := eval[[]string](b, `[...document.querySelectorAll('button, select, input, [tabindex="0"], canvas.lanes')].filter(e => !(e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label'))).map(e => e.outerHTML.slice(0, 120))`)
	assert.Empty(t, nameless)
	for range 4 {
		b.run(chromedp.KeyEvent(kb.Tab))
	}
	assert.NotEqual(t, "BODY", eval[string](b, `document.activeElement.tagName`))
	assert.NotEqual(t, "none", eval[string](b, `getComputedStyle(document.activeElement).outlineStyle`), "what has the focus shows it")
	b.run(chromedp.Click("#theme"))
	assert.Equal(t, "dark", eval[string](b, `document.documentElement.dataset.theme`))
}
