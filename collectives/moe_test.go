package collectives_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/collectives"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/workloads/routing"
)

func experts(t testing.TB, ranks, tokens, experts, topK int, seed uint64) *routing.Routing {
	t.Helper()
	r, err := routing.New(routing.Spec{Kind: "moe_topk", Tokens: tokens, Experts: experts, TopK: topK, Seed: seed}, ranks, 64, nil)
	require.NoError(t, err)
	return r
}

func moe(form, dtype string, cores, hidden int, traffic ...collectives.Traffic) *collectives.Call {
	return &collectives.Call{
		Op: "moe", Form: form, Ranks: traffic[0].Ranks(), CoreNum: cores, DType: dtype, Hidden: hidden, Traffic: traffic,
	}
}

// between is what must separate two calls of a form: single-shot barriers need a reset.
func between(form string) string {
	if form == "ep_dispatch_combine" {
		return "reset"
	}
	return "none"
}

func TestEveryTokenComesBackAsTheSumOfItsExperts(t *testing.T) {
	spec := mesh(t)
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.SampledFrom([]int{2, 4}).Draw(t, "P")
		form := rapid.SampledFrom(collectives.Forms("moe")).Draw(t, "form")
		calls := rapid.IntRange(1, 3).Draw(t, "calls")
		var traffic []collectives.Traffic
		for range calls {
			e := ranks * rapid.IntRange(1, 3).Draw(t, "experts of a rank")
			if len(traffic) > 0 {
				e = traffic[0].(*routing.Routing).Experts()
			}
			r, err := routing.New(routing.Spec{
				Kind: "moe_topk", Tokens: rapid.IntRange(1, 12).Draw(t, "tokens"), Experts: e, TopK: rapid.IntRange(1, min(e, 4)).Draw(t, "top_k"),
				Seed: rapid.Uint64().Draw(t, "seed"),
			}, ranks, 64, nil)
			require.NoError(t, err)
			traffic = append(traffic, r)
		}
		dtypes := map[string][]string{"dsv4": {"INT8", "BF16", "FP16", "FP32"}, "ep_dispatch_combine": {"BF16", "FP32"}, "indexed": {"INT8", "FP32"}}
		c := moe(form, rapid.SampledFrom(dtypes[form]).Draw(t, "dtype"), rapid.IntRange(0, 5).Draw(t, "B"), rapid.SampledFrom([]int{32, 64, 100}).Draw(t, "H"), traffic...)
		job, err := collectives.Compose(ranks, []collectives.Item{{Call: c, Repeat: collectives.Repeat{Count: calls, Between: between(form)}}})
		require.NoError(t, err)
		drawSkew(t, job)
		res, err := hw.Run(spec, job, hw.Options{})
		require.NoError(t, err)
		require.Equal(t, result.OK, res.Status, "%v %v", res.Data.Mismatches, res.Hazards)
	})
}

func TestAWrongExpertOrALostResultIsSeenInTheSums(t *testing.T) {
	for _, form := range collectives.Forms("moe") {
		c := moe(form, "FP32", 2, 64, experts(t, 4, 8, 8, 3, 1))
		spoil := func(name string, op func(o *program.Op) bool) {
			job := compose(t, c)
			for i := range job.Tasks {
				p := *job.Tasks[i].Program
				p.Ops = append([]program.Op{}, p.Ops...)
				for k := range p.Ops {
					if op(&p.Ops[k]) {
						job.Tasks[i].Program = &p
						res := run(t, mesh(t), job, hw.Options{})
						assert.Equal(t, result.WrongData, res.Status, "%s %s", form, name)
						return
					}
				}
			}
			require.Fail(t, "nothing to spoil", "%s %s", form, name)
		}
		spoil("every token by the weights of expert 0", func(o *program.Op) bool {
			if o.Kind != program.LoadTile || o.Tile != 2 {
				return false
			}
			o.SrcOff = program.Const(0)
			return true
		})
		spoil("only the first result of a token", func(o *program.Op) bool {
			if o.Kind != program.Combine || o.Reduce != program.Sum {
				return false
			}
			o.Bytes = program.Const(0)
			return true
		})
	}
}

func TestATypicalDecodeOfDSv4MovesItsRoutes(t *testing.T) {
	// EP8: 8 tokens a rank, top 6 of 256 experts: 48 routes a rank, 4,096 B INT8 and 64 B there,
	// 8,192 B BF16 back.
	r := experts(t, 8, 8, 256, 6, 2)
	c := moe("dsv4", "INT8", 8, 4096, r)
	res := ok(t, mesh(t), compose(t, c))
	n := &res.Totals
	routes, counts := int64(8*48), int64(8*7*128) // 32 experts a rank: 128 B of counts for each peer
	assert.Equal(t, routes*(4160+8192)+counts, n[result.BytesSent]+n[result.BytesSelf])
	assert.Equal(t, routes*4, n[result.Puts])
	assert.Equal(t, int64(8*7), n[result.RemoteStores])
	assert.Equal(t, []int{32, 8, 32, 8}, []int{blocks(res, 0), blocks(res, 1), blocks(res, 2), blocks(res, 3)}, "a block for each expert")
}

