package urma

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
	"pldperf/hw/fabric"
	"pldperf/hw/memory"
)

// The mesh of nominal: one wire of 0.35 us behind one port.
const wire = 350 * ns

func port(o options) engine.Rate { return o.fabric.Mesh.Port.Times(o.fabric.Mesh.Efficiency) }

// A lone SQE: doorbell 0.15, fetch 0.25, engine 0.02 and gather 0.2 us, the bytes at
// 53.1 GB/s, the wire twice, the peer's HBM and 0.15 us until the CQE can be read.
// Nothing overlaps, so the sum is exact to the picosecond (up to one fabric quantum).
func TestALoneSQETakesTheSumOfItsSteps(t *testing.T) {
	for _, m := range []int{1, 2, 5, 12} {
		for _, row := range []int64{4, 64, 1024, 1365} {
			o := nominal()
			o.row = row
			r := newRig(t, o)
			r.nics[0].Watch(1, 0, 1)
			got := r.span(0, 1, m)

			bytes := engine.Bytes(int64(m) * row)
			first := engine.Time(0).Add(150*ns + 250*ns + 20*ns + 200*ns)
			last := first.Add(port(o).Span(bytes))
			ack := last.Add(wire + o.mem.HBM.Rate.Span(bytes) + wire)
			assert.Equal(t, ack.Add(150*ns).Sub(0), got)
			assert.Equal(t, []Step{{
				Seq: 0, Bytes: int64(bytes), SGEs: m, Build: 0, Doorbell: 0, Fetch: engine.Time(150 * ns), Gather: engine.Time(420 * ns),
				Wire: first, Left: last, Land: last.Add(wire), Ack: ack, CQE: ack.Add(150 * ns),
			}}, r.nics[0].Steps(1))
		}
	}
}

// HBM needs longer for the rows than the wire: the last byte of both is the same.
func TestRowsLeaveNoFasterThanHBMGivesThem(t *testing.T) {
	o := nominal()
	o.mem.HBM.Rate, o.row = 10e9, 1000
	r := newRig(t, o)
	r.nics[0].Watch(1, 0, 1)
	r.send(0, 1, 12)
	s := r.nics[0].Steps(1)[0]
	assert.Equal(t, 12*o.mem.HBM.Rate.Span(1000), s.Left.Sub(s.Gather))
	assert.Equal(t, port(o).Span(12*1000), s.Left.Sub(s.Wire))
	assert.Greater(t, s.Wire.Sub(s.Gather), o.spec.Gather)
}

// A WQE of 16 MiB is read in 4.2 us, while its first bytes have long been on the wire.
func TestALargeSQEStreamsFromHBM(t *testing.T) {
	o := nominal()
	o.row, o.slot = 16<<20, 2
	r := newRig(t, o)
	r.nics[0].Watch(1, 0, 1)
	r.send(0, 1, 1)
	s := r.nics[0].Steps(1)[0]
	assert.Equal(t, o.spec.Gather, s.Wire.Sub(s.Gather))
}

// pace returns the time that one more SQE takes in a long send.
func pace(t *testing.T, o options, rows int) engine.Duration {
	a, b := newRig(t, o), newRig(t, o)
	const few, many = 40, 140
	return (b.span(0, 1, many*rows) - a.span(0, 1, few*rows)) / (many - few)
}

