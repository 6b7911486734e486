package hw_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/arith"
	"pldperf/hw/hwtest"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// The buffers of a desk job.
const (
	deskIn program.Buf = iota
	deskOut
	deskSignal
)

// ramp is FP32 content: element i of rank r is 100r + i.
type ramp struct{}

func (ramp) Generate(dst []byte, rank int, _ uint32, off int64) {
	for i := 0; i+4 <= len(dst); i += 4 {
		arith.Put(dst[i:], 0, program.FP32, float64(int64(100*rank)+(off+int64(i))/4))
	}
}

// desk is a job of one block a rank with an input, an output and a signal of 8 cells.
func desk(ranks int, size engine.Bytes, text func(rank int) []program.Op) *program.Job {
	job := bare(ranks, 1, text)
	job.Buffers = []program.Buffer{
		{Name: "in", Window: true, Size: size, Fill: ramp{}},
		{Name: "out", Window: true, Size: size},
		{Name: "signal", Window: true, Words: true, Signal: true, Size: 32},
	}
	return job
}

func n(v int64) program.Expr { return program.Const(v) }

// at runs a job on bytes and returns rank 0's elapsed time and each rank's output.
func at(t *testing.T, spec hw.Spec, job *program.Job) (*result.Result, [][]byte) {
	t.Helper()
	out := make([][]byte, job.Ranks)
	res, err := hw.Run(spec, job, hw.Options{Payload: "bytes", Inspect: func(s *memory.Space) {
		for r := range out {
			var d memory.Data
			s.Capture(&d, memory.Addr{Rank: r, Buf: memory.ID(deskOut)}, int64(job.Buffers[deskOut].Size))
			out[r] = d.Raw
		}
	}})
	require.NoError(t, err)
	require.Equal(t, result.OK, res.Status, "%v %+v %+v", res.Hazards, res.Abort, res.Stuck)
	return res, out
}

func values(b []byte, at ...int) (out []float64) {
	for _, i := range at {
		out = append(out, arith.Value(b, i, program.FP32))
	}
	return out
}

func only(rank int, ops ...program.Op) func(int) []program.Op {
	return func(r int) []program.Op {
		if r == rank {
			return ops
		}
		return nil
	}
}

// free has costs for what the tests below add up, and nothing else.
func freeMachine(t *testing.T, sets ...string) hw.Spec {
	return hwtest.Machine(t, "950dt-64", append(append([]string{}, hwtest.Free...), sets...)...)
}

func TestARemoteLoadTakesTheHopTheWireAndItsBytes(t *testing.T) {
	spec := freeMachine(t, "fabric.kind=mesh")
	for _, size := range []int64{512, 4096, 16384} {
		res, out := at(t, spec, desk(2, 16384, only(0,
			program.Op{Kind: program.RemoteLoad, Src: deskIn, Peer: n(1), Bytes: n(size)},
			program.Op{Kind: program.StoreTile, Dst: deskOut, Bytes: n(size)},
		)))
		want := 1220*ns + 390*ns + 350*ns + spec.AIV.Remote.Rate.Span(engine.Bytes(size))
		assert.Equal(t, want, res.Elapsed, "%d B: F8 of the hardware parameters, 0.74 us + bytes / 31 GB/s", size)
		assert.Equal(t, []float64{100, 100 + float64(size/4-1)}, values(out[0], 0, int(size/4-1)))
		assert.Equal(t, size, res.Ranks[0].Counters[result.BytesReceived])
		assert.Equal(t, size, res.Ranks[1].Counters[result.BytesSent], "the rank that is read serves")
		assert.Equal(t, int64(1), res.Totals[result.RemoteLoads])
	}
}

func TestAnEmptyTileTakesNoTimeAndMovesNothing(t *testing.T) {
	res, _ := at(t, hwtest.Machine(t, "950dt-64"), desk(2, 64, func(int) []program.Op {
		none := program.Expr{C: -8, Cap: 64}
		return []program.Op{
			{Kind: program.LoadTile, Src: deskIn, Bytes: none}, {Kind: program.RemoteLoad, Src: deskIn, Peer: n(1), Bytes: none},
			{Kind: program.Combine, Other: 1, Bytes: none}, {Kind: program.StoreTile, Dst: deskOut, Bytes: none},
			{Kind: program.RemoteStore, Dst: deskOut, Bytes: none}, {Kind: program.Put, Dst: deskOut, Src: deskIn, Bytes: none},
		}
	}))
	assert.Equal(t, 1220*ns, res.Elapsed)
	assert.Zero(t, res.Totals[result.BytesSent]+res.Totals[result.RemoteLoads]+res.Totals[result.RemoteStores])
}

