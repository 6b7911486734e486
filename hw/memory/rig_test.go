package memory

import (
	"testing"

	"github.com/stretchr/testify/require"

	"pldperf/engine"
)

const (
	kib = int64(1) << 10
	mib = int64(1) << 20
)

// spec is a memory with round numbers: a byte takes 1 ps from HBM, half of one from L2.
func spec() Spec {
	return Spec{
		Kind: "shared",
		HBM:  HBMSpec{Rate: 1e12, Latency: 320, Capacity: 1 << 40},
		L2:   L2Spec{Rate: 2e12, Latency: 130, Capacity: 1 << 20, Stores: "bypass"},
	}
}

// space returns the memory of some ranks with a clock of 1 GHz: a cycle is 1 ns.
func space(s Spec, ranks int, asBytes bool) *Space {
	return New(engine.New(engine.Options{}), s, Options{Ranks: ranks, Bytes: asBytes, Clock: 1e9})
}

// alloc adds a buffer that must fit.
func alloc(t require.TestingT, s *Space, b Buffer) ID {
	id, err := s.Alloc(b)
	require.NoError(t, err)
	return id
}

// tensor is a plain tensor of unique bytes as the buffer of the given number.
func tensor(id ID, size int64) Buffer {
	return Buffer{Name: "tensor", Size: engine.Bytes(size), Fill: Unique{id}}
}

// window is zero-filled.
func window(size int64) Buffer {
	return Buffer{Name: "window", Window: true, Size: engine.Bytes(size)}
}

// both runs a test on either representation of payload.
func both(t *testing.T, f func(t *testing.T, asBytes bool)) {
	t.Run("bytes", func(t *testing.T) { f(t, true) })
	t.Run("provenance", func(t *testing.T) { f(t, false) })
}

// move copies n bytes at once.
func move(s *Space, from, to Addr, n int64) {
	var d Data
	s.Capture(&d, from, n)
	s.Land(to, &d)
}

// origin is a place as the origin of its own content.
func origin(a Addr, version uint32) Origin { return Origin{int32(a.Rank), a.Buf, version, a.Off} }
