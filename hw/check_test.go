package hw_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/hwtest"
	"pldperf/hw/program"
)

func TestEverythingThatIsWrongWithAJobIsReportedAtOnce(t *testing.T) {
	job := &program.Job{
		Ranks: 2, Offsets: []engine.Duration{0, -1}, Slow: []engine.Fraction{1, 1, 1},
		Tasks: []program.Task{
			{Name: "wide", Blocks: 65}, {Name: "none", Blocks: 0},
			{Name: "early", Blocks: 1, After: []int{2}}, {Name: "back", Blocks: 1, Compute: -1},
		},
		Faults: []program.Fault{{Kind: "gremlin", Dst: 1}, {Kind: "cqe_status", Dst: 1, Value: 256}, {Kind: "dead_link", Src: 1, Dst: 1}, {Kind: "drop_notify", Src: 2}},
	}
	_, err := hw.Run(hwtest.Machine(t, "950dt-64"), job, hw.Options{EventQueue: "lifo", Payload: "guess", Watch: []hw.Watch{{Rank: 0, Peer: 2}}})
	for _, want := range []string{
		`unknown event queue "lifo"`, `no payload representation "guess"`, "watch: no queue from rank 0 to rank 2",
		"core_num 65 exceeds the 64 AIVs that 950dt-64 can start together", "none: 0 blocks", "task 2 cannot wait for task 2",
		"back: a time of", "skew: 3 values for 2 ranks", "skew: rank 1 starts at", `no fault "gremlin"`, "status 256",
		"dead_link: no queue from rank 1 to rank 1", "drop_notify: no queue from rank 2 to rank 0",
	} {
		assert.ErrorContains(t, err, want)
	}
	_, err = hw.Run(hwtest.Machine(t, "950dt-64"), &program.Job{}, hw.Options{})
	assert.ErrorContains(t, err, "a job of 0 ranks")
}

func TestBuffersThatDoNotFitInHBMAreRefused(t *testing.T) {
	job := &program.Job{Ranks: 1, Buffers: []program.Buffer{{Name: "big", Size: 2 << 30}}}
	_, err := hw.Run(hwtest.Machine(t, "950dt-64", "memory.hbm.capacity=1 GiB"), job, hw.Options{})
	assert.ErrorContains(t, err, "buffer big: 2 GiB more does not fit in 1 GiB of HBM")
}

func TestAMeshWithoutEnoughPortsIsRefused(t *testing.T) {
	_, err := hw.Run(hwtest.Machine(t, "950dt-64"), &program.Job{Ranks: 20}, hw.Options{})
	assert.ErrorContains(t, err, "fabric.mesh.ports")
}

// grown returns the bytes that f allocates in all.
func grown(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// silent is a traffic without rows.
type silent int

func (x silent) Ranks() int             { return int(x) }
func (x silent) Tokens() int            { return 1 }
func (x silent) Capacity() int          { return 1 }
func (x silent) Count(int, int) int     { return 0 }
func (x silent) Index(int, int) []int32 { return nil }

func TestMemoryGrowsWithSignalCellsAndBlocksAndNotWithQueuesThatNobodyTouches(t *testing.T) {
	const ranks, blocks, calls = 128, 8, 2
	c := &collectives.Call{Op: "indexed_all_to_all_v", Form: "l2", Ranks: ranks, CoreNum: blocks, DType: "INT8", Hidden: 64, Traffic: []collectives.Traffic{silent(ranks)}}
	job, err := collectives.Compose(ranks, []collectives.Item{{Call: c, Repeat: collectives.Repeat{Count: calls}}})
	require.NoError(t, err)
	spec := hwtest.Machine(t, "950dt-64-clos")
	cells, started := uint64(ranks*ranks*blocks), uint64(ranks*blocks*calls)
	lean := func() {
		_, err := hw.Run(spec, job, hw.Options{Path: "off"}) // a record grows with events
		require.NoError(t, err)
	}
	// A core is 3.4 KiB; the rest is its account and, under the race detector, what encoding/json
	// allocates anew for the digest because sync.Pool then forgets on purpose.
	assert.Less(t, grown(lean), 8*cells+16*ranks*ranks+5<<10*started, "cells with their sectors, links, and the cores with their accounts")
}
