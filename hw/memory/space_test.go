package memory

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
)

func TestAWindowTakesAtLeastFourKiB(t *testing.T) {
	s := space(spec(), 2, false)
	a, b := alloc(t, s, window(1)), alloc(t, s, window(4097))
	assert.EqualValues(t, 12*kib, s.Used())
	assert.EqualValues(t, 4*kib, s.Device(Addr{1, b, 0})-s.Device(Addr{1, a, 0}))
	assert.EqualValues(t, 1, s.Buffer(a).Size, "a view may be smaller than its buffer")
	assert.Equal(t, 2, s.Buffers())
}

func TestAWindowIsAtTheSameOffsetOnEveryRankAndZeroFilled(t *testing.T) {
	both(t, func(t *testing.T, asBytes bool) {
		s := space(spec(), 3, asBytes)
		alloc(t, s, tensor(0, 5000))
		w := alloc(t, s, window(10*kib))
		base := s.Device(Addr{0, w, 0})
		for r := range 3 {
			assert.Equal(t, base+uint64(r)<<addrBits, s.Device(Addr{r, w, 0}))
			var d Data
			s.Capture(&d, Addr{r, w, 0}, 10*kib)
			if asBytes {
				assert.Equal(t, make([]byte, 10*kib), d.Raw)
			}
			assert.True(t, s.Verify(r, w).Done())
		}
	})
}

func TestEveryByteOfEveryBufferHasOneDeviceAddress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := space(spec(), rapid.IntRange(1, 300).Draw(t, "ranks"), false)
		for i := range rapid.IntRange(1, 6).Draw(t, "buffers") {
			alloc(t, s, tensor(ID(i), rapid.Int64Range(1, 8<<30).Draw(t, "size")))
		}
		id := ID(rapid.IntRange(0, s.Buffers()-1).Draw(t, "buffer"))
		size := int64(s.Buffer(id).Size)
		a := Addr{rapid.IntRange(0, s.Ranks()-1).Draw(t, "rank"), id, rapid.Int64Range(0, size-1).Draw(t, "off")}
		got, ok := s.Resolve(s.Device(a), size-a.Off)
		require.True(t, ok, "up to the buffer's last byte")
		require.Equal(t, a, got)
		_, ok = s.Resolve(s.Device(a), size-a.Off+1)
		require.False(t, ok, "not one byte further")
	})
}

func TestAnAddressThatNoBufferHoldsDoesNotResolve(t *testing.T) {
	s := space(spec(), 2, false)
	_, ok := s.Resolve(4096, 1)
	assert.False(t, ok, "no buffers")
	id := alloc(t, s, tensor(0, 5000))
	base := s.Device(Addr{1, id, 0})
	for name, tt := range map[string]struct {
		dev uint64
		n   int64
		ok  bool
	}{
		"all of it":              {base, 5000, true},
		"its last byte":          {base + 4999, 1, true},
		"over its end":           {base + 4999, 2, false},
		"behind it":              {base + 5000, 1, false},
		"what it takes in vain":  {base + 8000, 8, false},
		"before it":              {base - 1, 1, false},
		"null":                   {0, 1, false},
		"a rank that is not":     {base + 1<<addrBits, 1, false},
		"no rank of any machine": {^uint64(0), 1, false},
	} {
		_, ok := s.Resolve(tt.dev, tt.n)
		assert.Equal(t, tt.ok, ok, name)
	}
}

func TestBuffersMustFitInHBM(t *testing.T) {
	m := spec()
	m.HBM.Capacity = 12 << 10
	s := space(m, 1, false)
	alloc(t, s, window(4096))
	_, err := s.Alloc(window(8193))
	require.ErrorContains(t, err, "buffer window: 8193 B more does not fit in 12 KiB of HBM (4 KiB are taken)")
	alloc(t, s, window(8192))
	_, err = s.Alloc(window(1))
	assert.ErrorContains(t, err, "does not fit")
	assert.EqualValues(t, 12<<10, s.Used(), "what did not fit takes nothing")
}

