package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"pldperf/engine"
	"pldperf/hw/timeline"
	"pldperf/reports"
	"pldperf/reports/document"
	"pldperf/reports/traces"
	"pldperf/workloads"
)

// traceFlags ask for a trace and a profile of a run.
type traceFlags struct {
	file, profile         string
	ranks, from, to, size string
	level                 string
	events                int64
	format                traces.Format
	opt                   traces.Options
}

// The limits of a trace: what viewers open without trouble.
const (
	traceEvents = 1_000_000
	traceBytes  = "200 MB"
)

func (f *traceFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.file, "trace", "", "write what every part does over time: .json (Chrome), .pftrace or .perfetto-trace, each also with .gz")
	fl.StringVar(&f.level, "trace-level", string(traces.All), "block: what blocks wait for; pipe: also SIMT, VECTOR, MTE2, MTE3, queues, SDMA; all: also ports, HBM and L2")
	fl.StringVar(&f.ranks, "trace-ranks", "", "only these ranks, such as 0,3-5")
	fl.StringVar(&f.from, "trace-from", "", "only from here on, such as 100us of simulated time")
	fl.StringVar(&f.to, "trace-to", "", "only up to here")
	fl.Int64Var(&f.events, "trace-events", traceEvents, "at most so many events; 0: any number. A trace that is cut says so")
	fl.StringVar(&f.size, "trace-bytes", traceBytes, "at most so much, before compression; 0 B: any amount")
	fl.StringVar(&f.profile, "pprof", "", "write where blocks spend simulated time, for go tool pprof (.pb.gz)")
}

// check reads the flags.
func (f *traceFlags) check() error {
	for _, path := range []string{f.file, f.profile} {
		if err := folderOf(path); err != nil {
			return err
		}
	}
	if err := profileName(f.profile); err != nil {
		return err
	}
	if f.file == "" {
		if f.level != string(traces.All) || f.ranks+f.from+f.to != "" || f.events != traceEvents || f.size != traceBytes {
			return fmt.Errorf("--trace-level, -ranks, -from, -to, -events and -bytes say what a trace holds, but there is no --trace FILE")
		}
		return nil
	}
	var err error
	if f.format, err = traceFormat(f.file); err != nil {
		return err
	}
	return f.options()
}

func (f *traceFlags) options() error {
	f.opt = traces.Options{Level: traces.Level(f.level), Events: f.events, Path: true}
	if !slices.Contains(traces.Levels, f.opt.Level) {
		return fmt.Errorf("--trace-level: %q; there are block, pipe and all", f.level)
	}
	if f.events < 0 {
		return fmt.Errorf("--trace-events: %d, must be 0 or more", f.events)
	}
	var size engine.Bytes
	if err := size.UnmarshalText([]byte(f.size)); err != nil || size < 0 {
		return fmt.Errorf("--trace-bytes: %q, want bytes such as %s", f.size, traceBytes)
	}
	f.opt.Bytes = int64(size)
	for _, x := range []struct {
		flag, text string
		at         *engine.Time
	}{{"from", f.from, &f.opt.From}, {"to", f.to, &f.opt.To}} {
		if err := x.at.UnmarshalText([]byte(x.text)); x.text != "" && (err != nil || *x.at < 0) {
			return fmt.Errorf("--trace-%s: %q, want a time such as 100us", x.flag, x.text)
		}
	}
	if f.to != "" && f.opt.To <= f.opt.From {
		return fmt.Errorf("--trace-to: %v is not after --trace-from %v", f.opt.To, f.opt.From)
	}
	return f.parseRanks()
}

// maxTraceRank is more than any machine has.
const maxTraceRank = 1 << 20

// parseRanks reads 0,3-5.
func (f *traceFlags) parseRanks() error {
	if f.ranks == "" {
		return nil
	}
	for part := range strings.SplitSeq(f.ranks, ",") {
		first, last, isRange := strings.Cut(part, "-")
		var a, b int
		if !isRange {
			last = first
		}
		if !number(first, &a) || !number(last, &b) || b < a || b > maxTraceRank {
			return fmt.Errorf("--trace-ranks: %q, want ranks such as 0,3-5", f.ranks)
		}
		for ; a <= b; a++ {
			f.opt.Ranks = append(f.opt.Ranks, a)
		}
	}
	return nil
}

// ranksExist checks the ranks of --trace-ranks.
func (f *traceFlags) ranksExist(ranks int) error {
	for _, r := range f.opt.Ranks {
		if r >= ranks {
			return fmt.Errorf("--trace-ranks: there is no rank %d among %d", r, ranks)
		}
	}
	return nil
}

// profileName checks the name of a profile, which is a gzipped protocol buffer.
func profileName(path string) error {
	name := strings.ToLower(path)
	if name == "" || strings.HasSuffix(name, ".pb.gz") || strings.HasSuffix(name, ".pprof") || isDevice(path) {
		return nil
	}
	return fmt.Errorf("--pprof: the name of a profile ends in .pb.gz or .pprof, but not %s", path)
}

