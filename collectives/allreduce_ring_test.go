package collectives_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// segments returns the bytes of each segment of a ring's reduce_scatter, by the stores of
// its program.
func segments(t *testing.T, c *collectives.Call) (ends []int64, subchunks int64) {
	job := compose(t, c)
	var loops []int64
	for _, o := range job.Tasks[0].Program.Ops {
		if o.Kind == program.Loop {
			loops = append(loops, o.Count.C)
		}
		if o.Kind != program.StoreTile {
			continue
		}
		if subchunks = 1; len(loops) > 1 {
			subchunks = loops[1]
		}
		for g := range c.Ranks { // rank g+2 combines segment g in the first round
			end := int64(0)
			for j := range subchunks {
				h := &program.Here{Rank: (g + 2) % c.Ranks, Loop: [2]int64{0, j}}
				if n := o.Bytes.At(h); n > 0 {
					end = o.DstOff.At(h) + n
				}
			}
			ends = append(ends, end/int64(collectives.ElemSize(c.DType)))
		}
		return ends, subchunks
	}
	return nil, 0
}

func TestSegmentsOfTheInCoreRing(t *testing.T) {
	for _, x := range []struct {
		dtype    string
		n, ranks int
		ends     []int64 // 0 where a segment is empty
		subs     int64
	}{
		{"FP32", 17, 2, []int64{8, 17}, 1}, {"FP32", 17, 4, []int64{4, 8, 12, 17}, 1}, {"FP32", 3, 4, []int64{0, 1, 2, 3}, 1},
		{"FP16", 17, 2, []int64{16, 17}, 1}, {"FP16", 17, 4, []int64{16, 0, 0, 17}, 1}, {"FP16", 33, 4, []int64{16, 0, 32, 33}, 1},
		{"FP32", 65537, 2, []int64{32768, 65537}, 9},
	} {
		ends, subs := segments(t, allreduce("ring_incore", x.ranks, x.n, dtype(x.dtype)))
		assert.Equal(t, x.ends, ends, "%+v", x)
		assert.Equal(t, x.subs, subs, "%+v", x)
	}
}

func TestEmptyPiecesOfARingMoveNothingAndStillMeet(t *testing.T) {
	for _, x := range []struct{ ranks, subs, loads int64 }{{4, 1, 2 * 9}, {2, 9, 2 * 17}} {
		n := map[int64]int{4: 3, 2: 65537}[x.ranks]
		_, res := reduceOf(t, allreduce("ring_incore", int(x.ranks), n), nil, collectives.Repeat{})
		assert.Equal(t, x.loads, res.Totals[result.RemoteLoads], "all but empty pieces")
		for r := range res.Ranks {
			assert.Equal(t, 4*(x.ranks-1)*(x.ranks-1)*x.subs, res.Ranks[r].Counters[result.Notifies])
		}
	}
	for r, row := range credits(t, allreduce("ring_incore", 2, 65537), collectives.Repeat{}) {
		assert.Equal(t, int32(18), row[1-r], "two for each of nine subchunks")
		assert.Equal(t, int32(18), row[2+1-r])
	}
}

// alike requires that all ranks hold the same bits.
func alike(t require.TestingT, v vectors) {
	for r := range v.raw {
		require.Equal(t, v.raw[0], v.raw[r], "rank %d", r)
	}
}

func TestCase40RingOfSeventeenElements(t *testing.T) {
	v, res := reduceOf(t, allreduce("ring_incore", 4, 17), nil, collectives.Repeat{})
	alike(t, v)
	for r := range res.Ranks {
		assert.Equal(t, int64(12*3), res.Ranks[r].Counters[result.Notifies], "4*3*1 barriers of 3 notifies")
	}
}

func TestCase42HOSTRing(t *testing.T) {
	c := allreduce("ring_host", 4, 256)
	rows := credits(t, c, collectives.Repeat{})
	for r := range rows {
		for cell, n := range rows[r] {
			want := int32(1)
			if cell%4 == r {
				want = 0
			}
			assert.Equal(t, want, n, "each of 7 rows gets 1 credit")
		}
		assert.Len(t, rows[r], 7*4)
	}
	v, res := reduceOf(t, c, ramp, collectives.Repeat{})
	alike(t, v)
	assert.Equal(t, 4.0*255+600, v.at(3, 255))
	assert.Equal(t, int64(6*64*4), res.Ranks[1].Counters[result.BytesReceived], "6 segments of 64 elements")
	assert.ErrorContains(t, refusal(allreduce("ring_host", 4, 255)), "size: 255, must be divisible by 4: the remainder is 3")
}
