package reports

import (
	_ "embed"
	"html/template"
	"io"

	"pldperf/engine"
	"pldperf/reports/document"
)

//go:embed difference.html
var differenceText string

var differencePage = template.Must(template.New("difference").Parse(differenceText))

// HTML writes the difference as one self-contained page.
func (d *Difference) HTML(w io.Writer) error {
	if err := d.check(); err != nil {
		return err
	}
	p := d.page()
	view := struct {
		Title, Verdict string
		Equal          bool
		Lead, Tail     []string
		Bars           []bar
		Tables         []htmlTable
	}{Title: p.title, Verdict: p.lead[0], Equal: d.Equal, Lead: p.lead[1:], Tail: p.tail, Bars: bars(d.Parts)}
	for i := range p.tables {
		if t := htmlOf(&p.tables[i]); len(t.Rows) > 0 {
			view.Tables = append(view.Tables, t)
		}
	}
	return differencePage.Execute(w, view)
}

// bar is the change of a part, as wide as its share of the largest change.
type bar struct {
	Name, Change string
	Less         bool
	Percent      string // of half the width
}

func bars(parts []document.PartPair) (out []bar) {
	var most engine.Duration
	for _, p := range parts {
		most = max(most, p.Change, -p.Change)
	}
	for _, p := range parts {
		if p.Change == 0 {
			continue
		}
		out = append(out, bar{p.Name, plus(int64(p.Change), exact(p.Change)), p.Change < 0, percentOf(max(p.Change, -p.Change), most)})
	}
	return out
}

type htmlTable struct {
	Title string
	Head  []htmlCell
	Rows  [][]htmlCell
	Notes []string
}

type htmlCell struct {
	Text  string
	Right bool
}

func htmlOf(t *table) htmlTable {
	head, _ := t.columns()
	out := htmlTable{Title: t.title, Notes: t.notes}
	for j, h := range head {
		out.Head = append(out.Head, htmlCell{h, t.head[j] != "" && t.head[j][0] == '>'})
	}
	for _, r := range t.rows {
		var row []htmlCell
		for j, text := range r {
			row = append(row, htmlCell{clean(text), out.Head[j].Right})
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
