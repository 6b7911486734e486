package aiv

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"pldperf/hw/memory"
)

func cutAll(p *pieces) (sizes []int64, from []int64) {
	for {
		x, ok := p.Next()
		if !ok {
			return sizes, from
		}
		sizes, from = append(sizes, x.N), append(from, x.Src.Off)
	}
}

func upTo(n int) (out []int32) {
	for i := range n {
		out = append(out, int32(i))
	}
	return out
}

// The table of semantics 7.6, and case 60 of section 10.
func TestCase60IntervalsAndPiecesOfTheSelfPath(t *testing.T) {
	scattered := make([]int32, 12)
	for i := range scattered {
		scattered[i] = int32(2 * i)
	}
	for _, x := range []struct {
		index []int32
		row   int64
		want  []int64
	}{
		{[]int32{3, 4, 5, 9, 9, 2, 1, 0}, 256, []int64{768, 256, 256, 256, 256, 256}},
		{upTo(8), 4160, []int64{8192, 8192, 8192, 8192, 512}},
		{[]int32{7, 3, 5}, 4160, []int64{4160, 4160, 4160}},
		{[]int32{10, 11}, 16384, []int64{8192, 8192, 8192, 8192}},
		{[]int32{5}, 20000, []int64{8192, 8192, 3616}},
		{upTo(40), 256, []int64{8192, 2048}},
		{scattered, 4160, []int64{4160, 4160, 4160, 4160, 4160, 4160, 4160, 4160, 4160, 4160, 4160, 4160}},
	} {
		sizes, from := cutAll(&pieces{row: x.row, index: x.index, hi: len(x.index), cut: 8192})
		assert.Equal(t, x.want, sizes, "%v rows of %d B", x.index, x.row)
		assert.Equal(t, int64(x.index[0])*x.row, from[0])
	}
}

func TestPiecesCoverEachSlotOfTheShareWithItsRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.Int64Range(1, 300).Draw(t, "row")
		index := rapid.SliceOfN(rapid.Int32Range(0, 20), 1, 50).Draw(t, "index")
		lo := rapid.IntRange(0, len(index)-1).Draw(t, "lo")
		hi := rapid.IntRange(lo, len(index)).Draw(t, "hi")
		p := pieces{row: row, index: index, j: lo, hi: hi, cut: rapid.Int64Range(1, 1000).Draw(t, "cut"), dst: memory.Addr{Off: 7 * row}}
		at := int64(7+lo) * row
		for {
			x, ok := p.Next()
			if !ok {
				break
			}
			assert.LessOrEqual(t, x.N, p.cut)
			assert.Equal(t, at, x.Dst.Off, "slots are filled in order, without a gap")
			for i := range x.N { // each byte comes from the slot's row
				slot := (x.Dst.Off+i)/row - 7
				assert.Equal(t, int64(index[slot])*row+(x.Dst.Off+i)%row, x.Src.Off+i)
			}
			at += x.N
		}
		assert.Equal(t, int64(7+hi)*row, at)
	})
}
