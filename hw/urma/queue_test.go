package urma

import (
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
)

// table is the SQE arithmetic of semantics 7.4: one send of n rows. Fits says which
// of the depths 16, 64, 128, 256 and 512 hold it.
var table = []struct {
	n, sqes, wqebbs, doorbells, last, used, nops int
	fits                                         string
}{
	{0, 0, 0, 0, 0, 0, 0, "YYYYY"},
	{1, 1, 4, 1, 1, 1, 3, "YYYYY"},
	{2, 1, 4, 1, 2, 2, 2, "YYYYY"},
	{5, 1, 4, 1, 5, 2, 2, "YYYYY"},
	{6, 1, 4, 1, 6, 3, 1, "YYYYY"},
	{9, 1, 4, 1, 9, 3, 1, "YYYYY"},
	{10, 1, 4, 1, 10, 4, 0, "YYYYY"},
	{12, 1, 4, 1, 12, 4, 0, "YYYYY"},
	{13, 2, 8, 1, 1, 1, 3, "YYYYY"},
	{24, 2, 8, 1, 12, 4, 0, "YYYYY"},
	{25, 3, 12, 1, 1, 1, 3, "YYYYY"},
	{48, 4, 16, 1, 12, 4, 0, "YYYYY"},
	{49, 5, 20, 1, 1, 1, 3, "nYYYY"},
	{100, 9, 36, 1, 4, 2, 2, "nYYYY"},
	{192, 16, 64, 1, 12, 4, 0, "nYYYY"},
	{193, 17, 68, 1, 1, 1, 3, "nnYYY"},
	{384, 32, 128, 1, 12, 4, 0, "nnYYY"},
	{385, 33, 132, 1, 1, 1, 3, "nnnYY"},
	{768, 64, 256, 1, 12, 4, 0, "nnnYY"},
	{769, 65, 260, 2, 1, 1, 3, "nnnnY"},
	{1536, 128, 512, 2, 12, 4, 0, "nnnnY"},
	{1537, 129, 516, 3, 1, 1, 3, "nnnnn"},
}

func TestASendHasTheSQEsOfTheTable(t *testing.T) {
	for _, tt := range table {
		for i, depth := range []int{16, 64, 128, 256, 512, 32768} {
			o := nominal()
			o.spec.Depth, o.row = depth, 64
			r := newRig(t, o)
			err := r.submit(0, 1, tt.n)
			q := r.queue(0, 1)
			if i < len(tt.fits) && tt.fits[i] == 'n' {
				assert.Equal(t, &CapacityError{Rank: 0, Peer: 1, Need: tt.wqebbs, Depth: depth}, err, "%d rows", tt.n)
				assert.Zero(t, q.Counters(), "nothing is submitted")
				assert.Zero(t, r.eng.Pending())
				continue
			}
			require.NoError(t, err, "%d rows at depth %d", tt.n, depth)
			want := Counters{
				SQEs: int64(tt.sqes), SGEs: int64(tt.n), WQEBBs: int64(tt.wqebbs), Doorbells: int64(tt.doorbells),
				NOPs: int64(tt.nops), Sends: int64(min(tt.n, 1)),
			}
			assert.Equal(t, want, q.Counters(), "%d rows", tt.n)
			assert.EqualValues(t, tt.wqebbs, q.Head())
			if tt.n == 0 {
				continue
			}
			assertLast(t, q, tt.last, tt.used)
			assert.Zero(t, r.finish(0, 1).Status)
			want.CQEs, want.Bytes = 1, int64(tt.n)*64
			assert.Equal(t, want, r.nics[0].Counters())
			assert.EqualValues(t, tt.wqebbs, q.Tail())
			assert.EqualValues(t, tt.wqebbs, r.nics[0].Peak())
			assert.True(t, r.landed(0, 1, tt.n))
		}
	}
}

// assertLast looks at the last SQE in ring memory, and that no other asks for a CQE.
func assertLast(t *testing.T, q *Queue, sges, used int) {
	t.Helper()
	for seq := uint64(0); seq < q.head; seq += SQEBBs {
		b, flags := q.slot(seq), byte(Relaxed)
		if seq+SQEBBs == q.head {
			flags = LastWrite
			assert.EqualValues(t, sges, b[2])
			for i := 1; i < SQEBBs; i++ {
				assert.Equal(t, i >= used, b[i*WQEBB] == OpNOP, "WQEBB %d", i)
			}
		}
		assert.Equal(t, []byte{OpWrite, flags}, b[:2], "SQE %d", seq/SQEBBs)
	}
}

