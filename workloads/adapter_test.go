package workloads

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
	"pldperf/engine"
	"pldperf/hw"
)

const adapterPort engine.Rate = 50e9 // 400 Gbps

// exchanged is the elapsed time of n bytes from every rank to every other one.
func exchanged(t *testing.T, machine, call string, ranks int) engine.Duration {
	doc, err := configs.Load("w.yaml", fmt.Appendf(nil, "machine: %s\nranks: %d\ncall: %s\n", machine, ranks, call))
	require.NoError(t, err)
	w, err := LoadDoc("w.yaml", doc, nil)
	require.NoError(t, err)
	out, err := w.Run(hw.Options{Path: "off"})
	require.NoError(t, err)
	return out.Result.Elapsed
}

// An adapter has one port of 50 GB/s: whatever a rank sends to P-1 peers passes it.
func TestAnAdapterHasOnePortForAllItsPeers(t *testing.T) {
	for _, machine := range []string{"rdma-400g", "pollara-400g", "pollara-400g-gdr"} {
		for _, ranks := range []int{8, 64} {
			for _, n := range []engine.Bytes{64 << 10, 1 << 20} {
				call := fmt.Sprintf("{op: micro, form: hcomm_all_to_all, dtype: INT8, message: %d B}", n)
				floor := adapterPort.Span(n * engine.Bytes(ranks-1))
				took := exchanged(t, machine, call, ranks)
				assert.GreaterOrEqual(t, took, floor, "%s, %d ranks, %v", machine, ranks, n)
				assert.Less(t, float64(took), 1.7*float64(floor), "%s, %d ranks, %v: and little else", machine, ranks, n)
			}
		}
	}
}

// The two-rank measurements do not know whether a port is a peer's or all peers'.
func TestAnAdapterReachesItsPortWithOnePeer(t *testing.T) {
	took := exchanged(t, "pollara-400g", "{op: micro, form: rdma_write, dtype: INT8, wqes: 16, message: 8 MiB}", 2)
	assert.InEpsilon(t, float64(adapterPort.Span(16*8<<20))/0.9746, float64(took), 0.01)
}
