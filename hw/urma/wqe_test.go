package urma

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSGEsFillTheWQEBBsOfTheTable(t *testing.T) {
	for m, want := range map[int]int{1: 1, 2: 2, 3: 2, 4: 2, 5: 2, 6: 3, 7: 3, 8: 3, 9: 3, 10: 4, 11: 4, 12: 4} {
		assert.Equal(t, want, Used(m), "%d SGEs", m)
	}
}

func TestSizesAndCodesAreThoseOfTheHeaders(t *testing.T) {
	assert.Equal(t, 256, SQESize)
	assert.Equal(t, 48, SQEHead)
	assert.Equal(t, 16, SGESize)
	assert.Equal(t, 64, WQEBB)
	assert.Equal(t, 64, CQESize)
	assert.Equal(t, []int{3, 6, 0xb, 0x11}, []int{OpWrite, OpRead, OpFAA, OpNOP})
	assert.Equal(t, 0x2a, LastWrite, "strong, fence and completion")
	assert.Equal(t, 0x01, Relaxed)
}

// anySQE draws an SQE that Encode may be given.
func anySQE(t *rapid.T) SQE {
	q := SQE{
		Op:          rapid.SampledFrom([]uint8{OpWrite, OpRead, OpFAA}).Draw(t, "op"),
		Flags:       rapid.SampledFrom([]uint8{0, Relaxed, Strong, LastWrite, Relaxed | CompletionOrder | Solicited}).Draw(t, "flags"),
		Owner:       rapid.Bool().Draw(t, "owner"),
		Seq:         rapid.Uint32().Draw(t, "seq"),
		RemoteToken: rapid.Uint32().Draw(t, "remote token"),
		Remote:      rapid.Uint64().Draw(t, "remote"),
		Jetty:       rapid.Uint32().Draw(t, "jetty"),
	}
	most := MaxSGEs
	if q.Op == OpRead {
		most = MaxReads
	}
	m := rapid.IntRange(1, most).Draw(t, "sges")
	q.Packed = rapid.Bool().Draw(t, "packed") && Used(m) < SQEBBs // else there is nothing to leave out
	for range m {
		s := SGE{rapid.Uint32Range(0, 1<<28).Draw(t, "len"), rapid.Uint32().Draw(t, "token"), rapid.Uint64().Draw(t, "addr")}
		q.Length += s.Len
		q.SGEs = append(q.SGEs, s)
	}
	return q
}

func TestAnEncodedSQEDecodesToItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := anySQE(t)
		b := bytes.Repeat([]byte{0xee}, SQESize+1) // what an earlier lap left
		bbs := q.Encode(b)
		require.Equal(t, BBs(len(q.SGEs), q.Packed), bbs)
		require.EqualValues(t, 0xee, b[bbs*WQEBB], "not a byte more")
		got := SQE{SGEs: make([]SGE, 5, MaxSGEs)}
		require.NoError(t, got.Decode(b))
		require.Equal(t, q, got)
	})
}

// A single wrong byte is either one that the SQE means differently, or an error.
func TestNoByteOfAnSQEIsIgnored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := anySQE(t)
		b := make([]byte, SQESize)
		bbs := q.Encode(b)
		b[rapid.IntRange(0, bbs*WQEBB-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		var got SQE
		if got.Decode(b) == nil {
			require.NotEqual(t, q, got)
		}
	})
}

func TestEveryUnusedWQEBBIsANOPOfTheSameLap(t *testing.T) {
	for m := 1; m <= MaxSGEs; m++ {
		for _, own := range []bool{false, true} {
			q := SQE{Op: OpWrite, Owner: own, SGEs: make([]SGE, m)}
			b := make([]byte, SQESize)
			q.Encode(b)
			for i := range SQEBBs {
				bb := b[i*WQEBB:][:WQEBB]
				if i == 0 || i >= Used(m) {
					assert.Equal(t, own, bb[3]&ownerBit != 0, "%d SGEs, WQEBB %d", m, i)
				}
				if i >= Used(m) {
					want := make([]byte, WQEBB)
					want[0], want[3] = OpNOP, bb[3]&ownerBit|1
					assert.Equal(t, want, bb)
				}
			}
		}
	}
}

func TestWhatEncodeCannotHaveWrittenIsRefused(t *testing.T) {
	q := SQE{Op: OpWrite, Flags: LastWrite, Owner: true, Length: 300, SGEs: []SGE{{Len: 100}, {Len: 200}}}
	for _, tt := range []struct {
		at   int
		to   byte
		want string
	}{
		{0, 0x07, "opcode 0x7"},
		{0, OpNOP, "opcode 0x11"},
		{1, 0x6a, "flags 0x6a"},
		{1, 0x03, "flags 0x3"},
		{2, 0, "0 SGEs, must be 1 to 12"},
		{2, 13, "13 SGEs, must be 1 to 12"},
		{2, 1, "the SGEs hold 100 bytes, the header says 300"},
		{3, 0x83, "an SQE of 2 SGEs in 3 WQEBBs, must be 2 or 4"},
		{3, 0x04, "byte 131 behind the SGEs is 0x81, must be 0x1"}, // the NOPs have the other owner
		{8, 0, "the SGEs hold 300 bytes, the header says 256"},
		{28, 1, "reserved byte 28 is 0x1"},
		{47, 1, "reserved byte 47 is 0x1"},
		{80, 1, "byte 80 behind the SGEs is 0x1, must be 0x0"},
		{128, 0, "byte 128 behind the SGEs is 0x0, must be 0x11"},
		{195, 0, "byte 195 behind the SGEs is 0x0, must be 0x81"},
		{255, 9, "byte 255 behind the SGEs is 0x9, must be 0x0"},
	} {
		b := make([]byte, SQESize)
		q.Encode(b)
		require.NoError(t, new(SQE).Decode(b))
		b[tt.at] = tt.to
		assert.ErrorContains(t, new(SQE).Decode(b), tt.want)
	}
	assert.ErrorContains(t, new(SQE).Decode(make([]byte, WQEBB-1)), "63 bytes are no SQE")
	whole := make([]byte, SQESize)
	q.Encode(whole)
	assert.ErrorContains(t, new(SQE).Decode(whole[:SQESize-1]), "255 bytes are no SQE of 4 WQEBBs")
	many := SQE{Op: OpRead, SGEs: make([]SGE, MaxReads+1)}
	many.Encode(whole)
	assert.ErrorContains(t, new(SQE).Decode(whole), "a READ of 7 SGEs, at most 6")
	over := SQE{Op: OpWrite, Length: 0, SGEs: []SGE{{Len: 1 << 31}, {Len: 1 << 31}}}
	b := make([]byte, SQESize)
	over.Encode(b)
	assert.ErrorContains(t, new(SQE).Decode(b), "4294967296 bytes, the header says 0", "the sum does not wrap")
	assert.Panics(t, func() { (&SQE{SGEs: make([]SGE, 13)}).Encode(b) })
}

func TestACQEIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := CQE{rapid.Bool().Draw(t, "owner"), rapid.Uint8().Draw(t, "status"), rapid.Uint8().Draw(t, "sub"),
			rapid.Uint8().Draw(t, "op"), rapid.Uint32().Draw(t, "seq"), rapid.Uint32().Draw(t, "bytes")}
		b := bytes.Repeat([]byte{0xee}, CQESize+1)
		c.Encode(b)
		require.EqualValues(t, 0xee, b[CQESize])
		var got CQE
		require.NoError(t, got.Decode(b))
		require.Equal(t, c, got)
		b[rapid.IntRange(0, CQESize-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		if got.Decode(b) == nil {
			require.NotEqual(t, c, got)
		}
	})
	assert.ErrorContains(t, new(CQE).Decode(make([]byte, CQESize-1)), "63 bytes are no CQE")
	assert.ErrorContains(t, new(CQE).Decode(append([]byte{2}, make([]byte, 63)...)), "owner byte of a CQE is 0x2")
	assert.ErrorContains(t, new(CQE).Decode(append(make([]byte, 63), 1)), "reserved byte 63 of a CQE is 0x1")
}

func TestAnSQELooksAsItIsDrawn(t *testing.T) {
	q := SQE{
		Op: OpWrite, Flags: LastWrite, Owner: true, Seq: 0x01020304, Length: 3 * 7168, RemoteToken: 0x11121314,
		Remote: 0x2122232425262728, Jetty: 0x31323334,
		SGEs: []SGE{{7168, 0x41424344, 0x5152535455565758}, {7168, 0, 0x6162636465666768}, {7168, 0, 0x7172737475767778}},
	}
	b := make([]byte, SQESize)
	q.Encode(b)
	c := CQE{Owner: true, Status: StatusTimeout, Substatus: 7, Op: OpWrite, Seq: q.Seq, Bytes: q.Length}
	d := make([]byte, CQESize)
	c.Encode(d)
	golden(t, "sqe.golden", hex.Dump(b)+"\n"+hex.Dump(d))
}

func TestEncodingAndDecodingAllocateNothing(t *testing.T) {
	q := SQE{Op: OpWrite, Flags: Relaxed, Length: 12, SGEs: make([]SGE, 12)}
	for i := range q.SGEs {
		q.SGEs[i].Len = 1
	}
	b, got := make([]byte, SQESize), SQE{SGEs: make([]SGE, 0, MaxSGEs)}
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		q.Encode(b)
		if got.Decode(b) != nil {
			t.Fail()
		}
	}))
}

func FuzzDecodeSQE(f *testing.F) {
	for m := 1; m <= MaxSGEs; m++ {
		q := SQE{Op: OpWrite, Flags: LastWrite, Owner: m%2 == 0, Seq: uint32(m), Length: uint32(m * 64), SGEs: make([]SGE, m)}
		for i := range q.SGEs {
			q.SGEs[i] = SGE{Len: 64, Addr: uint64(i) << 40}
		}
		b := make([]byte, SQESize)
		q.Encode(b)
		f.Add(b)
		f.Add(b[:len(b)-m])
		q.Packed = true
		f.Add(b[:q.Encode(b)*WQEBB])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var q SQE
		if q.Decode(b) != nil {
			return
		}
		again := bytes.Repeat([]byte{0xee}, SQESize)
		n := q.Encode(again) * WQEBB
		if !bytes.Equal(again[:n], b[:n]) {
			t.Fatalf("%x\ndecodes to %+v, which is\n%x", b[:n], q, again[:n])
		}
	})
}

func FuzzDecodeCQE(f *testing.F) {
	c := CQE{Owner: true, Status: 1, Op: OpWrite, Seq: 4, Bytes: 7168}
	b := make([]byte, CQESize)
	c.Encode(b)
	f.Add(b)
	f.Add(b[:7])
	f.Fuzz(func(t *testing.T, b []byte) {
		var c CQE
		if c.Decode(b) != nil {
			return
		}
		again := bytes.Repeat([]byte{0xee}, CQESize)
		c.Encode(again)
		if !bytes.Equal(again, b[:CQESize]) {
			t.Fatalf("%x\ndecodes to %+v, which is\n%x", b[:CQESize], c, again)
		}
	})
}