func TestANICSumsUpItsQueues(t *testing.T) {
	o := nominal()
	o.ranks, o.row = 4, 64
	r := newRig(t, o)
	for peer, n := range []int{0, 25, 0, 12} {
		if peer > 0 {
			r.send(0, peer, n)
		}
	}
	assert.Equal(t, Counters{SQEs: 4, SGEs: 37, WQEBBs: 16, NOPs: 3, Doorbells: 2, CQEs: 2, Sends: 2, Bytes: 37 * 64}, r.nics[0].Counters())
	assert.EqualValues(t, 12, r.nics[0].Peak())
	assert.Equal(t, 4*20*ns, r.nics[0].Busy())
	assert.Zero(t, r.nics[1].Counters())
}

func TestThereIsNoQueueToTheOwnRank(t *testing.T) {
	r := newRig(t, nominal())
	assert.PanicsWithValue(t, "urma: no loopback queue", func() { r.queue(1, 1) })
}

// shadow is what the slots of a real ring would hold.
type shadow struct {
	t     require.TestingT
	depth uint64
	lap   map[uint64]bool // owner bit by slot
}

// wrote notes what an SQE's WQEBB, or a CQE, of the given number carries as its owner
// bit: one that its slot did not hold before, since the ring is zero at first.
func (s *shadow) wrote(seq uint64, owner bool) {
	slot := seq % s.depth
	require.NotEqual(s.t, s.lap[slot], owner, "number %d in slot %d", seq, slot)
	s.lap[slot] = owner
}

func TestOwnerBitsFlipOnEveryLapOfEitherRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := nominal()
		o.row, o.slot = 8, 200
		o.spec.Depth = 1 << rapid.IntRange(4, 6).Draw(t, "depth")
		o.spec.CQDepth = 1 << rapid.IntRange(0, 3).Draw(t, "cq_depth")
		r := newRig(t, o)
		q := r.queue(0, 1)
		if rapid.Bool().Draw(t, "late") { // the 32-bit sequence in an SQE is about to wrap
			start := uint64(1)<<32 - 128
			q.head, q.tail, q.seen, q.fetched, q.gathered = start, start, start, start, start
			q.cqHead, q.cqTail, q.wanted = 1<<32-16, 1<<32-16, 1<<32-16
		}
		sq := &shadow{t, uint64(o.spec.Depth), map[uint64]bool{}}
		cq := &shadow{t, uint64(o.spec.CQDepth), map[uint64]bool{}}
		most := 0
		for range rapid.IntRange(1, 40).Draw(t, "sends") {
			n := rapid.IntRange(1, 3*o.spec.Depth).Draw(t, "rows")
			require.NoError(t, r.submit(0, 1, n))
			for seq := q.tail; seq < q.head; seq += SQEBBs {
				sq.wrote(seq, q.slot(seq)[3]&ownerBit != 0)
			}
			number := uint64(q.cqTail)
			require.NoError(t, r.eng.Run())
			cq.wrote(number, q.ring.cq[0] == 1)
			require.Zero(t, r.finish(0, 1).Status)
			require.Equal(t, q.head, q.tail)
			require.Nil(t, q.ring, "a queue at rest has no ring memory")
			most = max(most, n)
			require.True(t, r.landed(0, 1, most), "what a longer send left stays")
		}
	})
}

func TestPagesAreRecycledBehindTheTail(t *testing.T) {
	o := nominal()
	o.row = 8
	r := newRig(t, o)
	for _, n := range []int{600, 1, 13, 600, 599, 77} {
		r.send(0, 1, n)
		assert.True(t, r.landed(0, 1, 600))
	}
	assert.Len(t, r.nics[0].pages, 50, "600 rows are 50 SQEs")
	assert.Len(t, r.nics[0].rings, 1)
	seen := map[*page]bool{}
	for _, p := range r.nics[0].pages {
		assert.False(t, seen[p], "given back once")
		seen[p] = true
	}
	assert.EqualValues(t, 200, r.nics[0].Peak(), "of all sends")
}

