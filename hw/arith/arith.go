// Package arith is the arithmetic of the vector unit on real values, as collectives
// use it: two tiles are combined element by element. FP16 and BF16 are computed in FP32
// and rounded to nearest even, which for one sum or product gives the same bits as a
// unit that computes in the type itself (FP32 has more than twice their precision and
// two bits); integers wrap around.
package arith

import (
	"encoding/binary"
	"math"

	"github.com/x448/float16"

	"pldperf/hw/program"
)

var le = binary.LittleEndian

// Combine sets dst to op(dst, src), element by element of type t. Both are
// little-endian and as long as dst; a trailing part of an element is left alone.
func Combine(dst, src []byte, op program.Reduce, t program.DType) {
	switch t {
	case program.FP32:
		if op == program.Sum {
			sum32(dst, src)
			return
		}
		f := floats[op]
		for i := 0; i+4 <= len(dst); i += 4 {
			le.PutUint32(dst[i:], math.Float32bits(f(fp32(dst[i:]), fp32(src[i:]))))
		}
	case program.FP16, program.BF16:
		get, put := fp16, putFP16
		if t == program.BF16 {
			get, put = bf16, putBF16
		}
		f := floats[op]
		for i := 0; i+2 <= len(dst); i += 2 {
			put(dst[i:], f(get(dst[i:]), get(src[i:])))
		}
	default:
		whole(dst, src, ints[op], int(t.Size()))
	}
}

// sum32 is what most collectives do, and so apart.
func sum32(dst, src []byte) {
	src = src[:len(dst)]
	for len(dst) >= 4 {
		le.PutUint32(dst, math.Float32bits(fp32(dst)+fp32(src)))
		dst, src = dst[4:], src[4:]
	}
}

func whole(dst, src []byte, f func(a, b int64) int64, size int) {
	for i := 0; i+size <= len(dst); i += size {
		switch size {
		case 4:
			le.PutUint32(dst[i:], uint32(f(int64(int32(le.Uint32(dst[i:]))), int64(int32(le.Uint32(src[i:]))))))
		case 2:
			le.PutUint16(dst[i:], uint16(f(int64(int16(le.Uint16(dst[i:]))), int64(int16(le.Uint16(src[i:]))))))
		default:
			dst[i] = byte(f(int64(int8(dst[i])), int64(int8(src[i]))))
		}
	}
}

var floats = [...]func(a, b float32) float32{
	program.Sum:  func(a, b float32) float32 { return a + b },
	program.Max:  func(a, b float32) float32 { return max(a, b) },
	program.Min:  func(a, b float32) float32 { return min(a, b) },
	program.Prod: func(a, b float32) float32 { return a * b },
}

var ints = [...]func(a, b int64) int64{
	program.Sum:  func(a, b int64) int64 { return a + b },
	program.Max:  func(a, b int64) int64 { return max(a, b) },
	program.Min:  func(a, b int64) int64 { return min(a, b) },
	program.Prod: func(a, b int64) int64 { return a * b },
}

func fp32(b []byte) float32 { return math.Float32frombits(le.Uint32(b)) }
func fp16(b []byte) float32 { return float16.Frombits(le.Uint16(b)).Float32() }
func bf16(b []byte) float32 { return math.Float32frombits(uint32(le.Uint16(b)) << 16) }

func putFP16(b []byte, v float32) { le.PutUint16(b, float16.Fromfloat32(v).Bits()) }

// putBF16 rounds to nearest even: half of the last place is added, and a little less
// where the last place is even.
func putBF16(b []byte, v float32) {
	u := math.Float32bits(v)
	if v != v {
		le.PutUint16(b, uint16(u>>16)|1<<6) // stays a NaN
		return
	}
	le.PutUint16(b, uint16((u+0x7fff+u>>16&1)>>16))
}

// Value returns element i of b as a float64, which holds every type exactly.
func Value(b []byte, i int, t program.DType) float64 {
	b = b[int64(i)*t.Size():]
	switch t {
	case program.FP32:
		return float64(fp32(b))
	case program.FP16:
		return float64(fp16(b))
	case program.BF16:
		return float64(bf16(b))
	case program.INT32:
		return float64(int32(le.Uint32(b)))
	case program.INT16:
		return float64(int16(le.Uint16(b)))
	}
	return float64(int8(b[0]))
}

// Put stores v, rounded to type t, as element i of b. What an integer type cannot hold
// wraps around.
func Put(b []byte, i int, t program.DType, v float64) {
	b = b[int64(i)*t.Size():]
	switch t {
	case program.FP32:
		le.PutUint32(b, math.Float32bits(float32(v)))
	case program.FP16:
		putFP16(b, float32(v))
	case program.BF16:
		putBF16(b, float32(v))
	case program.INT32:
		le.PutUint32(b, uint32(int64(v)))
	case program.INT16:
		le.PutUint16(b, uint16(int64(v)))
	default:
		b[0] = byte(int64(v))
	}
}
