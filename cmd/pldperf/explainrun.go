package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"pldperf/reports"
	"pldperf/reports/document"
	"pldperf/workloads"
	"pldperf/workloads/explain"
)

// explainRun explains where the time of a workload goes.
func (a *app) explainRun(ctx context.Context, name string, f *explainFlags) error {
	format, err := parseFormat(f.format, f.json)
	if err != nil {
		return err
	}
	if err := atLeastOne(f.jobs); err != nil {
		return err
	}
	out := target{"--output", f.file}
	if err := distinct([]string{name}, out); err != nil {
		return err
	}
	file, doc, err := a.workloadDoc(name)
	if err != nil {
		return err
	}
	sets := f.sets
	if f.given.Changed("machine") {
		if _, err := workloads.Machine(f.machine); err != nil {
			return fmt.Errorf("--machine: %w", err)
		}
		sets = append([]string{"machine=" + f.machine}, sets...) // others may change it further
	}
	w, err := workloads.CheckDoc(file, doc, sets)
	if err == nil {
		err = errors.Join(distinct(w.Files(), out), a.unread(w.Unread(), f.strict, false))
	}
	if err != nil {
		return err
	}
	m := working(a.errs, "explaining")
	x, err := await(ctx, func() (*explain.Explanation, error) {
		return explain.Explain(ctx, file, doc, sets, explain.Options{Workers: f.jobs, Quick: f.quick, Progress: m.count})
	})
	m.stop()
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return explanation(x).Write(w, format, a.shown(110)) }
	if err := a.output(f.file, write); err != nil {
		return err
	}
	return verdict(x.Base.Result.Status)
}

// explanation is what explain found, as reports show it.
func explanation(x *explain.Explanation) *reports.Explanation {
	out := &reports.Explanation{Run: document.Run(*card(x.Base))}
	out.Run.Config = leaves(x.Workload)
	for _, p := range x.Workload.Unread() {
		out.Run.Notes = append(out.Run.Notes, p.Error())
	}
	for _, t := range x.Twins {
		out.Twins = append(out.Twins, reports.Twin(t))
	}
	for _, p := range x.Pairs {
		out.Pairs = append(out.Pairs, reports.TwinPair(p))
	}
	for _, m := range x.Moves {
		out.Moves = append(out.Moves, reports.Move{
			Path: m.Path, Value: m.Value, Kind: sources[m.Kind], Below: m.Below, Above: m.Above, Elasticity: m.Elasticity, Half: m.Half, Unsteady: m.Unsteady, Problem: m.Problem,
		})
	}
	for _, b := range x.Blocks {
		p := reports.CoreNumPoint{CoreNum: b.CoreNum, Elapsed: b.Elapsed, Problem: b.Problem}
		for _, o := range b.Outside {
			p.Outside = append(p.Outside, document.Outside(o))
		}
		out.Blocks = append(out.Blocks, p)
	}
	return out
}
