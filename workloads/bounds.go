package workloads

import (
	"slices"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
)

// chainBounds adds up the bounds of the items of a chain, part by part, along what they
// wait for: items that do not wait for each other run at once, so of those the longest
// counts.
func chainBounds(items []item, limits *hw.Limits) ([]collectives.Bound, error) {
	plain := make([]collectives.Item, len(items))
	for i := range items {
		plain[i] = items[i].Item
	}
	paths := map[string][]collectives.Bound{} // by item: the longest way to its end
	var all []collectives.Bound
	for range items { // an item can stand before those that it waits for
		for i := range items {
			own, err := itemBounds(items, i, limits)
			if err != nil {
				return nil, err
			}
			var before []collectives.Bound
			for _, name := range predecessors(plain, i) {
				before = larger(before, paths[name])
			}
			paths[plain[i].Name] = sum(own, before)
		}
		if len(items) == 1 {
			break
		}
	}
	for i := range items {
		all = larger(all, paths[plain[i].Name])
	}
	return all, nil
}

// predecessors returns what an item waits for, which in a kernel is the item before it.
func predecessors(items []collectives.Item, i int) []string {
	out := collectives.Waits(&items[i], items)
	if k := items[i].Kernel; k != "" && i > 0 && items[i-1].Kernel == k {
		out = append(out, items[i-1].Name)
	}
	return out
}

// itemBounds are those of an item's timed calls, one behind the other. One that is not
// the first of its kernel is not launched.
func itemBounds(items []item, i int, limits *hw.Limits) ([]collectives.Bound, error) {
	it := &items[i]
	if it.Call == nil {
		return []collectives.Bound{{Name: "latency", Time: limits.Launch(max(it.Compute.Blocks, 1)) + it.Compute.Time, Text: "launch and computation"}}, nil
	}
	a, err := collectives.Lookup(it.Call.Op, it.Call.Form)
	if err != nil {
		return nil, err
	}
	own := *limits
	if k := it.Kernel; k != "" && slices.IndexFunc(items, func(o item) bool { return o.Kernel == k }) != i {
		own.Launch = func(int) engine.Duration { return 0 }
	}
	var out []collectives.Bound
	for k := it.Repeat.Warmup; k < it.Repeat.Warmup+max(it.Repeat.Count, 1); k++ {
		out = sum(a.Bounds(it.Call, &own, k), out)
	}
	return out, nil
}

// sum adds bounds part by part; a part that one lacks is none of its time.
func sum(a, b []collectives.Bound) []collectives.Bound {
	return combine(a, b, func(x, y engine.Duration) engine.Duration { return x + y })
}

// larger takes the larger of both, part by part.
func larger(a, b []collectives.Bound) []collectives.Bound {
	return combine(a, b, func(x, y engine.Duration) engine.Duration { return max(x, y) })
}

func combine(a, b []collectives.Bound, f func(x, y engine.Duration) engine.Duration) []collectives.Bound {
	out := slices.Clone(a)
	for _, y := range b {
		i := slices.IndexFunc(out, func(x collectives.Bound) bool { return x.Name == y.Name })
		if i < 0 {
			out = append(out, y)
			continue
		}
		out[i].Time = f(out[i].Time, y.Time)
	}
	return out
}
