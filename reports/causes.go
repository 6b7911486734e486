package reports

import (
	"io"

	"pldperf/reports/document"
)

// Causes is the list of what simulated time is spent on.
type Causes []Cause

// Cause is one of them.
type Cause struct {
	Name string `json:"name"`
	Part string `json:"part"` // of the machine
	What string `json:"what"`
}

// Write writes the list.
func (c Causes) Write(w io.Writer, f Format, o Options) error { return write(w, f, o, c) }

func (c Causes) check() error { return nil }

func (c Causes) document(program string) writable {
	return &listing{Head: document.NewHead(document.KindCauses, program), Causes: c}
}

func (c Causes) page() *page {
	p := &page{title: "What simulated time is spent on"}
	t := p.table("", "cause", "part", "~what it is")
	for _, x := range c {
		t.add(x.Name, x.Part, x.What)
	}
	return p
}

func (c Causes) records() [][]string {
	rows := [][]string{{"cause", "part", "what"}}
	for _, x := range c {
		rows = append(rows, []string{x.Name, x.Part, x.What})
	}
	return rows
}
