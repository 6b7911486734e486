package arith_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/hw/arith"
	"pldperf/hw/program"
)

// tile holds values in a type.
func tile(t program.DType, values ...float64) []byte {
	b := make([]byte, int64(len(values))*t.Size())
	for i, v := range values {
		arith.Put(b, i, t, v)
	}
	return b
}

func combine(t program.DType, op program.Reduce, a, b float64) float64 {
	dst := tile(t, a)
	arith.Combine(dst, tile(t, b), op, t)
	return arith.Value(dst, 0, t)
}

var types = []program.DType{program.FP32, program.FP16, program.BF16, program.INT32, program.INT16, program.INT8}

func TestSmallIntegersAreExactInEveryTypeAndOp(t *testing.T) {
	for _, d := range types {
		for a := -9.0; a <= 9; a++ {
			for b := -9.0; b <= 9; b++ {
				require.Equal(t, a+b, combine(d, program.Sum, a, b), "%v", d)
				require.Equal(t, a*b, combine(d, program.Prod, a, b)+0, "%v", d)
				require.Equal(t, max(a, b), combine(d, program.Max, a, b), "%v", d)
				require.Equal(t, min(a, b), combine(d, program.Min, a, b), "%v", d)
			}
		}
	}
}

func TestIntegersWrapAround(t *testing.T) {
	assert.Equal(t, -128.0, combine(program.INT8, program.Sum, 127, 1))
	assert.Equal(t, -32768.0, combine(program.INT16, program.Sum, 32767, 1))
	assert.Equal(t, float64(math.MinInt32), combine(program.INT32, program.Sum, math.MaxInt32, 1))
	assert.Equal(t, 1.0, combine(program.INT8, program.Prod, -127, -127)) // 16129 = 63*256 + 1
}

// The last place of 1 is 2^-10 in FP16 and 2^-7 in BF16.
func TestHalfOfTheLastPlaceRoundsToEven(t *testing.T) {
	for d, ulp := range map[program.DType]float64{program.FP16: 1.0 / 1024, program.BF16: 1.0 / 128, program.FP32: 1.0 / (1 << 23)} {
		assert.Equal(t, 1.0, combine(d, program.Sum, 1, ulp/2), "%v: 1 is even", d)
		assert.Equal(t, 1+2*ulp, combine(d, program.Sum, 1+ulp, ulp/2), "%v: 1+ulp is odd", d)
		assert.Equal(t, 1+ulp, combine(d, program.Sum, 1, ulp/2*1.25), "%v: above half", d)
	}
	assert.Equal(t, 65504.0, combine(program.FP16, program.Max, 65504, 1))
	assert.True(t, math.IsInf(combine(program.FP16, program.Sum, 65504, 64), 1))
	assert.True(t, math.IsNaN(combine(program.BF16, program.Sum, math.Inf(1), math.Inf(-1))))
}

// The nearest value of a type, found by search among its neighbours.
func TestBF16SumsAreTheNearestValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) float64 {
			bits := uint32(rapid.Uint16Range(0x3000, 0x4fff).Draw(t, name)) << 16
			return float64(math.Float32frombits(bits))
		}
		a, b := draw("a"), draw("b")
		got, exact := combine(program.BF16, program.Sum, a, b), a+b
		up := math.Float32frombits(math.Float32bits(float32(got)) + 1<<16)
		down := math.Float32frombits(math.Float32bits(float32(got)) - 1<<16)
		assert.LessOrEqual(t, math.Abs(got-exact), math.Abs(float64(up)-exact))
		assert.LessOrEqual(t, math.Abs(got-exact), math.Abs(float64(down)-exact))
	})
}

func TestATileIsCombinedElementByElementAndOnlyAsFarAsItGoes(t *testing.T) {
	dst := append(tile(program.FP32, 1, 2, 3), 0xaa) // and a part of an element
	arith.Combine(dst, append(tile(program.FP32, 10, 20, 30), 0xff), program.Sum, program.FP32)
	assert.Equal(t, append(tile(program.FP32, 11, 22, 33), 0xaa), dst)
}
