package workloads

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"pldperf/collectives"
	"pldperf/collectives/symptoms"
	"pldperf/configs"
	"pldperf/engine"
	"pldperf/hw/program"
	"pldperf/workloads/routing"
)

// item is an element of the chain, ready to be composed.
type item struct {
	collectives.Item
	routing *routing.Routing // of the first repetition
}

// single is the name of the only item of a workload without a chain.
const single = ""

// list returns the chain; a workload with one call is a chain of one item.
func (c *Config) list() []ItemConfig {
	if len(c.Chain) > 0 {
		return c.Chain
	}
	return []ItemConfig{{Name: single, Call: &c.Call, Repeat: c.Repeat}}
}

// at returns the path of a field of the i-th item.
func (c *Config) at(i int, field string) string {
	if len(c.Chain) == 0 {
		return field
	}
	return fmt.Sprintf("chain.%d.%s", i, field)
}

// Check reports everything that is wrong between the fields of a workload.
func (c *Config) Check(report func(path, format string, args ...any)) {
	c.checkChain(report)
	for i, it := range c.list() {
		if it.Call != nil {
			c.checkCall(i, &it, report)
		}
	}
	c.checkRanks(report)
}

func (c *Config) checkChain(report func(path, format string, args ...any)) {
	if len(c.Chain) > 0 && c.Call.Op != "" {
		report("call", "a workload has either a call or a chain")
	}
	if r := c.Repeat; len(c.Chain) > 0 && (r.Count > 1 || r.Warmup > 0 || r.Same || r.Reroute) {
		report("repeat", "a chain does not read it: its items have a repeat each")
	}
	names := map[string]bool{}
	for i, it := range c.Chain {
		if names[it.Name] {
			report(c.at(i, "name"), "%q is there twice", it.Name)
		}
		names[it.Name] = true
		if (it.Call == nil) == (it.Compute == nil) {
			report(c.at(i, "name"), "item %q needs either call or compute", it.Name)
		}
	}
	c.checkReferences(names, report)
}

// checkReferences reports names that no item has, and items that wait for each other.
func (c *Config) checkReferences(names map[string]bool, report func(path, format string, args ...any)) {
	unknown := false
	check := func(i int, field string, refs ...string) {
		for _, r := range refs {
			if r != "" && !names[r] {
				unknown = true
				report(c.at(i, field), "%q is not in the chain%s", r, suggest(r, keys(names)))
			}
		}
	}
	var items []collectives.Item
	for i, it := range c.Chain {
		item := collectives.Item{Name: it.Name, After: it.After, Signal: it.Signal, Window: it.Window, Kernel: it.Kernel, Call: &collectives.Call{}}
		if it.Call != nil {
			item.Call.Form, item.Call.CoreNum = it.Call.form(), it.Call.CoreNum
		}
		item.Repeat = collectives.Repeat{Count: it.Repeat.Count, Warmup: it.Repeat.Warmup}
		check(i, "after", it.After...)
		check(i, "signal", it.Signal)
		check(i, "window", it.Window)
		if it.Compute != nil {
			item.Call, item.Compute = nil, &collectives.Compute{Reads: it.Compute.Reads, Writes: it.Compute.Writes}
			check(i, "compute.reads", it.Compute.Reads...)
			check(i, "compute.writes", it.Compute.Writes...)
		}
		items = append(items, item)
	}
	collectives.CheckKernels(items, func(i int, format string, args ...any) { report(c.at(i, "kernel"), format, args...) })
	var circle *collectives.CircleError
	if !unknown && len(names) == len(items) && errors.As(collectives.Ordered(items), &circle) {
		first := slices.IndexFunc(items, func(it collectives.Item) bool { return it.Name == circle.Items[0] })
		report(c.at(first, "after"), "%v", circle)
	}
}

