package reports

import (
	"fmt"
	"strings"

	"pldperf/reports/document"
)

// Sheet is an artefact as text and markdown lay it out, for pages to show.
type Sheet struct {
	Title  string       `json:"title"`
	Lead   []string     `json:"lead,omitempty"` // the verdict first
	Tables []SheetTable `json:"tables,omitempty"`
	Tail   []string     `json:"tail,omitempty"`
}

// SheetTable is one table of a Sheet. Right says which columns hold numbers.
type SheetTable struct {
	Title string     `json:"title"`
	Head  []string   `json:"head"`
	Right []bool     `json:"right"`
	Rows  [][]string `json:"rows"`
	Notes []string   `json:"notes,omitempty"`
}

// SheetOf lays a document out. A document that says nonsense, or of a kind that nothing
// lays out, is an error.
func SheetOf(d *document.Document) (*Sheet, error) {
	a, err := artefactOf(d)
	if err != nil {
		return nil, err
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	p := a.page()
	s := &Sheet{Title: p.title, Lead: p.lead, Tail: p.tail}
	for i := range p.tables {
		t := &p.tables[i]
		x := SheetTable{Title: t.title, Rows: t.rows, Notes: t.notes}
		for _, h := range t.head {
			x.Head, x.Right = append(x.Head, strings.TrimLeft(h, ">~")), append(x.Right, strings.HasPrefix(h, ">"))
		}
		if len(x.Rows)+len(x.Notes) > 0 {
			s.Tables = append(s.Tables, x)
		}
	}
	return s, nil
}

func artefactOf(d *document.Document) (artefact, error) {
	switch {
	case d.Run != nil:
		return (*Card)(d.Run), nil
	case d.Sweep != nil:
		return (*Comparison)(d.Sweep), nil
	case d.Explanation != nil:
		return (*Explanation)(d.Explanation), nil
	case d.Validation != nil:
		return (*Accuracy)(d.Validation), nil
	case d.Calibration != nil:
		return (*Calibration)(d.Calibration), nil
	case d.Diff != nil:
		return (*Difference)(d.Diff), nil
	}
	return nil, fmt.Errorf("a document of kind %q has no form for people", d.Kind)
}

// Sentences says what a run comes to, without any further run: how far it is from its
// bound, where the time goes, how idle the ports are.
func (c *Card) Sentences() (out []string) {
	e := &Explanation{Run: document.Run(*c)}
	if r := c.Result; r.Elapsed == 0 || !finished(r.Status) {
		return nil
	}
	for _, s := range []string{e.boundSentence(), e.pathSentence(), e.portSentence()} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}
