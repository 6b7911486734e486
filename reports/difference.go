package reports

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// Difference is what differs between two documents, as its own document has it.
type Difference document.Diff

// Write writes the difference in one of the formats; CSV has a row for each figure, word
// and part of each pair.
func (d *Difference) Write(w io.Writer, f Format, o Options) error { return write(w, f, o, d) }

func (d *Difference) check() error { return (*document.Diff)(d).Check() }

func (d *Difference) document(program string) writable {
	return &document.Document{Head: document.NewHead(document.KindDiff, program), Diff: (*document.Diff)(d)}
}

// listedPairs is how many pairs of sweeps people see; the other forms have all.
const listedPairs = 20

func (d *Difference) page() *page {
	p := &page{title: d.title(), lead: []string{d.verdict()}}
	if d.Largest != "" {
		p.lead = append(p.lead, "Largest cause: "+d.Largest)
	}
	changedTable(p, "Inputs that differ", d.Inputs)
	if d.ofRows() {
		d.rowTables(p)
	} else if d.A.Kind == document.KindRun && len(d.Pairs) == 1 {
		d.pairTables(p, &d.Pairs[0])
	} else {
		d.sweepTables(p)
	}
	for _, n := range d.Notes {
		p.tail = append(p.tail, "note: "+n)
	}
	p.tail = append(p.tail, d.tolerances(), "B - A: what B has more; %: of A. 1 GB = 10^9 B; all times are simulated")
	return p
}

func (d *Difference) title() string {
	name := func(s *document.Side) string {
		if s.Title == "" || s.Title == s.Name {
			return s.Name
		}
		return s.Name + " (" + s.Title + ")"
	}
	return "A: " + name(&d.A) + "; B: " + name(&d.B)
}

// verdict says in a sentence how the results compare.
func (d *Difference) verdict() string {
	word := "EQUAL: all results are within the tolerance"
	if !d.Equal {
		word = "DIFFERENT: results are outside the tolerance"
	}
	if len(d.Tolerances) == 1 && d.Tolerances[0].Share == 0 && !d.ofRows() {
		word = "EQUAL: results and digests are the same"
		if !d.Equal {
			word = "DIFFERENT: results or digests are not the same"
		}
	}
	if d.A.Kind == document.KindRun && len(d.Pairs) == 1 {
		return word + "; " + d.slower(&d.Pairs[0])
	}
	equal, all, each := 0, plural(len(d.Pairs), "pair"), "point"
	for i := range d.Pairs {
		if d.Pairs[i].Equal {
			equal++
		}
	}
	if d.ofRows() {
		all, each = plural(len(d.Rows), "row"), "row"
		for i := range d.Rows {
			if d.Rows[i].Equal {
				equal++
			}
		}
	}
	word += fmt.Sprintf("; %s compared, %s of them equal", all, count(equal))
	for _, only := range []struct {
		name string
		n    int
	}{{"A", len(d.OnlyA)}, {"B", len(d.OnlyB)}} {
		if only.n > 0 {
			word += fmt.Sprintf(", %s only in %s", plural(only.n, each), only.name)
		}
	}
	return word
}

// slower compares two times.
func (d *Difference) slower(p *document.Pair) string {
	switch {
	case p.Change == 0:
		return "B takes as long as A"
	case p.Change < 0:
		return fmt.Sprintf("B takes %s us less than A%s", exact(-p.Change), inPercent(p))
	}
	return fmt.Sprintf("B takes %s us more than A%s", exact(p.Change), inPercent(p))
}

func inPercent(p *document.Pair) string {
	f := figure(p, "elapsed_ps")
	if f == nil || f.Share == nil {
		return ""
	}
	return " (" + shareOf(f) + " %)"
}

// figure returns a figure of a pair; nil when it has none of that name.
func figure(p *document.Pair, name string) *document.Figure {
	for i := range p.Figures {
		if p.Figures[i].Name == name {
			return &p.Figures[i]
		}
	}
	return nil
}

// shareOf prints by how many per cent of A a figure changed.
func shareOf(f *document.Figure) string {
	if f.Share == nil {
		return notAvailable
	}
	return plus(int64(*f.Share), fixed(int64(*f.Share), 4, 2))
}

// plus puts the sign before a number that is positive.
func plus(n int64, text string) string {
	if n > 0 {
		return "+" + text
	}
	return text
}

func changedTable(p *page, title string, all []document.Changed) {
	if len(all) == 0 {
		return
	}
	t := p.table(title, "input", "~A", "~B", "~where")
	for _, c := range all {
		path := c.Path
		if c.Unread {
			path += " (not read)"
		}
		t.add(path, cmp.Or(c.A, "-"), cmp.Or(c.B, "-"), whereBoth(&c))
	}
}

// whereBoth says where the values of an input stand.
func whereBoth(c *document.Changed) string {
	switch {
	case c.FromA == c.FromB:
		return c.FromA
	case c.FromA == "":
		return "B: " + c.FromB
	case c.FromB == "":
		return "A: " + c.FromA
	}
	return "A: " + c.FromA + "; B: " + c.FromB
}

