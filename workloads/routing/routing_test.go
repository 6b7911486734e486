package routing

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// measured reads the tables that the binary embeds; any other name is a file that does not exist.
func measured(name string) ([]byte, error) {
	if name == ShapesFile || name == HotnessFile {
		return os.ReadFile(filepath.Join("..", "..", "configs", name))
	}
	return nil, errors.New("no file " + name)
}

func must(t require.TestingT, spec Spec, ranks int) *Routing {
	r, err := New(spec, ranks, 1024, measured)
	require.NoError(t, err)
	return r
}

// contents reads a routing out: every count and index row.
func contents(r *Routing) (counts [][]int64, index [][][]int32) {
	index = make([][][]int32, r.Ranks())
	for s := range index {
		for d := range r.Ranks() {
			index[s] = append(index[s], append([]int32{}, r.Index(s, d)...))
		}
	}
	return r.Matrix(), index
}

func TestExplicitCountsAndIndexComeBackAsWritten(t *testing.T) {
	// Conformance case 50 of the semantics: repeated indices keep their slots, tails are -1 and not part of the row.
	r := must(t, Spec{
		Kind: "explicit", Tokens: 4, Counts: [][]int{{2, 3}, {1, 2}},
		Index: [][][]int{{{1, 1, -1}, {3, 0, 2}}, {{2, -1, -1}, {0, 3, -1}}},
	}, 2)
	counts, index := contents(r)
	assert.Equal(t, [][]int64{{2, 3}, {1, 2}}, counts)
	assert.Equal(t, [][][]int32{{{1, 1}, {3, 0, 2}}, {{2}, {0, 3}}}, index)
	assert.Equal(t, 3, r.Capacity(), "C is the longest index row")
	assert.Equal(t, 4, r.Tokens())
}

func TestIllegalValuesReachTheDevice(t *testing.T) {
	r := must(t, Spec{
		Kind: "explicit", Tokens: 4, Capacity: 2, Counts: [][]int{{-1, 3}, {2, 1<<31 - 1}},
		Index: [][][]int{{{}, {0, 1}}, {{4, -7}, {1, 2}}},
	}, 2)
	counts, index := contents(r)
	assert.Equal(t, [][]int64{{-1, 3}, {2, 1<<31 - 1}}, counts)
	assert.Equal(t, [][][]int32{{{}, {0, 1}}, {{4, -7}, {1, 2}}}, index, "a count above C reads the C entries there are")
	assert.Equal(t, int64(3+2+1<<31-1), r.Stats().TotalRows, "a negative count is no row")
}

func TestIllegalExplicitCountsWithoutIndexKeepAPattern(t *testing.T) {
	r := must(t, Spec{Kind: "explicit", Capacity: 2, Counts: [][]int{{1, -5}, {1 << 30, 2}}}, 2)
	counts, index := contents(r)
	assert.Equal(t, [][]int64{{1, -5}, {1 << 30, 2}}, counts)
	assert.Equal(t, [][][]int32{{{0}, {}}, {{0, 1}, {2, 3}}}, index)
	assert.Equal(t, 4, r.Tokens(), "enough input rows for what can be read")
}

func TestMoeCountsAboveAConfiguredCapacityReachTheDevice(t *testing.T) {
	spec := Spec{Kind: "moe_topk", Tokens: 50, Experts: 4, TopK: 2, Capacity: 10}
	r := must(t, spec, 2)
	require.Greater(t, r.Count(0, 1), 10)
	assert.Len(t, r.Index(0, 1), 10)
	spec.Capacity = 0
	assert.Equal(t, r.Count(0, 1), must(t, spec, 2).Count(0, 1), "the capacity changes no draw")
}

func TestStatsCountRemoteAndSelfRowsApart(t *testing.T) {
	r := must(t, Spec{Kind: "explicit", Counts: [][]int{{5, 1, 2}, {3, 7, 0}, {0, 6, 1}}}, 3)
	// Out: 3, 3, 6. In: 3, 7, 2. Mean: 12/3 = 4.
	assert.Equal(t, Stats{
		TotalRows: 25, RemoteRows: 12, SelfRows: 13, MaxOut: 6, MaxIn: 7, MaxPair: 7,
		EgressImbalance: 6.0 / 4, IngressImbalance: 7.0 / 4,
	}, r.Stats())
	assert.Equal(t, "3 ranks, 10 tokens, capacity 7: 25 rows, 12 of them remote; egress 1.500, ingress 1.750 of the mean at most", r.String())
}

func TestARoutingWithoutRemoteRowsHasNoImbalance(t *testing.T) {
	s := must(t, Spec{Kind: "uniform", Rows: 3}, 1).Stats()
	assert.Equal(t, Stats{TotalRows: 3, SelfRows: 3, MaxPair: 3}, s)
	assert.Equal(t, Stats{}, must(t, Spec{Kind: "uniform"}, 4).Stats())
}

func TestAMessageBelowOneRowIsOneShortRowAndAboveItWholeRows(t *testing.T) {
	for _, c := range []struct{ n, row, rows, bytes int64 }{
		{0, 4160, 0, 4160}, {1, 4160, 1, 1}, {4159, 4160, 1, 4159}, {4160, 4160, 1, 4160}, {4161, 4160, 2, 4160},
		{1 << 20, 4160, 253, 4160}, {1<<63 - 1, 1, 1<<63 - 1, 1}, {-1, 4160, 0, 4160},
	} {
		rows, bytes := RowsFor(c.n, c.row)
		assert.Equal(t, [2]int64{c.rows, c.bytes}, [2]int64{rows, bytes}, "%d bytes in rows of %d", c.n, c.row)
	}
}

