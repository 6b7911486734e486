package workloads_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/result"
	"pldperf/workloads"
)

// run executes a shipped workload with overrides.
func run(t *testing.T, name string, sets ...string) *workloads.Outcome {
	t.Helper()
	w, err := workloads.Load(name, sets)
	require.NoError(t, err)
	out, err := w.Run(hw.Options{})
	require.NoError(t, err)
	return out
}

func TestEveryShippedWorkloadRunsWithRightDataAndNotBelowItsBound(t *testing.T) {
	for _, name := range configs.Names(configs.Workloads) {
		if testing.Short() && (strings.Contains(name, "ep64") || strings.Contains(name, "supernode")) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			out := run(t, name)
			assert.Equal(t, result.OK, out.Result.Status, "%v %v", out.Result.Data.Mismatches, out.Result.Hazards)
			assert.Positive(t, out.Result.Data.Checked)
			assert.GreaterOrEqual(t, out.Result.Elapsed, out.Bound().Time)
			for r := range out.Formula {
				for k, v := range out.Formula[r] {
					if v >= 0 {
						assert.Equal(t, v, out.Result.Ranks[r].Counters[k], "rank %d %v", r, result.Counter(k))
					}
				}
			}
		})
	}
}

func TestAllProblemsAreReportedAtOnceWhereTheyStand(t *testing.T) {
	for _, tt := range []struct {
		sets []string
		want []string
	}{
		{[]string{"call.core_nums=5"}, []string{`--set call.core_nums: unknown key; did you mean "core_num"?`}},
		{[]string{"machine.fabric.mesh.port=56"}, []string{`--set machine.fabric.mesh.port: "56" has no unit`}},
		{[]string{"call.core_num=65"}, []string{"65 blocks, but 950dt-64 can start 64 AIVs together"}},
		{[]string{"call.core_num=0"}, []string{"must be a positive compile-time int"}},
		{[]string{"call.signal_columns=3"}, []string{"S = 3 is below core_num = 16"}},
		{[]string{"call.transport=mte"}, []string{"mte does not carry indexed_all_to_all_v, only urma does"}},
		{[]string{"call.queues=shared_pool"}, []string{"shared_pool is not supported"}},
		{[]string{"call.form=host"}, []string{`has no form "host"`}},
		{[]string{"call.op=indexed_all_to_all"}, []string{`did you mean "indexed_all_to_all_v"?`}},
		{[]string{"call.kinds={send_counts: tensor}"}, []string{"send_counts must be a window"}},
		{[]string{"call.same={recv_counts: signal}"}, []string{"signal and recv_counts must be different"}},
		{[]string{"call.same={target: input}"}, []string{"target and input must be different"}},
		{[]string{"machine=910c"}, []string{"needs A5 URMA, the machine is a2a3"}},
		{[]string{"machine=950dt-65"}, []string{"950dt-64"}},
		{[]string{"ranks=1"}, []string{"ranks"}},
		{[]string{"call.signal_columns=1000000000"}, []string{"signal_columns", "1024"}},
		{[]string{"call.message=64 KiB"}, []string{"--set call.message", "moe_topk does not read it"}},
		{[]string{"machine.memory.hbm.rate=0 GB/s"}, []string{"--set machine.memory.hbm.rate", "must be positive"}},
		{[]string{"machine.memory.l2.rate=0 GB/s"}, []string{"--set machine.memory.l2.rate"}},
		{[]string{"machine.ub.load=0 GB/s"}, []string{"--set machine.ub.load"}},
		{[]string{"machine.ub.store=0 GB/s"}, []string{"--set machine.ub.store"}},
		{[]string{"machine.fabric.mesh.port=1 B/s"}, []string{"--set machine.fabric.mesh.port: 1 B/s is below 1 MB/s"}},
		{[]string{"machine.aiv.clock=1 Hz"}, []string{"--set machine.aiv.clock: 1 Hz is below 1 MHz"}},
		{[]string{"machine.aiv.signal.shared=9000000 s"}, []string{"--set machine.aiv.signal.shared: 9000000 s is above 1 s"}},
		{[]string{"call.size=77"}, []string{"does not read it"}},
		{[]string{"ranks=32"}, []string{"ports"}},
		{[]string{"skew.offsets=[1 us, 2 us, 3 us, 1 us, 1 us, 1 us, 1 us, 1 us, 1 us]"}, []string{"9 values for 8 ranks"}},
		{[]string{"skew.offsets=[9000000 s]"}, []string{"--set skew.offsets", "is above 1000 s, the latest start"}},
		{[]string{"skew.slow=[50 %]"}, []string{"below 100 %"}},
		{[]string{"faults=[{kind: dead_link, src: 0, dst: 8}]"}, []string{"8, but the ranks are 0 to 7"}},
		{[]string{"routing.top_k=300", "call.dtype=FP16", "model=deepseek"}, []string{"FP16, must be FP32 or INT8", "deepseek-v3"}},
	} {
		_, err := workloads.Load("a5-moe-dispatch", tt.sets)
		if !assert.Error(t, err, "%v", tt.sets) {
			continue
		}
		for _, w := range tt.want {
			assert.Contains(t, err.Error(), w, "%v", tt.sets)
		}
	}
}

