package hw_test

import (
	"fmt"
	"testing"

	"pldperf/engine"
	"pldperf/hw/hwtest"
	"pldperf/hw/program"
)

// meshTiles is the inner loop of a mesh allreduce as a HOST builtin: tiles of 1 KiB,
// round the blocks, each loaded from all ranks, combined, and stored behind a barrier of
// the block's own column.
func meshTiles(ranks, blocks int, tiles int64) *program.Job {
	p := &program.Program{}
	col := program.OwnBlock
	off := program.Expr{B: 1024, L: [2]int64{int64(blocks) * 1024}}
	p.Loop(program.Const(tiles), func() {
		p.Add(program.Op{Kind: program.LoadTile, Src: deskIn, SrcOff: off, Bytes: n(1024)})
		for k := range ranks - 1 {
			p.Add(program.Op{Kind: program.RemoteLoad, Tile: 1, Src: deskIn, SrcOff: off, Peer: program.Expr{R: 1, C: int64(k + 1), Of: ids(ranks)}, Bytes: n(1024)})
			p.Add(program.Op{Kind: program.Combine, Other: 1, Bytes: n(1024)})
		}
		p.Add(program.Op{Kind: program.NotifyPeers, Signal: deskSignal, Col: col, Stride: int64(blocks), Value: n(1)})
		p.Add(program.Op{Kind: program.WaitPeers, Signal: deskSignal, Col: col, Stride: int64(blocks), Value: program.Expr{C: 1, L: [2]int64{1}}})
		p.Add(program.Op{Kind: program.StoreTile, Dst: deskOut, DstOff: off, Bytes: n(1024)})
	})
	size := engine.Bytes(int64(blocks) * tiles * 1024)
	job := desk(ranks, size, nil)
	job.Buffers[deskSignal].Size = engine.Bytes(4 * ranks * blocks)
	job.Tasks[0].Blocks, job.Tasks[0].Perblock, job.Tasks[0].Program = blocks, nil, p
	return job
}

func ids(ranks int) (out []int64) {
	for r := range ranks {
		out = append(out, int64(r))
	}
	return out
}

func BenchmarkMeshTiles(b *testing.B) {
	for _, tiles := range []int64{100, 200} {
		b.Run(fmt.Sprintf("tiles=%d", tiles), func(b *testing.B) {
			spec := hwtest.Machine(b, "950dt-64")
			var events uint64
			for b.Loop() {
				events += ok(b, spec, meshTiles(8, 36, tiles)).Events
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
			b.ReportMetric(float64(events)/float64(b.N)/float64(8*36*tiles), "events/tile")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(8*36*tiles), "ns/tile")
		})
	}
}
