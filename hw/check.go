package hw

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"pldperf/engine"
	"pldperf/hw/program"
)

// maxRanks bounds what the machine's numbering of events and signal cells can hold.
const maxRanks = 1 << 16

// maxConditions bounds the conditions of a task's deferred wait, and the tasks that have
// any (semantics 3.2).
const maxConditions = 64

// problems collects everything that is wrong with a job.
type problems []error

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Errorf(format, args...)) }

// check reports what cannot be run, before anything is made.
func check(spec *Spec, job *program.Job, opt *Options) error {
	var p problems
	if err := (engine.Options{Queue: opt.EventQueue}).Check(); err != nil {
		p = append(p, err)
	}
	if !slices.Contains([]string{"", "auto", "bytes", "provenance"}, opt.Payload) {
		p.add("no payload representation %q; there are bytes, provenance and auto", opt.Payload)
	}
	if !slices.Contains([]string{"", "auto", "on", "off"}, opt.Hazards) {
		p.add("hazards: %q; there are on, off and auto", opt.Hazards)
	}
	if !slices.Contains([]string{"", "auto", "on", "parts", "off"}, opt.Path) {
		p.add("path: %q; there are on, parts, off and auto", opt.Path)
	}
	if opt.Payload == "provenance" && job.Computes() {
		p.add("payload as provenance: the job computes with its payload, which needs real bytes")
	}
	if job.Ranks < 1 || job.Ranks > maxRanks {
		p.add("a job of %d ranks; there can be 1 to %d", job.Ranks, maxRanks)
		return errors.Join(p...)
	}
	for _, w := range opt.Watch {
		p.pair("watch", job, w.Rank, w.Peer)
		if w.First < 0 || w.N < 0 {
			p.add("watch: WQEs %d and %d more", w.First, w.N)
		}
	}
	deferred := 0
	for i := range job.Tasks {
		p.task(spec, job, i)
		deferred += min(len(job.Tasks[i].Until), 1)
	}
	if deferred > maxConditions {
		p.add("%d tasks have a deferred wait, at most %d", deferred, maxConditions)
	}
	p.skew(job)
	for _, f := range job.Faults {
		p.fault(job, f)
	}
	return errors.Join(p...)
}

// pair checks that two numbers are different ranks.
func (p *problems) pair(what string, job *program.Job, src, dst int) {
	if min(src, dst) < 0 || max(src, dst) >= job.Ranks || src == dst {
		p.add("%s: no queue from rank %d to rank %d among %d ranks", what, src, dst, job.Ranks)
	}
}

// task checks a task's place in the job and its width against the AIVs that can
// start together (S-48).
func (p *problems) task(spec *Spec, job *program.Job, i int) {
	t := &job.Tasks[i]
	if t.Blocks < 1 {
		p.add("%s: %d blocks, must be positive", t.Name, t.Blocks)
	}
	if limit := spec.AIV.Limit(); t.Blocks > limit {
		p.add("%s: core_num %d exceeds the %d AIVs that %s can start together (require_sync_start, code 7)", t.Name, t.Blocks, limit, spec.Name)
	}
	p.carriers(spec, t)
	for _, d := range t.After {
		if d < 0 || d >= i {
			p.add("%s: task %d cannot wait for task %d: tasks follow those that they wait for", t.Name, i, d)
		}
	}
	if len(t.Until) > maxConditions {
		p.add("%s: %d conditions of a deferred wait, at most %d", t.Name, len(t.Until), maxConditions)
	}
	for _, w := range t.Until {
		if w.Value < 0 || w.Value > math.MaxInt32 {
			p.add("%s: a deferred wait for %d, must be in [0, 2^31-1]", t.Name, w.Value)
		}
	}
	if t.Compute < 0 {
		p.add("%s: a time of %v", t.Name, t.Compute)
	}
}

func (p *problems) skew(job *program.Job) {
	if n := max(len(job.Offsets), len(job.Slow)); n > job.Ranks {
		p.add("skew: %d values for %d ranks", n, job.Ranks)
	}
	for r, d := range job.Offsets {
		if d < 0 {
			p.add("skew: rank %d starts at %v", r, d)
		}
	}
	for r, f := range job.Slow {
		if f < 0 {
			p.add("skew: rank %d is slowed down by %v", r, f)
		}
	}
}

func (p *problems) fault(job *program.Job, f program.Fault) {
	switch f.Kind {
	case "dead_link", "drop_notify":
	case "cqe_status":
		if f.Value < 1 || f.Value > math.MaxUint8 {
			p.add("fault cqe_status: status %d, must be 1 to %d", f.Value, math.MaxUint8)
		}
	default:
		p.add("no fault %q; there are cqe_status, dead_link and drop_notify", f.Kind)
	}
	if f.Nth < 0 {
		p.add("fault %s: number %d", f.Kind, f.Nth)
	}
	p.pair("fault "+f.Kind, job, f.Src, f.Dst)
}