func TestCombiningATileIsExactAndTakesItsIterations(t *testing.T) {
	for _, x := range []struct {
		op     program.Reduce
		want   float64
		cycles float64
	}{
		{program.Sum, 5 + 105, 55 + 64*1.247}, {program.Max, 105, 53 + 64*1.059}, {program.Min, 5, 53 + 64*1.059},
		{program.Prod, 5 * 105, 56 + 64*1.194},
	} {
		spec := freeMachine(t, "aiv.vector.kind=real")
		res, out := at(t, spec, desk(2, 16384, only(0,
			program.Op{Kind: program.LoadTile, Src: deskIn, Bytes: n(16384)},
			program.Op{Kind: program.RemoteLoad, Tile: 1, Src: deskIn, Peer: n(1), Bytes: n(16384)},
			program.Op{Kind: program.Combine, Other: 1, Reduce: x.op, Bytes: n(16384)},
			program.Op{Kind: program.StoreTile, Dst: deskOut, Bytes: n(16384)},
		)))
		assert.Equal(t, x.want, values(out[0], 5)[0], "%v", x.op)
		assert.InEpsilon(t, x.cycles/1.65e9, float64(res.Blocks[0].Time[result.Vector])*1e-12, 0.001, "%v", x.op)
	}
}

func TestAPutOfARectangleMovesItsRowsInPieces(t *testing.T) {
	// A matrix of 8 rows of 64 elements; columns 16 ... 47 of rows 1 ... 6 go to rows 0 ... 5.
	rect := &program.Rect{Rows: 6, Width: 128, SrcPitch: 256, DstPitch: 256, ChunkRows: 4, ChunkWidth: 80}
	for _, kind := range []program.Kind{program.Put, program.Get} {
		for _, pipeline := range []bool{false, true} {
			op := program.Op{Kind: kind, Dst: deskOut, Src: deskIn, SrcOff: n(256 + 64), Peer: n(1), Rect: rect, Pipeline: pipeline}
			res, out := at(t, hwtest.Machine(t, "950dt-64"), desk(2, 8*256, only(0, op)))
			at, from := 1, 0.0
			if kind == program.Get {
				at, from = 0, 100
			}
			assert.Equal(t, int64(4), res.Totals[result.PutStages], "ceil(6/4) * ceil(128/80)")
			assert.Equal(t, []float64{from + 64 + 16, from + 64 + 47, 0, from + 2*64 + 16, from + 6*64 + 47, 0},
				values(out[at], 0, 31, 32, 64, 5*64+31, 6*64))
			assert.Equal(t, int64(6*128), res.Totals[result.BytesReceived])
		}
	}
}

func TestWithTwoStagesTheLoadsHideBehindTheStores(t *testing.T) {
	time := func(pipeline bool) engine.Duration {
		res, _ := at(t, hwtest.Machine(t, "950dt-64"), desk(2, 1<<16, only(0, program.Op{
			Kind: program.Put, Dst: deskOut, Src: deskIn, Peer: n(1), Bytes: n(1 << 16), Chunk: 1 << 13, Pipeline: pipeline,
		})))
		assert.Equal(t, int64(8), res.Totals[result.PutStages])
		return res.Elapsed
	}
	spec := hwtest.Machine(t, "950dt-64")
	one, two := time(false), time(true)
	load := spec.UB.Load.Span(1<<13) + spec.AIV.Clock.Span(spec.Memory.HBM.Latency)
	assert.Equal(t, 7*load, one-two, "all loads but the first are hidden")
}

func TestAtomicPutsOfAllRanksAddUp(t *testing.T) {
	put := program.Op{Kind: program.Put, Dst: deskOut, Src: deskIn, Peer: n(0), Bytes: n(256), Atomic: true}
	_, out := at(t, hwtest.Machine(t, "950dt-64"), desk(4, 256, func(int) []program.Op { return []program.Op{put} }))
	assert.Equal(t, []float64{600, 4*63 + 600}, values(out[0], 0, 63))
}

func TestARemoteStoreReturnsWhenItHasLeftAndAFenceWaitsUntilItIsThere(t *testing.T) {
	ops := []program.Op{
		{Kind: program.LoadTile, Src: deskIn, Bytes: n(4096)},
		{Kind: program.RemoteStore, Dst: deskOut, Peer: n(1), Bytes: n(4096)},
		{Kind: program.RemoteStore, Dst: deskOut, DstOff: n(4096), Peer: n(1), Bytes: n(2048)},
		{Kind: program.Fence},
	}
	spec := freeMachine(t, "fabric.kind=mesh")
	res, out := at(t, spec, desk(2, 8192, only(0, ops...)))
	wire := spec.AIV.Remote.Rate.Span(4096) + spec.AIV.Remote.Rate.Span(2048)
	assert.Equal(t, 1220*ns+wire+350*ns+390*ns, res.Elapsed, "the second leaves at once behind the first")
	assert.Equal(t, wire, res.Blocks[0].Time[result.MTE3])
	assert.Equal(t, 740*ns, res.Blocks[0].Time[result.RemoteWait])
	assert.Equal(t, []float64{0, 1023, 0, 511, 0}, values(out[1], 0, 1023, 1024, 1024+511, 1024+512))
	unfenced, _ := at(t, spec, desk(2, 8192, only(0, ops[:3]...)))
	assert.Equal(t, res.Elapsed, unfenced.Elapsed, "the end of a kernel drains, too")
}

