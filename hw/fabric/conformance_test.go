package fabric

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
)

// variants returns specs that a kind is tested with: its defaults, and where those leave something switched off, more.
func variants(kind string) map[string]Spec {
	all := map[string]Spec{
		"default":       with(kind, nil),
		"small quantum": with(kind, func(s *Spec) { s.Quantum = 1000 }),
	}
	switch kind {
	case "ideal":
		all["latency"] = with(kind, func(s *Spec) { s.Ideal.Latency = us })
	case "mesh":
		all["no caps"] = with(kind, func(s *Spec) { s.Mesh.Egress, s.Mesh.Ingress = engine.Unlimited, engine.Unlimited })
		all["narrow caps"] = with(kind, func(s *Spec) { s.Mesh.Egress, s.Mesh.Ingress = 30e9, 20e9 })
		all["no latency"] = with(kind, func(s *Spec) { s.Mesh.Latency = 0 })
	case "frame":
		all["default"] = with(kind, func(s *Spec) { s.Frame.Server, s.Clos.TierRanks = 2, 64 })
		all["no caps"] = with(kind, func(s *Spec) {
			s.Frame.Server, s.Clos.TierRanks = 2, 4
			s.Mesh.Egress, s.Mesh.Ingress, s.Clos.Egress, s.Clos.Ingress = engine.Unlimited, engine.Unlimited, engine.Unlimited, engine.Unlimited
		})
		all["groups"] = with(kind, func(s *Spec) { s.Frame.Server, s.Clos.TierRanks, s.Clos.Uplink, s.Clos.Spread = 3, 3, 250_000, "hash" })
		all["one server"] = with(kind, nil)
		all["servers of one"] = with(kind, func(s *Spec) { s.Frame.Server = 1 })
	case "clos":
		all["hash"] = with(kind, func(s *Spec) { s.Clos.Spread = "hash" })
		all["no caps"] = with(kind, func(s *Spec) { s.Clos.Egress, s.Clos.Ingress = engine.Unlimited, engine.Unlimited })
		all["groups"] = with(kind, func(s *Spec) { s.Clos.TierRanks, s.Clos.Uplink = 3, 250_000 })
		all["window"] = with(kind, func(s *Spec) { s.Clos.TierRanks, s.Clos.Window, s.Clos.Record = 2, 64*kib, 5000 })
		all["hashed groups of one"] = with(kind, func(s *Spec) { s.Clos.Spread, s.Clos.TierRanks, s.Clos.Uplink = "hash", 1, 10_000 })
	}
	return all
}

// load is a random set of messages.
type load struct {
	ranks int
	pairs []ends // of the flows
	posts []struct {
		flow int
		at   engine.Time
		n    engine.Bytes
	}
}

// loads draws few ranks, so that flows meet, and sizes on either side of a quantum.
func loads(t *rapid.T) load {
	l := load{ranks: rapid.IntRange(2, 8).Draw(t, "ranks")}
	for range rapid.IntRange(1, 12).Draw(t, "flows") {
		src := rapid.IntRange(0, l.ranks-1).Draw(t, "src")
		dst := (src + rapid.IntRange(1, l.ranks-1).Draw(t, "step")) % l.ranks
		l.pairs = append(l.pairs, ends{int32(src), int32(dst)})
	}
	size := rapid.OneOf(rapid.SampledFrom([]int64{0, 1, 4, 999, 1000, 1001, 16383, 16384, 16385}), rapid.Int64Range(0, 200_000))
	for range rapid.IntRange(1, 60).Draw(t, "messages") {
		l.posts = append(l.posts, struct {
			flow int
			at   engine.Time
			n    engine.Bytes
		}{
			rapid.IntRange(0, len(l.pairs)-1).Draw(t, "flow"),
			engine.Time(rapid.Int64Range(0, 20_000_000).Draw(t, "at")),
			engine.Bytes(size.Draw(t, "bytes")),
		})
	}
	return l
}

func (l load) run(t *rapid.T, spec Spec, queue string) *rig {
	r := newRig(t, spec, l.ranks, queue)
	flows := make([]Flow, len(l.pairs))
	for i, p := range l.pairs {
		flows[i] = r.net.Open(int(p.src), int(p.dst))
	}
	for _, p := range l.posts {
		r.send(p.at, int(l.pairs[p.flow].src), int(l.pairs[p.flow].dst), p.n, flows[p.flow])
	}
	r.run()
	return r
}