func TestAMachineLargerThanItsHBMIsRefused(t *testing.T) {
	w, err := workloads.Load("a5-moe-dispatch", []string{"machine.memory.hbm.capacity=1 MiB"})
	if err == nil {
		_, err = w.Run(hw.Options{})
	}
	assert.ErrorContains(t, err, "does not fit in 1 MiB of HBM")
}

func TestDeviceViolationsAbortTheGroupWithRankBlockValueAndLimit(t *testing.T) {
	base := []string{"routing.counts=[[2, 3], [1, 2]]"}
	for _, tt := range []struct {
		set          string
		what         string
		value, limit int64
	}{
		{"routing.counts=[[2, -1], [1, 2]]", "count", -1, 3},
		{"routing.counts=[[2, 4], [1, 2]]", "count", 4, 3},
		{"routing.index=[[[1, 1, -1], [3, 4, 2]], [[2, -1, -1], [0, 3, -1]]]", "index", 4, 4},
		{"routing.index=[[[1, 1, -1], [3, -1, 2]], [[2, -1, -1], [0, 3, -1]]]", "index", -1, 4},
		{"faults=[{kind: cqe_status, src: 0, dst: 1, status: 7}]", "cqe_status", 7, 0},
		{"faults=[{kind: dead_link, src: 1, dst: 0}]", "cqe_status", 4, 0},
	} {
		out := run(t, "indexed-example", append(base, tt.set)...)
		require.Equal(t, result.Aborted, out.Result.Status, tt.set)
		assert.Equal(t, tt.what, out.Result.Abort.What, tt.set)
		assert.Equal(t, tt.value, out.Result.Abort.Value, tt.set)
		assert.Equal(t, tt.limit, out.Result.Abort.Limit, tt.set)
	}
}

func TestAQueueThatCannotHoldASendAbortsBeforeSubmitting(t *testing.T) {
	for rows, want := range map[string]result.Status{"384": result.OK, "385": result.Aborted} {
		out := run(t, "a5-uniform-small", "ranks=2", "call.message=0 B", "call.hidden=64", "machine.urma.depth=128", "machine.urma.segment=32",
			"routing.kind=uniform", "routing.rows="+rows)
		assert.Equal(t, want, out.Result.Status, rows)
		if want == result.Aborted {
			assert.Equal(t, "sq_capacity", out.Result.Abort.What)
			assert.Zero(t, out.Result.Totals[result.SQEs])
		}
	}
}

func TestADroppedNotifyIsADeadlockThatNamesWhoIsMissing(t *testing.T) {
	out := run(t, "indexed-example", "faults=[{kind: drop_notify, src: 0, dst: 1}]")
	require.Equal(t, result.Deadlock, out.Result.Status)
	w := out.Result.Stuck.Waits
	require.NotEmpty(t, w)
	assert.Contains(t, w[len(w)-1].Missing, "rank 0")
}

func TestASignalBelowZeroHangsAndOneAboveIsAHazard(t *testing.T) {
	out := run(t, "indexed-example", "signals=[{rank: 1, row: 0, col: 0, value: -1}]")
	assert.Equal(t, result.Deadlock, out.Result.Status)
	out = run(t, "indexed-example", "signals=[{rank: 1, row: 0, col: 0, value: 1}]")
	assert.NotEqual(t, result.OK, out.Result.Status)
	assert.Contains(t, fmt.Sprint(out.Result.Hazards), "cell 0 of signal is 1")
}

func TestIndependentSignalsOnSharedQueuesConflict(t *testing.T) {
	sets := []string{"chain.1.compute.blocks=1", "chain.1.compute.reads=[]", "chain.1.compute.writes=[]"}
	out := run(t, "a5-dispatch-expert-combine", sets...)
	assert.Equal(t, result.OK, out.Result.Status, "the shared signal serialises")
	out = run(t, "a5-dispatch-expert-combine", append(sets, "chain.2.signal=combine")...)
	require.Equal(t, result.Aborted, out.Result.Status)
	assert.Equal(t, "queue_conflict", out.Result.Abort.What)
}