func suggest(word string, known []string) string {
	if near := configs.Nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

func (c *Config) checkRanks(report func(path, format string, args ...any)) {
	check := func(path string, n int) {
		if n >= c.Ranks {
			report(path, "%d, but the ranks are 0 to %d", n, c.Ranks-1)
		}
	}
	if _, err := c.Machine.Limits(c.Ranks); err != nil {
		report("ranks", "%v", err)
	}
	if len(c.Skew.Offsets) > c.Ranks {
		report("skew.offsets", "%d values for %d ranks", len(c.Skew.Offsets), c.Ranks)
	}
	if len(c.Skew.Slow) > c.Ranks {
		report("skew.slow", "%d values for %d ranks", len(c.Skew.Slow), c.Ranks)
	}
	for i, o := range append([]engine.Duration{c.Skew.Random}, c.Skew.Offsets...) {
		if o > latest {
			report([]string{"skew.random", "skew.offsets"}[min(i, 1)], "%v is above %v, the latest start", o, latest)
		}
	}
	for i, it := range c.Chain {
		if it.Compute != nil && it.Compute.Time > latest {
			report(c.at(i, "compute.time"), "%v is above %v, the longest compute item", it.Compute.Time, latest)
		}
	}
	for i, s := range c.Skew.Slow {
		if s < engine.One {
			report("skew.slow", "rank %d: %v is below 100 %%; the machine's clock is the fastest", i, s)
		}
	}
	for i, f := range c.Faults {
		check(fmt.Sprintf("faults.%d.src", i), f.Src)
		check(fmt.Sprintf("faults.%d.dst", i), f.Dst)
		if f.Src == f.Dst {
			report(fmt.Sprintf("faults.%d.dst", i), "a rank does not reach itself over the fabric")
		}
	}
	for i, s := range c.Signals {
		check(fmt.Sprintf("signals.%d.rank", i), s.Rank)
		check(fmt.Sprintf("signals.%d.row", i), s.Row)
	}
}

// checkCall reports what the compiler of the real operator would refuse.
func (c *Config) checkCall(i int, it *ItemConfig, report func(path, format string, args ...any)) {
	if it.Call.Op == "" {
		report(c.at(i, "call.op"), "missing; there are %s", strings.Join(collectives.Ops(), ", "))
		return
	}
	a, err := collectives.Lookup(it.Call.Op, it.Call.form())
	if err != nil {
		field, word, known := "call.op", it.Call.Op, collectives.Ops()
		if forms := collectives.Forms(it.Call.Op); len(forms) > 0 {
			field, word, known = "call.form", it.Call.Form, forms
		}
		report(c.at(i, field), "%v%s", err, suggest(word, known))
		return
	}
	if m := it.Call.Mistake; m != "" && !slices.Contains(a.MistakeNames(), m) {
		known := a.MistakeNames()
		report(c.at(i, "call.mistake"), "%s cannot make %q%s", a.Name(), m, cmp.Or(suggest(m, known), "; it can make "+strings.Join(known, ", ")))
	}
	call := c.call(it, nil)
	errs := a.Check(call)
	if call.Kinds["signal"] == "omitted" && it.Repeat.Count+it.Repeat.Warmup > 1 {
		errs = append(errs, errors.New("kinds: the signal is omitted in a loop; inside for and while the call requires an explicit signal"))
	}
	if err := call.CheckBuffer(c.Machine.UB.Usable); err != nil {
		errs = append(errs, err)
	}
	for _, err := range errs {
		field := fieldOf(err)
		path := c.at(i, "call."+field)
		switch field {
		case "platform":
			path = "machine"
		case "ranks":
			path = "ranks"
		}
		why := rowOf(call.Op, err)
		if field == "hidden" && it.Call.Message > 0 && call.Hidden == 0 {
			why = ": a message goes as whole rows of so many elements, and below one row as a row of its own size" + why
		}
		report(path, "%s%s", strings.TrimPrefix(err.Error(), field+": "), why)
	}
	if limit := c.Machine.AIV.Limit(); call.Blocks() > limit {
		report(c.at(i, "call.core_num"), "%d blocks, but %s can start %d AIVs together (require_sync_start, code 7)", call.Blocks(), c.Machine.Name, limit)
	}
	c.checkRouting(i, it, report)
}

// rowOf is the row of the symptom table to which a refusal belongs, with its fix.
func rowOf(op string, err error) string {
	if s, ok := symptoms.RefusedAs(op, err.Error()); ok {
		return fmt.Sprintf(" (%s: %s)", s.Row, s.Fix)
	}
	return ""
}

// fieldOf returns the field that an error begins with.
func fieldOf(err error) string {
	if name, _, ok := strings.Cut(err.Error(), ": "); ok && !strings.ContainsAny(name, " /") {
		return name
	}
	return "op"
}

func (c *Config) checkRouting(i int, it *ItemConfig, report func(path, format string, args ...any)) {
	c.checkUnread(i, it, report)
	if !it.Call.routed() {
		return
	}
	spec, row := c.routing(it)
	err := routing.Check(spec, c.Ranks, row, c.files)
	for _, e := range flatten(err) {
		path := "routing"
		if it.Routing != nil {
			path = c.at(i, "routing")
		}
		var f *routing.FieldError
		if errors.As(e, &f) {
			report(path+"."+f.Path, "%v", f.Err)
			continue
		}
		report(path, "%v", e)
	}
}

// checkUnread reports fields that the call would not read: a sweep over one of them
// would show a flat line.
func (c *Config) checkUnread(i int, it *ItemConfig, report func(path, format string, args ...any)) {
	k := it.Call
	a, err := collectives.Lookup(k.Op, k.Form)
	if err != nil {
		return // said already
	}
	for _, f := range k.given() {
		if !slices.Contains(a.Fields, f) {
			report(c.at(i, "call."+f), "%s does not read it; it reads %s", a.Name(), strings.Join(a.Fields, ", "))
		}
	}
	kind := c.Routing.Kind
	if it.Routing != nil {
		kind = it.Routing.Kind
	}
	switch {
	case a.Routed && k.Message > 0 && kind != "" && kind != "uniform":
		report(c.at(i, "call.message"), "a routing of kind %s does not read it; uniform would", kind)
	case a.Routed && k.Message > 0 && c.rows(it) > 0:
		report(c.at(i, "call.message"), "give message or the routing's rows, not both")
	case k.Message > 0 && k.Size > 0:
		report(c.at(i, "call.message"), "give message or size, not both")
	case !a.Routed && len(c.Chain) == 0 && kind != "":
		report("routing", "%s does not read it", k.Op)
	}
}

// rows are those of a pair that an item's routing states itself.
func (c *Config) rows(it *ItemConfig) int {
	if it.Routing != nil {
		return it.Routing.Rows
	}
	return c.Routing.Rows
}

// common are the fields of a call that every algorithm reads, or that say how.
var common = []string{"op", "form", "kinds", "same", "mistake", "what_if"}

// given lists the fields that a call sets to something else than their default.
func (k *CallConfig) given() (out []string) {
	v := reflect.ValueOf(k).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name, f := tag.Get("yaml"), v.Field(i)
		if f.IsZero() || f.Kind() == reflect.String && f.String() == tag.Get("default") || slices.Contains(common, name) {
			continue
		}
		out = append(out, name)
	}
	return out
}

