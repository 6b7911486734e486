package collectives_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/configs"
	"pldperf/hw"
	"pldperf/workloads/routing"
)

func machine(t testing.TB, name string) hw.Spec {
	doc, err := configs.Preset(configs.Machines, name)
	require.NoError(t, err)
	for doc.Has("based_on") {
		var b struct {
			B string `yaml:"based_on"`
		}
		_ = b
		break
	}
	var s hw.Spec
	require.NoError(t, doc.Decode(&s))
	return s
}

func TestSmoke(t *testing.T) {
	spec := machine(t, "950dt-64")
	r, err := routing.New(routing.Spec{Kind: "moe_topk", Tokens: 4096, Experts: 256, TopK: 8, Seed: 1}, 8, 7168, nil)
	require.NoError(t, err)
	for _, b := range []int{1, 4, 16} {
		c := &collectives.Call{Op: "indexed_all_to_all_v", Form: "l2", Ranks: 8, CoreNum: b, DType: "INT8", Hidden: 7168,
			Traffic: []collectives.Traffic{r}, Platform: "a5", SGEs: 12, Segment: 64, Depth: 32768}
		job, err := collectives.Compose(8, []collectives.Item{{Call: c}})
		require.NoError(t, err)
		res, err := hw.Run(spec, job, hw.Options{Payload: "provenance"})
		require.NoError(t, err)
		t.Log(b, res.Status, res.Elapsed, res.Events, res.Totals, res.Data.Checked, res.Data.Wrong, res.Data.Mismatches, res.Hazards, res.Abort, res.Stuck)
		t.Log(res.Blocks[0].Time, res.Blocks[0].Time.Sum(), res.Digests)
	}
}

func TestSmokeA2A(t *testing.T) {
	spec := machine(t, "950dt-64")
	for _, f := range []string{"hand", "incore", "host"} {
		c := &collectives.Call{Op: "all_to_all", Form: f, Ranks: 4, DType: "FP32", Size: 1000}
		job, err := collectives.Compose(4, []collectives.Item{{Call: c}})
		require.NoError(t, err)
		res, err := hw.Run(spec, job, hw.Options{Payload: "bytes"})
		require.NoError(t, err)
		t.Log(f, res.Status, res.Elapsed, res.Events, res.Totals, res.Data, res.Hazards, res.Abort, res.Stuck)
	}
}