func TestALongSendRunsAtItsNarrowestStage(t *testing.T) {
	wide := func(o *options) { o.spec.Fetch.InFlight = 64 }
	for _, tt := range []struct {
		name   string
		row    int64
		rows   int // an SQE
		change func(*options)
		want   func(o options) engine.Duration
	}{
		{"twelve rows of 7 KiB: the port", 7168, 12, nil,
			func(o options) engine.Duration { return port(o).Span(12 * 7168) }},
		{"rows of 64 B: two SQEs in a fetch and the engine's time", 64, 12, nil,
			func(o options) engine.Duration { return (250*ns + 20*ns) / 2 }},
		{"the same with four in flight", 64, 12, func(o *options) { o.spec.Fetch.InFlight = 4 },
			func(o options) engine.Duration { return (250*ns + 20*ns) / 4 }},
		{"rows of 64 B with one in flight", 64, 12, func(o *options) { o.spec.Fetch.InFlight = 1 },
			func(o options) engine.Duration { return 250*ns + 20*ns }},
		{"a long gather: two SQEs between it and the wire", 64, 12, func(o *options) { o.spec.Gather = 1 * us },
			func(o options) engine.Duration { return (1*us + port(o).Span(12*64)) / 2 }},
		{"rows of 64 B with 64 in flight: the engine", 64, 12, wide,
			func(o options) engine.Duration { return 20 * ns }},
		{"a slow engine", 64, 12, func(o *options) { wide(o); o.spec.Engine.WQE = 100 * ns },
			func(o options) engine.Duration { return 100 * ns }},
		{"a gap behind each SQE", 64, 12, func(o *options) { o.spec.Gap = 800 * ns },
			func(o options) engine.Duration { return port(o).Span(12*64) + 800*ns }},
		{"a gap behind SQEs of 84 KiB", 7168, 12, func(o *options) { o.spec.Gap = 800 * ns },
			func(o options) engine.Duration { return port(o).Span(12*7168) + 800*ns }},
		{"a gap with eight in flight", 64, 12, func(o *options) { o.spec.Gap, o.spec.Fetch.InFlight = 800*ns, 8 },
			func(o options) engine.Duration { return port(o).Span(12*64) + 800*ns }},
		// Measured: 64-KiB WQEs of one SGE sustain 32.2 GB/s where the port gives 53.1
		// (asc-comm, DeepEP-Ascend at 87014cb2, "last"); resolution 1.
		{"a gap of 0.8 us behind WQEs of 64 KiB: 32.2 GB/s", 64 << 10, 1, func(o *options) { o.spec.Gap = 800 * ns },
			func(options) engine.Duration { return engine.Rate(32_200_000_000).Span(64 << 10) }},
		{"slow HBM: its reads", 7168, 12, func(o *options) { o.mem.HBM.Rate, o.mem.L2.Capacity = 20e9, 0 },
			func(o options) engine.Duration { return 12 * o.mem.HBM.Rate.Span(7168) }},
		{"one row of 7 KiB: gather and wire, two at once", 7168, 1, nil,
			func(o options) engine.Duration { return (200*ns + port(o).Span(7168)) / 2 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := nominal()
			o.row, o.spec.MaxSGEs = tt.row, tt.rows
			if tt.change != nil {
				tt.change(&o)
			}
			assertWithin(t, 1, tt.want(o), pace(t, o, tt.rows))
		})
	}
}

// Seven queues of small rows share the engines that they are dealt to.
func TestQueuesShareTheirEngine(t *testing.T) {
	for _, engines := range []int{1, 2, 7} {
		o := nominal()
		o.ranks, o.row, o.slot = 8, 8, 1200
		o.spec.Engine, o.spec.Fetch.InFlight = EngineSpec{WQE: 200 * ns, Count: engines}, 8
		r := newRig(t, o)
		for peer := 1; peer < 8; peer++ {
			require.NoError(t, r.submit(0, peer, 1200)) // 100 SQEs
		}
		require.NoError(t, r.eng.Run())
		most := (7 + engines - 1) / engines // queues of the busiest engine
		const once = 150*ns + 250*ns + 200*ns + 2*wire + 150*ns
		assertWithin(t, 1, engine.Duration(most)*100*200*ns+once, r.eng.Now().Sub(0), "%d engines", engines)
		assert.Equal(t, 7*100*200*ns, r.nics[0].Busy())
	}
}

func TestTheIdealTwinCostsTheWireAndTheMemoryAlone(t *testing.T) {
	o := nominal()
	o.spec.Kind, o.spec.Gap = "ideal", us
	o.row = 1024
	r := newRig(t, o)
	bytes := engine.Bytes(12 * 1024)
	assert.Equal(t, port(o).Span(bytes)+wire+o.mem.HBM.Rate.Span(bytes)+wire, r.span(0, 1, 12), "the rows stream from HBM")
	assert.Equal(t, Counters{SQEs: 1, SGEs: 12, WQEBBs: 4, Doorbells: 1, CQEs: 1, Sends: 1, Bytes: 12 * 1024}, r.nics[0].Counters())
	assert.True(t, r.landed(0, 1, 12))

	o.mem.Kind, o.fabric.Kind = "ideal", "ideal"
	r = newRig(t, o)
	assert.Zero(t, r.span(0, 1, 1200), "with nothing else, nothing at all")
	assert.True(t, r.landed(0, 1, 1200))
	spec := o.spec
	assert.Zero(t, spec.DoorbellIssue())
	assert.Zero(t, spec.DrainTime())
	assert.Zero(t, spec.BuildSpan(768, 1.65e9))
}