// A second send is built while the first is read: its slots lie behind a moved tail.
func TestAnExchangeOfManySendsGoesOnBehindTheTail(t *testing.T) {
	o := nominal()
	o.row, o.spec.Depth = 8, 64 // 16 SQEs
	r := newRig(t, o)
	q, w := r.queue(0, 1), writer(0)
	require.NoError(t, q.Claim(w))
	for i := range 40 { // each send has two SQEs, and there are up to eight of them
		for q.Head()-q.Tail() > 64-8 {
			require.NoError(t, r.eng.Run())
			c, ok := q.PollCQE()
			require.True(t, ok)
			require.Zero(t, c.Status)
		}
		require.NoError(t, q.Post(w, r.write(0, 1, 24*i, 12, false)))
		require.NoError(t, q.Post(w, r.write(0, 1, 24*i+12, 12, true)))
		q.Doorbell(w)
	}
	require.NoError(t, r.eng.Run())
	for q.Head() != q.Tail() {
		_, ok := q.PollCQE()
		require.True(t, ok)
	}
	assert.True(t, r.landed(0, 1, 24*40))
	assert.LessOrEqual(t, len(r.nics[0].pages), 64/4)
	assertIdle(t, r.nics[0])
}

// Two sends within one exchange; the first CQE frees the pages of the first alone.
func TestTheTailFollowsEachCQE(t *testing.T) {
	o := nominal()
	o.row = 8
	r := newRig(t, o)
	q, w := r.queue(0, 1), writer(0)
	require.NoError(t, q.Claim(w))
	for i := range 10 { // CQEs at SQE 5 and SQE 9
		require.NoError(t, q.Post(w, r.write(0, 1, 12*i, 12, i == 5 || i == 9)))
	}
	q.Doorbell(w)
	require.NoError(t, r.eng.Run())
	assert.EqualValues(t, 2, q.Counters().CQEs)
	for _, tt := range []struct{ seq, tail, pages int }{{20, 24, 6}, {36, 40, 10}} {
		c, ok := q.PollCQE()
		require.True(t, ok)
		assert.Equal(t, CQE{Owner: true, Op: OpWrite, Seq: uint32(tt.seq), Bytes: 96}, c)
		assert.EqualValues(t, tt.tail, q.Tail())
		assert.Len(t, r.nics[0].pages, tt.pages)
	}
	assert.True(t, r.landed(0, 1, 120))
}

func TestOnlyOneWriterHasAQueue(t *testing.T) {
	r := newRig(t, nominal())
	q := r.queue(0, 1)
	require.NoError(t, q.Claim(7))
	conflict := &ConflictError{Rank: 0, Peer: 1, Holder: 7, Writer: 8}
	assert.Equal(t, conflict, q.Claim(8))
	assert.Equal(t, conflict, q.Post(8, r.write(0, 1, 0, 1, true)))
	assert.EqualError(t, conflict, "two writers on the queue of rank 0 to rank 1: AIV 7 has an open exchange, AIV 8 wants to submit")
	assert.Panics(t, func() { q.Doorbell(8) })
	assert.Panics(t, func() { q.Release(8) })
	assert.Error(t, q.Claim(7), "nor has the same AIV two exchanges")
	assert.Zero(t, q.Counters(), "nothing was submitted")
	require.NoError(t, r.queue(1, 0).Claim(8), "another queue is another matter")
	q.Release(7)
	assert.NoError(t, q.Claim(8))
	q.Release(8)
	assert.EqualError(t, q.Post(8, r.write(0, 1, 0, 1, true)), "AIV 8 submits to the queue of rank 0 to rank 1 without an open exchange")
	assert.Panics(t, func() { q.Release(8) })
}

func TestCapacityIsTwelveRowsForFourWQEBBs(t *testing.T) {
	for depth, rows := range map[int]int{16: 48, 32: 96, 64: 192, 128: 384, 256: 768, 512: 1536} {
		o := nominal()
		o.spec.Depth, o.row = depth, 8
		r := newRig(t, o)
		require.NoError(t, r.submit(0, 1, rows))
		r.finish(0, 1)
		assert.EqualError(t, r.submit(0, 1, rows+1), fmt.Sprintf("the send of rank 0 to rank 1 needs %d WQEBBs, but sqDepth is %d", depth+4, depth))
		assert.True(t, r.landed(0, 1, rows))
	}
}

