package reports

import (
	"errors"
	"io"
	"strconv"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// StepList is the life of WQEs, step by step.
type StepList struct {
	Title string
	Steps []result.Step
}

// Write writes the list: when the WQE was built, and how long after that each step
// came. A step that does not apply is left out. An empty list is an error.
func (s *StepList) Write(w io.Writer, f Format, o Options) error { return write(w, f, o, s) }

func (s *StepList) check() error {
	if len(s.Steps) == 0 {
		return errors.New("no WQE was watched, so there are no steps to list")
	}
	return nil
}

func (s *StepList) document(program string) writable {
	return &listing{Head: document.NewHead(document.KindSteps, program), Steps: s.Steps}
}

// wqeSteps are the steps after the build, in order.
var wqeSteps = []struct {
	name string
	time func(*result.Step) engine.Time
}{
	{"doorbell", func(s *result.Step) engine.Time { return s.Doorbell }},
	{"fetch", func(s *result.Step) engine.Time { return s.Fetch }},
	{"gather", func(s *result.Step) engine.Time { return s.Gather }},
	{"wire", func(s *result.Step) engine.Time { return s.Wire }},
	{"left", func(s *result.Step) engine.Time { return s.Left }},
	{"land", func(s *result.Step) engine.Time { return s.Land }},
	{"ack", func(s *result.Step) engine.Time { return s.Ack }},
	{"cqe", func(s *result.Step) engine.Time { return s.CQE }},
}

func (s *StepList) page() *page {
	p := &page{title: s.Title}
	head := []string{"queue", ">WQE", ">SGEs", ">bytes", ">build us"}
	for _, step := range wqeSteps {
		head = append(head, ">+"+step.name)
	}
	t := p.table("", head...)
	for i := range s.Steps {
		x := &s.Steps[i]
		row := []string{strconv.Itoa(x.Rank) + " -> " + strconv.Itoa(x.Peer), count(x.Seq), strconv.Itoa(x.SGEs), count(x.Bytes), us(engine.Duration(x.Build))}
		for _, step := range wqeSteps {
			row = append(row, since(x, step.time(x), us))
		}
		t.rows = append(t.rows, row)
	}
	t.notes = append(t.notes, "build is when the SIMT lanes had written the SQE, from the start of the simulation; the other columns are us after it, - where a step does not apply. "+
		"wire: the rows are ready for the port, which serves WQEs in order; left: the last byte has left; land: the last byte has landed; cqe: the completion is visible")
	return p
}

// since prints how long after the build t is.
func since(s *result.Step, t engine.Time, print func(engine.Duration) string) string {
	if t == 0 {
		return "-"
	}
	return print(t.Sub(s.Build))
}

func (s *StepList) records() [][]string {
	head := []string{"rank", "peer", "wqe", "sges", "bytes", "build_us"}
	for _, step := range wqeSteps {
		head = append(head, step.name+"_after_build_us")
	}
	rows := [][]string{head}
	for i := range s.Steps {
		x := &s.Steps[i]
		row := []string{strconv.Itoa(x.Rank), strconv.Itoa(x.Peer), strconv.FormatInt(x.Seq, 10), strconv.Itoa(x.SGEs), strconv.FormatInt(x.Bytes, 10), exact(engine.Duration(x.Build))}
		for _, step := range wqeSteps {
			if text := since(x, step.time(x), exact); text != "-" {
				row = append(row, text)
			} else {
				row = append(row, "")
			}
		}
		rows = append(rows, row)
	}
	return rows
}
