package workloads

import (
	"fmt"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// CallCost is what one call of a workload costs by its formulas and by its recorded
// program: nothing is simulated. The call is the first timed one of its item.
type CallCost struct {
	Name      string // of the item; empty in a workload without a chain
	Call      *collectives.Call
	Algorithm *collectives.Algorithm
	Ranks     []result.Counters // predicted; Unknown where there is no formula
	Bytes     []engine.Bytes    // given by each rank to all ranks, itself included
	Bounds    []collectives.Bound
	Barriers  []int64 // by rank: how often its first block waits for every peer
	Waits     []int64 // by rank: waits of all blocks for one cell
	Polls     []int64 // by rank: cells that all blocks wait for, one by one
	Phases    []string
	Note      string // why the call does nothing, if so
}

// Costs returns the cost of each call, in the chain's order.
func (w *Workload) Costs() ([]CallCost, error) {
	limits, err := w.Config.Machine.Limits(w.Config.Ranks)
	if err != nil {
		return nil, err
	}
	var out []CallCost
	for i := range w.items {
		it := &w.items[i]
		if it.Call == nil {
			continue
		}
		a, err := collectives.Lookup(it.Call.Op, it.Call.Form)
		if err != nil {
			return nil, err
		}
		c := CallCost{Name: it.Name, Call: it.Call, Algorithm: a, Bounds: a.Bounds(it.Call, &limits, it.Repeat.Warmup)}
		for r := range w.Config.Ranks {
			c.Ranks = append(c.Ranks, a.Formula(it.Call, r, it.Repeat.Warmup))
			c.Bytes = append(c.Bytes, a.Bytes(it.Call, r, it.Repeat.Warmup))
		}
		if err := c.program(w.Config.Ranks); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// program counts in the recorded program what no counter shows.
func (c *CallCost) program(ranks int) error {
	job, err := collectives.Compose(ranks, []collectives.Item{{Name: "call", Call: c.Call}})
	if err != nil {
		return err
	}
	c.Barriers, c.Waits, c.Polls = make([]int64, ranks), make([]int64, ranks), make([]int64, ranks)
	for t := range job.Tasks {
		task := &job.Tasks[t]
		if task.Program == nil || task.Repeat > 0 {
			continue
		}
		for r := range ranks {
			for b := range task.Blocks {
				c.count(task.Program, r, b)
			}
		}
		c.describe(task.Program)
	}
	return nil
}

// count adds the waits of one block.
func (c *CallCost) count(p *program.Program, rank, block int) {
	for i, n := range p.Times(rank, block) {
		n = max(n, 0)
		switch p.Ops[i].Kind {
		case program.WaitPeers:
			c.Polls[rank] += n * int64(len(c.Polls)-1)
			if block == 0 {
				c.Barriers[rank] += n
			}
		case program.Wait:
			c.Polls[rank] += n
			c.Waits[rank] += n
		}
	}
}

// describe lists the phases of a program, and why it returns early.
func (c *CallCost) describe(p *program.Program) {
	for i := range p.Ops {
		o := &p.Ops[i]
		if n := len(c.Phases); n == 0 || c.Phases[n-1] != o.Phase {
			c.Phases = append(c.Phases, o.Phase)
		}
		if o.Kind == program.Return {
			c.Note = o.Note
		}
	}
}

// CostInputs lists what the costs depend on: machine, ranks, and for each call what it is.
func (w *Workload) CostInputs() []Input {
	c := &w.Config
	out := []Input{{"machine", c.Machine.Name + ": " + c.Machine.Title}, {"fabric", c.Machine.Fabric.Kind}, {"ranks", fmt.Sprint(c.Ranks)}}
	for _, it := range w.items {
		if it.Call == nil {
			continue
		}
		out = append(out, Input{named("call", it.Name), describe(it.Call)})
		if it.routing != nil {
			out = append(out, Input{named("routing", it.Name), it.routing.String()})
		}
	}
	return out
}
