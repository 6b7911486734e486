package reports

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/result"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "%s; -update writes it anew", name)
}

// goldens writes an artefact in every format and compares each.
func goldens(t *testing.T, name string, write func(*bytes.Buffer, Format) error) {
	t.Helper()
	for _, f := range Formats() {
		var b bytes.Buffer
		require.NoError(t, write(&b, f))
		golden(t, name+f.Extension(), b.Bytes())
	}
}

// The fabricated run: one call of indexed_all_to_all_v on 4 ranks with 2 blocks each,
// 800 rows of 7,168 B from each rank to each, in which no two ranks and no two
// reasons take the same time.
const (
	fakeRanks  = 4
	fakeBlocks = 2
	fakeRows   = 800
	fakeRow    = 7168
)

func fakeCounters(rank int) (c result.Counters) {
	const peers = fakeRanks - 1
	sqes := int64(peers * 67) // ceil(800/12)
	c[result.BytesSent] = peers * fakeRows * fakeRow
	c[result.BytesReceived] = peers * fakeRows * fakeRow
	c[result.BytesSelf] = fakeRows * fakeRow
	c[result.SQEs] = sqes
	c[result.SGEs] = peers * fakeRows
	c[result.WQEBBs] = 4 * sqes
	c[result.NOPs] = peers * 1 // 8 rows in the last SQE fill 3 of 4
	c[result.Doorbells] = peers * 2
	c[result.CQEs] = peers
	c[result.Sends] = peers
	c[result.DescriptorBytes] = 256 * sqes
	c[result.IndexReads] = fakeRanks * fakeRows
	c[result.CountReads] = peers
	c[result.Notifies] = 2 * fakeBlocks * peers
	c[result.SelfAdds] = fakeBlocks * peers
	c[result.PollsSatisfied] = 2 * fakeBlocks * peers
	c[result.PollsAttempted] = 40 + int64(rank)
	c[result.Pieces] = 700
	return c
}

func fakeFormula() []result.Counters {
	out := make([]result.Counters, fakeRanks)
	for r := range out {
		out[r] = fakeCounters(r)
		out[r][result.PollsAttempted] = Unknown
		out[r][result.Pieces] = Unknown
	}
	return out
}

// fakeBlock gives each reason its own time and ends at 100 us less what the rank and
// block are quicker.
func fakeBlock(rank, block int, end engine.Time) result.Block {
	b := result.Block{Rank: rank, Block: block}
	spent := engine.Duration(0)
	for k := range result.Idle {
		b.Time[k] = engine.Duration(k+1)*311_007*engine.Picosecond + engine.Duration(rank*7+block)*engine.Nanosecond
		spent += b.Time[k]
	}
	b.Time[result.Idle] = engine.Duration(100+10*(fakeRanks-rank)-3*block) * engine.Nanosecond
	b.End = end.Add(-b.Time[result.Idle])
	b.Time[result.CQEWait] += end.Sub(0) - spent - b.Time[result.Idle]
	b.MTE2, b.MTE3, b.Overlap = 40*engine.Microsecond, 41*engine.Microsecond, 33*engine.Microsecond
	b.SIMT = 12 * engine.Microsecond
	b.Pieces, b.Waits, b.WaitTime = 350, 12, 3*engine.Microsecond
	return b
}

func fakeResult() *result.Result {
	const end = engine.Time(123_456_789)
	r := &result.Result{
		Schema: result.Schema, Status: result.OK, Elapsed: engine.Duration(end), Events: 123_456,
		Data:    result.Data{Payload: "provenance", Checked: 4 * 4 * fakeRows * fakeRow, Words: 16},
		Digests: result.Digests{Events: "00c0ffee00c0ffee", Result: "0123456789abcdef"},
	}
	call := result.Call{Name: "dispatch", Op: "indexed_all_to_all_v", Blocks: fakeBlocks, Timed: true, End: end, Elapsed: engine.Duration(end)}
	for rank := range fakeRanks {
		for block := range fakeBlocks {
			r.Blocks = append(r.Blocks, fakeBlock(rank, block, end))
		}
		last := r.Blocks[len(r.Blocks)-1].End
		call.Ranks = append(call.Ranks, result.Span{BarrierExit: last.Add(-engine.Microsecond), End: last})
		r.Ranks = append(r.Ranks, result.Rank{Rank: rank, Elapsed: last.Sub(0), Counters: fakeCounters(rank), PeakSQ: 268})
		r.Totals.Add(&r.Ranks[rank].Counters)
		for peer := range fakeRanks {
			if peer != rank {
				r.Resources = append(r.Resources, result.Resource{Name: "port", Rank: rank, Peer: peer, Rate: 53_100_000_000,
					Bytes: fakeRows * fakeRow, Busy: engine.Rate(53_100_000_000).Span(fakeRows*fakeRow) + engine.Duration(rank)})
			}
		}
		r.Resources = append(r.Resources, result.Resource{Name: "hbm", Rank: rank, Peer: -1, Rate: 4_000_000_000_000, Bytes: 50_000_000, Busy: 12_500_000})
	}
	r.Calls = []result.Call{call}
	r.Path = fakePath(end)
	return r
}

