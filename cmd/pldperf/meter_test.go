package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/memory"
	"pldperf/workloads"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestAMeterSaysHowFarARunIsAndHowLongTheRestTakes(t *testing.T) {
	m := newMeter("running", noon)
	assert.Equal(t, "running for 4 s; Ctrl-C stops it", m.line(noon.Add(4*time.Second)), "nobody knows how far it is")
	var opt hw.Options
	m.watch(&opt, 1, 200_000_000)
	opt.Progress(hw.Progress{Now: 12_500_000, Events: 3_200_000, Moved: 50_000_000})
	// A quarter took 10 s, so three quarters take 30 s.
	assert.Equal(t, "running for 10 s, 12.5 us simulated, 3.2 M events, 50 of 200 MB moved, 25 %, about 30 s left; Ctrl-C stops it", m.line(noon.Add(10*time.Second)))
	opt.Progress(hw.Progress{Now: 13_000_000, Events: 4_000_000, Moved: 300_000_000})
	assert.Contains(t, m.line(noon.Add(20*time.Second)), "100 %, about 0 s left", "never above the whole")
}

func TestAMeterOfSeveralRunsCountsThemAndNeverGoesBack(t *testing.T) {
	m := newMeter("running", noon)
	inspected := 0
	opt := hw.Options{Inspect: func(*memory.Space) { inspected++ }}
	m.watch(&opt, 4, 100)
	opt.Progress(hw.Progress{Moved: 100})
	assert.Contains(t, m.line(noon.Add(time.Second)), "run 1 of 4: ")
	assert.Contains(t, m.line(noon.Add(time.Second)), "25 %")
	opt.Inspect(nil)
	assert.Contains(t, m.line(noon.Add(time.Second)), "run 2 of 4: ")
	opt.Progress(hw.Progress{Moved: 40})
	assert.Contains(t, m.line(noon.Add(2*time.Second)), "35 %")
	for range 3 {
		opt.Inspect(nil)
	}
	assert.Contains(t, m.line(noon.Add(3*time.Second)), "run 4 of 4: ")
	assert.Contains(t, m.line(noon.Add(3*time.Second)), "100 %")
	assert.Equal(t, 4, inspected)
}

func TestAMeterWithoutAPromiseGuessesNothing(t *testing.T) {
	m := newMeter("running", noon)
	var opt hw.Options
	m.watch(&opt, 1, 0)
	opt.Progress(hw.Progress{Now: 1_000_000, Events: 65536, Moved: 12})
	assert.Equal(t, "running for 3 s, 1 us simulated, 0.0655 M events; Ctrl-C stops it", m.line(noon.Add(3*time.Second)))
}

func TestAMeterOfCountsEstimatesFromWhereItBeganToCount(t *testing.T) {
	m := newMeter("validating", noon)
	m.count(60, 100) // known already, such as from a cache
	m.say("a5-hcomm, row 60 of 100")
	assert.Equal(t, "validating for 10 s, a5-hcomm, row 60 of 100, 60 %; Ctrl-C stops it", m.line(noon.Add(10*time.Second)))
	m.count(70, 100)
	assert.Contains(t, m.line(noon.Add(20*time.Second)), "70 %, about 30 s left")
	for d, want := range map[time.Duration]string{99 * time.Second: "99 s", 150 * time.Second: "3 min", 2 * time.Hour: "2.0 h"} {
		assert.Equal(t, want, seconds(d))
	}
}

func TestWithoutATerminalThereIsNoMeterAndRunsAreLeftAlone(t *testing.T) {
	var b bytes.Buffer
	m := working(&b, "running")
	assert.Nil(t, m)
	m.count(1, 2)
	m.say("x")
	var opt hw.Options
	m.watch(&opt, 1, 1)
	assert.Nil(t, opt.Progress)
	assert.Nil(t, opt.Inspect)
	m.stop()
	assert.Empty(t, b.String())
}

func TestAMeterStopsBeforeItHasShownAnything(t *testing.T) {
	var b bytes.Buffer
	m := newMeter("running", time.Now())
	go m.show(&b)
	m.stop()
	assert.Empty(t, b.String())
}

func TestWatchedRunsAreTheSameAndReachWhatIsPromised(t *testing.T) {
	for _, x := range []struct {
		name string
		sets []string
	}{
		{"a5-moe-dispatch", []string{"routing.tokens=256", "repeat={count: 2, warmup: 1}"}},
		{"all-to-all-p4", []string{"ranks=8", "call={op: all_to_all, form: host, size: 65536}"}},
		{"all-to-all-p4", []string{"call={op: allreduce, form: ring_incore, size: 262144}"}},
		{"all-to-all-p4", []string{"call={op: allreduce, form: mesh_host, size: 65536}"}},
		{"a5-moe-round-trip", []string{"routing.tokens=64"}},
	} {
		w, err := workloads.Load(x.name, x.sets)
		require.NoError(t, err)
		plain, err := w.Run(hw.Options{})
		require.NoError(t, err)
		var last hw.Progress
		watched, err := w.Run(hw.Options{Progress: func(p hw.Progress) {
			assert.LessOrEqual(t, last.Now, p.Now)
			assert.Equal(t, last.Events+engine.SampleEvents, p.Events)
			last = p
		}})
		require.NoError(t, err)
		assert.Equal(t, plain.Result.Digests, watched.Result.Digests, x.name)
		promised := w.Promised()
		assert.Positive(t, promised)
		assert.LessOrEqual(t, last.Moved, promised, "%s %v", x.name, x.sets)
		assert.Greater(t, last.Moved, promised*2/3, "%s %v", x.name, x.sets)
	}
}