// pairTables shows one pair in full.
func (d *Difference) pairTables(p *page, x *document.Pair) {
	results := p.table("Results", "figure", ">A", ">B", ">B - A", "unit", ">%", "")
	for _, w := range x.Words {
		mark := ""
		if w.A != w.B && w.Counts {
			mark = "differs"
		}
		results.add(w.Name, cmp.Or(w.A, "-"), cmp.Or(w.B, "-"), "", "", "", mark)
	}
	counters := &table{title: "Counters that differ", head: results.head}
	for i := range x.Figures {
		f := &x.Figures[i]
		mark := ""
		if !f.Equal {
			mark = "differs"
		}
		name, unit, show := unitOf(f.Name)
		a, b := show(f.A), show(f.B)
		if predicted(f.Name) {
			a, b = marked(a, x.OutsideA), marked(b, x.OutsideB)
		}
		row := []string{name, a, b, plus(f.Change, show(f.Change)), unit, shareOf(f), mark}
		switch {
		case !isCounter(f.Name):
			results.rows = append(results.rows, row)
		case f.Change != 0:
			counters.rows = append(counters.rows, row)
		}
	}
	results.note(outsideNote(x.OutsideA, x.OutsideB))
	partTable(p, "Where the difference comes from, us", x.Basis, x.Parts)
	if x.Note != "" {
		p.tail = append(p.tail, "note: "+x.Note)
	}
	if len(counters.rows) > 0 {
		p.tables = append(p.tables, *counters)
	}
}

// predicted reports whether a figure is a time or rate that the simulation predicts.
func predicted(figure string) bool {
	return slices.Contains([]string{"elapsed_ps", "algbw_bytes_per_s", "busbw_bytes_per_s", "wire_bytes_per_s"}, figure)
}

func isCounter(name string) bool {
	for k := range result.NumCounters {
		if k.String() == name {
			return true
		}
	}
	return false
}

// units are the ends of figures' names, with what people read instead.
var units = []struct {
	end, unit string
	show      func(int64) string
}{
	{"_ps", "us", func(n int64) string { return fixed(n, 6, 6) }},
	{"_bytes_per_s", "GB/s", func(n int64) string { return fixed(n, 9, 3) }},
	{"_bytes", "B", count[int64]},
	{"_wqebb", "WQEBB", count[int64]},
}

// unitOf splits the unit off a figure's name, and says how people read its values.
func unitOf(figure string) (name, unit string, show func(int64) string) {
	for k := range result.NumCounters {
		if k.String() == figure {
			return figure, k.Unit(), count[int64]
		}
	}
	for _, u := range units {
		if name, ok := strings.CutSuffix(figure, u.end); ok {
			return name, u.unit, u.show
		}
	}
	return figure, "", count[int64]
}

// partTable lists parts, what changed most first, and their sums, which are the times.
func partTable(p *page, title, basis string, parts []document.PartPair) {
	if !slices.ContainsFunc(parts, func(x document.PartPair) bool { return x.Change != 0 }) {
		return
	}
	t := p.table(title, "part", ">A", ">B", ">B - A", ">% of the difference")
	var sum, same document.PartPair
	for _, x := range parts {
		sum.A, sum.B, sum.Change = sum.A+x.A, sum.B+x.B, sum.Change+x.Change
		if x.Change == 0 {
			same.A, same.B = same.A+x.A, same.B+x.B
		}
	}
	for _, x := range parts {
		if x.Change != 0 {
			t.add(x.Name, exact(x.A), exact(x.B), plus(int64(x.Change), exact(x.Change)), ofChange(x.Change, sum.Change))
		}
	}
	if same.A != 0 {
		t.add("unchanged parts", exact(same.A), exact(same.B), exact(0), ofChange(0, sum.Change))
	}
	t.add("sum", exact(sum.A), exact(sum.B), plus(int64(sum.Change), exact(sum.Change)), ofChange(sum.Change, sum.Change))
	if basis != "" {
		t.notes = append(t.notes, "Parts: "+basis+". They add up to the elapsed times, so their changes add up to the difference exactly.")
	}
}

// ofChange prints a part of a change in per cent; a part may go the other way.
func ofChange(part, whole engine.Duration) string {
	if whole < 0 {
		part, whole = -part, -whole
	}
	f, ok := share(max(part, -part), whole)
	switch {
	case !ok:
		return "-"
	case part < 0:
		f = -f
	}
	return percent(f)
}

