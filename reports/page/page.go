// Package page writes results as one HTML file that a person reads in a browser: verdict,
// sentences, what the time was spent on, a swimlane of the run, charts, heat maps, tables,
// and where every number comes from. The file holds its data, scripts and style and asks
// the network for nothing, which its own Content-Security-Policy enforces. Go lays out the
// data; the scripts under assets draw it. They are plain JavaScript without a build step,
// but for uPlot, which draws the charts.
package page

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"

	"pldperf/reports"
	"pldperf/reports/document"
)

//go:embed assets
var assets embed.FS

// scripts are the parts of the page's program, in the order in which they run.
var scripts = []string{
	"uPlot.min.js", "words.js", "base.js", "tables.js", "bars.js", "heat.js", "charts.js", "unpack.js", "lanes.js", "swimlane.js", "sweep.js", "sections.js", "main.js",
}

var styles = []string{"uPlot.min.css", "page.css"}

var shell = template.Must(template.New("page.html").ParseFS(assets, "assets/page.html"))

// Result is one result that a page shows.
type Result struct {
	Name     string             // the file, or what was run
	Document *document.Document //
	Timeline *Timeline          // nil: of a run that was read from a file, or not recorded
	Traffic  [][]int64          // from rank to rank; nil: what the ports and queues carried
	Unit     string             // of Traffic
}

// Page is what one file shows.
type Page struct {
	Title    string
	Program  string // the version of pldperf
	Results  []Result
	Accuracy *document.Validation // of the shipped machines; nil: unknown
}

// view is what the page's program reads.
type view struct {
	Title    string                    `json:"title"`
	Program  string                    `json:"program"`
	Results  []resultView              `json:"results"`
	Accuracy []document.ValidationFile `json:"accuracy,omitempty"`
}

type resultView struct {
	Name        string                `json:"name"`
	Kind        document.Kind         `json:"kind"`
	Program     string                `json:"program,omitempty"`
	Sheet       *reports.Sheet        `json:"sheet"`
	Sentences   []string              `json:"sentences,omitempty"`
	Run         *document.Run         `json:"run,omitempty"`
	Metrics     *document.Metrics     `json:"metrics,omitempty"`
	Explanation *document.Explanation `json:"explanation,omitempty"` // without its run
	Sweep       *sweepView            `json:"sweep,omitempty"`
	Validation  *document.Validation  `json:"validation,omitempty"`
	Diff        *document.Diff        `json:"diff,omitempty"`
	Timeline    *lineView             `json:"timeline,omitempty"`
	Traffic     [][]int64             `json:"traffic,omitempty"`
	Unit        string                `json:"unit,omitempty"`
}

// Write writes the page. One without results, or with a result that says nonsense, is an
// error, and nothing is written.
func (p *Page) Write(w io.Writer) error {
	if len(p.Results) == 0 {
		return errors.New("a page needs at least one result")
	}
	v := view{Title: p.Title, Program: p.Program}
	if p.Accuracy != nil {
		v.Accuracy = p.Accuracy.Files
	}
	for i := range p.Results {
		x, err := p.Results[i].view()
		if err != nil {
			return fmt.Errorf("%s: %w", p.Results[i].Name, err)
		}
		v.Results = append(v.Results, *x)
	}
	if v.Title == "" {
		v.Title = v.Results[0].Sheet.Title
	}
	return v.write(w)
}

func (v *view) write(w io.Writer) error {
	data, err := json.Marshal(v) // which escapes <, > and &
	if err != nil {
		return err
	}
	style, err := read(styles)
	if err != nil {
		return err
	}
	script, err := read(scripts)
	if err != nil {
		return err
	}
	var lead []string
	for _, r := range v.Results {
		lead = append(lead, append([]string{r.Sheet.Title}, r.Sheet.Lead...)...)
	}
	return shell.Execute(w, struct {
		Title  string
		Lead   []string
		Style  template.CSS
		Script template.JS
		Data   template.JS
	}{v.Title, lead, template.CSS(style), template.JS(script), template.JS(data)})
}

// read joins files of the page's program or style.
func read(names []string) (string, error) {
	var all strings.Builder
	for _, name := range names {
		b, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return "", err
		}
		all.Write(b)
		all.WriteByte('\n')
	}
	return all.String(), nil
}

func (r *Result) view() (*resultView, error) {
	d := r.Document
	sheet, err := reports.SheetOf(d)
	if err != nil {
		return nil, err
	}
	v := &resultView{
		Name: r.Name, Kind: d.Kind, Program: d.Program, Sheet: sheet, Run: d.Run, Explanation: d.Explanation, Validation: d.Validation, Diff: d.Diff,
		Traffic: r.Traffic, Unit: r.Unit,
	}
	switch d.Kind {
	case document.KindExplanation:
		v.ofExplanation(d.Explanation)
	case document.KindSweep:
		v.Sweep = viewSweep(d.Sweep)
	case document.KindRun:
		v.Sentences = (*reports.Card)(d.Run).Sentences()
	}
	if v.Run != nil {
		m := reports.Measure((*reports.Card)(v.Run))
		v.Metrics = &m
	}
	if r.Timeline != nil && v.Run != nil {
		v.Timeline, err = r.Timeline.view(v.Run.Result.Path)
	}
	return v, err
}

// ofExplanation shows an explanation as its run, with what it adds.
func (v *resultView) ofExplanation(e *document.Explanation) {
	rest := *e
	rest.Run = document.Run{}
	v.Run, v.Explanation = &e.Run, &rest
	v.Sentences = (*reports.Explanation)(e).Sentences()
}
