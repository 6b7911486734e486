package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// resourceKind sums up the resources of one name, numbers apart: "port out 3" is a
// "port out".
type resourceKind struct {
	name    string
	number  int // how many carried anything
	busiest *result.Resource
	bytes   engine.Bytes // of all
	busy    engine.Duration
	blocked engine.Duration
}

// topResources returns the kinds of resources, the busiest first. A single kind per
// row, because on a mesh all of the first hundred places would be ports.
func topResources(r *result.Result) []resourceKind {
	var kinds []resourceKind
	place := map[string]int{} // name -> index in kinds
	for i := range r.Resources {
		x := &r.Resources[i]
		name := x.Name
		if kind := strings.TrimRight(name, "0123456789"); strings.HasSuffix(kind, " ") {
			name = strings.TrimRight(kind, " ") // "l2" is a name of its own
		}
		k, ok := place[name]
		if !ok {
			k = len(kinds)
			place[name] = k
			kinds = append(kinds, resourceKind{name: name, busiest: x})
		}
		kind := &kinds[k]
		kind.number++
		kind.bytes += x.Bytes
		kind.busy += x.Busy
		kind.blocked += x.Blocked
		if x.Busy > kind.busiest.Busy || x.Busy == kind.busiest.Busy && x.Bytes > kind.busiest.Bytes {
			kind.busiest = x
		}
	}
	slices.SortStableFunc(kinds, func(a, b resourceKind) int {
		return cmp.Or(cmp.Compare(b.busiest.Busy, a.busiest.Busy), cmp.Compare(b.busiest.Bytes, a.busiest.Bytes), strings.Compare(a.name, b.name))
	})
	return kinds
}

// busiest cuts the resources down to the busiest of each kind.
func busiest(r *result.Result) (out []document.Resource) {
	for _, k := range topResources(r) {
		out = append(out, document.Resource{Kind: k.name, Where: at(k.busiest), Busy: k.busiest.Busy, Bytes: k.busiest.Bytes})
	}
	return out
}

// at names the place of a resource: "3 -> 5", "rank 3".
func at(x *result.Resource) string {
	if x.Peer >= 0 {
		return fmt.Sprintf("%d -> %d", x.Rank, x.Peer)
	}
	return fmt.Sprintf("rank %d", x.Rank)
}

const listedResources = 10

func resourceTable(p *page, r *result.Result) {
	kinds := topResources(r)
	if len(kinds) == 0 {
		return
	}
	span := wholeRun(r)
	t := p.table("Shared resources, the busiest of each kind",
		"resource", "where", ">busy us", ">busy %", ">blocked %", ">idle %", ">mean %", ">carried B", ">rate GB/s", ">how many")
	blocked := false
	for i, k := range kinds {
		if i == listedResources {
			t.notes = append(t.notes, plural(len(kinds)-i, "less busy kind")+" not listed; the JSON form has every resource")
			break
		}
		x := k.busiest
		t.add(x.Name, at(x), us(x.Busy), percentOf(x.Busy, span), percentOf(x.Blocked, span), percentOf(max(0, span-x.Busy-x.Blocked), span),
			percentOf(k.busy/engine.Duration(k.number), span), count(x.Bytes), gbps(x.Rate), count(k.number))
		blocked = blocked || x.Blocked > 0
	}
	t.notes = append(t.notes, "mean: busy, over all of the kind")
	if blocked {
		t.notes = append(t.notes, "blocked: what a port was to carry next waited for the cap of its rank"+holdersOf(kinds))
	}
	if span != r.Elapsed {
		t.notes = append(t.notes, fmt.Sprintf("Shares are of the whole run, %s us, with the calls that are not timed", us(span)))
	}
}

// holdersOf names the traffic for which the busiest ports waited most.
func holdersOf(kinds []resourceKind) string {
	var s []string
	for _, k := range kinds {
		x := k.busiest
		if len(x.Held) == 0 {
			continue
		}
		h := slices.MaxFunc(x.Held, func(a, b result.Held) int { return cmp.Compare(a.Time, b.Time) })
		s = append(s, fmt.Sprintf("the %s of %s most behind traffic with rank %d, %s us", x.Name, at(x), h.Peer, us(h.Time)))
	}
	if len(s) == 0 {
		return ""
	}
	return ": " + strings.Join(s, "; ")
}

// wholeRun returns the time over which resources are counted: the elapsed time, or
// if some call, a warm-up say, is not timed, all from the start to the last call's end.
func wholeRun(r *result.Result) engine.Duration {
	if !slices.ContainsFunc(r.Calls, func(c result.Call) bool { return !c.Timed }) {
		return r.Elapsed
	}
	end := engine.Time(0)
	for i := range r.Calls {
		end = max(end, r.Calls[i].End)
	}
	return end.Sub(0)
}