// blocks counts the blocks that a call had on a rank.
func blocks(res *result.Result, call int) (n int) {
	for i := range res.Blocks {
		if b := &res.Blocks[i]; b.Call == call && b.Rank == 0 {
			n++
		}
	}
	return n
}

func TestEpDispatchCombineOfTheSystemTest(t *testing.T) {
	// T=128, top 6, L=16 experts a rank, BF16; D is 512 here and 4,096 there.
	for _, ranks := range []int{2, 4} {
		r := experts(t, ranks, 128, 16*ranks, 6, 3)
		res := ok(t, mesh(t), compose(t, moe("ep_dispatch_combine", "BF16", 0, 512, r)))
		assert.Equal(t, int64(ranks*768*4), res.Totals[result.Puts])
		assert.Equal(t, int64(ranks*768*(1024+64+1024)), res.Totals[result.BytesSent]+res.Totals[result.BytesSelf])
	}
}

func TestMoEOnTheIndexedExchangeSendsATokenOnceToEachRank(t *testing.T) {
	r := experts(t, 4, 32, 8, 4, 4)
	res := ok(t, mesh(t), compose(t, moe("indexed", "INT8", 4, 4096, r)))
	rows, routes := r.Stats().TotalRows, r.Stats().Pairs
	assert.Less(t, rows, routes, "tokens with two experts on a rank go there once")
	assert.Equal(t, rows*4096+routes*4*4096, res.Totals[result.BytesSent]+res.Totals[result.BytesSelf])
}

func TestEpochsOnlyGrowAndCellsWithThem(t *testing.T) {
	c := moe("dsv4", "INT8", 1, 64, experts(t, 2, 4, 4, 2, 5), experts(t, 2, 4, 4, 2, 6), experts(t, 2, 4, 4, 2, 7))
	job := chain(t, collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 3, Between: "none"}})
	last, highest := map[[2]int]int32{}, map[int]int32{}
	res := run(t, mesh(t), skewed(rand.New(rand.NewPCG(1, 1)), job), hw.Options{Cells: func(rank int, _ program.Buf, cell int, v int32) {
		assert.Equal(t, last[[2]int{rank, cell}]+1, v, "never reset")
		last[[2]int{rank, cell}] = v
		highest[cell%3] = max(highest[cell%3], v)
	}})
	fine(t, res)
	assert.Equal(t, map[int]int32{0: 3, 1: 6, 2: 3}, highest, "three epochs; two blocks notify of their data")
}

func TestMoECallsThatAreRefused(t *testing.T) {
	r := experts(t, 2, 4, 4, 2, 5)
	for want, c := range map[string]*collectives.Call{
		"dtype: INT8, must be one of [BF16 FP16 FP32]": moe("ep_dispatch_combine", "INT8", 0, 64, r),
		"dtype: BF16, must be one of [FP32 INT8]":      moe("indexed", "BF16", 0, 64, r),
		"hidden: 0, must be positive":                  moe("dsv4", "INT8", 0, 0, r),
		"core_num: -1, must be positive":               moe("dsv4", "INT8", -1, 64, r),
		"it takes at least 32 B":                       moe("dsv4", "INT8", 0, 16, r),
	} {
		_, err := collectives.Compose(2, []collectives.Item{{Call: c}})
		assert.ErrorContains(t, err, want)
	}
	c := moe("dsv4", "INT8", 0, 64, r)
	c.Capacity = 1
	_, err := collectives.Compose(2, []collectives.Item{{Call: c}})
	assert.ErrorContains(t, err, "capacity: 1 slots of a source at an expert, but the routing needs")
}

// BenchmarkMoE is a decode step of DeepSeek's shape on 64 ranks.
func BenchmarkMoE(b *testing.B) {
	for _, form := range collectives.Forms("moe") {
		b.Run(form, func(b *testing.B) {
			r := experts(b, 64, 16, 256, 8, 1)
			dtype := map[string]string{"dsv4": "INT8", "ep_dispatch_combine": "BF16", "indexed": "INT8"}[form]
			c := moe(form, dtype, 4, 7168, r)
			job := compose(b, c)
			events := 0.0
			for b.Loop() {
				res := run(b, hwClos(b), job, hw.Options{})
				require.Equal(b, result.OK, res.Status)
				events += float64(res.Events)
			}
			b.ReportMetric(events/float64(b.N), "events")
			b.ReportMetric(float64(b.Elapsed()/1e3)/float64(b.N)/float64(r.Stats().Pairs), "us/route")
		})
	}
}
