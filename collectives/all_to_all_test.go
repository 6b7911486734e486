package collectives_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/hw"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// The numbers in test names are those of semantics.md section 10.

func floats(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

// output runs an all_to_all and returns, by rank, its buffer of that name.
func output(t *testing.T, c *collectives.Call, name string) ([][]float32, *result.Result) {
	job := compose(t, c)
	out := make([][]float32, c.Ranks)
	res := run(t, mesh(t), job, hw.Options{Payload: "bytes", Inspect: func(s *memory.Space) {
		for r := range out {
			out[r] = floats(bytesOf(s, r, buffer(t, job, name)))
		}
	}})
	fine(t, res)
	return out, res
}

var a2aForms = []string{"hand", "incore", "host"}

func TestCase13AllToAllOfTwoRanksExchangesTheTutorialsChunks(t *testing.T) {
	for _, form := range a2aForms {
		out, _ := output(t, &collectives.Call{Op: "all_to_all", Form: form, Ranks: 2, DType: "FP32", Size: 64}, "output")
		for j := range 64 {
			x := float32(j)
			assert.Equal(t, []float32{x, 1000 + x, 100 + x, 1100 + x}, []float32{out[0][j], out[0][64+j], out[1][j], out[1][64+j]}, form)
		}
	}
}

func TestCase14AllToAllOfFourRanksPutsSourceDestinationAndElementInPlace(t *testing.T) {
	for _, form := range a2aForms {
		out, _ := output(t, &collectives.Call{Op: "all_to_all", Form: form, Ranks: 4, DType: "FP32", Size: 64}, "output")
		assert.Equal(t, float32(2363), out[3][2*64+63])
		for r := range 4 {
			for s := range 4 {
				for j := range 64 {
					require.Equal(t, float32(1000*s+100*r+j), out[r][64*s+j], form)
				}
			}
		}
	}
}

func TestCase15IncoreAllToAllTakesFourPutsThreeNotifiesAndClearsItsCells(t *testing.T) {
	c := &collectives.Call{Op: "all_to_all", Form: "incore", Ranks: 4, DType: "FP32", Size: 64}
	out, res := output(t, c, "target") // cells0: a credit left over would be a hazard
	for r := range 4 {
		n := &res.Ranks[r].Counters
		assert.Equal(t, []int64{4, 3, 3, 768}, []int64{n[result.Puts], n[result.Notifies], n[result.SelfAdds], n[result.BytesReceived]})
		assert.Equal(t, float32(100*r+63), out[r][63])
	}
}

// raised is the tutorial's content plus a constant.
type raised struct {
	collectives.Tutorial
	by float32
}

func (x raised) Generate(dst []byte, rank int, version uint32, off int64) {
	x.Tutorial.Generate(dst, rank, version, off)
	for i, v := range floats(dst) {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(v+x.by))
	}
}

func TestCase16HostAllToAllReusesOneSignalForTwoWindows(t *testing.T) {
	call := func() *collectives.Call {
		return &collectives.Call{Op: "all_to_all", Form: "host", Ranks: 2, DType: "FP32", Size: 64}
	}
	job := chain(t, collectives.Item{Name: "first", Call: call()}, collectives.Item{Name: "second", Call: call(), Signal: "first"})
	job.Buffers[buffer(t, job, "second.input")].Fill = raised{collectives.Tutorial{Size: 64}, 10000}
	var first, second [2][]float32
	res := run(t, mesh(t), job, hw.Options{Payload: "bytes", Inspect: func(s *memory.Space) {
		for r := range 2 {
			first[r] = floats(bytesOf(s, r, buffer(t, job, "first.target")))
			second[r] = floats(bytesOf(s, r, buffer(t, job, "second.target")))
		}
	}})
	fine(t, res)
	for r := range 2 {
		for k := range 128 {
			want := float32(k/64*1000 + r*100 + k%64)
			require.Equal(t, want, first[r][k])
			require.Equal(t, want+10000, second[r][k])
		}
	}
}

func kindsOf(ops []program.Op) (out []program.Kind) {
	for i := range ops {
		out = append(out, ops[i].Kind)
	}
	return out
}

func TestCase17HostAllToAllCutsAThousandElementsIntoFourTiles(t *testing.T) {
	c := &collectives.Call{Op: "all_to_all", Form: "host", Ranks: 2, DType: "FP32", Size: 1000}
	var tiles []int64
	ops := compose(t, c).Tasks[0].Program.Ops
	require.Equal(t, []program.Kind{program.Loop, program.Loop, program.PipeBarrier, program.Put, program.PipeBarrier}, kindsOf(ops[:5]))
	assert.Equal(t, []int{4, 3}, []int{ops[0].Skip, ops[1].Skip}, "all of them are the body, however large SIZE is")
	var h program.Here
	for h.Loop[0] = range ops[0].Count.At(&h) {
		for h.Loop[1] = range ops[1].Count.At(&h) {
			tiles = append(tiles, ops[3].Bytes.At(&h)/4)
			assert.Equal(t, 4*(1000*h.Loop[0]+256*h.Loop[1]), ops[3].SrcOff.At(&h))
			assert.Equal(t, h.Loop[0], ops[3].Peer.At(&h))
		}
	}
	assert.Equal(t, []int64{256, 256, 256, 232, 256, 256, 256, 232}, tiles)
	out, res := output(t, c, "output")
	assert.Equal(t, int64(8), res.Ranks[0].Counters[result.Puts])
	assert.Equal(t, int64(16), res.Ranks[0].Counters[result.PipeBarriers])
	for r := range 2 {
		for k := range 2000 {
			require.Equal(t, float32(k/1000*1000+r*100+k%1000), out[r][k])
		}
	}
}

func TestCase19HostAllToAllRefusesOneWindowForInputAndTarget(t *testing.T) {
	c := &collectives.Call{Op: "all_to_all", Form: "host", Ranks: 2, DType: "FP32", Size: 64, Same: map[string]string{"target": "input"}}
	_, err := collectives.Compose(2, []collectives.Item{{Call: c}})
	assert.ErrorContains(t, err, "input and target must be different windows")
}

func TestHostAllToAllBeyondSixteenRanksReturnsWithoutCommunicatingAndSaysSo(t *testing.T) {
	c := &collectives.Call{Op: "all_to_all", Form: "host", Ranks: 17, DType: "FP32", Size: 64}
	res, err := hw.Run(mesh(t, "fabric.kind=clos"), compose(t, c), hw.Options{})
	require.NoError(t, err)
	assert.Equal(t, result.Hazardous, res.Status, "nothing done is no success")
	assert.Zero(t, res.Totals[result.Puts]+res.Totals[result.Notifies])
	require.Len(t, res.Hazards, 1)
	assert.Contains(t, res.Hazards[0].Text, "returned without communicating")
}
