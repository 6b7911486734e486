package collectives_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/arith"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// orderOf is the order in which a form combines element i of n on a rank (semantics 5.4,
// 5.5), written down again.
func orderOf(c *collectives.Call, rank, i, n int) (ranks []int) {
	ring := func(from, step int) {
		for k := range c.Ranks {
			ranks = append(ranks, ((from+k*step)%c.Ranks+c.Ranks)%c.Ranks)
		}
	}
	switch c.Form {
	case "ring_incore":
		g := c.Ranks - 1
		for g > 0 && i < boundary(c, g, n) {
			g--
		}
		ring(g+1, 1)
	case "ring_host", "ring_hand":
		ring(i/(n/c.Ranks), 1)
	case "bidirectional_ring":
		if half := n / 2; i < half {
			ring(i/(half/c.Ranks), 1)
		} else {
			ring((i-half)/(half/c.Ranks), -1)
		}
	case "two_phase":
		return orderOf(&collectives.Call{Form: "mesh", Ranks: c.Ranks}, i/(n/c.Ranks), 0, 1)
	default:
		for r := range c.Ranks {
			if r != rank {
				ranks = append(ranks, r)
			}
		}
		ranks = append([]int{rank}, ranks...)
	}
	return ranks
}

func boundary(c *collectives.Call, g, n int) int {
	at := g * n / c.Ranks
	if c.DType == "FP16" {
		at = min((at+15)/16*16, n)
	}
	return at
}

// combine is op in the arithmetic of FP32 or of integers, rounded to the type.
func combine(op string, a, b float64, t program.DType) float64 {
	var v float64
	switch op {
	case "Max":
		return max(a, b)
	case "Min":
		return min(a, b)
	case "Prod":
		v = a * b
	default:
		v = a + b
	}
	switch t {
	case program.FP32, program.FP16, program.BF16: // exact so far: a float64 holds what two values of like size give
		v = float64(float32(v))
	default:
		if op == "Prod" {
			v = float64(int32(int64(a) * int64(b)))
		}
	}
	var w [8]byte
	arith.Put(w[:], 0, t, v)
	return arith.Value(w[:], 0, t)
}

// Each result is computed again, element by element in the order of the form, and has the
// very bits.
func TestEveryResultHasTheBitsOfTheFormsOrderUnderAnySkew(t *testing.T) {
	spec := mesh(t)
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.SampledFrom([]string{"allreduce", "reduce_scatter"}).Draw(t, "op")
		c := &collectives.Call{
			Op: op, Form: rapid.SampledFrom(collectives.Forms(op)).Draw(t, "form"), Ranks: rapid.IntRange(2, 9).Draw(t, "P"),
			DType: "FP32", Reduce: "Sum", Size: rapid.IntRange(1, 700).Draw(t, "size"),
		}
		if rapid.IntRange(0, 7).Draw(t, "large") == 0 {
			c.Size *= 40
		}
		if c.Form != "host" && c.Form != "ring_host" {
			types := []string{"FP32", "FP16"}
			if !builtin[c.Form] {
				types = append(types, "BF16", "INT32", "INT16", "INT8")
				c.ChunkCols = rapid.SampledFrom([]int{0, 32, 100}).Draw(t, "chunk_cols")
			}
			c.DType = rapid.SampledFrom(types).Draw(t, "dtype")
			c.Reduce = rapid.SampledFrom([]string{"Sum", "Max", "Min", "Prod"}).Draw(t, "reduce")
		}
		if c.Form == "mesh_host" {
			c.CoreNum = rapid.IntRange(1, 7).Draw(t, "B")
			c.Signal = c.CoreNum + rapid.IntRange(0, 2).Draw(t, "more columns")
		}
		fitReduction(c)
		verifyAgain(t, spec, c, rapid.Uint64().Draw(t, "seed"))
	})
}

