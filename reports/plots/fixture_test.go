package plots

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports"
)

// fake is a plausible run of indexed_all_to_all_v: launch and barriers, a build that
// the AIVs share, and a transfer at the rate of the ranks' ports.
func fake(ranks, cores int, size engine.Bytes) reports.Point {
	rate := min(engine.Rate(ranks-1)*53_100_000_000, 352_000_000_000)
	remote := size * engine.Bytes(ranks-1)
	p := reports.Point{
		Axes: []reports.KV{{Key: "ranks", Value: fmt.Sprint(ranks)}, {Key: "size", Value: size.String()}, {Key: "core_num", Value: fmt.Sprint(cores)}},
		Size: size, Status: result.OK, SQDepth: 32768, BoundBy: "egress",
	}
	wqes := int64(remote/7168/12) + int64(ranks-1)
	p.Counters[result.WQEBBs] = 4 * wqes * int64(ranks)
	p.Counters[result.NOPs] = 2 * int64(ranks-1) * int64(ranks)
	p.PeakSQ = 4 * wqes / int64(ranks-1)
	wire := rate.Span(remote)
	t := &p.Reasons
	t[result.Launch] = 1220*engine.Nanosecond + engine.Duration(cores)*14800
	t[result.Scalar] = 40 * engine.Nanosecond
	t[result.IndexCheck] = 300 * engine.Nanosecond
	t[result.CountRead] = 1040 * engine.Nanosecond * engine.Duration(max(1, ranks/cores))
	t[result.SIMTBuild] = engine.Duration(wqes) * 20 * engine.Nanosecond / engine.Duration(min(cores, ranks))
	t[result.Doorbell] = 906 * engine.Nanosecond * engine.Duration(max(1, ranks/cores))
	t[result.SignalIssue] = 500 * engine.Nanosecond
	t[result.SignalWait] = 1500*engine.Nanosecond + engine.Duration(cores)*30*engine.Nanosecond
	t[result.PollOvershoot] = 300 * engine.Nanosecond
	t[result.MTE3] = engine.Rate(157_000_000_000).Span(size) / engine.Duration(cores)
	t[result.MTE2] = t[result.MTE3] / 9
	t[result.StageWait] = t[result.MTE3] / 4
	t[result.CQEWait] = max(wire-t[result.MTE3]-t[result.StageWait]-t[result.SIMTBuild], 500*engine.Nanosecond)
	t[result.Fence] = 150 * engine.Nanosecond
	t[result.Idle] = 30 * engine.Nanosecond
	p.Elapsed = t.Sum()
	p.Bound = 4*engine.Microsecond + wire
	per := func(n engine.Bytes) engine.Rate {
		return engine.Rate(float64(n) / float64(p.Elapsed) * 1e12)
	}
	p.Algbw, p.Busbw, p.Wire = per(remote+size), per(remote), per(remote)
	return p
}

func sizes(f func(engine.Bytes)) {
	for s := engine.Bytes(1); s <= 64<<20; s *= 4 {
		f(s)
	}
}

func fakeFrame() Frame {
	return Frame{
		Subtitle: "indexed_all_to_all_v on Ascend 950DT, 64 AIVs, 8-NPU mesh; H 7168, INT8, uniform routing, core_num 16",
		Footnote: "pldperf; seed 1; digest of results 0123456789abcdef; simulated, 14 parameters assumed",
	}
}

var roofs = []Roof{{"port", 53_100_000_000}, {"egress cap of a rank", 352_000_000_000}, {"ideal", engine.Unlimited}}
