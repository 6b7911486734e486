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

// Comparison is the table of a sweep, as its document has it.
type Comparison document.Sweep

// Write writes the comparison. One without points is an error.
func (c *Comparison) Write(w io.Writer, f Format, o Options) error { return write(w, f, o, c) }

// ReadComparison reads what Write wrote as JSON.
func ReadComparison(r io.Reader) (*Comparison, error) {
	d, err := document.Read(r)
	if err != nil {
		return nil, err
	}
	if d.Sweep == nil {
		return nil, fmt.Errorf("this is %s and no sweep", d.Kind.One())
	}
	return (*Comparison)(d.Sweep), nil
}

func (c *Comparison) check() error { return (*document.Sweep)(c).Check() }

// Choices returns the recommendations, one for each group.
func (c *Comparison) Choices() []Choice {
	tolerance := c.Tolerance
	if tolerance == 0 {
		tolerance = TwoPercent
	}
	return Recommend(c.Points, c.Axis, tolerance)
}

// Races are the comparisons of algorithms along an axis; none when the sweep makes none.
func (c *Comparison) Races() []Race {
	if c.Compare == "" || c.Along == "" {
		return nil
	}
	return Races(c.Points, c.Compare, c.Along)
}

// Document returns the comparison as a document, which program has written.
func (c *Comparison) Document(program string) *document.Document {
	d := &document.Document{Head: document.NewHead(document.KindSweep, program), Sweep: (*document.Sweep)(c), Choices: c.Choices()}
	for _, r := range c.Races() {
		d.Races = append(d.Races, document.Race(r))
	}
	return d
}

func (c *Comparison) document(program string) writable { return c.Document(program) }

func (c *Comparison) page() *page {
	p := &page{title: c.Title}
	choices := c.Choices()
	ok, not := 0, 0
	for i := range c.Points {
		switch c.Points[i].Status {
		case result.OK:
			ok++
		case NotPossible:
			not++
		}
	}
	line := fmt.Sprintf("%s, %s of them ok", plural(len(c.Points), "point"), count(ok))
	if not > 0 {
		line += fmt.Sprintf(", %s not possible", count(not))
	}
	p.lead = append(p.lead, line)
	if len(choices) == 1 && choices[0].Text != "" {
		p.lead = append(p.lead, "Recommendation: "+choices[0].Text)
	}
	if len(c.Inputs) > 0 {
		t := p.table("Inputs", "input", "~value")
		for _, kv := range c.Inputs {
			t.add(kv.Key, kv.Value)
		}
	}
	races, bands := c.Races(), [][]Race(nil)
	if len(races) > 0 {
		bands = c.raceBands()
		c.crossingTable(p, races, bands)
	} else if len(choices) > 1 || c.Brief {
		c.summary(p, choices)
	}
	for i := range races {
		c.raceTable(p, &races[i], bands, i)
	}
	if !c.Brief && len(races) == 0 {
		for i := range choices {
			c.group(p, &choices[i])
		}
	}
	p.tail = append(p.tail, c.outsideNote()...)
	p.tail = append(p.tail, c.bandNotes(choices)...)
	for _, n := range c.Notes {
		p.tail = append(p.tail, "note: "+n)
	}
	p.tail = append(p.tail, "algbw: "+DefAlgbw, "busbw: "+DefBusbw, "wire: "+DefWire, "bound %: lower bound / elapsed; take: the smallest value within the tolerance of the best",
		"1 GB = 10^9 B, 1 GiB = 2^30 B; all times are simulated")
	return p
}

// summary has one row for each group.
func (c *Comparison) summary(p *page, choices []Choice) {
	head := []string{"for", ">take", ">us", ">behind %", ">best", ">us", ">slowest/quickest", "~remark"}
	if c.Band != nil {
		head = slices.Insert(head, 3, ">low us", ">high us", ">wins")
	}
	t := p.table("Recommendations", head...)
	for i := range choices {
		ch := &choices[i]
		if ch.Pick < 0 {
			cells := []string{label(ch.Axes), "-", "", "", "", "", ch.Range, ch.Text}
			if c.Band != nil {
				cells = slices.Insert(cells, 3, "", "", "")
			}
			t.add(cells...)
			continue
		}
		pick, best, note := &ch.Rows[ch.Pick], &ch.Rows[ch.Best], ""
		if ch.Flat {
			note = "hardly matters"
		}
		cells := []string{label(ch.Axes), pick.Value, c.time(pick.Point), percent(pick.Behind), best.Value, c.time(best.Point), ch.Range, note}
		if c.Band != nil {
			low, high := spanText(&c.Points[pick.Point])
			cells = slices.Insert(cells, 3, low, high, winShare(ch.Band, pick.Value))
			if ch.Band != nil && !ch.Band.Stable {
				cells[len(cells)-1] = strings.TrimPrefix(note+"; "+stabilityText(ch.Band, pick.Value), "; ")
			}
		}
		t.add(cells...)
	}
}

// time prints a point's time, marked where it lies beyond what was measured.
func (c *Comparison) time(point int) string { return timeOf(&c.Points[point]) }

func timeOf(p *Point) string { return marked(us(p.Elapsed), p.Outside) }

// label names a group by what its points share.
func label(axes []KV) string {
	if len(axes) == 0 {
		return "all points"
	}
	var parts []string
	for _, kv := range axes {
		parts = append(parts, kv.Key+" "+kv.Value)
	}
	return strings.Join(parts, ", ")
}