func TestARingIsNotOverwritten(t *testing.T) {
	o := nominal()
	o.spec.Depth, o.row = 16, 8
	r := newRig(t, o)
	q, w := r.queue(0, 1), writer(0)
	r.send(0, 1, 12) // so that the ring wraps
	require.NoError(t, q.Claim(w))
	for i := range 4 {
		require.NoError(t, q.Post(w, r.write(0, 1, 12*i, 12, i == 3)))
	}
	before := q.Counters()
	assert.EqualError(t, q.Post(w, r.write(0, 1, 48, 12, true)), "SQ ring of rank 0 to rank 1 corrupted: WQEBB 4 overwrites one in use")
	assert.Equal(t, before, q.Counters())
	q.Doorbell(w)
	require.NoError(t, r.eng.Run())
	assert.Error(t, q.Post(w, r.write(0, 1, 48, 12, true)), "landed, but the writer has not seen it")
	_, ok := q.PollCQE()
	require.True(t, ok)
	assert.NoError(t, q.Post(w, r.write(0, 1, 48, 12, true)))
}

func TestACompletionRingIsNotOverwritten(t *testing.T) {
	o := nominal()
	o.spec.CQDepth = 2
	r := newRig(t, o)
	q, w := r.queue(0, 1), writer(0)
	require.NoError(t, q.Claim(w))
	for i := range 2 {
		require.NoError(t, q.Post(w, r.write(0, 1, i, 1, true)))
	}
	assert.EqualError(t, q.Post(w, r.write(0, 1, 2, 1, true)), "CQ ring of rank 0 to rank 1 corrupted: CQE 0 overwrites one in use")
	assert.NoError(t, q.Post(w, r.write(0, 1, 2, 1, false)), "this one asks for none")
	q.Doorbell(w)
	require.NoError(t, r.eng.Run())
	q.PollCQE()
	assert.NoError(t, q.Post(w, r.write(0, 1, 3, 1, true)))
}

func TestAnSQEHasOneToTwelveRowsAndAtMost256MiB(t *testing.T) {
	r := newRig(t, nominal())
	q := r.queue(0, 1)
	require.NoError(t, q.Claim(1))
	assert.EqualError(t, q.Post(1, Write{}), "an SQE of 0 SGEs, must be 1 to 12")
	assert.EqualError(t, q.Post(1, Write{SGEs: make([]SGE, 13)}), "an SQE of 13 SGEs, must be 1 to 12")
	big := []SGE{{Len: MaxBytes - 1}, {Len: 2}}
	assert.ErrorContains(t, q.Post(1, Write{SGEs: big}), ", at most 256 MiB")
	big[1].Len = 1
	assert.NoError(t, q.Post(1, Write{SGEs: big}))
	wrap := make([]SGE, 12)
	for i := range wrap {
		wrap[i].Len = 1 << 30
	}
	assert.Error(t, q.Post(1, Write{SGEs: wrap}), "the sum does not wrap")

	o := nominal()
	o.spec.MaxSGEs = 4
	q = newRig(t, o).queue(0, 1)
	require.NoError(t, q.Claim(1))
	assert.EqualError(t, q.Post(1, Write{SGEs: make([]SGE, 5)}), "an SQE of 5 SGEs, must be 1 to 4")
}

func TestTwoCannotWaitForOneCQE(t *testing.T) {
	r := newRig(t, nominal())
	require.NoError(t, r.submit(0, 1, 1))
	woken := 0
	assert.False(t, r.queue(0, 1).Completed(then(func() { woken++ }), 0))
	assert.Panics(t, func() { r.queue(0, 1).Completed(then(func() {}), 0) })
	_, ok := r.queue(0, 1).PollCQE()
	assert.False(t, ok)
	r.finish(0, 1)
	assert.Equal(t, 1, woken)
	assert.False(t, r.queue(0, 1).Completed(then(func() {}), 0), "read once")
}