func TestARowIsSampledWhenItIsGathered(t *testing.T) {
	// The SQE is built at 0, gathered at 420 ns, and lands after 0.9 us.
	for _, tt := range []struct {
		at      engine.Duration
		version uint32
	}{{1, 1}, {420*ns - 1, 1}, {421 * ns, 0}, {900 * ns, 0}} {
		for _, asBytes := range []bool{false, true} {
			o := nominal()
			o.bytes = asBytes
			r := newRig(t, o)
			require.NoError(t, r.submit(0, 1, 3))
			r.call(engine.Time(tt.at), func() { r.mem.Rewrite(0, r.in, nil) })
			r.finish(0, 1)
			for version := range uint32(2) {
				v := r.mem.Verify(1, r.out)
				for j := range 3 {
					v.Expect(r.target(0, 1, j).Off, r.row, memory.Origin{Rank: 0, Buf: r.in, Version: version, Off: r.source(0, j).Off})
				}
				assert.Equal(t, version == tt.version, v.Done(), "rewritten at %v", tt.at)
			}
		}
	}
}

func TestARowIsThereWhenItsLastByteHasLanded(t *testing.T) {
	r := newRig(t, nominal())
	r.nics[0].Watch(1, 0, 1)
	r.send(0, 1, 12)
	land := r.nics[0].Steps(1)[0].Land
	for _, before := range []engine.Time{1, 0} {
		r = newRig(t, nominal())
		require.NoError(t, r.submit(0, 1, 12))
		r.call(land-before, func() { // the events of an instant come in order of scheduling
			r.call(land-before, func() { assert.Equal(t, before == 0, r.landed(0, 1, 12)) })
		})
		r.finish(0, 1)
	}
}

// anyMachine draws a fabric, a queue and a memory of any speed.
func anyMachine(t *rapid.T) options {
	duration := func(label string) engine.Duration {
		return engine.Duration(rapid.SampledFrom([]int64{0, 1, 999, 50_000, 250_000, 3_000_000}).Draw(t, label))
	}
	rate := func(label string) engine.Rate {
		return engine.Rate(rapid.SampledFrom([]int64{1e8, 7e9, 53e9, 4e12}).Draw(t, label))
	}
	o := nominal()
	o.ranks, o.slot, o.bytes = rapid.IntRange(2, 5).Draw(t, "ranks"), 150, rapid.Bool().Draw(t, "bytes")
	o.row = rapid.SampledFrom([]int64{1, 32, 500, 4160}).Draw(t, "row")
	s := &o.spec
	s.Kind = rapid.SampledFrom([]string{"real", "real", "ideal"}).Draw(t, "urma")
	s.Segment = rapid.IntRange(1, 4).Draw(t, "segment")
	s.Doorbell.Latency, s.Fetch.Latency, s.Engine.WQE = duration("doorbell"), duration("fetch"), duration("wqe")
	s.Fetch.InFlight, s.Engine.Count = rapid.IntRange(1, 4).Draw(t, "in_flight"), rapid.IntRange(1, 3).Draw(t, "engines")
	s.Gather, s.Gap, s.CQE.Visible, s.Timeout = duration("gather"), duration("gap"), duration("visible"), duration("timeout")
	o.mem.Kind = rapid.SampledFrom([]string{"shared", "ideal"}).Draw(t, "memory")
	o.mem.HBM.Rate, o.mem.L2.Rate = rate("hbm"), rate("l2")
	f := &o.fabric
	f.Kind, f.Quantum = rapid.SampledFrom(fabric.Kinds()).Draw(t, "fabric"), engine.Bytes(rapid.SampledFrom([]int64{64, 4096, 1 << 20}).Draw(t, "quantum"))
	latency := duration("latency")
	f.Ideal.Latency, f.Mesh.Latency, f.Clos.Latency = latency, latency, latency
	f.Mesh.Port, f.Clos.Port = rate("port"), rate("port")
	return o
}

