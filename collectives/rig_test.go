package collectives_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/hwtest"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// table is a traffic written out.
type table struct {
	tokens, capacity int
	counts           [][]int
	index            [][][]int32
}

func (x *table) Ranks() int                 { return len(x.counts) }
func (x *table) Tokens() int                { return x.tokens }
func (x *table) Capacity() int              { return x.capacity }
func (x *table) Count(src, dst int) int     { return x.counts[src][dst] }
func (x *table) Index(src, dst int) []int32 { return x.index[src][dst] }

// rows is the table in which count(s, d) rows go from s to d, taken from input in order.
func rows(ranks, tokens, capacity int, count func(s, d int) int) *table {
	x := &table{tokens: tokens, capacity: capacity}
	for s := range ranks {
		x.counts = append(x.counts, make([]int, ranks))
		x.index = append(x.index, make([][]int32, ranks))
		for d := range ranks {
			n := count(s, d)
			x.counts[s][d] = n
			for j := range max(n, 0) {
				x.index[s][d] = append(x.index[s][d], int32((j+d)%tokens))
			}
		}
	}
	return x
}

// random is the table of random counts in [0, capacity] and random indices with repeats.
func random(r *rand.Rand, ranks, tokens, capacity int) *table {
	x := rows(ranks, tokens, capacity, func(_, _ int) int { return r.IntN(capacity + 1) })
	for s := range x.index {
		for d := range x.index[s] {
			for j := range x.index[s][d] {
				if r.IntN(3) > 0 { // the rest stays in order, so that intervals occur
					x.index[s][d][j] = int32(r.IntN(tokens))
				}
			}
		}
	}
	return x
}

// fits gives calls of an operation what it needs to be legal and to be worth a test.
var fits = map[string]func(c *collectives.Call){}

// more makes further legal calls of an operation's algorithms.
var more = map[string]func(a *collectives.Algorithm, size int) []*collectives.Call{}

// calls makes valid calls of an algorithm, small and varied; every field is given that
// any algorithm reads.
func calls(a *collectives.Algorithm, size int) []*collectives.Call {
	var out []*collectives.Call
	for _, ranks := range []int{2, 3, 4, 8} {
		blocks := []int{0}
		if a.Columns {
			blocks = []int{1, 3, ranks, ranks + 2}
		}
		for _, b := range blocks {
			r := rand.New(rand.NewPCG(uint64(ranks), uint64(b)))
			c := &collectives.Call{
				Op: a.Op, Form: a.Form, Ranks: ranks, CoreNum: b, DType: "FP32", Size: size, Hidden: 33,
				Traffic: []collectives.Traffic{random(r, ranks, 40, size)},
			}
			if fit := fits[a.Op]; fit != nil {
				fit(c)
			}
			out = append(out, c)
		}
	}
	if more := more[a.Op]; more != nil {
		out = append(out, more(a, size)...)
	}
	return out
}

func name(c *collectives.Call) string {
	return fmt.Sprintf("%s/%s/P=%d,B=%d,size=%d%s", c.Op, c.Form, c.Ranks, c.CoreNum, c.Size, c.Wire)
}

// each runs f on a few calls of every registered algorithm.
func each(t *testing.T, size int, f func(t *testing.T, a *collectives.Algorithm, c *collectives.Call)) {
	require.NotEmpty(t, collectives.All())
	for _, a := range collectives.All() {
		for _, c := range calls(a, size) {
			if testing.Short() && c.Ranks > 3 { // with the race detector
				continue
			}
			t.Run(name(c), func(t *testing.T) { f(t, a, c) })
		}
	}
}

func compose(t testing.TB, c *collectives.Call) *program.Job {
	t.Helper()
	return chain(t, collectives.Item{Call: c})
}

func chain(t testing.TB, items ...collectives.Item) *program.Job {
	t.Helper()
	ranks := 0
	for _, it := range items {
		if it.Call != nil {
			ranks = it.Call.Ranks
		}
	}
	job, err := collectives.Compose(ranks, items)
	require.NoError(t, err)
	return job
}

func run(t testing.TB, spec hw.Spec, job *program.Job, opt hw.Options) *result.Result {
	t.Helper()
	res, err := hw.Run(spec, job, opt)
	require.NoError(t, err)
	return res
}

// ok runs a call and requires that nothing is wrong with it.
func ok(t testing.TB, spec hw.Spec, job *program.Job) *result.Result {
	t.Helper()
	res := run(t, spec, job, hw.Options{})
	fine(t, res)
	return res
}

func fine(t testing.TB, res *result.Result) {
	t.Helper()
	require.Equal(t, result.OK, res.Status, "%v %v %+v %+v", res.Data.Mismatches, res.Hazards, res.Abort, res.Stuck)
}

func mesh(t testing.TB, sets ...string) hw.Spec { return hwtest.Machine(t, "950dt-64", sets...) }

// buffer finds a buffer of a job by name.
func buffer(t testing.TB, job *program.Job, name string) program.Buf {
	t.Helper()
	for i, b := range job.Buffers {
		if b.Name == name {
			return program.Buf(i)
		}
	}
	require.Fail(t, "no buffer "+name)
	return 0
}

// bytesOf reads a rank's buffer at the end of a run whose payload is bytes.
func bytesOf(s *memory.Space, rank int, b program.Buf) []byte {
	var d memory.Data
	s.Capture(&d, memory.Addr{Rank: rank, Buf: memory.ID(b)}, int64(s.Buffer(memory.ID(b)).Size))
	return d.Raw
}

// skewed gives a job random starts and slow factors.
func skewed(r *rand.Rand, job *program.Job) *program.Job {
	out := *job
	out.Offsets, out.Slow = nil, nil
	for range job.Ranks {
		out.Offsets = append(out.Offsets, engine.Duration(r.Int64N(int64(30*engine.Microsecond))))
		out.Slow = append(out.Slow, engine.One+engine.Fraction(r.IntN(3_000_000)))
	}
	return &out
}