// anySpec draws a legal spec of any kind that needs no file of the user's.
func anySpec(t *rapid.T, ranks int) Spec {
	s := Spec{
		Kind: rapid.SampledFrom([]string{"uniform", "random", "explicit", "moe_topk", "skewed"}).Draw(t, "kind"),
		Seed: rapid.Uint64().Draw(t, "seed"),
	}
	switch s.Kind {
	case "moe_topk":
		s.NGroup = rapid.IntRange(1, 4).Draw(t, "groups")
		s.Experts = s.NGroup * rapid.IntRange((ranks+s.NGroup-1)/s.NGroup, 20).Draw(t, "experts of a group")
		s.TopkGroup = rapid.IntRange(1, s.NGroup).Draw(t, "open groups")
		s.TopK = rapid.IntRange(1, s.Experts/s.NGroup*s.TopkGroup).Draw(t, "top_k")
		s.Tokens = rapid.IntRange(1, 40).Draw(t, "tokens")
		s.Skew = anySkew(t, s.Experts)
	case "skewed":
		s.Tokens = rapid.IntRange(1, 100).Draw(t, "tokens")
		s.Skew = anySkew(t, ranks)
	default:
		s.Pattern = rapid.SampledFrom([]string{"", "sequential", "strided", "repeated", "random"}).Draw(t, "pattern")
		s.Tokens = rapid.SampledFrom([]int{0, 1, 7, 100}).Draw(t, "tokens")
		if s.Pattern == "strided" {
			s.Stride = rapid.IntRange(0, 9).Draw(t, "stride")
		}
		if s.Pattern == "repeated" {
			s.Repeat = rapid.IntRange(0, 9).Draw(t, "repeat")
		}
	}
	switch s.Kind {
	case "uniform", "random":
		s.Rows = rapid.IntRange(0, 30).Draw(t, "rows")
		self := rapid.IntRange(0, 30).Draw(t, "self rows")
		s.SelfRows = rapid.SampledFrom([]*int{nil, &self}).Draw(t, "self given")
	case "explicit":
		for range ranks {
			s.Counts = append(s.Counts, rapid.SliceOfN(rapid.IntRange(0, 30), ranks, ranks).Draw(t, "counts"))
		}
	}
	return s
}

func anySkew(t *rapid.T, n int) Skew {
	switch kind := rapid.SampledFrom([]string{"", "none", "zipf", "hot", "empirical"}).Draw(t, "skew"); kind {
	case "zipf":
		return Skew{Kind: kind, Exponent: rapid.Float64Range(0, 40).Draw(t, "exponent")}
	case "hot":
		hot := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, n, rapid.ID[int]).Draw(t, "hot")
		return Skew{Kind: kind, Hot: hot, Factor: rapid.Float64Range(1e-12, 1e12).Draw(t, "factor")}
	default:
		return Skew{Kind: kind}
	}
}

func TestEveryIndexRowHasItsCountAndEveryIndexIsARowOfTheInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 9).Draw(t, "ranks")
		r := must(t, anySpec(t, ranks), ranks)
		require.GreaterOrEqual(t, r.Tokens(), 1)
		require.GreaterOrEqual(t, r.Capacity(), 1)
		for s := range ranks {
			for d := range ranks {
				index := r.Index(s, d)
				require.Len(t, index, r.Count(s, d))
				require.LessOrEqual(t, len(index), r.Capacity())
				for _, i := range index {
					require.True(t, i >= 0 && int(i) < r.Tokens(), "index %d of %d tokens", i, r.Tokens())
				}
			}
		}
	})
}

func TestTheSameSeedGivesTheSameRoutingInWhateverOrderItIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 9).Draw(t, "ranks")
		spec := anySpec(t, ranks)
		counts, index := contents(must(t, spec, ranks))
		again := must(t, spec, ranks)
		for _, k := range rapid.Permutation(sequence(ranks*ranks)).Draw(t, "order") {
			s, d := k/ranks, k%ranks
			require.Equal(t, index[s][d], append([]int32{}, again.Index(s, d)...))
			require.EqualValues(t, counts[s][d], again.Count(s, d))
		}
	})
}

func sequence(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func TestAnotherSeedGivesAnotherRouting(t *testing.T) {
	for _, spec := range []Spec{
		{Kind: "moe_topk", Tokens: 64, Experts: 32, TopK: 4},
		{Kind: "skewed", Tokens: 64},
		{Kind: "random", Rows: 64},
		{Kind: "uniform", Rows: 8, Pattern: "random"},
		{Kind: "moe_topk", Tokens: 64, Experts: 32, TopK: 4, Skew: Skew{Kind: "empirical"}},
	} {
		counts, index := contents(must(t, spec, 4))
		spec.Seed = 1
		counts2, index2 := contents(must(t, spec, 4))
		assert.NotEqual(t, index, index2, spec.Kind)
		if spec.Kind != "uniform" {
			assert.NotEqual(t, counts, counts2, spec.Kind)
		}
	}
}

func TestSourcesDrawFromStreamsOfTheirOwn(t *testing.T) {
	r := must(t, Spec{Kind: "moe_topk", Tokens: 200, Experts: 32, TopK: 4}, 4)
	for s := 1; s < 4; s++ {
		assert.NotEqual(t, r.Index(0, 0), r.Index(s, 0), "source %d", s)
	}
	// A source draws the same however many ranks come after it.
	spec := Spec{Kind: "uniform", Rows: 5, Tokens: 100, Pattern: "random"}
	assert.Equal(t, must(t, spec, 2).Index(1, 0), must(t, spec, 3).Index(1, 0))
}