func TestACQEComesOnceAndAfterAllRowsOfItsSendOnAnyMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyMachine(t)
		r := newRig(t, o)
		type send struct{ src, dst, n int }
		var sends []send
		for src := range o.ranks {
			for dst := range o.ranks {
				if n := rapid.IntRange(0, o.slot).Draw(t, "rows"); src != dst && n > 0 {
					sends = append(sends, send{src, dst, n})
				}
			}
		}
		woken := 0
		for _, s := range sends {
			r.nics[s.src].Watch(s.dst, 0, 20)
			require.NoError(t, r.submit(s.src, s.dst, s.n))
			r.queue(s.src, s.dst).Completed(then(func() {
				woken++
				require.True(t, r.landed(s.src, s.dst, s.n), "%+v at %v", s, r.eng.Now())
			}), 0)
		}
		require.NoError(t, r.eng.Run())
		require.Equal(t, len(sends), woken)
		for _, s := range sends {
			require.Zero(t, r.finish(s.src, s.dst).Status)
			assertSteps(t, r.nics[s.src].Steps(s.dst), (s.n+11)/12)
			require.Zero(t, r.queue(s.src, s.dst).wire)
		}
		for _, n := range r.nics {
			assertIdle(t, n)
		}
	})
}

// assertSteps checks that no step of an SQE comes before the one on which it depends,
// and no SQE of a queue before an earlier one.
func assertSteps(t require.TestingT, steps []Step, n int) {
	require.Len(t, steps, n)
	var prev Step
	for i, s := range steps {
		require.EqualValues(t, i, s.Seq)
		require.LessOrEqual(t, s.Build, s.Doorbell)
		require.LessOrEqual(t, s.Doorbell, s.Fetch)
		require.LessOrEqual(t, s.Fetch, s.Gather)
		require.LessOrEqual(t, s.Gather, s.Wire)
		require.LessOrEqual(t, s.Wire, s.Left)
		require.LessOrEqual(t, s.Left, s.Land)
		require.LessOrEqual(t, prev.Fetch, s.Fetch)
		require.LessOrEqual(t, prev.Gather, s.Gather)
		require.LessOrEqual(t, prev.Wire, s.Wire)
		require.LessOrEqual(t, prev.Left, s.Left)
		require.LessOrEqual(t, prev.Land, s.Land)
		if i == n-1 {
			require.LessOrEqual(t, s.Land, s.Ack)
			require.LessOrEqual(t, s.Ack, s.CQE)
		} else {
			require.Zero(t, s.Ack)
			require.Zero(t, s.CQE)
		}
		prev = s
	}
}

// assertIdle checks that a NIC has everything back, once.
func assertIdle(t require.TestingT, n *NIC) {
	require.Len(t, n.unused, len(n.works))
	seen := map[*work]bool{}
	for _, w := range n.unused {
		require.False(t, seen[w], "a work is freed twice")
		require.Nil(t, w.q)
		seen[w] = true
	}
	for _, q := range n.queues {
		if q != nil {
			require.Nil(t, q.ring)
			require.Zero(t, q.ready)
			require.Equal(t, q.head, q.gathered)
			require.Nil(t, q.waiting)
		}
	}
}

func TestAFaultyCQECarriesItsStatus(t *testing.T) {
	o := nominal()
	o.ranks = 3
	o.faults = []Fault{{Kind: "cqe_status", Src: 0, Dst: 1, Nth: 1, Status: 9}, {Kind: "cqe_status", Src: 0, Dst: 2}}
	r := newRig(t, o)
	for i, want := range []uint8{0, 9, 0} {
		require.NoError(t, r.submit(0, 1, 20))
		assert.Equal(t, want, r.finish(0, 1).Status, "CQE %d", i)
		assert.True(t, r.landed(0, 1, 20), "only the status lies")
	}
	require.NoError(t, r.submit(0, 2, 1))
	assert.EqualValues(t, 1, r.finish(0, 2).Status, "a fault without a status is one")
	require.NoError(t, r.submit(1, 2, 1))
	assert.Zero(t, r.finish(1, 2).Status, "another rank's queue")
}

