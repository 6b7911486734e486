package workloads

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/configs"
	"pldperf/engine"
	"pldperf/hw"
)

// measured are domains of two cases on one fabric, as fit makes them.
func measured() []Domain {
	put := NewDomains("a.yaml", "put", []Shape{{"a5", "mesh", 56e9, []string{"urma_write"}, 2, 1, 1 << 20}, {"a5", "mesh", 56e9, []string{"urma_write"}, 2, 1, 64 << 20}})
	all := NewDomains("a.yaml", "all", []Shape{{"a5", "mesh", 56e9, []string{"urma_write"}, 8, 1, 4 << 20}})
	launch := NewDomains("b.yaml", "launch", []Shape{{"a5", "mesh", 56e9, []string{"launch"}, 2, 1, 0}, {"a5", "mesh", 56e9, []string{"launch"}, 2, 64, 0}})
	return append(append(put, all...), launch...)
}

func TestARunIsOutsideWhereItLiesBeyondAllRowsOfItsKind(t *testing.T) {
	in := Shape{"a5", "mesh", 56e9, []string{"urma_write"}, 4, 16, 2 << 20}
	for _, x := range []struct {
		change func(*Shape)
		want   []Outside
	}{
		{func(*Shape) {}, nil},
		{func(s *Shape) { s.PerPeer = 1 << 20 }, nil},
		{func(s *Shape) { s.PerPeer = 1<<20 - 1<<15 }, nil}, // whole rows of a message of 1 MiB
		{func(s *Shape) { s.PerPeer = 4 << 10 }, []Outside{{"bytes a peer", "4 KiB", "measured: 1 MiB to 64 MiB, URMA writes"}}},
		{func(s *Shape) { s.PerPeer = 1 << 30 }, []Outside{{"bytes a peer", "1 GiB", "measured: 1 MiB to 64 MiB, URMA writes"}}},
		{func(s *Shape) { s.Ranks = 9 }, []Outside{{"ranks", "9", "measured: 2 to 8, URMA writes"}}},
		{func(s *Shape) { s.Blocks = 72 }, []Outside{{"blocks of a launch", "72", "measured: 1 to 64"}}},
		{func(s *Shape) { s.Port = 100e9 }, []Outside{{"rate of a port", "100 GB/s", "measured: 56 GB/s, URMA writes"}}},
		{func(s *Shape) { s.Fabric = "ideal" }, []Outside{{"URMA writes", "over ideal", "measured: over mesh"}}},
		{func(s *Shape) { s.Carriers = []string{"remote_mte"} }, []Outside{{"remote MTE", "on a5", "no case measures it"}}},
		{func(s *Shape) { s.Platform = "a2a3" }, []Outside{{"URMA writes", "on a2a3", "no case measures it"}}},
		{func(s *Shape) { s.Carriers = nil }, nil},
		{func(s *Shape) { s.Carriers, s.PerPeer, s.Blocks = []string{"launch"}, 0, 64 }, nil},
		{func(s *Shape) { s.Carriers, s.PerPeer, s.Blocks = []string{"launch"}, 0, 65 }, []Outside{{"blocks of a launch", "65", "measured: 1 to 64"}}},
	} {
		s := in
		x.change(&s)
		assert.Equal(t, x.want, s.outside(measured()), "%+v", s)
	}
}

func TestEveryMeasuredRowLiesWithinWhatWasMeasured(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows []Shape
		for range rapid.IntRange(1, 6).Draw(t, "rows") {
			rows = append(rows, Shape{"a5", "mesh", 56e9, []string{"urma_write"}, rapid.IntRange(2, 64).Draw(t, "ranks"), 1, engine.Bytes(rapid.Int64Range(1, 1<<40).Draw(t, "bytes"))})
		}
		d := NewDomains("f", "c", rows)
		require.Len(t, d, 1)
		require.Equal(t, len(rows), d[0].Rows)
		for i := range rows {
			require.Empty(t, rows[i].outside(d))
		}
		again, err := ParseDomains(FormatDomains(d))
		require.NoError(t, err)
		require.Equal(t, d, again)
	})
}

