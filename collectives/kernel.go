package collectives

import (
	"fmt"
	"slices"
	"strings"

	"pldperf/hw/program"
)

// Several collectives in one kernel: items of a chain that name the same kernel are
// recorded one behind the other into one program, as a user writes them into one InCore
// function (tutorial, step 21). They share the launch, the block and, if they say so,
// a signal or a window; nothing orders them but their own barriers.

// CheckKernels reports items that cannot be in the kernel that they name.
func CheckKernels(items []Item, report func(item int, format string, args ...any)) {
	for i := range items {
		it := &items[i]
		if it.Kernel == "" {
			continue
		}
		first := slices.IndexFunc(items, func(o Item) bool { return o.Kernel == it.Kernel })
		switch {
		case it.Call == nil:
			report(i, "%q is a computation: a kernel holds calls", it.Name)
		case first < i && items[i-1].Kernel != it.Kernel:
			report(i, "%q does not stand next to the other items of %s", it.Name, it.Kernel)
		case it.Repeat.Count > 1 || it.Repeat.Warmup > 0:
			report(i, "%q is repeated: repeat it as items of the kernel", it.Name)
		case it.Call.Blocks() != 1:
			report(i, "%q takes %d blocks: a kernel of several collectives is one block", it.Name, it.Call.Blocks())
		case slices.ContainsFunc(apart, func(word string) bool { return strings.Contains(it.Call.Form, word) }):
			report(i, "%q is a task of its own in its %s form; hand and InCore forms can share a kernel", it.Name, it.Call.Form)
		}
		if first == i {
			continue
		}
		for _, name := range Waits(it, items) {
			if !inKernel(items, name, it.Kernel) {
				report(i, "%q waits for %q: only the first item of %s can wait for what is not in it", it.Name, name, it.Kernel)
			}
		}
	}
}

// apart are the words in the forms of collectives that are tasks of their own.
var apart = []string{"host", "l2", "defer"}

func inKernel(items []Item, name, kernel string) bool {
	return slices.ContainsFunc(items, func(o Item) bool { return o.Name == name && o.Kernel == kernel })
}

// fuse moves what an item has recorded from task first on into its kernel's task, if the
// kernel has begun, and returns the item's task.
func (p *Plan) fuse(it *Item, first int) (task int, err error) {
	if it.Kernel == "" {
		return len(p.Job.Tasks) - 1, nil
	}
	added := &p.Job.Tasks[first]
	if len(p.Job.Tasks) != first+1 || added.Program == nil {
		return 0, fmt.Errorf("kernel: item %q is %d tasks in its %s form; hand and InCore forms are one, which can share a kernel", it.Name, len(p.Job.Tasks)-first, it.Call.Form)
	}
	added.Program = named(it.Name, added.Program)
	base, begun := p.kernels[it.Kernel]
	if !begun {
		p.kernels[it.Kernel] = first
		added.Name = it.Kernel
		return first, nil
	}
	t := &p.Job.Tasks[base]
	t.Program.Ops = append(t.Program.Ops, added.Program.Ops...)
	t.Op = "kernel"
	t.Before = append(t.Before, added.Before...)
	t.Zero = append(t.Zero, added.Zero...)
	t.Reads = append(t.Reads, added.Reads...)
	t.Promises = slices.DeleteFunc(t.Promises, func(old program.Promise) bool { // it is overwritten
		return slices.ContainsFunc(added.Promises, func(q program.Promise) bool { return q.Buf == old.Buf })
	})
	t.Promises = append(t.Promises, added.Promises...)
	p.Job.Tasks = p.Job.Tasks[:first]
	return base, nil
}

// named returns a copy of a program whose phases say which item they belong to.
func named(item string, text *program.Program) *program.Program {
	out := &program.Program{Name: text.Name, Ops: slices.Clone(text.Ops)}
	for i := range out.Ops {
		out.Ops[i].Phase = item + ": " + out.Ops[i].Phase
	}
	return out
}