// Nothing arrives; after 512 us from its turn on the wire the send is given up.
func TestADeadLinkTimesOut(t *testing.T) {
	o := nominal()
	o.ranks = 3
	o.faults = []Fault{{Kind: "dead_link", Src: 0, Dst: 1}}
	r := newRig(t, o)
	got := engine.Duration(0)
	require.NoError(t, r.submit(0, 1, 12))
	r.queue(0, 1).Completed(then(func() { got = r.eng.Now().Sub(0) }), 0)
	c := r.finish(0, 1)
	assert.EqualValues(t, StatusTimeout, c.Status)
	assert.Equal(t, 150*ns+250*ns+20*ns+200*ns+512*us+150*ns, got)
	require.NoError(t, r.submit(0, 1, 100))
	assert.EqualValues(t, StatusTimeout, r.finish(0, 1).Status)
	assert.True(t, r.landed(0, 1, 0))
	assert.Zero(t, r.queue(0, 1).Counters().Bytes)
	r.send(0, 2, 12)
	r.send(1, 0, 12)
	assertIdle(t, r.nics[0])
}

// A bad SQE moves nothing, but it completes behind what was sent before it.
func TestABadAddressCompletesWithAnErrorAndInOrder(t *testing.T) {
	for name, spoil := range map[string]func(r *rig, w *Write){
		"null row":                 func(r *rig, w *Write) { w.SGEs[3].Addr = 0 },
		"row of the peer":          func(r *rig, w *Write) { w.SGEs[0].Addr = r.mem.Device(r.source(1, 0)) },
		"row over its buffer":      func(r *rig, w *Write) { w.SGEs[11].Addr = r.mem.Device(memory.Addr{Buf: r.in, Off: 509*r.row - 1}) },
		"target of a third rank":   func(r *rig, w *Write) { w.Remote = r.mem.Device(r.target(0, 2, 0)) },
		"target of the own rank":   func(r *rig, w *Write) { w.Remote = r.mem.Device(r.target(1, 0, 0)) },
		"target over its buffer":   func(r *rig, w *Write) { w.Remote = r.mem.Device(r.target(0, 1, 3*r.slot-11)) },
		"target that is no window": func(r *rig, w *Write) { w.Remote = r.mem.Device(r.source(1, 0)) },
		"target that nobody holds": func(r *rig, w *Write) { w.Remote = ^uint64(0) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, bad := range []int{0, 2} { // an SQE in the middle, or the last
				o := nominal()
				o.ranks = 3
				r := newRig(t, o)
				q := r.queue(0, 1)
				require.NoError(t, q.Claim(1))
				for i := range 3 {
					w := r.write(0, 1, 12*i, 12, i == 2)
					if i == bad {
						spoil(r, &w)
					}
					require.NoError(t, q.Post(1, w))
				}
				q.Doorbell(1)
				good := int64(24 * r.row)
				q.Completed(then(func() { assert.Equal(t, good, q.Counters().Bytes, "all that moves has landed") }), 0)
				assert.EqualValues(t, StatusAccess, r.finish(0, 1).Status)
				assert.Equal(t, good, q.Counters().Bytes)
				for _, x := range r.net.Resources() {
					assert.EqualValues(t, good, x.Bytes, "nothing of it on the %s", x.Name)
				}
				assertIdle(t, r.nics[0])
				require.NoError(t, r.submit(0, 1, 1))
				assert.EqualValues(t, StatusAccess, r.finish(0, 1).Status, "the queue stays in error")
			}
		})
	}
}

func TestChosenStepsAreListedOnceInOrder(t *testing.T) {
	r := newRig(t, nominal())
	assert.Empty(t, r.nics[0].Steps(1))
	r.nics[0].Watch(1, 1, 2)
	r.nics[0].Watch(1, 2, 1)
	r.nics[0].Watch(1, 7, 1<<40)
	r.send(0, 1, 60)
	r.send(0, 1, 48)
	var seqs []int64
	for _, s := range r.nics[0].Steps(1) {
		seqs = append(seqs, s.Seq)
		assert.Positive(t, s.Land)
	}
	assert.Equal(t, []int64{1, 2, 7, 8}, seqs)
	assert.Empty(t, r.nics[1].Steps(0))
}

func TestWatchingChangesNoTime(t *testing.T) {
	o := nominal()
	off, on := newRig(t, o), newRig(t, o)
	on.nics[0].Watch(1, 0, 1000)
	off.send(0, 1, 300)
	on.send(0, 1, 300)
	assert.Equal(t, off.eng.Digest(), on.eng.Digest())
}