func FuzzTablesOfTheFit(f *testing.F) {
	f.Add(configs.FitDomain)
	f.Add(configs.FitRanges)
	f.Fuzz(func(t *testing.T, data []byte) {
		if d, err := ParseDomains(data); err == nil {
			again, err := ParseDomains(FormatDomains(d))
			require.NoError(t, err)
			require.Equal(t, len(d), len(again))
		}
		if r, err := ParseRanges(data); err == nil {
			again, err := ParseRanges(FormatRanges(r))
			require.NoError(t, err)
			require.Equal(t, r, again)
		}
	})
}

func TestTheShippedTablesOfTheFitCoverWhatIsMeasured(t *testing.T) {
	kinds := map[string]bool{}
	for _, d := range domains() {
		kinds[d.Carrier+" "+d.Fabric] = true
		assert.True(t, d.Ranks[0] <= d.Ranks[1] && d.PerPeer[0] <= d.PerPeer[1] && d.Blocks[0] <= d.Blocks[1], "%+v", d)
	}
	for _, want := range []string{"urma_write mesh", "urma_write clos", "urma_read mesh", "sdma mesh", "launch mesh"} {
		assert.True(t, kinds[want], want)
	}
	assert.NotEmpty(t, calibrated())
}

func TestTheRangeOfAParameterThatSeveralCasesFitIsTheWidest(t *testing.T) {
	assert.Equal(t, []Calibrated{{"a", "1 us", "9 us"}, {"b", "2 %", "3 %"}}, MergeRanges([]Calibrated{{"b", "2 %", "3 %"}, {"a", "2 us", "3 us"}, {"a", "1 us", "2.5 us"}, {"a", "2 us", "9 us"}}))
}

// outsideOf runs a workload and returns how it lies outside, in short.
func outsideOf(t *testing.T, name string, sets ...string) (out []string) {
	w, err := Load(name, sets)
	require.NoError(t, err)
	o, err := w.Run(hw.Options{Hazards: "off"})
	require.NoError(t, err)
	for _, x := range append(o.Outside, o.Params.Outside...) {
		out = append(out, fmt.Sprintf("%s %s", x.What, x.Value))
	}
	return out
}

func TestWorkloadsSayHowTheyLieOutside(t *testing.T) {
	assert.Empty(t, outsideOf(t, "a5-moe-dispatch"), "13 MB a peer by URMA on a mesh of eight")
	assert.Equal(t, []string{"bytes a peer 1 KiB"}, outsideOf(t, "a5-uniform-small"))
	assert.Equal(t, []string{"URMA writes over ideal"}, outsideOf(t, "a5-moe-dispatch", "machine.fabric.kind=ideal"))
	assert.Equal(t, []string{"fabric.mesh.latency 2 us"}, outsideOf(t, "a5-moe-dispatch", "machine.fabric.mesh.latency=2 us"), "the preset's band ends at 0.6 us")
	assert.Empty(t, outsideOf(t, "a5-moe-dispatch", "machine.fabric.mesh.latency=0.5 us"))
	assert.Equal(t, []string{"fabric.mesh.efficiency 50 %"}, outsideOf(t, "a5-moe-dispatch", "machine.fabric.mesh.efficiency=50 %"), "calibrate looks from 80 % on")
	assert.Empty(t, outsideOf(t, "a5-moe-dispatch", "machine.fabric.mesh.efficiency=90 %"))
}

func TestBytesAPeerCountThePeersThatRankZeroHas(t *testing.T) {
	for _, x := range []struct {
		call string
		want engine.Bytes
	}{
		{"{op: put, size: 1024}", 4096},
		{"{op: all_to_all, size: 1024}", 4096},
		{"{op: micro, form: hcomm_ring, dtype: INT8, message: 1 MiB}", 1 << 20},
		{"{op: micro, form: hcomm_all_to_all, dtype: INT8, message: 1 MiB}", 1 << 20},
		{"{op: micro, form: hcomm_get, dtype: INT8, message: 1 KiB, wqes: 8}", 8 << 10},
		{"{op: barrier}", 0},
	} {
		doc, err := configs.Load("w.yaml", []byte("machine: 950dt-64\nranks: 8\ncall: "+x.call+"\n"))
		require.NoError(t, err)
		w, err := LoadDoc("w.yaml", doc, nil)
		require.NoError(t, err)
		out, err := w.Run(hw.Options{})
		require.NoError(t, err)
		assert.Equal(t, x.want, out.Shape.PerPeer, x.call)
	}
}
