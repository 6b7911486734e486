package collectives

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"pldperf/engine"
	"pldperf/hw/program"
)

// Item is one element of a chain: a collective, or computation between collectives.
type Item struct {
	Name    string
	Call    *Call
	Compute *Compute
	After   []string // items that must end first
	Signal  string   // item whose signal it shares: an InOut dependency (S-90)
	Window  string   // item whose target it shares: another InOut dependency
	Kernel  string   // items that name the same kernel are one program
	Repeat  Repeat
}

// Compute is work of the upper layers: it occupies AIVs for a time.
type Compute struct {
	Time   engine.Duration
	Blocks int
	Reads  []string // calls whose result it consumes: it runs after them
	Writes []string // calls whose input it produces: they run after it
}

// Repeat calls an item several times on the same windows.
type Repeat struct {
	Count   int    // timed calls; 0 is 1
	Warmup  int    // calls before them that are not timed
	Between string // "none", "barrier" or "reset": what separates two calls
	Same    bool   // inputs are not rewritten between calls
}

// Plan collects the buffers and tasks of a job.
type Plan struct {
	Job     program.Job
	item    *Item
	names   map[string]program.Buf // by item and operand
	tail    map[string]int         // last task of each item
	kernels map[string]int         // task of each kernel
	err     error
}

// Compose turns a chain into a job. What the compiler would refuse is an error.
func Compose(ranks int, items []Item) (*program.Job, error) {
	if err := checkItems(ranks, items); err != nil {
		return nil, err
	}
	order, err := sortItems(items)
	if err != nil {
		return nil, err
	}
	p := &Plan{Job: program.Job{Ranks: ranks}, names: map[string]program.Buf{}, tail: map[string]int{}, kernels: map[string]int{}}
	for _, i := range order {
		if err := p.add(&items[i], items); err != nil {
			return nil, err
		}
	}
	return &p.Job, nil
}

// checkItems reports names that are not there or not clear, and calls that are wrong.
func checkItems(ranks int, items []Item) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	names := map[string]bool{}
	for i := range items {
		it := &items[i]
		if names[it.Name] {
			bad("two items of the chain are called %q", it.Name)
		}
		names[it.Name] = true
		if (it.Call == nil) == (it.Compute == nil) {
			bad("item %q is neither a call nor a computation, or both", it.Name)
		}
		if it.Call != nil {
			errs = append(errs, it.Call.check(ranks)...)
		}
	}
	for i := range items {
		for _, name := range items[i].refers() {
			if !names[name] {
				bad("item %q names %q, which is not in the chain", items[i].Name, name)
			}
		}
	}
	CheckKernels(items, func(_ int, format string, args ...any) { bad("kernel: "+format, args...) })
	return errors.Join(errs...)
}

// check reports what is wrong with a call on so many ranks.
func (c *Call) check(ranks int) []error {
	a, err := Lookup(c.Op, c.Form)
	if err != nil {
		return []error{err}
	}
	errs := append(a.Check(c), a.checkMistake(c)...)
	if c.Ranks != ranks {
		errs = append(errs, fmt.Errorf("ranks: a call of %d ranks in a job of %d", c.Ranks, ranks))
	}
	return errs
}

// refers lists the items that an item names.
func (it *Item) refers() []string {
	out := slices.Clone(it.After)
	if it.Signal != "" {
		out = append(out, it.Signal)
	}
	if it.Window != "" {
		out = append(out, it.Window)
	}
	if it.Compute != nil {
		out = append(append(out, it.Compute.Reads...), it.Compute.Writes...)
	}
	return out
}

// sortItems orders items so that what an item waits for comes first; order in the
// list decides among the rest.
func sortItems(items []Item) ([]int, error) {
	var order []int
	placed := map[string]bool{}
	for len(order) < len(items) {
		n := len(order)
		for i := range items {
			it := &items[i]
			if placed[it.Name] {
				continue
			}
			ok := true
			for _, d := range Waits(it, items) {
				ok = ok && placed[d]
			}
			if ok {
				placed[it.Name] = true
				order = append(order, i)
			}
		}
		if len(order) == n {
			return nil, &CircleError{unplaced(items, placed)}
		}
	}
	return order, nil
}

// CircleError is a chain whose items wait for each other.
type CircleError struct{ Items []string }

func (e *CircleError) Error() string {
	return fmt.Sprintf("the chain's items wait for each other in a circle: %s", strings.Join(e.Items, ", "))
}

// unplaced lists the items of a circle, and those that wait for them.
func unplaced(items []Item, placed map[string]bool) (out []string) {
	for i := range items {
		if !placed[items[i].Name] {
			out = append(out, items[i].Name)
		}
	}
	return out
}

// Ordered returns a *CircleError when items can never all run.
func Ordered(items []Item) error {
	_, err := sortItems(items)
	return err
}

