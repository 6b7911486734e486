package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/memory"
)

// patience is after how long a command that has printed nothing says that it is at work,
// and pace how often it says it anew; tests are less patient.
var (
	patience = 2 * time.Second
	pace     = 500 * time.Millisecond
)

// A meter tells people at a terminal that a command is at work, how far it is and how long
// it will take. Elsewhere it is nil, whose methods do nothing. Simulations and other
// goroutines tell it; only its own writes.
type meter struct {
	what       string
	begun      time.Time
	stopped    chan struct{}
	gone       chan struct{}
	mu         sync.Mutex     // of share and detail
	share      func() float64 // done so far, 0 to 1; negative: nobody knows
	detail     func() string
	first      float64   // share when something was known first
	since      time.Time // when that was
	now, moved atomic.Int64
	events     atomic.Uint64
	ended      atomic.Int64 // runs, rows, points
	whole      atomic.Int64
	note       atomic.Pointer[string]
}

// working starts a meter.
func working(w io.Writer, what string) *meter {
	if !terminal(w) {
		return nil
	}
	m := newMeter(what, time.Now())
	go m.show(w)
	return m
}

func newMeter(what string, begun time.Time) *meter {
	m := &meter{what: what, begun: begun, stopped: make(chan struct{}), gone: make(chan struct{})}
	m.share, m.detail = m.counted, func() string { return "" }
	return m
}

// stop wipes the line.
func (m *meter) stop() {
	if m != nil {
		close(m.stopped)
		<-m.gone
	}
}

// show writes the line until the meter is stopped.
func (m *meter) show(w io.Writer) {
	defer close(m.gone)
	wait := time.NewTimer(patience)
	defer wait.Stop()
	shown := false
	for {
		select {
		case <-m.stopped:
			if shown {
				fmt.Fprint(w, "\r\x1b[K")
			}
			return
		case now := <-wait.C:
			fmt.Fprint(w, "\r\x1b[K"+cut(m.line(now), width(w)-1))
			shown = true
			wait.Reset(pace)
		}
	}
}

// cut keeps a line within a terminal: one that wraps could not be wiped.
func cut(line string, columns int) string {
	if r := []rune(line); columns > 0 && len(r) > columns {
		return string(r[:columns])
	}
	return line
}

// line says how far the command is.
func (m *meter) line(now time.Time) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	parts := []string{fmt.Sprintf("%s for %s", m.what, seconds(now.Sub(m.begun)))}
	if d := m.detail(); d != "" {
		parts = append(parts, d)
	}
	if n := m.note.Load(); n != nil {
		parts = append(parts, *n)
	}
	if share := m.share(); share > 0 {
		parts = append(parts, fmt.Sprintf("%.0f %%", 100*share))
		if left, ok := m.left(now, share); ok {
			parts = append(parts, "about "+seconds(left)+" left")
		}
	}
	return strings.Join(parts, ", ") + "; Ctrl-C stops it"
}

// left estimates how long the rest takes at the pace since something was known.
func (m *meter) left(now time.Time, share float64) (time.Duration, bool) {
	if m.since.IsZero() {
		m.first, m.since = 0, m.begun
		if share > 0.5 { // much came at once, such as from a cache
			m.first, m.since = share, now
		}
	}
	if share <= m.first || share > 1 {
		return 0, false
	}
	return time.Duration(float64(now.Sub(m.since)) * (1 - share) / (share - m.first)), true
}

// seconds prints a time for people.
func seconds(d time.Duration) string {
	switch s := int(d.Seconds() + 0.5); {
	case s < 100:
		return fmt.Sprintf("%d s", s)
	case s < 5400:
		return fmt.Sprintf("%d min", (s+30)/60)
	default:
		return fmt.Sprintf("%.1f h", float64(s)/3600)
	}
}

// counted is the share of what was counted.
func (m *meter) counted() float64 {
	if n := m.whole.Load(); n > 0 {
		return float64(m.ended.Load()) / float64(n)
	}
	return -1
}

// count sets what has ended of how many.
func (m *meter) count(ended, whole int) {
	if m != nil {
		m.ended.Store(int64(ended))
		m.whole.Store(int64(whole))
	}
}

// say sets words beside the count.
func (m *meter) say(text string) {
	if m != nil {
		m.note.Store(&text)
	}
}

// watch has so many runs one after another, each of which moves the promised bytes, tell
// the meter how far they are. Without a meter the runs are left alone.
func (m *meter) watch(opt *hw.Options, runs int, promised engine.Bytes) {
	if m == nil {
		return
	}
	opt.Progress = func(p hw.Progress) {
		m.now.Store(int64(p.Now))
		m.events.Store(p.Events)
		m.moved.Store(int64(p.Moved))
	}
	inspect := opt.Inspect
	opt.Inspect = func(s *memory.Space) {
		m.ended.Add(1)
		m.moved.Store(0)
		if inspect != nil {
			inspect(s)
		}
	}
	m.whole.Store(int64(runs))
	m.mu.Lock()
	defer m.mu.Unlock()
	share := 0.0 // never goes back
	m.share = func() float64 {
		moved := 0.0
		if promised > 0 {
			moved = min(max(float64(m.moved.Load())/float64(promised), 0), 1)
		}
		share = max(share, min((float64(m.ended.Load())+moved)/float64(runs), 1))
		return share
	}
	m.detail = func() string { return m.simulated(runs, promised) }
}

// simulated says how far a simulation is.
func (m *meter) simulated(runs int, promised engine.Bytes) string {
	text := fmt.Sprintf("%.4g us simulated, %.3g M events", float64(m.now.Load())/1e6, float64(m.events.Load())/1e6)
	if promised > 0 {
		text += fmt.Sprintf(", %.3g of %.3g MB moved", float64(m.moved.Load())/1e6, float64(promised)/1e6)
	}
	if runs > 1 {
		text = fmt.Sprintf("run %d of %d: ", min(m.ended.Load()+1, int64(runs)), runs) + text
	}
	return text
}