func TestLoopsRunTheirBodiesWithTheirIterations(t *testing.T) {
	p := &program.Program{}
	p.Loop(n(3), func() {
		p.Loop(program.Expr{C: 2, L: [2]int64{-1}}, func() { // 2, 1 and 0 times
			at := program.Expr{L: [2]int64{1024, 256}}
			p.Add(program.Op{Kind: program.CopyTile, Dst: deskOut, Src: deskIn, DstOff: at, SrcOff: at, Bytes: n(4)})
		})
		last := program.Expr{C: 512, L: [2]int64{1024}}
		p.Add(program.Op{Kind: program.CopyTile, Dst: deskOut, Src: deskIn, DstOff: last, SrcOff: last, Bytes: n(4)})
	})
	_, out := at(t, hwtest.Machine(t, "950dt-64"), desk(2, 4096, func(int) []program.Op { return p.Ops }))
	var moved []float64
	for i := range 1024 {
		if v := values(out[1], i)[0]; v != 0 {
			moved = append(moved, v-100)
		}
	}
	assert.Equal(t, []float64{0, 64, 128, 256, 384, 640}, moved)
}

func TestSingleCellsAddUpAndAWaitForTheVeryValueCanMissIt(t *testing.T) {
	notify := func(v int64) program.Op {
		return program.Op{Kind: program.Notify, Signal: deskSignal, Peer: n(0), Cell: n(5), Value: n(v)}
	}
	pause := program.Op{Kind: program.RemoteLoad, Src: deskIn, Peer: n(0), Bytes: n(4096)}
	wait := program.Op{Kind: program.Wait, Signal: deskSignal, Cell: n(5), Value: n(2)}
	job := func(eq bool, gap ...program.Op) *program.Job {
		w := wait
		w.Eq = eq
		ops := append([]program.Op{notify(1), notify(1)}, append(gap, notify(1))...)
		return desk(2, 4096, func(rank int) []program.Op {
			if rank == 0 {
				return []program.Op{w}
			}
			return ops
		})
	}
	at(t, hwtest.Machine(t, "950dt-64"), job(false))
	at(t, hwtest.Machine(t, "950dt-64"), job(true, pause, pause)) // 2 stays long enough for a poll of 0.25 us
	res := run(t, hwtest.Machine(t, "950dt-64"), job(true))       // 2 stays for 26 ns
	require.Equal(t, result.Deadlock, res.Status)
	assert.Equal(t, "signal[5]", res.Stuck.Waits[0].Cell)
	assert.Equal(t, []int64{3, 2}, []int64{res.Stuck.Waits[0].Value, res.Stuck.Waits[0].Expected})
}

func TestADeferredWaitStartsATaskWithoutACoreThatSpins(t *testing.T) {
	spec := freeMachine(t, "fabric.kind=mesh", "aiv.launch.notice=1 us")
	job := desk(2, 4096, func(rank int) []program.Op {
		if rank == 0 {
			return nil
		}
		return []program.Op{{Kind: program.Notify, Signal: deskSignal, Peer: n(0), Cell: n(3), Value: n(7)}}
	})
	epilogue := program.Task{
		Name: "epilogue", Blocks: 1, Timed: true, Program: &program.Program{}, After: []int{0},
		Until: []program.Condition{{Signal: deskSignal, Cell: n(3), Value: 7}},
	}
	job.Tasks = append(job.Tasks, epilogue)
	res, err := hw.Run(spec, job, hw.Options{})
	require.NoError(t, err)
	require.Equal(t, result.Deadlock, res.Status, "rank 1's own cell stays at 0")
	assert.Equal(t, engine.Time((1220+390+350)*ns+us), res.Calls[1].Ranks[0].Start)
	assert.Contains(t, res.Stuck.Waits[0].Op, "epilogue")
	assert.Equal(t, "signal[3]", res.Stuck.Waits[0].Cell)
}

func TestWhatComputesNeedsRealBytes(t *testing.T) {
	job := desk(2, 4096, nil)
	job.Tasks[0].Perblock = nil
	job.Tasks[0].Program = &program.Program{Ops: []program.Op{{Kind: program.Combine, Bytes: n(4)}}}
	_, err := hw.Run(hwtest.Machine(t, "950dt-64"), job, hw.Options{Payload: "provenance"})
	assert.ErrorContains(t, err, "needs real bytes")
}