func verifyAgain(t *rapid.T, spec hw.Spec, c *collectives.Call, seed uint64) {
	job, err := collectives.Compose(c.Ranks, []collectives.Item{{Call: c}})
	require.NoError(t, err)
	in, out, version := "input", "output", uint32(0)
	if builtin[c.Form] {
		in, out, version = "target", "target", 1
	}
	named := func(name string) program.Buf {
		return program.Buf(slices.IndexFunc(job.Buffers, func(b program.Buffer) bool { return b.Name == name }))
	}
	var held [][]byte
	res, err := hw.Run(spec, skewed(rand.New(rand.NewPCG(seed, 3)), job), hw.Options{Inspect: func(s *memory.Space) {
		for r := range c.Ranks {
			held = append(held, bytesOf(s, r, named(out)))
		}
	}})
	require.NoError(t, err)
	require.Equal(t, result.OK, res.Status, "%v %v", res.Data.Mismatches, res.Hazards)
	dtype, _ := program.ParseDType(c.DType)
	n := c.Size
	var inputs [][]byte
	for r := range c.Ranks {
		inputs = append(inputs, make([]byte, job.Buffers[named(in)].Size))
		job.Buffers[named(in)].Fill.Generate(inputs[r], r, version, 0)
	}
	for r := range c.Ranks {
		from, to := 0, 0
		if c.Op == "reduce_scatter" {
			if from = r * n; builtin[c.Form] {
				to = from
			}
		}
		for i := range n {
			order := orderOf(c, r, i, n)
			want := arith.Value(inputs[order[0]], from+i, dtype)
			for _, p := range order[1:] {
				want = combine(c.Reduce, want, arith.Value(inputs[p], from+i, dtype), dtype)
			}
			require.Equal(t, want, arith.Value(held[r], to+i, dtype), "rank %d element %d", r, i)
		}
	}
}

func TestRingResultsAreBitEqualOnAllRanks(t *testing.T) {
	spec := mesh(t)
	rapid.Check(t, func(t *rapid.T) {
		form := rapid.SampledFrom([]string{"ring_incore", "ring_host", "ring_hand", "bidirectional_ring", "two_phase"}).Draw(t, "form")
		c := allreduce(form, rapid.IntRange(2, 8).Draw(t, "P"), rapid.IntRange(1, 3000).Draw(t, "size"))
		if form != "ring_host" {
			c.DType = rapid.SampledFrom([]string{"FP32", "FP16"}).Draw(t, "dtype")
		}
		fitReduction(c)
		job, err := collectives.Compose(c.Ranks, []collectives.Item{{Call: c}})
		require.NoError(t, err)
		name := "output"
		if builtin[form] {
			name = "target"
		}
		b := slices.IndexFunc(job.Buffers, func(b program.Buffer) bool { return b.Name == name })
		drawSkew(t, job)
		res, err := hw.Run(spec, job, hw.Options{Inspect: func(s *memory.Space) {
			for r := range c.Ranks {
				require.Equal(t, bytesOf(s, 0, program.Buf(b))[:c.Chunk()], bytesOf(s, r, program.Buf(b))[:c.Chunk()])
			}
		}})
		require.NoError(t, err)
		require.Equal(t, result.OK, res.Status)
	})
}