func flatten(err error) []error {
	if err == nil {
		return nil
	}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	return []error{err}
}

// items makes the chain with its routings drawn.
func (c *Config) items() ([]item, error) {
	var out []item
	for _, ic := range c.list() {
		it := item{Item: collectives.Item{Name: ic.Name, After: ic.After, Signal: ic.Signal, Window: ic.Window, Kernel: ic.Kernel, Repeat: collectives.Repeat{
			Count: ic.Repeat.Count, Warmup: ic.Repeat.Warmup, Between: ic.Repeat.Between, Same: ic.Repeat.Same,
		}}}
		if ic.Compute != nil {
			it.Compute = &collectives.Compute{Time: ic.Compute.Time, Blocks: ic.Compute.Blocks, Reads: ic.Compute.Reads, Writes: ic.Compute.Writes}
		} else {
			traffic, first, err := c.traffic(&ic)
			if err != nil {
				return nil, err
			}
			it.Call, it.routing = c.call(&ic, traffic), first
		}
		out = append(out, it)
	}
	return out, nil
}

// traffic draws the routing of each repetition.
func (c *Config) traffic(it *ItemConfig) ([]collectives.Traffic, *routing.Routing, error) {
	if !it.Call.routed() {
		return nil, nil, nil
	}
	spec, row := c.routing(it)
	if c.thin {
		spec = few(spec)
	}
	n := 1
	if it.Repeat.Reroute {
		n = it.Repeat.Warmup + max(it.Repeat.Count, 1)
	}
	var out []collectives.Traffic
	var first *routing.Routing
	capacity := 0
	for k := range n {
		s := spec
		s.Seed += uint64(k)
		r, err := c.draw(s, row)
		if err != nil {
			return nil, nil, err
		}
		if first == nil {
			first = r
		}
		capacity = max(capacity, r.Capacity())
		out = append(out, r)
	}
	if n > 1 && spec.Capacity == 0 { // one window serves all: the largest partition
		spec.Capacity = capacity
		for k := range out {
			s := spec
			s.Seed += uint64(k)
			r, err := c.draw(s, row)
			if err != nil {
				return nil, nil, err
			}
			out[k] = r
		}
		first = out[0].(*routing.Routing)
	}
	return out, first, nil
}

// Job composes the workload's chain into a job for its machine.
func (w *Workload) Job() (*program.Job, error) {
	c := &w.Config
	var items []collectives.Item
	for _, it := range w.items {
		items = append(items, it.Item)
	}
	job, err := collectives.Compose(c.Ranks, items)
	if err != nil {
		return nil, err
	}
	job.Offsets, job.Slow = c.offsets(), c.Skew.Slow
	for _, f := range c.Faults {
		job.Faults = append(job.Faults, program.Fault{Kind: f.Kind, Src: f.Src, Dst: f.Dst, Nth: f.Nth, Value: int64(max(f.Status, 1))})
	}
	return job, c.presetSignals(job)
}