func TestBothPayloadFormsAndBothEventQueuesGiveTheSameResult(t *testing.T) {
	w, err := workloads.Load("a5-persistent-reuse", nil)
	require.NoError(t, err)
	var first *result.Result
	for _, opt := range []hw.Options{{Payload: "bytes"}, {Payload: "provenance"}, {Payload: "bytes", EventQueue: "reference"}} {
		out, err := w.Run(opt)
		require.NoError(t, err)
		if first == nil {
			first = out.Result
			continue
		}
		assert.Equal(t, first.Digests.Events, out.Result.Digests.Events)
		assert.Equal(t, first.Elapsed, out.Result.Elapsed)
		assert.Equal(t, first.Status, out.Result.Status)
	}
}

func TestAHostBuiltinBeyondSixteenRanksReturnsWithoutCommunicating(t *testing.T) {
	out := run(t, "all-to-all-host-p8", "machine=950dt-64-clos", "ranks=17")
	assert.Zero(t, out.Result.Totals[result.BytesSent])
	assert.Equal(t, result.Hazardous, out.Result.Status, "nothing done is no success")
	assert.Contains(t, fmt.Sprint(out.Result.Hazards), "returned without communicating")
}

func TestAnIdealMachineIsNeverSlower(t *testing.T) {
	real := run(t, "a5-moe-decode").Result.Elapsed
	for _, twin := range []string{"fabric.kind=ideal", "memory.kind=ideal", "urma.kind=ideal", "ub.kind=ideal", "aiv.poll.kind=ideal"} {
		assert.LessOrEqual(t, run(t, "a5-moe-decode", "machine."+twin).Result.Elapsed, real+2*engine.Microsecond, twin)
	}
}

func TestItemsThatWaitForEachOtherAreFoundByACheckWithTheirPlace(t *testing.T) {
	_, err := workloads.Check("a5-dispatch-expert-combine", []string{"chain.0.after=[combine]"})
	assert.ErrorContains(t, err, "wait for each other in a circle: dispatch, experts, combine")
	assert.ErrorContains(t, err, "chain.0.after")
	_, err = workloads.Check("a5-dispatch-expert-combine", []string{"chain.2.after=[expert]"})
	assert.ErrorContains(t, err, `--set chain.2.after: "expert" is not in the chain; did you mean "experts"?`)
}

func TestWatchingWQEsChangesNoDigest(t *testing.T) {
	w, err := workloads.Load("a5-moe-decode", nil)
	require.NoError(t, err)
	plain, err := w.Run(hw.Options{})
	require.NoError(t, err)
	watched, err := w.Run(hw.Options{Watch: []hw.Watch{{Rank: 5, Peer: 2, First: 0, N: 3}}})
	require.NoError(t, err)
	assert.NotEmpty(t, watched.Result.Steps)
	assert.Equal(t, plain.Result.Digests, watched.Result.Digests)
}

// Three exchanges on AIVs of their own take as long as the longest way through them.
func TestItemsThatWaitForNobodyHaveTheBoundOfTheLongestWay(t *testing.T) {
	call := func(name, after string) string {
		return fmt.Sprintf("  - {name: %s, call: {op: all_to_all, form: incore, dtype: FP32, size: 64}, after: [%s]}\n", name, after)
	}
	outcome := func(items string) *workloads.Outcome {
		doc, err := configs.Load("test.yaml", []byte("title: t\nmachine: 950dt-64\nranks: 4\nchain:\n"+items))
		require.NoError(t, err)
		w, err := workloads.LoadDoc("test.yaml", doc, nil)
		require.NoError(t, err)
		out, err := w.Run(hw.Options{})
		require.NoError(t, err)
		require.LessOrEqual(t, out.Bound().Time, out.Result.Elapsed)
		for _, r := range out.Result.Ranks {
			require.LessOrEqual(t, r.Elapsed, out.Result.Elapsed, "what overlaps counts once")
		}
		return out
	}
	one := outcome(call("a", ""))
	assert.Equal(t, one.Bound().Time, outcome(call("a", "")+call("b", "")+call("c", "")).Bound().Time)
	assert.Equal(t, 2*one.Bound().Time, outcome(call("a", "")+call("b", "a")+call("c", "")).Bound().Time)
	assert.Equal(t, 3*one.Bound().Time, outcome(call("a", "")+call("b", "a")+call("c", "b")).Bound().Time)
}

func TestAChainDoesNotReadTheRepeatOfACall(t *testing.T) {
	_, err := workloads.Check("a5-dispatch-expert-combine", []string{"repeat.count=3"})
	assert.ErrorContains(t, err, "a chain does not read it")
}