// group has one row for each point of a group.
func (c *Comparison) group(p *page, ch *Choice) {
	axis := ">" + c.Axis
	if named(c.Axis) {
		axis = c.Axis
	}
	head, cells := []string{axis}, func(i int) []string { return []string{ch.Rows[i].Value} }
	if ch.Rows[0].Value == "" { // no axis: name the points by all of them
		head, cells = []string{"point"}, func(i int) []string { return []string{label(c.Points[ch.Rows[i].Point].Axes)} }
	}
	head = append(head, "", ">place", ">us", ">behind %", ">algbw", ">busbw", ">wire", ">bound %", "~limited by")
	if c.Band != nil {
		head = slices.Insert(head, 4, ">low us", ">high us", ">wins")
	}
	t := p.table(label(ch.Axes)+"; rates in GB/s", head...)
	add := func(cells []string, band ...string) {
		if c.Band != nil {
			cells = slices.Insert(cells, 4, band...)
		}
		t.add(cells...)
	}
	for i := range ch.Rows {
		row := &ch.Rows[i]
		x := &c.Points[row.Point]
		if row.Place == 0 {
			add(append(cells(i), "", "-", "", "", "", "", "", "", cmp.Or(x.Problem, string(x.Status))), "", "", "")
			continue
		}
		mark := ""
		if i == ch.Pick {
			mark = "take"
		}
		low, high := spanText(x)
		add(append(cells(i), mark, strconv.Itoa(row.Place), c.time(row.Point), percent(row.Behind),
			rateOf(x, x.Algbw), rateOf(x, x.Busbw), rateOf(x, x.Wire), percentOf(x.Bound, x.Elapsed), x.Limits), low, high, winShare(ch.Band, row.Value))
	}
	if ch.Text != "" {
		t.notes = append(t.notes, ch.Text)
	}
}

// rateOf prints a rate of a point.
func rateOf(p *Point, r engine.Rate) string {
	if p.Elapsed == 0 {
		return notAvailable
	}
	return gbps(r)
}

// axes returns the names of all axes in order of appearance.
func (c *Comparison) axes() []string {
	var names []string
	seen := map[string]bool{}
	for i := range c.Points {
		for _, kv := range c.Points[i].Axes {
			if !seen[kv.Key] {
				seen[kv.Key] = true
				names = append(names, kv.Key)
			}
		}
	}
	return names
}

func (c *Comparison) records() [][]string {
	axes := c.axes()
	head := append([]string{}, axes...)
	head = append(head, "status", "size_bytes", "elapsed_us", "place", "behind_percent", "recommended", "algbw_gb_per_s", "busbw_gb_per_s",
		"wire_gb_per_s", "bound_us", "bound_by", "bound_reached_percent", "limited_by", "peak_sq_wqebb", "events", "digest", "problem", "outside_fit")
	if c.Band != nil {
		head = append(head, "elapsed_low_us", "elapsed_high_us", "algbw_low_gb_per_s", "algbw_high_gb_per_s", "busbw_low_gb_per_s", "busbw_high_gb_per_s", "band_draws_ok", "band_wins")
	}
	for k := range result.NumReasons {
		head = append(head, k.String()+"_us")
	}
	head = append(head, "between_calls_us") // with it the account adds up to elapsed_us
	for k := range result.NumCounters {
		head = append(head, counterColumn(k))
	}
	rows := [][]string{head}
	places, picked, wins := c.places()
	for i := range c.Points {
		p := &c.Points[i]
		var row []string
		for _, a := range axes {
			v, _ := p.Axis(a)
			row = append(row, v)
		}
		row = append(row, record(p, places[i], picked[i])...)
		if c.Band != nil {
			row = append(row, bandRecord(p, wins[i])...)
		}
		for _, d := range p.Reasons {
			row = append(row, exact(d))
		}
		row = append(row, exact(p.Between))
		for _, n := range p.Counters {
			row = append(row, strconv.FormatInt(n, 10))
		}
		rows = append(rows, row)
	}
	return rows
}

// places returns for each point its row in the choices, which are recommended, and in how
// many draws of a band each would be.
func (c *Comparison) places() (rows []ChoiceRow, picked []bool, wins []string) {
	rows, picked, wins = make([]ChoiceRow, len(c.Points)), make([]bool, len(c.Points)), make([]string, len(c.Points))
	for _, ch := range c.Choices() {
		for i, r := range ch.Rows {
			rows[r.Point], picked[r.Point] = r, i == ch.Pick
			if ch.Band != nil {
				wins[r.Point] = strconv.Itoa(ch.Band.Of(r.Value))
			}
		}
	}
	return rows, picked, wins
}

func record(p *Point, row ChoiceRow, picked bool) []string {
	rate := func(r engine.Rate) string {
		if p.Elapsed == 0 || !finished(p.Status) {
			return notAvailable
		}
		return fixed(int64(r), 9, 6)
	}
	place, behind := "", ""
	if row.Place > 0 {
		place, behind = strconv.Itoa(row.Place), fixed(int64(row.Behind), 4, 4)
	}
	reached := notAvailable
	if f, ok := share(p.Bound, p.Elapsed); ok && finished(p.Status) {
		reached = fixed(int64(f), 4, 4)
	}
	out := []string{string(p.Status), strconv.FormatInt(int64(p.Size), 10), exact(p.Elapsed), place, behind, strconv.FormatBool(picked),
		rate(p.Algbw), rate(p.Busbw), rate(p.Wire), exact(p.Bound), p.BoundBy, reached, p.Limits,
		strconv.FormatInt(p.PeakSQ, 10), strconv.FormatUint(p.Events, 10), p.Digest, p.Problem, document.OutsideText(p.Outside)}
	return out
}

// counterColumn names a counter with its unit.
func counterColumn(k result.Counter) string {
	if k.Unit() == "B" && !strings.Contains(k.String(), "bytes") {
		return k.String() + "_bytes"
	}
	return k.String()
}
