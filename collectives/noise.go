package collectives

import (
	"pldperf/hw/arith"
	"pldperf/hw/program"
)

// noisePeriod is after how many elements noise repeats: a prime, so that no tile, chunk
// or segment of a usual size holds what another one holds.
const noisePeriod = 8191

// noise is content for reductions: pseudo-random values whose sums and products have to
// be rounded, so that the order of combination shows in the last bits. Ranks and
// versions start at different places of one table, whose copying is all that it takes.
type noise struct {
	size  int64
	table []byte
}

// newNoise makes the table of a type. Magnitudes lie in [0.75, 1.5): products of many
// ranks stay in range; integers use all of it and wrap around.
func newNoise(t program.DType) noise {
	x := noise{t.Size(), make([]byte, noisePeriod*t.Size())}
	for i := range noisePeriod {
		bits := scramble(uint64(i))
		v := 0.75 + 0.75*float64(bits>>12)/(1<<52)
		if bits&1 == 0 {
			v = -v
		}
		switch t {
		case program.INT32, program.INT16, program.INT8:
			v = float64(int32(bits>>32) >> (32 - 8*t.Size()))
		}
		arith.Put(x.table, i, t, v)
	}
	return x
}

// scramble is the finaliser of splitmix64 (S. Vigna), on steps of its own increment.
func scramble(i uint64) uint64 {
	x := (i + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Generate implements program.Content.
func (x noise) Generate(dst []byte, rank int, version uint32, off int64) {
	at := (off + (int64(rank)*5039+int64(version)*2503)%noisePeriod*x.size) % x.Period()
	for len(dst) > 0 {
		n := copy(dst, x.table[at:])
		dst, at = dst[n:], 0
	}
}

// Period returns after how many bytes the content repeats, on every rank.
func (x noise) Period() int64 { return int64(len(x.table)) }

// produced is what a window holds that its owner fills before each call, and that the
// call overwrites: zero at first, then noise, of which call k is given version k+1. With
// same it is always the same.
type produced struct {
	noise
	same bool
}

// Generate implements program.Content.
func (x produced) Generate(dst []byte, rank int, version uint32, off int64) {
	switch {
	case version == 0:
		clear(dst)
		return
	case x.same:
		version = 1
	}
	x.noise.Generate(dst, rank, version, off)
}
