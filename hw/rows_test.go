package hw_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"pldperf/hw/arith"
	"pldperf/hw/hwtest"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// fixed are the words of a control buffer.
type fixed []int32

func (x fixed) Row(int, int) []int32 { return x }

// deskCounts is a control buffer with three counts behind the buffers of a desk job.
const deskCounts = deskSignal + 1

func counting(text func(rank int) []program.Op) *program.Job {
	job := desk(2, 4096, text)
	job.Buffers = append(job.Buffers, program.Buffer{Name: "counts", Words: true, Size: 12, Table: fixed{3, 9, -2}})
	return job
}

func read(word int64, add bool) program.Op {
	return program.Op{Kind: program.ReadCount, Counted: &program.Counted{Counts: deskCounts, Word: n(word), Row: 8, Capacity: 5, Append: add}}
}

func TestAReadCountIsOneScalarReadAndDecidesWhatIsMovedThen(t *testing.T) {
	spec := hwtest.Machine(t, "950dt-64", "ub.kind=ideal")
	// Rank 0 copies 3 rows of 8 B, then min(9, 5) behind them, then none.
	text := func(rank int) []program.Op {
		if rank > 0 {
			return nil
		}
		var ops []program.Op
		for word := range int64(3) {
			ops = append(ops, read(word, word > 0), program.Op{
				Kind: program.CopyTile, Src: deskIn, Dst: deskOut, SrcOff: v(1), DstOff: v(1), Bytes: v(2),
			})
		}
		return ops
	}
	res, out := at(t, spec, counting(text))
	assert.Equal(t, 3*spec.AIV.Scalar.Read, res.Blocks[0].Time[result.CountRead])
	want := make([]byte, 4096)
	ramp{}.Generate(want[:64], 0, 0, 0)
	assert.Equal(t, want, out[0], "8 rows")
}

// v is the operand that is variable i.
func v(i int) (e program.Expr) {
	e.V[i] = 1
	return e
}

func TestPipeBarriersStandBehindEachPieceOfAPut(t *testing.T) {
	put := func(barriers int) func(rank int) []program.Op {
		return func(rank int) []program.Op {
			if rank > 0 {
				return nil
			}
			return []program.Op{{Kind: program.Put, Src: deskIn, Dst: deskOut, Peer: n(1), Bytes: n(1000), Chunk: 256, Barriers: barriers}}
		}
	}
	spec := hwtest.Machine(t, "950dt-64")
	without, _ := at(t, spec, desk(2, 4096, put(0)))
	with, out := at(t, spec, desk(2, 4096, put(2)))
	assert.Equal(t, 4*2*spec.AIV.PipeBarrier, with.Elapsed-without.Elapsed, "four pieces, two barriers each")
	assert.Equal(t, 4*2*spec.AIV.PipeBarrier, with.Blocks[0].Time[result.PipeBarrier])
	assert.Equal(t, int64(8), with.Ranks[0].Counters[result.PipeBarriers])
	assert.Equal(t, with.Elapsed, with.Blocks[0].Time.Sum())
	want := make([]byte, 1000)
	ramp{}.Generate(want, 0, 0, 0)
	assert.Equal(t, want, out[1][:1000])
}

func TestConvertingATileTakesAnAdditionOverTheWiderType(t *testing.T) {
	// 1,024 FP32 elements to BF16 and back: twice the time of an addition over 4,096 B.
	spec := hwtest.Machine(t, "950dt-64")
	text := func(rank int) []program.Op {
		if rank > 0 {
			return nil
		}
		return []program.Op{
			{Kind: program.LoadTile, Tile: 0, Src: deskIn, Bytes: n(4096)},
			{Kind: program.Convert, Tile: 1, Other: 0, Bytes: n(4096), DType: program.FP32, Into: program.BF16},
			{Kind: program.Convert, Tile: 2, Other: 1, Bytes: n(2048), DType: program.BF16, Into: program.FP32},
			{Kind: program.StoreTile, Tile: 2, Dst: deskOut, Bytes: n(4096)},
		}
	}
	res, out := at(t, spec, desk(2, 4096, text))
	assert.Equal(t, 2*spec.AIV.Vector.Time(program.Sum, 4096, spec.AIV.Clock), res.Blocks[0].Time[result.Vector])
	assert.Positive(t, res.Blocks[0].Time[result.Vector])
	for i := range 200 { // BF16 holds integers to 256
		assert.Equal(t, float64(i), arith.Value(out[0], i, program.FP32))
	}
	assert.Equal(t, float64(1000), arith.Value(out[0], 1001, program.FP32), "1001 is not a BF16")
}
