package collectives_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw/hwtest"
	"pldperf/hw/program"
)

func small() *collectives.Call {
	return &collectives.Call{Op: "all_to_all", Form: "incore", Ranks: 2, DType: "FP32", Size: 8}
}

func TestAChainWithUnclearNamesOrWrongCallsIsRefused(t *testing.T) {
	bad := small()
	bad.Size, bad.CoreNum = 0, 3
	_, err := collectives.Compose(2, []collectives.Item{
		{Name: "a", Call: small()}, {Name: "a", Call: small()},
		{Name: "both", Call: small(), Compute: &collectives.Compute{}}, {Name: "neither"},
		{Name: "lost", Call: small(), After: []string{"nobody"}, Signal: "no signal"},
		{Name: "eats", Compute: &collectives.Compute{Reads: []string{"air"}, Writes: []string{"sand"}}},
		{Name: "bad", Call: bad}, {Name: "what", Call: &collectives.Call{Op: "gossip"}},
	})
	for _, want := range []string{
		`two items of the chain are called "a"`, `item "both" is neither`, `item "neither" is neither`,
		`names "nobody"`, `names "no signal"`, `names "air"`, `names "sand"`,
		"core_num: all_to_all takes no core_num; it is 3", "size: 0, must be positive", `no operation "gossip"; there are all_to_all, `,
	} {
		assert.ErrorContains(t, err, want)
	}
	_, err = collectives.Compose(3, []collectives.Item{{Call: small()}})
	assert.ErrorContains(t, err, "a call of 2 ranks in a job of 3")
}

func TestItemsThatWaitForEachOtherAreRefused(t *testing.T) {
	_, err := collectives.Compose(2, []collectives.Item{
		{Name: "a", Call: small(), After: []string{"b"}}, {Name: "b", Call: small(), After: []string{"a"}},
	})
	assert.ErrorContains(t, err, "circle")
}

// order names the tasks that each task waits for.
func order(job *program.Job) map[string][]string {
	out := map[string][]string{}
	for _, t := range job.Tasks {
		for _, d := range t.After {
			out[t.Name] = append(out[t.Name], job.Tasks[d].Name)
		}
	}
	return out
}

func TestAChainOrdersProducersCallsAndConsumers(t *testing.T) {
	job := chain(t,
		collectives.Item{Name: "combine", Call: small(), After: []string{"experts"}},
		collectives.Item{Name: "dispatch", Call: small()},
		collectives.Item{Name: "gate", Compute: &collectives.Compute{Time: engine.Microsecond, Writes: []string{"dispatch"}}},
		collectives.Item{Name: "experts", Compute: &collectives.Compute{Time: engine.Microsecond, Reads: []string{"dispatch"}}},
	)
	assert.Equal(t, map[string][]string{"dispatch": {"gate"}, "experts": {"dispatch"}, "combine": {"experts"}}, order(job))
	res := ok(t, mesh(t), job)
	assert.Equal(t, res.Calls[3].End.Sub(0), res.Elapsed)
}

func TestASharedSignalOrdersItsUsersByTheList(t *testing.T) {
	job := chain(t,
		collectives.Item{Name: "a", Call: small()}, collectives.Item{Name: "b", Call: small(), Signal: "a"},
		collectives.Item{Name: "c", Call: small()}, collectives.Item{Name: "d", Call: small(), Signal: "a"},
	)
	assert.Equal(t, map[string][]string{"b": {"a"}, "d": {"a", "b"}}, order(job))
	other := small()
	other.Ranks = 2
	_, err := collectives.Compose(2, []collectives.Item{{Name: "a", Call: small()}, {Name: "b", Signal: "a", Call: indexed(3, 8, "INT8", rows(2, 4, 4, func(_, _ int) int { return 1 }))}})
	assert.ErrorContains(t, err, "b shares the signal of a, but needs 24 B and not 8 B")
}

func TestHostReadBackIsATaskOfItsOwn(t *testing.T) {
	c := small()
	c.Form = "host"
	job := chain(t, collectives.Item{Name: "x", Call: c, Repeat: collectives.Repeat{Count: 2}})
	assert.Equal(t, map[string][]string{"x read-back #0": {"x #0"}, "x #1": {"x read-back #0"}, "x read-back #1": {"x #1"}}, order(job))
	assert.True(t, job.Tasks[2].Barrier)
	c.Options.NoReadBack = true
	assert.Len(t, chain(t, collectives.Item{Name: "x", Call: c}).Tasks, 1)
}

