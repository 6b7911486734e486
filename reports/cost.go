package reports

import (
	"cmp"
	"errors"
	"io"
	"strconv"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// Cost is the formula card: what calls cost by their formulas, without a run.
type Cost struct {
	Title  string     `json:"title"`
	Inputs []KV       `json:"inputs"`
	Calls  []CostCall `json:"calls"`
	Notes  []string   `json:"notes,omitempty"`
}

// CostCall is one call of a formula card.
type CostCall struct {
	Name     string            `json:"name,omitempty"` // in a chain
	Op       string            `json:"op"`
	Form     string            `json:"form"`
	Doc      string            `json:"doc"`
	Fields   []string          `json:"fields"` // of a call that it reads
	Phases   []string          `json:"phases"`
	Ranks    []result.Counters `json:"ranks"` // predicted; Unknown where there is no formula
	Bytes    []engine.Bytes    `json:"given_bytes"`
	Barriers []int64           `json:"barriers"` // by rank
	Waits    []int64           `json:"cell_waits"`
	Formulas []KV              `json:"formulas"`
	Bound    Bound             `json:"bound"`
	Note     string            `json:"note,omitempty"` // why it does nothing, if so
}

// Write writes the card; one without calls is an error.
func (c *Cost) Write(w io.Writer, f Format, o Options) error { return write(w, f, o, c) }

func (c *Cost) check() error {
	if len(c.Calls) == 0 {
		return errors.New("there is no call: nothing to count")
	}
	return nil
}

func (c *Cost) document(program string) writable {
	return &listing{Head: document.NewHead(document.KindCost, program), Cost: c}
}

func (c *Cost) page() *page {
	p := &page{title: c.Title}
	if len(c.Calls) == 1 {
		p.lead = c.Calls[0].lead()
	}
	t := p.table("Inputs", "input", "~value")
	for _, kv := range c.Inputs {
		t.add(kv.Key, kv.Value)
	}
	for i := range c.Calls {
		x := &c.Calls[i]
		name := ""
		if len(c.Calls) > 1 {
			name = x.Name + ": "
		}
		x.table(p, name, len(c.Calls) > 1)
		x.boundTable(p, name)
	}
	for _, n := range c.Notes {
		p.tail = append(p.tail, "note: "+n)
	}
	p.tail = append(p.tail, "nothing was simulated; pldperf run counts the same and says how long it takes", "1 GB = 10^9 B, 1 GiB = 2^30 B")
	return p
}

func (x *CostCall) lead() []string {
	lines := []string{x.Op + "/" + x.Form + ": " + x.Doc}
	if x.Note != "" {
		lines = append(lines, "NOTHING DONE: "+x.Note)
	}
	lines = append(lines, "phases: "+strings.Join(x.Phases, ", "))
	if len(x.Fields) > 0 {
		lines = append(lines, "fields of the call that it reads: "+strings.Join(x.Fields, ", "))
	}
	return lines
}

// CostRow is one line of the card: a count of each rank.
type CostRow struct {
	Group   string // what kind of thing is counted
	Name    string
	Unit    string
	Values  []int64 // by rank
	Formula string
}

// costGroups put the counters into the order of the card.
var costGroups = []struct {
	name     string
	counters []result.Counter
}{
	{"payload", []result.Counter{result.BytesSent, result.BytesReceived, result.BytesSelf, result.Combined}},
	{"messages", []result.Counter{result.Puts, result.Gets, result.PutStages, result.RemoteLoads, result.RemoteStores, result.CountReads}},
	{"signals", []result.Counter{result.Notifies, result.PollsSatisfied, result.SelfAdds}},
	{"queue", []result.Counter{result.SQEs, result.SGEs, result.WQEBBs, result.NOPs, result.Doorbells, result.Sends, result.CQEs, result.DescriptorBytes}},
	{"other", []result.Counter{result.IndexReads, result.Pieces, result.PipeBarriers}},
}

// Rows lists what the call costs each rank: what is zero on all ranks and has no
// formula of its own is left out, and so is what no formula predicts.
func (x *CostCall) Rows() (rows []CostRow) {
	for _, g := range costGroups {
		for _, k := range g.counters {
			row := CostRow{Group: g.name, Name: k.String(), Unit: k.Unit(), Formula: x.formula(k.String())}
			known, zero := true, true
			for i := range x.Ranks {
				n := x.Ranks[i][k]
				known, zero = known && n != Unknown, zero && n == 0
				row.Values = append(row.Values, n)
			}
			if known && (!zero || k == result.BytesSent || k == result.BytesReceived) {
				rows = append(rows, row)
			}
		}
		if g.name == "signals" {
			rows = append(rows, CostRow{Group: g.name, Name: "barriers", Values: x.Barriers, Formula: cmp.Or(x.formula("barriers"), "rounds in which a block waits for every peer")})
			if _, most := span(x.Waits); most > 0 {
				rows = append(rows, CostRow{Group: g.name, Name: "cell_waits", Values: x.Waits, Formula: cmp.Or(x.formula("cell_waits"), "waits for one cell: of a neighbour, or of itself")})
			}
		}
	}
	return rows
}

func (x *CostCall) formula(name string) string {
	for _, kv := range x.Formulas {
		if kv.Key == name {
			return kv.Value
		}
	}
	return ""
}

// span returns the least and the greatest of some values.
func span(values []int64) (least, most int64) {
	for i, v := range values {
		if i == 0 {
			least, most = v, v
		}
		least, most = min(least, v), max(most, v)
	}
	return least, most
}

// Each prints what every rank counts, or the least and the most.
func (r *CostRow) Each() string {
	least, most := span(r.Values)
	if least == most {
		return count(least)
	}
	return count(least) + ".." + count(most)
}

func (r *CostRow) sum() (sum int64) {
	for _, v := range r.Values {
		sum += v
	}
	return sum
}

func (x *CostCall) table(p *page, name string, several bool) {
	t := p.table(name+"Cost of a rank, by formula", "", "quantity", ">each rank", ">all ranks", "~formula")
	last := ""
	for _, row := range x.Rows() {
		group := row.Group
		if group == last {
			group = ""
		}
		last = row.Group
		label := row.Name
		if row.Unit != "" {
			label += " (" + row.Unit + ")"
		}
		t.add(group, label, row.Each(), count(row.sum()), row.Formula)
	}
	if several {
		t.notes = append(t.notes, x.lead()...)
	}
}

func (x *CostCall) boundTable(p *page, name string) {
	if len(x.Bound.Parts) == 0 {
		return
	}
	t := p.table(name+"Lower bound on this machine: no schedule is faster", "resource", ">us", "", "~what it counts")
	binds := x.Bound.Binds()
	for i := range x.Bound.Parts {
		b, mark := &x.Bound.Parts[i], ""
		if b == binds {
			mark = "binds"
		}
		t.add(b.Name, us(b.Time), mark, b.What)
	}
}

func (c *Cost) records() [][]string {
	rows := [][]string{{"call", "op", "form", "group", "quantity", "unit", "least_rank", "most_rank", "all_ranks", "formula"}}
	for i := range c.Calls {
		x := &c.Calls[i]
		for _, r := range x.Rows() {
			least, most := span(r.Values)
			rows = append(rows, []string{x.Name, x.Op, x.Form, r.Group, r.Name, r.Unit,
				strconv.FormatInt(least, 10), strconv.FormatInt(most, 10), strconv.FormatInt(r.sum(), 10), r.Formula})
		}
		for _, b := range x.Bound.Parts {
			rows = append(rows, []string{x.Name, x.Op, x.Form, "bound", b.Name, "us", "", "", exact(b.Time), b.What})
		}
	}
	return rows
}