// Each doorbell publishes the head of its moment: what is built later is not fetched.
func TestTheEngineFetchesUpToThePublishedHead(t *testing.T) {
	r := newRig(t, nominal())
	q := r.queue(0, 1)
	require.NoError(t, q.Claim(1))
	require.NoError(t, q.Post(1, r.write(0, 1, 0, 12, false)))
	q.Doorbell(1)
	require.NoError(t, q.Post(1, r.write(0, 1, 12, 12, true)))
	require.NoError(t, r.eng.Run())
	assert.EqualValues(t, 12*r.row, q.Counters().Bytes)
	assert.Zero(t, q.Counters().CQEs)
	q.Doorbell(1)
	q.Doorbell(1) // of nothing new
	require.Zero(t, r.finish(0, 1).Status)
	assert.EqualValues(t, 24*r.row, q.Counters().Bytes)
	assert.EqualValues(t, 3, q.Counters().Doorbells)
}

func TestWhatMovesIsWhatWasEncoded(t *testing.T) {
	r := newRig(t, nominal())
	q := r.queue(0, 1)
	require.NoError(t, q.Claim(1))
	w := r.write(0, 1, 0, 12, true)
	require.NoError(t, q.Post(1, w))
	clear(w.SGEs) // the AIV uses its registers again
	q.Doorbell(1)
	require.Zero(t, r.finish(0, 1).Status)
	assert.True(t, r.landed(0, 1, 12))
}

// The engine checks the owner bit and the sequence of what it fetches.
func TestAnSQEOfAnotherLapIsFound(t *testing.T) {
	for _, at := range []int{3, 4} {
		r := newRig(t, nominal())
		require.NoError(t, r.submit(0, 1, 12))
		r.queue(0, 1).slot(0)[at] ^= ownerBit
		assert.Panics(t, func() { _ = r.eng.Run() })
	}
}

func TestASpecIsCheckedBeforeANICIsMade(t *testing.T) {
	for want, change := range map[string]func(*Spec){
		"urma.depth: 48 is no power of two; the driver would make it 64":      func(s *Spec) { s.Depth = 48 },
		"urma.cq_depth: 100 is no power of two; the driver would make it 128": func(s *Spec) { s.CQDepth = 100 },
		"fetch.in_flight 0 make no queue":                                     func(s *Spec) { s.Fetch.InFlight = 0 },
		"max_sges 13":                                                         func(s *Spec) { s.MaxSGEs = 13 },
		"urma.wqe_gap: -1 ps is negative":                                     func(s *Spec) { s.Gap = -1 },
		"store must be positive":                                              func(s *Spec) { s.Build.Store = 0 },
		"up to 100 %":                                                         func(s *Spec) { s.Build.Efficiency = engine.One + 1 },
	} {
		s := a5()
		change(&s)
		_, err := New(nil, s, nil, nil, 0, nil)
		assert.ErrorContains(t, err, want)
	}
	_, err := New(nil, Spec{}, nil, nil, 0, nil)
	assert.NoError(t, err, "a machine whose AIVs have no queues")
	_, err = New(nil, a5(), nil, nil, 0, []Fault{{Kind: "gremlin"}})
	assert.EqualError(t, err, `fault: no kind "gremlin"; there are cqe_status and dead_link`)
	for depth := 16; depth <= 32768; depth *= 2 {
		s := a5()
		s.Depth = depth
		s.Check(func(path, format string, args ...any) { t.Errorf(path+": "+format, args...) })
	}
}

// At 256 ranks there are 65,280 queues.
func TestAQueueAtRestIsSmall(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(Queue{}), uintptr(208))

	const ranks = 2001
	o := nominal()
	o.fabric.Kind, o.mem.Kind, o.ranks, o.row, o.slot = "ideal", "ideal", ranks, 8, 48
	r := newRig(t, o)
	use := func() {
		for peer := 1; peer < ranks; peer++ {
			r.send(0, peer, 48)
		}
	}
	use() // what the peers' memory keeps, a list of pages and their fragments, stays the same
	clear(r.nics[0].queues)
	before := heap()
	use()
	per := float64(heap()-before) / (ranks - 1)
	assert.Less(t, per, 208+30.0, "bytes a queue and its flow, the ring memory being recycled")
	assert.Len(t, r.nics[0].pages, 4, "48 rows are four SQEs")
	runtime.KeepAlive(r)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