func TestWhatTheCompilerRefusesOfAnIndexedCall(t *testing.T) {
	tab := rows(2, 4, 4, func(_, _ int) int { return 1 })
	for want, change := range map[string]func(c *collectives.Call){
		"core_num: 0, must be a positive":       func(c *collectives.Call) { c.CoreNum = 0 },
		"needs A5 URMA, the machine is a2a3":    func(c *collectives.Call) { c.Platform = "a2a3" },
		"dtype: BF16, must be FP32 or INT8":     func(c *collectives.Call) { c.DType = "BF16" },
		"transport: mte does not carry indexed": func(c *collectives.Call) { c.Options.Transport = "mte" },
		"queues: shared_pool is not supported":  func(c *collectives.Call) { c.Options.Queues = "shared_pool" },
		"S = 1 is below core_num = 2":           func(c *collectives.Call) { c.Signal = 1 },
		"hidden: 0, must be positive":           func(c *collectives.Call) { c.Hidden = 0 },
		"sges: 13 rows in an SQE, at most 12":   func(c *collectives.Call) { c.SGEs = 13 },
		"segment: 65 SQEs for a doorbell":       func(c *collectives.Call) { c.Segment = 65 },
		`piece: no choice "crumbs"`:             func(c *collectives.Call) { c.Options.Piece = "crumbs" },
		`split: no choice "odd"`:                func(c *collectives.Call) { c.Options.Split = "odd" },
		`drain: no choice "never"`:              func(c *collectives.Call) { c.Options.Drain = "never" },
		"send_counts must be a window":          func(c *collectives.Call) { c.Kinds = map[string]string{"send_counts": "tensor"} },
		`has no operand "output"`:               func(c *collectives.Call) { c.Kinds = map[string]string{"output": "tensor"} },
		"signal and recv_counts must be":        func(c *collectives.Call) { c.Same = map[string]string{"recv_counts": "signal"} },
		"target and input must be different":    func(c *collectives.Call) { c.Same = map[string]string{"target": "input"} },
		"traffic: there is none":                func(c *collectives.Call) { c.Traffic = nil },
		"traffic: of 3 ranks for a call of 2": func(c *collectives.Call) {
			c.Traffic = append(c.Traffic, rows(3, 4, 4, func(_, _ int) int { return 1 }))
		},
	} {
		c := indexed(2, 8, "INT8", tab)
		change(c)
		_, err := collectives.Compose(2, []collectives.Item{{Call: c}})
		assert.ErrorContains(t, err, want)
	}
	_, err := collectives.Lookup("indexed_all_to_all_v", "host")
	assert.ErrorContains(t, err, `no form "host"; there are l2`)
}

func TestWhatTheCompilerRefusesOfAnAllToAll(t *testing.T) {
	for want, change := range map[string]func(c *collectives.Call){
		"takes no core_num":                      func(c *collectives.Call) { c.CoreNum = 1 },
		`dtype: no type "FP8"`:                   func(c *collectives.Call) { c.DType = "FP8" },
		"the HOST builtin takes FP32, not INT8":  func(c *collectives.Call) { c.Form, c.DType = "host", "INT8" },
		"chunk_cols: the HOST builtin cuts":      func(c *collectives.Call) { c.Form, c.ChunkCols = "host", 8 },
		"the signal of all_to_all is [P]":        func(c *collectives.Call) { c.Signal = 2 },
		"input must be a window":                 func(c *collectives.Call) { c.Form, c.Kinds = "host", map[string]string{"input": "tensor"} },
		"target must be a window":                func(c *collectives.Call) { c.Kinds = map[string]string{"target": "tensor"} },
		"target and signal must be different wi": func(c *collectives.Call) { c.Same = map[string]string{"signal": "target"} },
	} {
		c := small()
		change(c)
		_, err := collectives.Compose(2, []collectives.Item{{Call: c}})
		assert.ErrorContains(t, err, want)
	}
	c := small()
	c.Kinds = map[string]string{"input": "window"}
	_, err := collectives.Compose(2, []collectives.Item{{Call: c}})
	assert.NoError(t, err, "an in-core input may be either")
}

func TestAStageThatDoesNotFitNamesTheColumnsThatDo(t *testing.T) {
	usable := hwtest.Machine(t, "950dt-64").UB.Usable
	c := small()
	c.Size = 100_000
	assert.ErrorContains(t, c.CheckBuffer(usable), "set chunk_cols to at most 63488")
	c.ChunkCols = 63488
	assert.NoError(t, c.CheckBuffer(usable))
	c.ChunkCols, c.Form = 0, "host"
	assert.NoError(t, c.CheckBuffer(usable), "the HOST form cuts tiles itself")
}

func TestEachAlgorithmSaysWhatItIs(t *testing.T) {
	require.GreaterOrEqual(t, len(collectives.All()), 4)
	for _, a := range collectives.All() {
		assert.NotEmpty(t, a.Doc)
		assert.NotEmpty(t, a.Formulas)
		got, err := collectives.Lookup(a.Op, a.Form)
		require.NoError(t, err)
		assert.Same(t, a, got)
		assert.Contains(t, collectives.Ops(), a.Op)
		assert.Contains(t, collectives.Forms(a.Op), a.Form)
	}
}
