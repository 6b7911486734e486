package workloads_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/workloads"
)

// small are workloads whose calls use different parts of the machine.
var small = map[string][]string{
	"urma rows":      {"a5-moe-decode", "routing.tokens=8"},
	"urma ideal":     {"a5-moe-decode", "routing.tokens=8", "machine.urma.kind=ideal"},
	"clos":           {"a5-moe-decode", "routing.tokens=8", "machine=950dt-64-clos"},
	"ideal parts":    {"a5-moe-decode", "routing.tokens=8", "machine.fabric.kind=ideal", "machine.memory.kind=ideal", "machine.ub.kind=ideal", "machine.aiv.poll.kind=ideal"},
	"rows by mte":    {"a5-moe-decode", "routing.tokens=8", "call.transport=mte", "call.what_if=true"},
	"rows by sdma":   {"a5-moe-decode", "routing.tokens=8", "call.transport=sdma", "call.what_if=true"},
	"sdma ideal":     {"a5-moe-decode", "routing.tokens=8", "call.transport=sdma", "call.what_if=true", "machine.sdma.kind=ideal"},
	"hand":           {"all-to-all-p4"},
	"hand by urma":   {"all-to-all-p4", "call.transport=urma", "call.what_if=true"},
	"hand by sdma":   {"all-to-all-p4", "call.transport=sdma", "call.what_if=true"},
	"sum":            {"all-to-all-p4", "call.op=allreduce/ring_hand"},
	"largest":        {"all-to-all-p4", "call.op=allreduce/mesh_host", "call.reduce=Max"},
	"product, ideal": {"all-to-all-p4", "call.op=reduce_scatter", "call.reduce=Prod", "machine.aiv.vector.kind=ideal"},
	"product":        {"all-to-all-p4", "call.op=reduce_scatter", "call.reduce=Prod"},
	"get":            {"all-to-all-p4", "call={op: micro, form: hcomm_get, size: 64}"},
	"storm":          {"all-to-all-p4", "call={op: micro, form: atomic_storm, core_num: 4, ops: 64, targets: 64, returns: true}"},
	"storm, a line":  {"all-to-all-p4", "call={op: micro, form: atomic_storm, core_num: 4, ops: 128, targets: 128, returns: true}"},
	"cores":          {"all-to-all-p4", "call={op: micro, form: core_barrier, core_num: 4}"},
	"rows of a tile": {"all-to-all-p4", "call={op: micro, form: mte_rows, rows: 64, size: 64}"},
	"matrix":         {"all-to-all-p4", "call={op: micro, form: local_add, core_num: 4, rows: 64, size: 512, chunk_rows: 16, chunk_cols: 32}"},
	"dead link":      {"a5-moe-decode", "routing.tokens=8", "faults=[{kind: dead_link, src: 0, dst: 1}]"},
	"deferred":       {"all-to-all-p4", "call.op=allgather/defer"},
	"launch":         {"all-to-all-p4", "call={op: micro, form: launch}"},
	"barrier":        {"all-to-all-p4", "call={op: barrier}"},
}

// other returns another value of a machine's parameter; empty where there is none.
func other(p configs.Param) string {
	v, kind := engine.ReadQuantity(p.Value)
	switch {
	case strings.HasSuffix(p.Path, ".kind") || kind == nil:
		return map[string]string{"real": "ideal", "shared": "ideal", "backoff": "ideal", "no": "yes", "bypass": "allocate", "spray": "hash"}[p.Value]
	case strings.HasSuffix(p.Path, "depth") || strings.HasSuffix(p.Path, "capacity"):
		return kind.Print(v / 2)
	case strings.HasSuffix(p.Path, "max_sges") || strings.HasSuffix(p.Path, "stages"):
		return kind.Print(v - 1)
	case strings.HasSuffix(p.Path, "efficiency"):
		return kind.Print(v / 2)
	case strings.HasSuffix(p.Path, "usable") || strings.HasSuffix(p.Path, "aiv.count"):
		return ""
	}
	return kind.Print(v*3/2 + 1)
}

// eventsOf is what happens in a run, or why it cannot be done.
func eventsOf(name string, sets []string) string {
	w, err := workloads.Load(name, sets)
	if err != nil {
		return err.Error()
	}
	out, err := w.Run(hw.Options{})
	if err != nil {
		return err.Error()
	}
	return out.Result.Digests.Events
}

// unreadIn reports whether a workload says that nothing reads a path.
func unreadIn(w *workloads.Workload, path string) bool {
	return slices.ContainsFunc(w.Unread(), func(u configs.Problem) bool { return u.Path == path || strings.HasPrefix(path, u.Path+".") })
}

func TestWhatNothingReadsChangesNothingAndAllElseIsReadSomewhere(t *testing.T) {
	somewhere := map[string]bool{}
	for what, x := range small {
		w, err := workloads.Load(x[0], x[1:])
		require.NoError(t, err, what)
		before := eventsOf(x[0], x[1:])
		for _, p := range w.Doc.Params("machine") {
			value := other(p)
			if value == "" {
				continue
			}
			sets := append(slices.Clone(x[1:]), p.Path+"="+value)
			set, err := workloads.Check(x[0], sets)
			if err != nil {
				continue // something reads it and refuses the value
			}
			if unreadIn(set, p.Path) {
				assert.Equal(t, before, eventsOf(x[0], sets), "%s: %s is said not to be read, but %s changes what happens", what, p.Path, value)
			} else {
				somewhere[p.Path] = true
			}
		}
	}
	w, err := workloads.Check("a5-moe-decode", nil)
	require.NoError(t, err)
	for _, p := range w.Doc.Params("machine") {
		assert.True(t, somewhere[p.Path] || other(p) == "", "no workload here reads %s", p.Path)
	}
}
