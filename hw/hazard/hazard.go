// Package hazard finds what is right by luck: accesses that the protocol of a program
// does not order, whichever way the timing of this one run has fallen. It gives each AIV
// a vector clock, which says what of the others' work is known to be over, and joins
// clocks where the real protocol joins them and nowhere else: along the ops of a block,
// from a task's end to the start of those that wait for it, from a notify to the wait
// that it satisfies, from a remote store to the block's fence, from what the NIC does to
// the block that reads the CQE. For each byte it remembers who wrote it last and who has
// used it since; an access that does not know one of those to be over, where one of the
// two writes, is a hazard. All that an op touches is looked at when the op begins: what
// comes before it in that order has begun before it, so no order is lost, and the checker
// needs no events of its own. It only watches: no time and no data depend on it, and of a
// nil *Checker and a nil *Thread every method does nothing.
package hazard

import (
	"pldperf/engine"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// Checker watches one run.
type Checker struct {
	job    *program.Job
	eng    *engine.Engine
	mem    *memory.Space
	lanes  lanes
	whos   []who // all that have done anything
	tasks  []task
	bufs   []buffer
	queues map[queue]mark // where the last exchange on each was closed
	found  []result.Hazard
	groups map[group]int // their places in found
	now    access        // that is being looked at
	read   func(*span)   // of now
	touch  func(*span)
	over   func(*reading)
	idle   []*Thread // that have ended
	used   used
}

// who is an AIV, or the caller of a task on a rank.
type who struct {
	task, rank, block int32
	program           *program.Program
}

// caller is the block of who works around a task on a rank: its producers before it, and
// its consumers behind it.
const caller = -1

// buffer is what is known of a job's buffer.
type buffer struct {
	written bool      // by something during the run; else nothing can be wrong with it
	shadows []*shadow // by rank, made at first touch
	cells   [][]cell  // by rank, of a signal
}

// queue is the send queue of a rank to a peer.
type queue struct{ rank, peer int32 }

// New returns a checker for a run of job, whose buffers have the same numbers in mem.
func New(job *program.Job, eng *engine.Engine, mem *memory.Space) *Checker {
	c := &Checker{job: job, eng: eng, mem: mem, queues: map[queue]mark{}, groups: map[group]int{}}
	c.read, c.touch, c.over = c.now.compare, c.now.touch, c.now.over
	c.now.c = c
	c.lanes.free = make([][]slot, job.Ranks)
	c.bufs = make([]buffer, len(job.Buffers))
	c.plan()
	return c
}

// shadow returns the past of a rank's buffer.
func (c *Checker) shadow(b program.Buf, rank int) *shadow {
	x := &c.bufs[b]
	if x.shadows == nil {
		x.shadows = make([]*shadow, c.job.Ranks)
	}
	if x.shadows[rank] == nil {
		x.shadows[rank] = &shadow{}
	}
	return x.shadows[rank]
}

// Hazards returns what has been found, in the order in which each was first seen.
func (c *Checker) Hazards() []result.Hazard {
	if c == nil {
		return nil
	}
	return c.found
}