// traceFormat is what the name of a trace asks for.
func traceFormat(path string) (traces.Format, error) {
	name := strings.TrimSuffix(strings.ToLower(path), ".gz")
	switch {
	case strings.HasSuffix(name, ".json"):
		return traces.Chrome, nil
	case strings.HasSuffix(name, ".pftrace"), strings.HasSuffix(name, ".perfetto-trace"):
		return traces.Perfetto, nil
	}
	return "", fmt.Errorf("--trace: the name of a trace ends in .json, .pftrace or .perfetto-trace, with or without .gz, but not %s", path)
}

// watch is what records a run.
type watch struct {
	flags   *traceFlags
	file    *reports.File
	zip     *gzip.Writer
	trace   *traces.Trace
	profile *traces.Profile
	start   time.Time
	nothing bool // in the trace
}

// open begins the files that the flags ask for.
func (f *traceFlags) open() (*watch, error) {
	w := &watch{flags: f, start: time.Now()}
	if f.profile != "" {
		w.profile = traces.NewProfile()
	}
	if f.file == "" {
		return w, nil
	}
	var err error
	if w.file, err = reports.Create(f.file); err != nil {
		return nil, err
	}
	dst := io.Writer(w.file)
	if strings.HasSuffix(strings.ToLower(f.file), ".gz") {
		w.zip, _ = gzip.NewWriterLevel(dst, gzip.BestSpeed) // the level exists
		dst = w.zip
	}
	w.trace, err = traces.New(dst, f.format, f.opt)
	return w, err
}

// sink is what a machine tells; nil when nobody asked for it.
func (w *watch) sink() timeline.Sink {
	var sinks []timeline.Sink
	if w.trace != nil {
		sinks = append(sinks, w.trace)
	}
	if w.profile != nil {
		sinks = append(sinks, w.profile)
	}
	return timeline.Tee(sinks...)
}

// discard leaves nothing of files that are not complete.
func (w *watch) discard() { w.file.Discard() }

// finish completes the files and says on errs, and where a trace is cut in the outcome, what
// they hold.
func (w *watch) finish(errs io.Writer, out *workloads.Outcome) error {
	took := time.Since(w.start)
	if w.trace != nil {
		if err := w.finishTrace(errs, out, took); err != nil {
			return err
		}
	}
	if w.profile == nil {
		return nil
	}
	if err := reports.WriteFile(w.flags.profile, func(dst io.Writer) error { return w.profile.Write(dst, out.Result, document.OutsideText(outside(out))) }); err != nil {
		return err
	}
	fmt.Fprintf(errs, "pldperf: profile %s: go tool pprof -top %s\n", w.flags.profile, w.flags.profile)
	return nil
}

// empty is an error if a trace was asked for that holds nothing.
func (w *watch) empty(out *workloads.Outcome) error {
	if !w.nothing {
		return nil
	}
	why := "nothing happens there"
	if elapsed := engine.Time(out.Result.Elapsed); w.flags.opt.From >= elapsed {
		why = fmt.Sprintf("the run ends at %v, before --trace-from %v", elapsed, w.flags.opt.From)
	}
	return fmt.Errorf("--trace %s: there is nothing to show, so no file was written: %s", w.flags.file, why)
}

func (w *watch) finishTrace(errs io.Writer, out *workloads.Outcome, took time.Duration) error {
	if err := w.trace.Path(out.Result.Path); err != nil {
		return err
	}
	facts := []traces.Fact{
		{Key: "run", Value: out.Title}, {Key: "status", Value: string(out.Result.Status)},
		{Key: "elapsed", Value: out.Result.Elapsed.String()}, {Key: "digest", Value: out.Result.Digests.Result},
	}
	if text := document.OutsideText(outside(out)); text != "" {
		facts = append(facts, traces.Fact{Key: "outside what was measured", Value: text})
	}
	stats, err := w.trace.Close(facts...)
	if err == nil && w.zip != nil {
		err = w.zip.Close()
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", w.flags.file, err)
	}
	if w.nothing = stats.Events == 0; w.nothing {
		w.file.Discard()
		return nil
	}
	if err := w.file.Commit(); err != nil {
		return err
	}
	fmt.Fprintf(errs, "pldperf: trace %s: %d events, %.3g MB; recording took about %.2g s of %.2g s\n",
		w.flags.file, stats.Events, float64(stats.Bytes)/1e6, stats.Took.Seconds(), took.Seconds())
	if cut := stats.CutText(); cut != "" {
		fmt.Fprintf(errs, "pldperf: %s; --trace-ranks, -from, -to and -level choose, --trace-events and -bytes allow more\n", cut)
		out.Warnings = append(out.Warnings, "trace: "+cut)
	}
	return nil
}