func TestWhatAnAddressCannotNameDoesNotFitEither(t *testing.T) {
	m := spec()
	m.HBM.Capacity = 0
	s := space(m, 1, false)
	alloc(t, s, window(8<<40))
	for _, n := range []engine.Bytes{8 << 40, 1 << 62, 1<<63 - 1} {
		_, err := s.Alloc(Buffer{Name: "big", Size: n})
		assert.ErrorContains(t, err, "does not fit", "%d", n)
	}
	assert.Panics(t, func() { space(m, maxRanks+1, false) })
}

func TestABufferHasASize(t *testing.T) {
	for _, n := range []engine.Bytes{0, -1} {
		_, err := space(spec(), 1, false).Alloc(Buffer{Name: "x", Size: n})
		assert.ErrorContains(t, err, "must be positive")
	}
}

func TestThereAreAsManyBuffersAsAnOriginCanName(t *testing.T) {
	s := space(spec(), 1, false)
	for range maxBuffers {
		alloc(t, s, window(1))
	}
	_, err := s.Alloc(window(1))
	require.ErrorContains(t, err, "there are 4096 buffers already")
	last := ID(maxBuffers - 1)
	f := frag{src: pack(Origin{Rank: maxRanks - 1, Buf: last})}
	assert.Equal(t, Origin{maxRanks - 1, last, 0, 5}, f.origin(5))
}

// counting is a table whose word j of row i on rank r is 100r + 10i + j, three a row.
type counting struct{ calls *int }

func (c counting) Row(rank, row int) []int32 {
	*c.calls++
	base := int32(100*rank + 10*row)
	return []int32{base, base + 1, base + 2}
}

func words(n int, t Table) Buffer {
	return Buffer{Name: "words", Words: true, Size: engine.Bytes(4 * n), Table: t}
}

func TestWordsAreZeroOrTheirTablesUntilTheyAreSet(t *testing.T) {
	calls := 0
	s := space(spec(), 2, false)
	zero, table := alloc(t, s, words(4, nil)), alloc(t, s, words(4, counting{&calls}))
	assert.Equal(t, []int32{0, 0, 0, 0}, s.Words(1, zero))
	assert.Zero(t, calls, "made when first touched")
	assert.Equal(t, []int32{100, 101, 102, 0}, s.Words(1, table))
	s.SetWord(1, table, 0, -7)
	assert.EqualValues(t, 94, s.AddWord(1, table, 1, -7))
	assert.EqualValues(t, -7, s.Word(1, table, 0))
	assert.EqualValues(t, 94, s.Word(1, table, 1))
	assert.EqualValues(t, 1, s.Word(0, table, 1), "the other rank has its own")
}

func TestAnIndexRowIsGeneratedWhenItIsRead(t *testing.T) {
	calls := 0
	s := space(spec(), 2, false)
	id := alloc(t, s, words(1<<20, counting{&calls}))
	assert.Equal(t, []int32{150, 151, 152}, s.Row(1, id, 5))
	assert.Nil(t, s.inst[id][1].words, "the whole is never made")
	assert.Equal(t, 1, calls)
}

func TestAProducerRewritesWords(t *testing.T) {
	calls := 0
	s := space(spec(), 1, false)
	id := alloc(t, s, words(3, counting{&calls}))
	s.SetWord(0, id, 2, 9)
	s.Rewrite(0, id, counting{&calls})
	assert.Equal(t, []int32{0, 1, 2}, s.Words(0, id))
	s.Rewrite(0, id, nil)
	assert.Equal(t, []int32{0, 0, 0}, s.Words(0, id), "a reset")
	assert.EqualValues(t, 2, s.Version(0, id))
}