func TestEveryFabricConformsUnderRandomLoad(t *testing.T) {
	for _, kind := range Kinds() {
		for name, spec := range variants(kind) {
			t.Run(kind+"/"+name, rapid.MakeCheck(func(t *rapid.T) {
				l := loads(t)
				r := l.run(t, spec, engine.Radix)
				landInOrder(r)
				neverBeatBounds(r, l.ranks)
				conserve(r, l.ranks)

				twin := l.run(t, spec, engine.Reference)
				assert.Equal(t, r.eng.Digest(), twin.eng.Digest(), "the event queues disagree")
				assert.Equal(t, r.landing, twin.landing)
				assert.Equal(t, r.net.Resources(), twin.net.Resources())
			}))
		}
	}
}

// landInOrder: messages of a flow leave and land in the order in which they were sent, and none before it has left.
func landInOrder(r *rig) {
	// rig.sent is in the order of the calls, not of time: at one time the first call is first.
	last := map[Flow]*post{}
	for _, i := range r.landing {
		p := &r.sent[i]
		assert.GreaterOrEqual(r.t, p.left, p.at)
		assert.GreaterOrEqual(r.t, p.landed, p.left.Add(r.net.Latency(p.Src, p.Dst)), "message %d", i)
		if q := last[p.Flow]; q != nil {
			assert.True(r.t, q.at < p.at || q.at == p.at && q.LandedArg < p.LandedArg, "message %d overtakes %d", p.LandedArg, q.LandedArg)
			assert.LessOrEqual(r.t, q.left, p.left)
		}
		last[p.Flow] = p
	}
	assert.Len(r.t, r.landing, len(r.sent))
}

// account is what some messages are together.
type account struct {
	n          engine.Bytes
	begin, end engine.Time
}

func (a *account) add(p *post) {
	if a.end == 0 || p.at < a.begin {
		a.begin = p.at
	}
	a.n, a.end = a.n+p.Bytes, max(a.end, p.landed)
}

// neverBeatBounds: what leaves a rank, enters a rank or goes between two takes at least the latency and the time at the
// rate that the fabric states as its limit.
func neverBeatBounds(r *rig, ranks int) {
	out, in, pair := make([]account, ranks), make([]account, ranks), map[ends]*account{}
	for i := range r.sent {
		p := &r.sent[i]
		e := ends{int32(p.Src), int32(p.Dst)}
		if pair[e] == nil {
			pair[e] = new(account)
		}
		out[p.Src].add(p)
		in[p.Dst].add(p)
		pair[e].add(p)
	}
	for rank := range ranks {
		assert.GreaterOrEqual(r.t, out[rank].end.Sub(out[rank].begin), r.net.Egress(rank).Span(out[rank].n), "out of %d", rank)
		assert.GreaterOrEqual(r.t, in[rank].end.Sub(in[rank].begin), r.net.Ingress(rank).Span(in[rank].n), "into %d", rank)
	}
	for e, a := range pair {
		src, dst := int(e.src), int(e.dst)
		least := r.net.Latency(src, dst) + r.net.Pair(src, dst).Span(a.n)
		assert.GreaterOrEqual(r.t, a.end.Sub(a.begin), least, "from %d to %d", src, dst)
	}
}

