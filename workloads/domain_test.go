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
	put := NewDomains("a.yaml", "put", []Shape{{"Ascend 950", "mesh", 56e9, []string{"urma_write"}, 2, 1, 1 << 20}, {"Ascend 950", "mesh", 56e9, []string{"urma_write"}, 2, 1, 64 << 20}})
	all := NewDomains("a.yaml", "all", []Shape{{"Ascend 950", "mesh", 56e9, []string{"urma_write"}, 8, 1, 4 << 20}})
	launch := NewDomains("b.yaml", "launch", []Shape{{"Ascend 950", "mesh", 56e9, []string{"launch"}, 2, 1, 0}, {"Ascend 950", "mesh", 56e9, []string{"launch"}, 2, 64, 0}})
	return append(append(put, all...), launch...)
}

func TestARunIsOutsideWhereItLiesBeyondAllRowsOfItsKind(t *testing.T) {
	in := Shape{"Ascend 950", "mesh", 56e9, []string{"urma_write"}, 4, 16, 2 << 20}
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
		{func(s *Shape) { s.Carriers = []string{"remote_mte"} }, []Outside{{"remote MTE", "on Ascend 950", "no case measures it"}}},
		{func(s *Shape) { s.Family = "Ascend 910" }, []Outside{{"URMA writes", "on Ascend 910", "no case measures it"}}},
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
			rows = append(rows, Shape{"Ascend 950", "mesh", 56e9, []string{"urma_write"}, rapid.IntRange(2, 64).Draw(t, "ranks"), 1, engine.Bytes(rapid.Int64Range(1, 1<<40).Draw(t, "bytes"))})
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
	assert.Equal(t, []Calibrated{{"x", "a", "1 us", "9 us"}, {"x", "b", "2 %", "3 %"}, {"y", "a", "1 ns", "2 ns"}},
		MergeRanges([]Calibrated{{"y", "a", "1 ns", "2 ns"}, {"x", "b", "2 %", "3 %"}, {"x", "a", "2 us", "3 us"}, {"x", "a", "1 us", "2.5 us"}, {"x", "a", "2 us", "9 us"}}), "but what a host's value was looked for in says nothing of an AIV's")
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

// oversized says how a workload of one barrier has too many ranks for its machine.
func oversized(t *testing.T, machine string, ranks int, sets ...string) string {
	doc, err := configs.Load("w.yaml", fmt.Appendf(nil, "machine: %s\nranks: %d\ncall: {op: barrier}\n", machine, ranks))
	require.NoError(t, err)
	w, err := LoadDoc("w.yaml", doc, sets)
	require.NoError(t, err)
	if p := w.Oversize(); len(p) > 0 {
		return p.Error()
	}
	return ""
}

func TestMoreRanksThanAMachineStandsForAreSaidFromTheFirstOn(t *testing.T) {
	for machine, most := range map[string]int{
		"950dt-64": 8, "950pr-64": 8, "950dt-72": 8, "910b": 8, "950dt-64-frame": 64, "cm384": 768, "910c": 768,
		"950dt-64-clos": 1024, "950dt-64-supernode": 1024, "rdma-400g": 128, "pollara-400g-gdr": 128,
	} {
		assert.Empty(t, oversized(t, machine, most), machine)
		if machine == "910b" { // which has no port for a ninth
			continue
		}
		assert.Contains(t, oversized(t, machine, most+1), fmt.Sprintf("w.yaml:2:8: ranks: %d ranks, but %s stands for up to %d (fabric.", most+1, machine, most), machine)
	}
	assert.Contains(t, oversized(t, "cm384", 800), "max_ranks: CloudMatrix384 paper", "and whose statement it is")
	assert.Empty(t, oversized(t, "950dt-64", 64, "machine.fabric.kind=clos"), "each fabric has a size of its own")
	assert.Empty(t, oversized(t, "cm384", 800, "machine.fabric.clos.max_ranks=1000"))
	assert.Empty(t, oversized(t, "950dt-64", 64, "machine.fabric.kind=ideal"))
}

func TestEveryShippedMachineSaysHowManyRanksItStandsFor(t *testing.T) {
	for _, name := range configs.Names(configs.Machines) {
		doc, err := Machine(name)
		require.NoError(t, err)
		var m hw.Spec
		require.NoError(t, doc.Decode(&m))
		assert.Positive(t, m.Fabric.MaxRanks(), name)
		p := doc.Params("fabric." + m.Fabric.Kind + ".max_ranks")
		require.Len(t, p, 1, name)
		assert.NotEmpty(t, p[0].Source, name)
	}
}

func TestARunOfMoreRanksThanItsMachineStandsForIsMarked(t *testing.T) {
	assert.Contains(t, outsideOf(t, "a5-matrix", "machine=950dt-64-frame", "machine.fabric.frame.max_ranks=4"), "ranks 8")
	assert.NotContains(t, outsideOf(t, "a5-matrix", "machine=950dt-64-frame", "machine.fabric.frame.max_ranks=8"), "ranks 8")
}

// A host's adapter says nothing of an AIV's queues, nor one adapter's reads of another's writes.
func TestMeasurementsStandForTheirOwnHardwareAlone(t *testing.T) {
	assert.Contains(t, outsideOf(t, "a5-uniform-large", "machine.urma.build.wqe=10 ns"), "urma.build.wqe 10 ns")
	run := func(machine, form string) (out []string) {
		doc, err := configs.Load("w.yaml", fmt.Appendf(nil, "machine: %s\nranks: 2\ncall: {op: micro, form: %s, dtype: INT8, wqes: 8, message: 1 MiB}\n", machine, form))
		require.NoError(t, err)
		w, err := LoadDoc("w.yaml", doc, nil)
		require.NoError(t, err)
		o, err := w.Run(hw.Options{Hazards: "off"})
		require.NoError(t, err)
		for _, x := range o.Outside {
			out = append(out, x.What+" "+x.Value)
		}
		return out
	}
	assert.Equal(t, []string{"URMA writes on Thor2 adapter"}, run("rdma-400g", "rdma_write"))
	assert.Equal(t, []string{"URMA reads on Pollara adapter"}, run("pollara-400g", "hcomm_get"))
	assert.Empty(t, run("rdma-400g", "hcomm_get"))
	assert.Empty(t, run("pollara-400g-gdr", "rdma_write"))
}
