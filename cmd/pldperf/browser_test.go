package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// browser is a tab of a headless Chromium and what it complains of.
type browser struct {
	t        *testing.T
	ctx      context.Context
	mu       sync.Mutex
	problems []string
	requests []string
}

// chromium names the browser, or skips the test; where CHROMIUM is set, as .ci/run does,
// there must be one.
func chromium(t *testing.T) string {
	if testing.Short() {
		t.Skip("a browser is slow beside the race detector, and shows no races")
	}
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium: install the package chromium, or set CHROMIUM to a browser, to test pages in it")
	return ""
}

// browse opens a page of a file in a window of 1280 x 900.
func browse(t *testing.T, file string) *browser {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.WindowSize(1280, 900),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("lang", "en-US"))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, b.hear)
	path, err := filepath.Abs(file)
	require.NoError(t, err)
	b.run(network.Enable(), log.Enable(), performance.Enable().WithTimeDomain(performance.EnableTimeDomainThreadTicks), chromedp.Navigate("file://"+path), chromedp.WaitReady(`html[data-ready]`))
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		assert.Empty(t, b.problems, "the browser complains")
		for _, r := range b.requests {
			assert.True(t, r == "file://"+path || strings.HasPrefix(r, "data:") || strings.HasPrefix(r, "blob:"), "the page asks for %s", r)
		}
	})
	return b
}

func (b *browser) hear(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		b.problems = append(b.problems, e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
			for _, a := range e.Args {
				b.problems = append(b.problems, string(a.Value))
			}
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError {
			b.problems = append(b.problems, e.Entry.Text)
		}
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

func (b *browser) run(actions ...chromedp.Action) {
	b.t.Helper()
	require.NoError(b.t, chromedp.Run(b.ctx, actions...))
}

// eval returns what a script comes to.
func eval[T any](b *browser, script string) (v T) {
	b.t.Helper()
	b.run(chromedp.Evaluate(script, &v))
	return v
}

// waits until a script is true.
func (b *browser) waits(script string) {
	b.t.Helper()
	b.run(chromedp.Poll(script, nil, chromedp.WithPollingTimeout(30*time.Second)))
}

// hover moves the pointer to a place of an element, in pixels from its upper left corner.
func (b *browser) hover(selector string, x, y float64) {
	b.t.Helper()
	at := eval[[]float64](b, `(() => { const e = document.querySelector(`+quoted(selector)+`); e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return [r.left, r.top]; })()`)
	b.run(chromedp.MouseEvent("mouseMoved", at[0]+x, at[1]+y))
}

// click clicks there.
func (b *browser) click(selector string, x, y float64) {
	b.t.Helper()
	b.hover(selector, x, y)
	at := eval[[]float64](b, `(() => { const r = document.querySelector(`+quoted(selector)+`).getBoundingClientRect(); return [r.left, r.top]; })()`)
	b.run(chromedp.MouseClickXY(at[0]+x, at[1]+y))
}

func quoted(s string) string { return "`" + s + "`" }

// hint is what the pointer shows.
func (b *browser) hint() string {
	return eval[string](b, `document.getElementById('hint').hidden ? '' : document.getElementById('hint').innerText`)
}

// picture keeps what the window shows, where PICTURES names a folder.
func (b *browser) picture(name string, whole bool) {
	dir := os.Getenv("PICTURES")
	if dir == "" {
		return
	}
	var png []byte
	if whole {
		b.run(chromedp.Evaluate(`scrollTo(0, 0)`, nil), chromedp.Sleep(50*time.Millisecond)) // what sticks to the top stands there
		b.run(chromedp.FullScreenshot(&png, 100))
	} else {
		b.run(chromedp.CaptureScreenshot(&png))
	}
	require.NoError(b.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

func (b *browser) scheme(dark bool) {
	v := "light"
	if dark {
		v = "dark"
	}
	b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: v}}))
}
