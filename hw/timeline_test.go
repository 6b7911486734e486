package hw_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/hwtest"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/timeline"
)

// randomOps draws an op of a desk job, behind loads of the tiles that it needs; some are
// wrong on purpose.
func randomOps(t *rapid.T, ranks int) []program.Op {
	size := rapid.SampledFrom([]int64{0, 4, 256, 5000, 40_000}).Draw(t, "bytes")
	op := program.Op{
		Kind: rapid.SampledFrom([]program.Kind{
			program.Put, program.Put, program.Get, program.CopyTile, program.LoadTile, program.StoreTile, program.RemoteLoad, program.RemoteStore,
			program.Combine, program.Notify, program.NotifyPeers, program.WaitPeers, program.AddPeers, program.Fence, program.PipeBarrier, program.Spend,
		}).Draw(t, "op"),
		Src: deskIn, Dst: deskOut, Signal: deskSignal, Bytes: n(size), Stride: 1, Value: n(1), DType: program.FP32,
		Phase: rapid.SampledFrom([]string{"", "one", "two"}).Draw(t, "phase"), Peer: n(int64(rapid.IntRange(0, ranks-1).Draw(t, "peer"))),
		SIMT: rapid.Bool().Draw(t, "simt"),
	}
	switch op.Kind {
	case program.Put, program.Get:
		op.Chunk = rapid.SampledFrom([]int64{0, 1024, 16_384}).Draw(t, "chunk")
		op.Transport = rapid.SampledFrom([]program.Transport{program.MTE, program.MTE, program.URMA, program.SDMA}).Draw(t, "transport")
		op.Pipeline = rapid.Bool().Draw(t, "pipeline")
		op.Barriers = rapid.IntRange(0, 2).Draw(t, "barriers")
		if rapid.IntRange(0, 15).Draw(t, "beyond") == 0 {
			op.DstOff = n(1 << 20)
		}
	case program.WaitPeers:
		op.Value = n(int64(rapid.IntRange(0, 1).Draw(t, "value")))
	case program.Spend:
		op.Value = n(int64(rapid.IntRange(0, 3000).Draw(t, "value")) * 1000)
	case program.StoreTile, program.RemoteStore, program.Combine:
		load := op
		load.Kind, load.Tile = program.LoadTile, 1
		second := load
		second.Tile, op.Tile, op.Other = 2, 1, 2
		return []program.Op{load, second, op}
	}
	return []program.Op{op}
}

// randomJob draws tasks, some of which run side by side.
func randomJob(t *rapid.T) *program.Job {
	ranks := rapid.IntRange(1, 4).Draw(t, "ranks")
	job := desk(ranks, 64<<10, nil)
	job.Tasks = nil
	for i := range rapid.IntRange(1, 4).Draw(t, "tasks") {
		task := program.Task{Blocks: rapid.IntRange(1, 3).Draw(t, "blocks"), Timed: rapid.Bool().Draw(t, "timed")}
		if i > 0 && rapid.Bool().Draw(t, "after") {
			task.After, task.Barrier = []int{rapid.IntRange(0, i-1).Draw(t, "which")}, rapid.Bool().Draw(t, "barrier")
		}
		if rapid.IntRange(0, 4).Draw(t, "compute") == 0 {
			task.Compute = engine.Duration(rapid.IntRange(0, 20_000_000).Draw(t, "time"))
		} else {
			p := &program.Program{}
			for range rapid.IntRange(0, 8).Draw(t, "ops") {
				p.Ops = append(p.Ops, randomOps(t, ranks)...)
			}
			task.Program = p
		}
		job.Tasks = append(job.Tasks, task)
	}
	for range ranks {
		job.Offsets = append(job.Offsets, engine.Duration(rapid.IntRange(0, 5_000_000).Draw(t, "offset")))
		job.Slow = append(job.Slow, engine.One+engine.Fraction(rapid.IntRange(0, 1_000_000).Draw(t, "slow")))
	}
	return job
}

// spends is what the accounts of a result say of reasons that are shown.
func spends(res *result.Result) map[hwtest.Spending]engine.Duration {
	out := map[hwtest.Spending]engine.Duration{}
	for i := range res.Blocks {
		b := &res.Blocks[i]
		for r, d := range b.Time {
			if r := result.Reason(r); d > 0 && r != result.Idle && r != result.DependencyWait {
				out[hwtest.Spending{Call: b.Call, Rank: b.Rank, Block: b.Block, Reason: r.String()}] = d
			}
		}
	}
	return out
}

// However a run ends.
func TestTheTimelineOfRandomProgramsAddsUpToTheirAccounts(t *testing.T) {
	machines := []hw.Spec{
		hwtest.Machine(t, "950dt-64"), hwtest.Machine(t, "950dt-64", "fabric.kind=clos", "urma.window=16 KiB"), hwtest.Machine(t, "950dt-64", hwtest.Free...),
		hwtest.Machine(t, "950dt-64", "aiv.count=3", "aiv.remote.rate=1000 GB/s"),
	}
	ends := map[result.Status]int{}
	rapid.Check(t, func(rt *rapid.T) {
		job := randomJob(rt)
		spec := rapid.SampledFrom(machines).Draw(rt, "machine")
		w := hwtest.Watch(rt)
		res, err := hw.Run(spec, job, hw.Options{Timeline: w})
		require.NoError(rt, err)
		w.Closed()
		plain, err := hw.Run(spec, job, hw.Options{})
		require.NoError(rt, err)
		require.Equal(rt, plain.Digests, res.Digests, "who watches changes nothing")
		for s := range w.Spent {
			if !job.Tasks[s.Call].Timed {
				delete(w.Spent, s)
			}
		}
		require.Equal(rt, spends(res), w.Spent, "%v", res.Status)
		sums(rt, w, res)
		ends[res.Status]++
	})
	assert.GreaterOrEqual(t, len(ends), 2, "runs end in several ways: %v", ends) // each of them in nearly every hundred
}

// sums requires that resources are busy for as long as their spans, and carry their bytes.
func sums(t require.TestingT, w *hwtest.Watcher, res *result.Result) {
	busy, moved := map[string]engine.Duration{}, map[string]int64{}
	for p, d := range w.Busy {
		switch {
		case p.Kind == timeline.Port && p.Name == "egress cap", p.Kind == timeline.Port && p.Name == "ingress cap":
			busy[p.Name] += d
			moved[p.Name] += w.Bytes[p]
		case p.Kind == timeline.Memory:
			name := map[string]string{"HBM": "hbm", "L2": "l2"}[p.Name]
			busy[name] += d
			moved[name] += w.Bytes[p]
		}
	}
	for i := range res.Resources {
		x := &res.Resources[i]
		busy[x.Name] -= x.Busy
		moved[x.Name] -= int64(x.Bytes)
	}
	for _, name := range []string{"egress cap", "ingress cap", "hbm", "l2"} {
		if busy[name] != 0 || moved[name] > 0 {
			require.Fail(t, "spans and resources differ", "%s: %v and %d B", name, busy[name], moved[name])
		}
	}
}