// inputs of two ranks, versions or places that a mistake could mix up are not alike.
func TestTheDefaultContentShowsMisplacedTiles(t *testing.T) {
	for _, form := range []string{"mesh_incore", "hand"} {
		job := compose(t, allreduce(form, 2, 64))
		fill := job.Buffers[0].Fill
		seen := map[string][3]int64{}
		for rank := range 16 {
			for version := range uint32(3) {
				for _, off := range []int64{0, 256, 1024, 16384, 65536, 1 << 20, 1 << 24} {
					var b [1024]byte
					fill.Generate(b[:], rank, version, off)
					key, at := string(b[:]), [3]int64{int64(rank), int64(version), off}
					if other, there := seen[key]; there {
						zero := version == 0 && form == "mesh_incore" // a window is zero at first
						assert.True(t, zero, "%v and %v are alike", other, at)
					}
					seen[key] = at
				}
			}
		}
		for _, n := range []int{1, 2, 3, 5, 4096} { // pieces of any cut are the same content
			whole, pieces := make([]byte, 3*4096), make([]byte, 3*4096)
			fill.Generate(whole, 3, 1, 32700)
			for at := 0; at < len(pieces); at += n {
				fill.Generate(pieces[at:min(at+n, len(pieces))], 3, 1, 32700+int64(at))
			}
			assert.Equal(t, whole, pieces)
		}
	}
}

// wrongUnderSomeSkew runs a call with a mistake until its data are wrong.
func wrongUnderSomeSkew(t *testing.T, c *collectives.Call, rp collectives.Repeat) *result.Result {
	t.Helper()
	job := chain(t, collectives.Item{Call: c, Repeat: rp})
	r := rand.New(rand.NewPCG(21, 22))
	for range 60 {
		if res := run(t, mesh(t), skewed(r, job), hw.Options{}); res.Status == result.WrongData {
			return res
		}
	}
	require.Fail(t, "right under any skew: "+c.Op+"/"+c.Form+" "+c.Mistake)
	return nil
}

func TestWithoutBarriersEveryReductionIsWrongUnderSomeSkew(t *testing.T) {
	for op := range reduces {
		for _, form := range collectives.Forms(op) {
			c := &collectives.Call{Op: op, Form: form, Ranks: 4, DType: "FP32", Size: 64, Mistake: "no_barrier"}
			wrongUnderSomeSkew(t, c, collectives.Repeat{})
			if c.Mistake = "no_ready"; !strings.Contains(form, "ring") { // whose first barrier is in a loop
				wrongUnderSomeSkew(t, c, collectives.Repeat{})
			}
		}
	}
}

func TestWithoutTheBarrierBehindItsReadsAReductionInPlaceIsWrongUnderSomeSkew(t *testing.T) {
	for _, name := range []string{"mesh_incore", "mesh_host"} {
		wrongUnderSomeSkew(t, wrongly(allreduce(name, 4, 64), "no_closing"), collectives.Repeat{})
	}
	// What these store nobody reads in the same call: only the next call's input is too early.
	wrongUnderSomeSkew(t, wrongly(scatter("incore", 4, 64), "no_closing"), collectives.Repeat{Count: 2, Between: "none"})
	wrongUnderSomeSkew(t, wrongly(scatter("host", 4, 64), "no_closing"), collectives.Repeat{Count: 2, Between: "none"})
	wrongUnderSomeSkew(t, wrongly(allreduce("ring_host", 4, 1<<14), "no_closing"), collectives.Repeat{Count: 2, Between: "none"})
}

// shows is how a mistake of an algorithm ends at P = 4, and what it then holds.
func TestMistakesOfReductions(t *testing.T) {
	for op := range reduces {
		for _, form := range collectives.Forms(op) {
			a, err := collectives.Lookup(op, form)
			require.NoError(t, err)
			for _, m := range a.Mistakes {
				c := &collectives.Call{Op: op, Form: form, Ranks: 4, DType: "FP32", Size: 64, Mistake: m.Name}
				switch {
				case m.Name == "narrow_stride":
					c.CoreNum, c.Signal, c.Size = 3, 2, 256*12
				case m.Name == "wrong_neighbour", m.Name == "bad_modulo" && form == "ring_hand":
					assert.Equal(t, result.Deadlock, run(t, mesh(t), compose(t, c), hw.Options{}).Status)
					continue
				}
				wrongUnderSomeSkew(t, c, collectives.Repeat{})
			}
		}
	}
}