// Waits returns the items that must end before it begins: what it names, what it
// reads, who writes its input, and earlier users of its signal or its window.
func Waits(it *Item, items []Item) []string {
	deps := slices.Clone(it.After)
	if it.Compute != nil {
		deps = append(deps, it.Compute.Reads...)
	}
	before := true
	for i := range items {
		o := &items[i]
		if o.Name == it.Name {
			before = false
			continue
		}
		if o.Compute != nil && it.Call != nil && slices.Contains(o.Compute.Writes, it.Name) {
			deps = append(deps, o.Name)
		}
		if before && o.Call != nil && it.Call != nil && (signalOf(o) == signalOf(it) || windowOf(o) == windowOf(it)) {
			deps = append(deps, o.Name)
		}
	}
	slices.Sort(deps)
	return slices.Compact(deps)
}

func signalOf(it *Item) string {
	if it.Signal != "" {
		return it.Signal
	}
	return it.Name
}

func windowOf(it *Item) string {
	if it.Window != "" {
		return it.Window
	}
	return it.Name
}

func (p *Plan) add(it *Item, items []Item) error {
	var after []int
	for _, d := range Waits(it, items) {
		after = append(after, p.tail[d])
	}
	p.item = it
	if it.Compute != nil {
		p.tail[it.Name] = p.push(program.Task{
			Name: it.Name, Op: "compute", Blocks: max(it.Compute.Blocks, 1), Compute: it.Compute.Time, After: after, Timed: true,
			Reads: p.results(it.Compute.Reads),
		})
		return nil
	}
	a, err := Lookup(it.Call.Op, it.Call.Form)
	if err != nil {
		return err
	}
	first := len(p.Job.Tasks)
	if a.Record(p, it.Call); p.err != nil {
		return p.err
	}
	if err := p.spoil(a, it.Call, first); err != nil {
		return err
	}
	task, err := p.fuse(it, first)
	if err != nil {
		return err
	}
	p.tail[it.Name] = task
	if first < len(p.Job.Tasks) { // else it has become part of a kernel, which waits already
		t := &p.Job.Tasks[first]
		t.After = append(t.After, after...)
	}
	return nil
}

// results are the buffers in which calls leave what they promise.
func (p *Plan) results(calls []string) (out []program.Buf) {
	for _, name := range calls {
		for _, q := range p.Job.Tasks[p.tail[name]].Promises {
			if !slices.Contains(out, q.Buf) {
				out = append(out, q.Buf)
			}
		}
	}
	return out
}

func (p *Plan) push(t program.Task) int {
	p.Job.Tasks = append(p.Job.Tasks, t)
	return len(p.Job.Tasks) - 1
}

// buffer makes, or finds, the buffer of an operand. Items of a chain have buffers
// of their own, except for a shared signal.
func (p *Plan) buffer(operand string, b program.Buffer) program.Buf {
	owner := p.item.Name
	switch operand {
	case "signal":
		owner = signalOf(p.item)
	case "target":
		owner = windowOf(p.item)
	}
	key := owner + "." + operand
	if id, ok := p.names[key]; ok {
		if p.Job.Buffers[id].Size != b.Size {
			p.err = fmt.Errorf("%s shares the %s of %s, but needs %v and not %v", p.item.Name, operand, owner, b.Size, p.Job.Buffers[id].Size)
		}
		return id
	}
	b.Name = operand
	if owner != "" {
		b.Name = key
	}
	id := program.Buf(len(p.Job.Buffers))
	p.Job.Buffers = append(p.Job.Buffers, b)
	p.names[key] = id
	return id
}

// calls repeats a call's tasks: make returns them for one repetition.
func (p *Plan) calls(make func(repeat int) []program.Task, windows []program.Buf, refill func(repeat int) []program.Rewrite) {
	rp := p.item.Repeat
	prev := -1
	for k := range rp.Warmup + max(rp.Count, 1) {
		for i, t := range make(k) {
			t.Repeat, t.Timed = k, k >= rp.Warmup
			if rp.Warmup+rp.Count > 1 {
				t.Name = fmt.Sprintf("%s #%d", t.Name, k)
			}
			if prev >= 0 {
				t.After = append(t.After, prev)
			}
			if i == 0 && k > 0 {
				t.Barrier = rp.Between != "none" || k <= rp.Warmup
				if rp.Between == "reset" {
					for _, w := range windows {
						t.Before = append(t.Before, program.Rewrite{Buf: w, Zero: true})
					}
				}
				if !rp.Same {
					t.Before = append(t.Before, refill(k)...)
				}
			}
			prev = p.push(t)
		}
	}
}

// version returns the version that the input has in a repetition, and history the
// first repetition whose rows a window may still hold.
func (p *Plan) version(repeat int) uint32 {
	if p.item.Repeat.Same {
		return 0
	}
	return uint32(repeat)
}

func (p *Plan) history(repeat int) int {
	if p.item.Repeat.Between == "reset" {
		return repeat
	}
	return 0
}
