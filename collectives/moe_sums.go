package collectives

import (
	"encoding/binary"
	"math"
	"slices"

	"pldperf/hw/program"
)

// moeInput is the content of the tokens: integers from -63 to 63, which all types hold.
type moeInput struct {
	hidden int64
	dtype  program.DType
}

func (x moeInput) value(rank, version, token, j int64) int64 {
	return (31*rank+17*token+13*j+7*version)%127 - 63
}

// Generate implements program.Content.
func (x moeInput) Generate(dst []byte, rank int, version uint32, off int64) {
	generate(dst, x.dtype, off, func(e int64) float64 {
		return float64(x.value(int64(rank), int64(version), e/x.hidden, e%x.hidden))
	})
}

// factor is what expert e multiplies by.
func factor(e int) int64 { return 1 + int64(e%3) }

// moeWeights is the content of the experts' weights: a row for each expert of the rank.
type moeWeights struct {
	hidden int64
	dtype  program.DType
	base   []int
}

// Generate implements program.Content.
func (x moeWeights) Generate(dst []byte, rank int, _ uint32, off int64) {
	generate(dst, x.dtype, off, func(e int64) float64 { return float64(factor(x.base[rank] + int(e/x.hidden))) })
}

// tokenSum is the results of one token, the first and those behind it.
type tokenSum struct {
	token  int
	routes []route
}

// sums lists the tokens of a source that have any route.
func (x *routes) sums(src int) (out []tokenSum) {
	for _, r := range x.from[src] {
		if n := len(out); n > 0 && out[n-1].token == r.token {
			out[n-1].routes = append(out[n-1].routes, r)
		} else {
			out = append(out, tokenSum{r.token, []route{r}})
		}
	}
	return out
}

// reduce records the sums over each token's results in FP32; the result of r is row
// at(r) of src.
func (m *layer) reduce(p *program.Program, x *routes, blocks int, src program.Buf, at func(r route) int64) {
	s := newSpread[tokenSum](m.c.Ranks, blocks)
	for r := range m.c.Ranks {
		for i, t := range x.sums(r) {
			s.add(r, i%blocks, t)
		}
	}
	rest := max(s.largest(func(t tokenSum) int64 { return int64(len(t.routes)) - 1 }), 1)
	load := func(tile, spare uint8, off program.Expr) {
		if m.c.returned() == program.FP32 {
			p.Add(program.Op{Kind: program.LoadTile, Tile: tile, Src: src, SrcOff: off, Bytes: program.Const(m.ret)})
			return
		}
		p.Add(program.Op{Kind: program.LoadTile, Tile: spare, Src: src, SrcOff: off, Bytes: program.Const(m.ret)})
		p.Add(program.Op{Kind: program.Convert, Tile: tile, Other: spare, Bytes: program.Const(m.ret), DType: m.c.returned(), Into: program.FP32})
	}
	s.loop(p, func() {
		load(0, 2, s.of(func(t tokenSum) int64 { return at(t.routes[0]) * m.ret }))
		p.Loop(s.of(func(t tokenSum) int64 { return int64(len(t.routes)) - 1 }), func() {
			load(1, 2, s.each(rest, func(t tokenSum, j int64) int64 {
				if j+1 >= int64(len(t.routes)) {
					return 0
				}
				return at(t.routes[j+1]) * m.ret
			}))
			p.Add(program.Op{Kind: program.Combine, Tile: 0, Other: 1, Bytes: program.Const(m.sum), Reduce: program.Sum, DType: program.FP32})
		})
		p.Add(program.Op{Kind: program.StoreTile, Tile: 0, Dst: m.output, DstOff: s.of(func(t tokenSum) int64 { return int64(t.token) * m.sum }), Bytes: program.Const(m.sum)})
	})
}

// golden promises each token's sum, of the last repetition in which it had a route.
func (m *layer) golden(k int) program.Promise {
	first, input := m.p.history(k), moeInput{hidden: int64(m.c.Hidden)}
	return program.Promise{Buf: m.output, Values: func(rank int, yield func(off int64, want []byte)) {
		type last struct {
			tokenSum
			k int
			x *routes
		}
		done := map[int]last{}
		for j := first; j <= k; j++ {
			for _, t := range m.routes(j).sums(rank) {
				done[t.token] = last{t, j, m.routes(j)}
			}
		}
		want := make([]byte, m.sum)
		for _, token := range sortedInts(done) {
			t := done[token]
			f := int64(0)
			for _, r := range t.routes {
				f += factor(t.x.base[r.dst] + r.expert)
			}
			for j := range m.c.Hidden {
				v := f * input.value(int64(rank), int64(m.p.version(t.k)), int64(token), int64(j))
				binary.LittleEndian.PutUint32(want[4*j:], math.Float32bits(float32(v)))
			}
			yield(int64(token)*m.sum, want)
		}
	}}
}

func sortedInts[V any](m map[int]V) []int {
	out := make([]int, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