// fakePath has more causes than a card lists, and two links that others hold for a while.
func fakePath(end engine.Time) *result.Path {
	p := &result.Path{Total: end.Sub(0)}
	at, group := engine.Time(0), []string{"launch", "core", "simt", "urma", "fabric", "fabric", "fabric", "memory", "mte", "signals", "signals", "urma"}
	for i, c := range []string{"launch", "count_read", "simt_build", "wqe_fetch", "egress", "egress_queue", "wire", "memory_rate", "mte3", "signal_wire", "poll_overshoot", "ack"} {
		d := engine.Duration(i+1) * engine.Microsecond
		if i == 11 {
			d = end.Sub(at)
		}
		s := result.PathStep{Cause: c, Rank: i % fakeRanks, Block: -1, Peer: -1, From: at, To: at.Add(d)}
		switch i {
		case 1, 2:
			s.Block, s.Op, s.Phase = 1, "pull_counts", "ready"
		case 5:
			s.Cause, s.Peer, s.Queued, s.Holder = "egress", 3, d, &result.Pair{Rank: 1, Peer: 2}
		}
		p.Steps = append(p.Steps, s)
		p.Parts = append(p.Parts, result.PathPart{Cause: c, Group: group[i], Time: d, Count: int64(i + 1), What: "what " + c + " is"})
		at = at.Add(d)
	}
	return p
}

func fakeCard() *Card {
	return &Card{
		Title: "indexed_all_to_all_v on Ascend 950DT, 4 ranks, core_num 2",
		Inputs: []KV{
			{Key: "machine", Value: "a5-950dt-64 (mesh, 8 ports of 53.1 GB/s)"}, {Key: "op", Value: "indexed_all_to_all_v, form l2"}, {Key: "ranks", Value: "4"}, {Key: "core_num", Value: "2"},
			{Key: "H", Value: "7168"}, {Key: "dtype", Value: "INT8"}, {Key: "routing", Value: "uniform, 800 rows to each rank"}, {Key: "payload", Value: "provenance"}, {Key: "seed", Value: "1"},
		},
		Result:  fakeResult(),
		Formula: fakeFormula(),
		Formulas: []KV{
			{Key: "bytes_sent", Value: "sum over remote d of n_d * row"}, {Key: "bytes_received", Value: "sum over remote s of n_(s->r) * row"}, {Key: "sqes", Value: "sum over remote d of ceil(n_d/12)"},
			{Key: "wqebbs", Value: "4 * SQEs"}, {Key: "notifies", Value: "2 * B * (P-1)"},
		},
		Bound: Bound{Total: 113_000_000, Parts: []BoundPart{
			{Name: "latency", Time: 5_000_000, What: "launch of B blocks and two dependent barrier messages"},
			{Name: "egress", Time: 53_876_364, What: "remote bytes of the busiest sender at its fabric rate"},
			{Name: "pair", Time: 113_000_000, What: "bytes of the busiest pair at its rate"},
			{Name: "self", Time: 28_000_000, What: "the largest share of self rows at the MTE rate of one AIV"},
		}},
		Params:  ParamCount{Documented: 12, Fitted: 9, Assumed: 14, User: 1, AssumedThatMattered: []string{"urma.wqe_gap", "fabric.latency"}, Outside: []string{"urma.sges 3 (fitted at 1)"}},
		SQDepth: 32768,
		Notes:   []string{"row bytes are a multiple of 32"},
	}
}
