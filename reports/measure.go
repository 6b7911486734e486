package reports

import (
	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// Metrics are the headline figures of a run, derived from its card. Rates and shares
// are 0 where Defined is false: the run took no time or did not finish.
type Metrics = document.Metrics

// Spread is the least, the mean (rounded to a picosecond) and the greatest of a time over ranks.
type Spread = document.Spread

// The definitions of the rates, as every report prints them.
const (
	DefAlgbw = "mean bytes a rank gives to all ranks, itself included, / elapsed"
	DefBusbw = "remote bytes of the busiest rank (the larger of sent and received) / elapsed"
	DefWire  = "mean remote bytes that a rank sends / elapsed"
)

func spread(values []engine.Duration) (s Spread) {
	var sum engine.Duration
	for i, v := range values {
		sum += v
		if i == 0 || v < s.Min {
			s.Min, s.MinAt = v, i
		}
		if i == 0 || v > s.Max {
			s.Max, s.MaxAt = v, i
		}
	}
	s.Values = len(values)
	if n := engine.Duration(len(values)); n > 0 {
		s.Mean = (sum + n/2) / n
	}
	return s
}

// finished reports whether the run came to its end, so that its bytes and its time
// belong together.
func finished(s result.Status) bool {
	return s == result.OK || s == result.WrongData || s == result.Hazardous
}

// Measure derives the metrics of a card.
func Measure(c *Card) Metrics {
	r := c.Result
	m := Metrics{
		Status: r.Status, Elapsed: r.Elapsed, Bound: c.Bound.Total,
		PerRank: rankTimes(r), Exit: barrierExit(r), Skew: startSkew(r),
	}
	if b := c.Bound.Binds(); b != nil {
		m.BoundBy = b.Name
	}
	var all, remote, busiest int64
	for i := range r.Ranks {
		k := &r.Ranks[i].Counters
		all += k[result.BytesSent] + k[result.BytesSelf]
		remote += k[result.BytesSent]
		busiest = max(busiest, k[result.BytesSent], k[result.BytesReceived])
		if r.Ranks[i].PeakSQ > m.PeakSQ {
			m.PeakSQ, m.PeakAt = r.Ranks[i].PeakSQ, i
		}
	}
	if ranks := int64(len(r.Ranks)); ranks > 0 && r.Elapsed > 0 && finished(r.Status) {
		m.Defined = true
		m.Algbw, _ = over(all, r.Elapsed)
		m.Algbw /= engine.Rate(ranks)
		m.Wire, _ = over(remote, r.Elapsed)
		m.Wire /= engine.Rate(ranks)
		m.Busbw, _ = over(busiest, r.Elapsed)
		m.Reached, _ = share(c.Bound.Total, r.Elapsed)
	}
	return m
}

func rankTimes(r *result.Result) Spread {
	var t []engine.Duration
	for i := range r.Ranks {
		t = append(t, r.Ranks[i].Elapsed)
	}
	return spread(t)
}

// barrierExit measures from the start of the last timed call; empty when some rank
// never left a barrier.
func barrierExit(r *result.Result) Spread {
	last := -1
	for i := range r.Calls {
		if r.Calls[i].Timed && (last < 0 || r.Calls[i].End >= r.Calls[last].End) {
			last = i
		}
	}
	if last < 0 {
		return Spread{}
	}
	var t []engine.Duration
	for _, s := range r.Calls[last].Ranks {
		if s.BarrierExit < r.Calls[last].Start || s.BarrierExit == 0 {
			return Spread{}
		}
		t = append(t, s.BarrierExit.Sub(r.Calls[last].Start))
	}
	return spread(t)
}

// startSkew returns how much later than the first the last rank began the first
// timed call.
func startSkew(r *result.Result) engine.Duration {
	for i := range r.Calls {
		c := &r.Calls[i]
		if !c.Timed || len(c.Ranks) == 0 {
			continue
		}
		first, last := c.Ranks[0].Start, c.Ranks[0].Start
		for _, s := range c.Ranks {
			first, last = min(first, s.Start), max(last, s.Start)
		}
		return last.Sub(first)
	}
	return 0
}