// held is element i of what a wrong call gives in place of the sum 4i+600.
func TestMistakesHoldWhatTheTableSays(t *testing.T) {
	give := func(c *collectives.Call) vectors {
		job := compose(t, c)
		dtype := program.FP32
		in, out, first := "input", "output", uint32(0)
		if builtin[c.Form] {
			in, out, first = "target", "target", 1
		}
		job.Buffers[buffer(t, job, in)].Fill = filled{dtype, first, ramp}
		v := vectors{dtype: dtype}
		res := run(t, mesh(t), job, hw.Options{Inspect: func(s *memory.Space) {
			for r := range job.Ranks {
				v.raw = append(v.raw, bytesOf(s, r, buffer(t, job, out)))
			}
		}})
		require.Equal(t, result.WrongData, res.Status)
		return v
	}
	for _, form := range []string{"hand", "mesh_incore"} {
		v := give(wrongly(allreduce(form, 4, 64), "own_twice"))
		assert.Equal(t, 4.0*5+600+(5+200), v.at(2, 5), "F22: the own slice twice")
	}
	v := give(wrongly(allreduce("two_phase", 4, 64), "no_allgather"))
	assert.Equal(t, []float64{0, 4*16 + 600, 0, 0}, []float64{v.at(1, 0), v.at(1, 16), v.at(1, 32), v.at(1, 48)}, "F27: only the own chunk")
	v = give(wrongly(allreduce("two_phase", 4, 64), "ag_order"))
	assert.Equal(t, 600.0, v.at(3, 16), "F26: chunk 0 lies at chunk 1")
	for _, form := range collectives.Forms("reduce_scatter") {
		c := wrongly(scatter(form, 4, 64), "seed_zero")
		assert.Equal(t, 4.0*(64*2+5)+600-(64*2+5+200), give(c).row(c, 2, 5), "F39: off by the own chunk")
		c.Mistake = "fixed_row"
		assert.Equal(t, 4.0*5+600, give(c).row(c, 3, 5), "F40: chunk 0 on every rank")
	}
}

func TestReductionsAreBoundedByTheFabricAndThePeersLinks(t *testing.T) {
	// 3 peers, 1000 elements: three loads of 4000 B and two barriers.
	l := hw.Limits{
		Ranks: 4, Hop: 300, Remote: 1e9, Launch: func(b int) engine.Duration { return engine.Duration(b) * 1000 },
		Ingress: func(int) engine.Rate { return 2e9 }, Egress: func(int) engine.Rate { return 2e9 },
		Pair: func(int, int) engine.Rate { return 4e9 }, Latency: func(s, d int) engine.Duration { return engine.Duration(100 * (s + d)) },
	}
	c := allreduce("mesh_incore", 4, 1000)
	a, err := collectives.Lookup("allreduce", "mesh_incore")
	require.NoError(t, err)
	got := map[string]engine.Duration{}
	for _, b := range a.Bounds(c, &l, 0) {
		got[b.Name] = b.Time
	}
	us := engine.Microsecond
	fixed := engine.Duration(1000 + 2*400 + 3*400) // launch, two messages and three loads between the nearest ranks
	assert.Equal(t, map[string]engine.Duration{
		"latency": fixed,
		"serial":  fixed + 12*us,     // 12,000 B at 1 GB/s
		"pair":    1000 + 400 + 4*us, // 4,000 B
		"ingress": 1000 + 400 + 6*us, // 12,000 B at 2 GB/s
	}, got)
}

func TestOneJobCanBeRunByTwoMachinesAtOnce(t *testing.T) {
	job := chain(t, collectives.Item{Call: allreduce("ring_hand", 4, 1<<15), Repeat: collectives.Repeat{Count: 3, Between: "reset"}})
	want := ok(t, mesh(t), job)
	got := make([]*result.Result, 3)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i], _ = hw.Run(mesh(t), job, hw.Options{}) })
	}
	wg.Wait()
	for _, res := range got {
		assert.Equal(t, want, res)
	}
}