func TestAVerifierSaysWhatIsWrongWhere(t *testing.T) {
	s := space(spec(), 2, false)
	in, win := alloc(t, s, tensor(0, 64*kib)), alloc(t, s, window(64*kib))
	move(s, Addr{0, in, 512}, Addr{1, win, 100}, 50)
	v := s.Verify(1, win)
	v.Expect(100, 50, Origin{0, in, 3, 0})
	require.False(t, v.Done())
	assert.EqualValues(t, 50, v.Bytes)
	assert.EqualValues(t, 50, v.Wrong)
	assert.Equal(t, []Mismatch{{
		At: Addr{1, win, 100}, Len: 50, Want: Origin{0, in, 3, 0}, Got: Origin{0, in, 0, 512},
		Text: "rank 1 window+100 (50 bytes): want rank 0 tensor+0 version 3, got rank 0 tensor+512 version 0",
	}}, v.First)

	raw := space(spec(), 2, true)
	alloc(t, raw, tensor(0, 64*kib))
	alloc(t, raw, window(64*kib))
	move(raw, Addr{0, in, 512}, Addr{1, win, 100}, 50)
	v = raw.Verify(1, win)
	v.Expect(100, 50, Origin{0, in, 3, 0})
	require.False(t, v.Done())
	assert.Contains(t, v.First[0].Text, "bytes): not the bytes of rank 0 tensor+")
}

func TestAVerifierSeesWritesBesideWhatIsPromised(t *testing.T) {
	both(t, func(t *testing.T, asBytes bool) {
		for _, tt := range []struct {
			at int64
			ok bool
		}{{99, false}, {100, true}, {150, false}, {199, false}, {200, true}, {249, true}, {250, false}, {700 * kib, false}, {mib - 1, false}} {
			s := space(spec(), 1, asBytes)
			in, win := alloc(t, s, tensor(0, 64*kib)), alloc(t, s, window(mib))
			move(s, Addr{0, in, 0}, Addr{0, win, 100}, 50)
			move(s, Addr{0, in, (tt.at - 100) & 1023}, Addr{0, win, tt.at}, 1) // the promised byte, if it is one
			v := s.Verify(0, win)
			v.Expect(100, 50, Origin{0, in, 0, 0})
			v.Any(200, 50)
			assert.Equal(t, tt.ok, v.Done(), "a byte at %d", tt.at)
		}
	})
}

func TestAVerifierCountsAllAndDescribesEight(t *testing.T) {
	both(t, func(t *testing.T, asBytes bool) {
		s := space(spec(), 1, asBytes)
		in, win := alloc(t, s, tensor(0, 64*kib)), alloc(t, s, window(64*kib))
		v := s.Verify(0, win)
		for i := range int64(20) {
			v.Expect(16*i, 8, Origin{0, in, 0, 0})
		}
		assert.False(t, v.Done())
		assert.EqualValues(t, 20*8, v.Wrong)
		assert.Len(t, v.First, 8)
	})
}

func TestExpectationsAreInOrderAndInTheBuffer(t *testing.T) {
	s := space(spec(), 1, false)
	win := alloc(t, s, window(1000))
	for name, f := range map[string]func(v *Verifier){
		"overlap":       func(v *Verifier) { v.Expect(99, 1, Origin{}) },
		"any, overlap":  func(v *Verifier) { v.Any(99, 1) },
		"outside":       func(v *Verifier) { v.Expect(999, 2, Origin{}) },
		"any, outside":  func(v *Verifier) { v.Any(999, 2) },
		"before it all": func(v *Verifier) { v.Any(-1, 2) },
	} {
		v := s.Verify(0, win)
		v.Expect(0, 100, Origin{})
		assert.Panics(t, func() { f(v) }, name)
	}
}

func ExampleSpace_Verify() {
	s := New(engine.New(engine.Options{}), Spec{Kind: "ideal"}, Options{Ranks: 2})
	input, _ := s.Alloc(Buffer{Name: "input", Size: 1 << 20, Fill: Unique{0}})
	target, _ := s.Alloc(Buffer{Name: "target", Size: 1 << 20, Window: true})

	var row Data
	s.Capture(&row, Addr{Rank: 0, Buf: input, Off: 7168}, 7168)
	s.Land(Addr{Rank: 1, Buf: target, Off: 0}, &row)

	v := s.Verify(1, target)
	v.Expect(0, 7168, Origin{Rank: 0, Buf: input, Off: 0})
	fmt.Println(v.Done(), v.First[0].Text)
	// Output: false rank 1 target+0 (7168 bytes): want rank 0 input+0 version 0, got rank 0 input+7168 version 0
}