// sweepTables shows all pairs of two sweeps.
func (d *Difference) sweepTables(p *page) {
	t := &table{title: "Pairs that differ, the largest change in per cent first; times in us", head: []string{"point", ">A", ">B", ">B - A", ">%", "", "~what changed most"}}
	more := 0
	var outside [][]document.Outside
	for i := range d.Pairs {
		switch x := &d.Pairs[i]; {
		case x.Equal && x.Change == 0:
		case len(t.rows) == listedPairs:
			more++
		default:
			t.add(d.pairRow(x)...)
			outside = append(outside, x.OutsideA, x.OutsideB)
		}
	}
	t.note(outsideNote(outside...))
	if more > 0 {
		t.notes = append(t.notes, plural(more, "further pair")+" with smaller changes; JSON and CSV have all")
	}
	if len(t.rows) > 0 {
		p.tables = append(p.tables, *t)
	}
	partTable(p, "Where the differences of all pairs come from, us", basisOf(d.Pairs), d.Parts)
	var beyond []document.Changed
	for i := range d.Pairs {
		for _, c := range d.Pairs[i].Inputs {
			c.Path = label(d.Pairs[i].Axes) + ": " + c.Path
			beyond = append(beyond, c)
		}
	}
	changedTable(p, "Inputs of single points that differ, too", beyond[:min(len(beyond), listedPairs)])
	onlyTable(p, "Points only in A", d.OnlyA)
	onlyTable(p, "Points only in B", d.OnlyB)
}

func (d *Difference) pairRow(x *document.Pair) []string {
	mark, most := "", x.Note
	if !x.Equal {
		mark = "differs"
	}
	if most == "" && len(x.Parts) > 0 && x.Parts[0].Change != 0 {
		most = x.Parts[0].Name + " " + plus(int64(x.Parts[0].Change), us(x.Parts[0].Change))
	}
	if most == "" && !x.Equal {
		most = unequal(x)
	}
	f := figure(x, "elapsed_ps")
	if f == nil {
		return []string{label(x.Axes), "", "", "", "", mark, most}
	}
	return []string{label(x.Axes), marked(us(engine.Duration(f.A)), x.OutsideA), marked(us(engine.Duration(f.B)), x.OutsideB), plus(f.Change, us(x.Change)), shareOf(f), mark, most}
}

// unequal names the first result that differs.
func unequal(x *document.Pair) string {
	for _, f := range x.Figures {
		if !f.Equal {
			return f.Name
		}
	}
	for _, w := range x.Words {
		if w.A != w.B && w.Counts {
			return w.Name
		}
	}
	return ""
}

func basisOf(pairs []document.Pair) string {
	for i := range pairs {
		if pairs[i].Basis != "" {
			return pairs[i].Basis
		}
	}
	return ""
}

func onlyTable(p *page, title string, points [][]KV) {
	if len(points) == 0 {
		return
	}
	t := p.table(title, "point")
	for i, axes := range points {
		if i == listedPairs {
			t.notes = append(t.notes, plural(len(points)-i, "further point")+" not listed")
			break
		}
		t.add(label(axes))
	}
}

func (d *Difference) tolerances() string {
	var parts []string
	for _, t := range d.Tolerances {
		parts = append(parts, strings.TrimSpace(t.Figure+" "+t.Share.String()))
	}
	text := "tolerance: " + strings.Join(parts, ", ") + ", of the larger one of two figures"
	if len(d.Tolerances) == 1 && d.Tolerances[0].Share == 0 && !d.ofRows() {
		text += "; digests count, too"
	}
	return text
}

func (d *Difference) records() [][]string {
	if d.ofRows() {
		return d.rowRecords()
	}
	rows := [][]string{{"point", "kind", "name", "a", "b", "change", "change_percent", "equal"}}
	for _, c := range d.Inputs {
		rows = append(rows, []string{"", "input", c.Path, c.A, c.B, "", "", "false"})
	}
	for i := range d.Pairs {
		rows = append(rows, pairRecords(&d.Pairs[i])...)
	}
	for _, only := range d.OnlyA {
		rows = append(rows, []string{label(only), "point", "only_in_a", "", "", "", "", "false"})
	}
	for _, only := range d.OnlyB {
		rows = append(rows, []string{label(only), "point", "only_in_b", "", "", "", "", "false"})
	}
	return rows
}

func pairRecords(p *document.Pair) (rows [][]string) {
	at := ""
	if len(p.Axes) > 0 {
		at = label(p.Axes)
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, c := range p.Inputs {
		rows = append(rows, []string{at, "input", c.Path, c.A, c.B, "", "", "false"})
	}
	for _, w := range p.Words {
		rows = append(rows, []string{at, "word", w.Name, w.A, w.B, "", "", strconv.FormatBool(w.A == w.B)})
	}
	if a, b := document.OutsideText(p.OutsideA), document.OutsideText(p.OutsideB); a != "" || b != "" {
		rows = append(rows, []string{at, "mark", "outside_fit", a, b, "", "", strconv.FormatBool(a == b)})
	}
	for _, f := range p.Figures {
		share := ""
		if f.Share != nil {
			share = fixed(int64(*f.Share), 4, 4)
		}
		rows = append(rows, []string{at, "figure", f.Name, number(f.A), number(f.B), number(f.Change), share, strconv.FormatBool(f.Equal)})
	}
	for _, x := range p.Parts {
		rows = append(rows, []string{at, "part", x.Name + "_ps", number(int64(x.A)), number(int64(x.B)), number(int64(x.Change)), "", strconv.FormatBool(x.Change == 0)})
	}
	return rows
}