// conserve: each link accounts for just the bytes that had to pass it, and is busy for as long as they take.
func conserve(r *rig, ranks int) {
	sent, got := map[int]engine.Bytes{}, map[int]engine.Bytes{} // by rank
	pairs, total := map[ends]engine.Bytes{}, engine.Bytes(0)
	var begin, end engine.Time = 1 << 62, 0
	for i := range r.sent {
		p := &r.sent[i]
		sent[p.Src] += p.Bytes
		got[p.Dst] += p.Bytes
		pairs[ends{int32(p.Src), int32(p.Dst)}] += p.Bytes
		total += p.Bytes
		begin, end = min(begin, p.at), max(end, p.landed)
	}
	sums := map[string]engine.Bytes{}                         // by the name without numbers
	out, in := map[int]engine.Bytes{}, map[int]engine.Bytes{} // by caps
	portOut, portIn := map[int]engine.Bytes{}, map[int]engine.Bytes{}
	wireOut, wireIn := map[int]engine.Bytes{}, map[int]engine.Bytes{} // by ports to a peer
	for _, l := range r.net.Resources() {
		assert.Positive(r.t, l.Bytes, l.Name)
		assert.GreaterOrEqual(r.t, l.Busy, l.Rate.Span(l.Bytes), l.Name)
		assert.LessOrEqual(r.t, l.Busy, end.Sub(begin), l.Name)
		sums[strings.TrimRight(l.Name, " 0123456789")] += l.Bytes
		switch {
		case strings.HasPrefix(l.Name, EgressCap):
			out[l.Rank] += l.Bytes
		case strings.HasPrefix(l.Name, IngressCap):
			in[l.Rank] += l.Bytes
		case l.Peer >= 0:
			assert.Equal(r.t, pairs[ends{int32(l.Rank), int32(l.Peer)}], l.Bytes)
			wireOut[l.Rank] += l.Bytes
			wireIn[l.Peer] += l.Bytes
		case strings.HasPrefix(l.Name, "port out"):
			portOut[l.Rank] += l.Bytes
		case strings.HasPrefix(l.Name, "port in"):
			portIn[l.Rank] += l.Bytes
		}
	}
	for rank := range ranks {
		assert.Equal(r.t, sent[rank], out[rank])
		assert.Equal(r.t, got[rank], in[rank])
	}
	assert.Equal(r.t, sums["uplink of group"], sums["downlink of group"])
	if _, ok := r.net.(*ideal); ok { // without ports
		return
	}
	for rank := range ranks {
		assert.Equal(r.t, sent[rank], portOut[rank]+wireOut[rank])
		assert.Equal(r.t, got[rank], portIn[rank]+wireIn[rank])
	}
}

func TestAnEmptyMessageOnAFreeFabricTakesTheLatencyAlone(t *testing.T) {
	for _, kind := range Kinds() {
		for name, spec := range variants(kind) {
			r := newRig(t, spec, 4, "")
			r.send(0, 1, 2, 0, 0)
			assert.Equal(t, r.net.Latency(1, 2), r.run().Sub(0), "%s, %s", kind, name)
			assert.Zero(t, r.sent[0].left)
			assert.Empty(t, r.net.Resources())
		}
	}
}

func TestLeftIsOptional(t *testing.T) {
	for _, kind := range Kinds() {
		r := newRig(t, with(kind, nil), 4, "")
		i := r.send(0, 1, 2, 100, 0)
		r.sent[i].Left = nil
		r.run()
		assert.EqualValues(t, -1, r.sent[i].left)
	}
}

func TestMoreBytesAreNeverFaster(t *testing.T) {
	for _, kind := range Kinds() {
		for name, spec := range variants(kind) {
			var last engine.Duration
			for n := engine.Bytes(0); n < 100_000; n += 331 {
				d := lone(t, spec, 4, 0, 3, n)
				require.GreaterOrEqual(t, d, last, "%s, %s, %v", kind, name, n)
				last = d
			}
		}
	}
}

func TestMisuseOfAFabricPanics(t *testing.T) {
	for _, kind := range Kinds() {
		r := newRig(t, with(kind, nil), 4, "")
		f := r.net.Open(1, 2)
		good := Message{Src: 1, Dst: 2, Bytes: 8, Flow: f, Landed: (*landed)(r)}
		for name, spoil := range map[string]func(*Message){
			"no flow":           func(m *Message) { m.Flow = 0 },
			"a flow not opened": func(m *Message) { m.Flow = f + 1 },
			"another source":    func(m *Message) { m.Src = 0 },
			"another target":    func(m *Message) { m.Dst = 3 },
			"negative bytes":    func(m *Message) { m.Bytes = -1 },
			"no one to tell":    func(m *Message) { m.Landed = nil },
		} {
			m := good
			spoil(&m)
			assert.Panics(t, func() { r.net.Send(m) }, "%s: %s", kind, name)
		}
		for _, e := range [][2]int{{1, 1}, {-1, 1}, {0, 4}, {4, 0}} {
			assert.Panics(t, func() { r.net.Open(e[0], e[1]) }, fmt.Sprint(kind, e))
		}
	}
}
