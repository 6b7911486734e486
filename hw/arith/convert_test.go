package arith_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"pldperf/hw/arith"
	"pldperf/hw/program"
)

func TestSmallIntegersSurviveEveryConversion(t *testing.T) {
	types := []program.DType{program.FP32, program.FP16, program.BF16, program.INT32, program.INT16, program.INT8}
	for _, from := range types {
		for _, to := range types {
			src := make([]byte, 7*from.Size())
			for i := range 7 {
				arith.Put(src, i, from, float64(20*i-60))
			}
			got := arith.Convert([]byte{9}, src, from, to)
			assert.Equal(t, byte(9), got[0], "what was there stays")
			assert.Len(t, got[1:], 7*int(to.Size()))
			for i := range 7 {
				assert.Equal(t, float64(20*i-60), arith.Value(got[1:], i, to), "%v to %v", from, to)
			}
		}
	}
}
