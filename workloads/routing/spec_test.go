package routing

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v4"
)

func TestEachFaultNamesItsField(t *testing.T) {
	moe := Spec{Kind: "moe_topk", Tokens: 8, Experts: 16, TopK: 2}
	with := func(change func(*Spec)) Spec { s := moe; change(&s); return s }
	negative := -1
	for _, c := range []struct {
		spec Spec
		want string
	}{
		{Spec{}, "kind: missing; one of uniform,"},
		{Spec{Kind: "unifrom"}, `kind: unknown "unifrom"; did you mean uniform?`},
		{with(func(s *Spec) { s.TopK = 17 }), "top_k: 17 is above the 16 experts"},
		{with(func(s *Spec) { s.TopK = 0 }), "top_k: 0 is below 1"},
		{with(func(s *Spec) { s.Experts = -3 }), "experts: -3 is below 1"},
		{with(func(s *Spec) { s.Experts = 3 }), "experts: 3 experts leave some of the 4 ranks without one"},
		{with(func(s *Spec) { s.Tokens = 0 }), "tokens: 0 is below 1"},
		{with(func(s *Spec) { s.Tokens = MaxRows }), "tokens: 268435456 is above 33554432, the most for 4 ranks"},
		{with(func(s *Spec) { s.NGroup = 3 }), "n_group: 3 groups do not divide 16 experts"},
		{with(func(s *Spec) { s.NGroup, s.TopkGroup = 4, 5 }), "topk_group: 5 is above the 4 groups"},
		{with(func(s *Spec) { s.NGroup, s.TopkGroup, s.TopK = 8, 1, 3 }), "topk_group: 1 groups hold 2 experts, too few for top_k 3"},
		{with(func(s *Spec) { s.Model = "deepseek-v33" }), "model: no model"},
		{with(func(s *Spec) { s.Rows = 3 }), "rows: kind moe_topk does not read it; uniform, random would"},
		{with(func(s *Spec) { s.Capacity = -1 }), "capacity: -1 is below 0"},
		{with(func(s *Spec) { s.Skew.Kind = "zif" }), `skew.kind: unknown "zif"; did you mean zipf?`},
		{with(func(s *Spec) { s.Skew.Exponent = 1 }), "skew.exponent: skew none does not read it; zipf would"},
		{with(func(s *Spec) { s.Skew = Skew{Kind: "zipf", Exponent: -1} }), "skew.exponent: -1 is not a number from 0"},
		{with(func(s *Spec) { s.Skew = Skew{Kind: "zipf", Exponent: math.NaN()} }), "skew.exponent: NaN is not"},
		{with(func(s *Spec) { s.Skew = Skew{Kind: "zipf", Order: "up"} }), `skew.order: unknown "up"`},
		{with(func(s *Spec) { s.Skew = Skew{Kind: "hot", Hot: []int{1, 16, 1}, Factor: 2} }), "skew.hot[1]: 16 is not in [0, 16)"},
		{with(func(s *Spec) { s.Skew = Skew{Kind: "hot", Hot: []int{1, 16, 1}, Factor: 2} }), "skew.hot[2]: 1 is named twice"},
		{with(func(s *Spec) { s.Skew = Skew{Kind: "hot"} }), "skew.hot: missing"},
		{with(func(s *Spec) { s.Skew = Skew{Kind: "hot"} }), "skew.factor: 0 is not a number above 0"},
		{with(func(s *Spec) { s.Skew = Skew{Kind: "empirical", Table: "mine.csv"} }), "skew.table: no file mine.csv"},
		{Spec{Kind: "uniform", Rows: -1}, "rows: -1 is below 0"},
		{Spec{Kind: "uniform", Rows: 1, SelfRows: &negative}, "self_rows: -1 is below 0"},
		{Spec{Kind: "uniform", Rows: 9, Capacity: 8}, "capacity: 8 is below the 9 rows of a pair"},
		{Spec{Kind: "uniform", Rows: 1, Pattern: "zigzag"}, `pattern: unknown "zigzag"`},
		{Spec{Kind: "uniform", Rows: 1, Stride: 3}, "stride: only pattern strided reads it"},
		{Spec{Kind: "uniform", Rows: 1, Repeat: 3}, "repeat: only pattern repeated reads it"},
		{Spec{Kind: "uniform", Pattern: "repeated", Repeat: MaxRows, Tokens: 2}, "needs 536870912 index rows"},
		{Spec{Kind: "uniform", Pattern: "random", Rows: MaxRows / 4}, "needs 1073741824 index rows"},
		{Spec{Kind: "explicit"}, "counts: missing"},
		{Spec{Kind: "explicit", Counts: [][]int{{1}}}, "counts: 1 sources for 4 ranks"},
		{Spec{Kind: "explicit", Counts: [][]int{{1}, {}, {}, {}}}, "counts[0]: 1 destinations for 4 ranks"},
		{Spec{Kind: "matrix"}, "csv: missing"},
		{Spec{Kind: "matrix", CSV: "m.csv", Unit: "kib"}, `unit: unknown "kib"`},
		{Spec{Kind: "matrix", CSV: "m.csv", Round: "up"}, "round: only unit bytes reads it"},
		{Spec{Kind: "skewed"}, "tokens: 0 is below 1"},
	} {
		err := Check(c.spec, 4, 1024, measured)
		assert.ErrorContains(t, err, c.want, "%+v", c.spec)
	}
	assert.ErrorContains(t, Check(moe, 0, 1, measured), "ranks: 0 is below 1")
}

func TestFaultsOfAnExplicitIndexNameTheirPair(t *testing.T) {
	good := Spec{Kind: "explicit", Tokens: 4, Counts: [][]int{{1, 2}, {0, 1}}, Index: [][][]int{{{0}, {1, 2}}, {{}, {3}}}}
	require.NoError(t, Check(good, 2, 1, measured))
	bad := good
	bad.Tokens = 0
	bad.Capacity = 2
	bad.Index = [][][]int{{{0}, {1}}, {{1, 2, 3}, {1 << 40}}}
	err := Check(bad, 2, 1, measured)
	for _, want := range []string{
		"tokens: 0 is below 1; an explicit index needs it",
		"index[0][1]: 1 entries are fewer than the 2 that its count reads",
		"index[1][0]: 3 entries are above capacity 2",
		"index[1][1]: an entry does not fit INT32",
	} {
		assert.ErrorContains(t, err, want)
	}
	bad = good
	bad.Counts = [][]int{{1 << 40, 0}, {0, 0}}
	assert.ErrorContains(t, Check(bad, 2, 1, measured), "counts[0][0]: 1099511627776 does not fit INT32")
}

func TestAllFaultsComeAtOnceEachWithItsPath(t *testing.T) {
	err := Check(Spec{
		Kind: "moe_topk", Model: "nobody", Rows: 3, Pattern: "x", Capacity: -1,
		Skew: Skew{Kind: "hot", Exponent: 2, Factor: -1},
	}, 4, 1024, measured)
	var paths []string
	for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
		var field *FieldError
		require.True(t, errors.As(e, &field), "%v", e)
		paths = append(paths, field.Path)
	}
	assert.Equal(t, []string{"model", "rows", "pattern", "capacity", "pattern", "tokens", "skew.exponent", "skew.factor", "skew.hot"}, paths)
	_, fromNew := New(Spec{Kind: "moe_topk"}, 4, 1024, measured)
	assert.Equal(t, Check(Spec{Kind: "moe_topk"}, 4, 1024, measured), fromNew)
}

func TestASpecReadsFromYAML(t *testing.T) {
	var s Spec
	require.NoError(t, yaml.Load([]byte(`
kind: moe_topk
seed: 18446744073709551615
model: deepseek-v3
tokens: 4096
skew: {kind: hot, hot: [3, 17], factor: 2.5}
`), &s, yaml.WithKnownFields()))
	assert.Equal(t, Spec{
		Kind: "moe_topk", Seed: math.MaxUint64, Model: "deepseek-v3", Tokens: 4096,
		Skew: Skew{Kind: "hot", Hot: []int{3, 17}, Factor: 2.5},
	}, s)
	require.NoError(t, Check(s, 8, 7168, measured))
}

// The decoder reads the tags; New must agree with them on every word.
func TestEveryWordOfAnEnumIsAcceptedSomewhere(t *testing.T) {
	words := map[string]string{}
	for _, of := range []reflect.Type{reflect.TypeFor[Spec](), reflect.TypeFor[Skew]()} {
		for i := range of.NumField() {
			field := of.Field(i)
			assert.NotEmpty(t, field.Tag.Get("yaml"), field.Name)
			assert.True(t, field.Tag.Get("help") != "" || field.Type.Kind() == reflect.Uint64, field.Name)
			if enum := field.Tag.Get("enum"); enum != "" {
				words[of.Name()+"."+field.Name] = enum
			}
		}
	}
	assert.Equal(t, strings.Join(kinds, ","), words["Spec.Kind"])
	files := func(name string) ([]byte, error) {
		if name == "m.csv" {
			return []byte("0"), nil
		}
		return measured(name)
	}
	try := func(name string, spec func(word string) Spec) {
		for word := range strings.SplitSeq(words[name], ",") {
			_, err := New(spec(word), 1, 1, files)
			assert.NoError(t, err, "%s %s", name, word)
		}
		delete(words, name)
	}
	full := map[string]Spec{
		"uniform": {Rows: 1}, "random": {Rows: 1}, "explicit": {Counts: [][]int{{1}}},
		"moe_topk": {Tokens: 1, Experts: 2, TopK: 1}, "skewed": {Tokens: 1}, "matrix": {CSV: "m.csv"},
	}
	try("Spec.Kind", func(w string) Spec { s := full[w]; s.Kind = w; return s })
	try("Spec.Pattern", func(w string) Spec { return Spec{Kind: "uniform", Pattern: w} })
	try("Spec.Unit", func(w string) Spec { return Spec{Kind: "matrix", CSV: "m.csv", Unit: w} })
	try("Spec.Round", func(w string) Spec { return Spec{Kind: "matrix", CSV: "m.csv", Unit: "bytes", Round: w} })
	skews := map[string]Skew{"hot": {Hot: []int{0}, Factor: 2}}
	try("Skew.Kind", func(w string) Spec { k := skews[w]; k.Kind = w; return Spec{Kind: "skewed", Tokens: 1, Skew: k} })
	try("Skew.Order", func(w string) Spec {
		return Spec{Kind: "skewed", Tokens: 1, Skew: Skew{Kind: "zipf", Order: w}}
	})
	assert.Empty(t, words, "an enum that no line above tries")
}
