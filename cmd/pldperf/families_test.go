package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/reports"
)

// family is a page of docs/collectives.
type family struct {
	name  string
	ops   []string
	about string
}

// known are the families with an introduction. Operations that none names have a page
// of their own.
var known = []family{
	{"all_to_all", []string{"all_to_all"}, "Each rank gives every rank a different chunk: personalised exchange. Rank r's chunk for rank d lands in row r of d's window. Every form pushes first and trusts nobody's data before the barrier; the caller reads the window back."},
	{"all_to_all_v", []string{"all_to_all_v"}, "The same with a different number of rows for each pair. Counts travel with the rows or before them, as the version of the wire protocol says (`call.wire`)."},
	{"indexed_all_to_all_v", []string{"indexed_all_to_all_v"}, "The exchange of the A5: chosen rows of the raw input go to every peer by URMA, with multi-SGE WRITE SQEs, without packing. It is the dispatch of a mixture of experts."},
	{"barrier", []string{"barrier"}, "Nobody goes on before everybody has come. A barrier moves no payload of its own; each call here carries a little data that proves the order."},
	{"broadcast", []string{"broadcast"}, "Every rank gets root's data."},
	{"allgather", []string{"allgather"}, "Every rank gets the data of every rank, in the order of ranks."},
	{"reduce_scatter", []string{"reduce_scatter"}, "Row r of every rank's input is combined, element by element, into the result of rank r."},
	{"allreduce", []string{"allreduce"}, "Every rank gets the combination of all ranks' data. The mesh reads everybody's data at every rank and suits small messages; the ring and the two phases move every byte only twice and suit large ones."},
	{"primitives", []string{"put", "get", "remote_load", "remote_store", "notify", "wait", "defer_wait"}, "What collectives are made of, each as a small kernel with the handshake that makes it right."},
	{"moe", []string{"moe", "moe_dispatch", "moe_combine"}, "Dispatch of tokens to experts, expansion at the expert's side, and the weighted sum of what comes back."},
	{"chain", []string{"chain"}, "Several collectives in one kernel on one signal (the tutorial's step 21)."},
	{"micro", []string{"micro"}, "Measured programs, as calls: what published figures are compared with."},
}

// families lists the pages: those that are known and there, then the others.
func families() (out []family) {
	seen := map[string]bool{}
	for _, f := range known {
		here := slices.DeleteFunc(slices.Clone(f.ops), func(op string) bool { return !slices.Contains(collectives.Ops(), op) })
		if len(here) > 0 {
			out = append(out, family{f.name, here, f.about})
		}
		for _, op := range here {
			seen[op] = true
		}
	}
	for _, op := range collectives.Ops() {
		if !seen[op] {
			out = append(out, family{name: op, ops: []string{op}})
		}
	}
	return out
}

// made is a file that the test generates, below docs.
type made struct {
	path string
	data []byte
}

func TestThePagesOfTheCollectivesAreCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a sweep for every operation")
	}
	t.Chdir(root)
	t.Run("index", func(t *testing.T) { current(t, []made{{"docs/collectives.md", index()}}) })
	for _, f := range families() {
		t.Run(f.name, func(t *testing.T) { current(t, page(t, f)) })
	}
}

// current compares files with what they should be, or writes them.
func current(t *testing.T, files []made) {
	const how = "run: go test ./cmd/pldperf -run Collectives -update"
	for _, f := range files {
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(f.path), 0o755))
			require.NoError(t, os.WriteFile(f.path, f.data, 0o644))
			continue
		}
		old, err := os.ReadFile(f.path)
		require.NoError(t, err, how)
		if strings.HasSuffix(f.path, ".md") {
			assert.Equal(t, string(f.data), string(old), "%s; %s", f.path, how)
		} else {
			assert.True(t, bytes.Equal(f.data, old), "%s; %s", f.path, how)
		}
	}
}

func index() []byte {
	var b strings.Builder
	b.WriteString("# Collectives\n\nEvery operation in every form, generated from the registry and checked by a test. `pldperf cost` prints\nthe table of operations, `pldperf cost OP/FORM` what one costs by its formulas, `pldperf ir` its program, and a sweep over\n`op: OP/*` which form is the fastest where.\n\n| family | operations and forms | what it is |\n|---|---|---|\n")
	for _, f := range families() {
		var forms []string
		for _, op := range f.ops {
			forms = append(forms, fmt.Sprintf("`%s`: %s", op, strings.Join(collectives.Forms(op), ", ")))
		}
		fmt.Fprintf(&b, "| [%s](collectives/%s.md) | %s | %s |\n", f.name, f.name, strings.Join(forms, "<br>"), f.about)
	}
	b.WriteString("\nMistakes that can be made on purpose in any of them, and what they look like: [SYMPTOMS.md](SYMPTOMS.md).\n")
	return []byte(b.String())
}

func page(t *testing.T, f family) (files []made) {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\nThis page is generated from the registry: [all collectives](../collectives.md). Costs are of a rank, at P = 8 and\n1,024 FP32 elements (or 64 rows of 1,024 elements for each rank); programs at P = 4 and 64 elements, as rank 1, block 0, runs them.\n", f.name, f.about)
	for _, op := range f.ops {
		if len(f.ops) > 1 {
			fmt.Fprintf(&b, "\n# %s\n", op)
		}
		forms(&b, op)
		files = append(files, race(t, &b, op)...)
		for _, form := range collectives.Forms(op) {
			x, err := collectives.Lookup(op, form)
			require.NoError(t, err)
			describeForm(t, &b, x)
		}
		operands(t, &b, op)
		mistakeTable(&b, op)
	}
	return append(files, made{"docs/collectives/" + f.name + ".md", []byte(b.String())})
}

func forms(b *strings.Builder, op string) {
	b.WriteString("\n## Forms\n| form | what it is | fields of a call that it reads |\n|---|---|---|\n")
	for _, f := range operations().Forms {
		if f.Op != op {
			continue
		}
		name := "`" + f.Form + "`"
		if f.Default {
			name += " (default)"
		}
		fields := "`" + strings.Join(f.Fields, "`, `") + "`"
		if f.Routed {
			fields += "; the routing"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, f.Doc, fields)
	}
}

// race draws the forms against size, or ranks where the operation has none, and quotes
// the table.
func race(t *testing.T, b *strings.Builder, op string) []made {
	x, err := collectives.Lookup(op, "")
	if err != nil { // no default form
		x, err = collectives.Lookup(op, collectives.Forms(op)[0])
	}
	require.NoError(t, err)
	dir := t.TempDir()
	what, axis := "the size", "call.message: {from: 64 B, to: 256 KiB, times: 8}"
	title := "950DT, 8 ranks"
	switch {
	case op == "micro": // measured programs have nothing to win against each other, but for those that move one message
		what, title = "the size, of one message between two ranks", "950DT, one message from a rank to another"
	case slices.Contains(x.Fields, "message") && op != "barrier":
	case slices.Contains(x.Fields, "size") && op != "barrier":
		axis = "call.size: {from: 128, to: 131072, times: 4}"
	case op == "moe":
		what, axis = "the tokens of a rank", "routing.tokens: {from: 16, to: 1024, times: 4}"
	default:
		what, axis = "the number of ranks", "ranks: [2, 4, 8, 16]"
	}
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("base.yaml", baseOf(x, strings.HasPrefix(what, "the size")))
	if what == "the number of ranks" {
		title = "950DT"
	}
	write("sweep.yaml", fmt.Sprintf("title: "+title+"\nbase: base.yaml\naxes:\n  op: [%s]\n  %s\n", strings.Join(racers(op, axis), ", "), axis))
	out, errs, code := pldperf("sweep", filepath.Join(dir, "sweep.yaml"), "-o", dir, "--no-cache")
	require.Zero(t, code, "%s: %s\n%s", op, errs, out)
	var files []made
	for _, ext := range []string{".png", ".svg"} {
		data, err := os.ReadFile(filepath.Join(dir, "algorithms"+ext))
		require.NoError(t, err)
		files = append(files, made{"docs/figures/collectives/" + op + ext, data})
	}
	from, to := strings.Index(out, "Switch-over points"), strings.Index(out, "\nnote: ")
	require.True(t, from > 0 && to > from, out)
	fmt.Fprintf(b, "\n## Time against %s\n![time of each form](../figures/collectives/%s.png)\n\n```text\n%s\n```\n", what, op, strings.TrimRight(out[from:to], "\n"))
	return files
}

// racers are the forms that read the axis: with more AIVs too where they take them, and
// in pieces where a whole message would not fit in the Unified Buffer.
func racers(op, axis string) (out []string) {
	if op == "micro" {
		return oneMessage
	}
	path, _, _ := strings.Cut(axis, ":")
	field, inCall := strings.CutPrefix(path, "call.")
	for _, form := range collectives.Forms(op) {
		x, err := collectives.Lookup(op, form)
		if err != nil || inCall && !slices.Contains(x.Fields, field) {
			continue
		}
		cores := "call.core_num=8"
		if op == "allreduce" {
			cores = "call.core_num=36"
		}
		large := "call.size=65536"
		if field == "message" {
			large = "call.message=256 KiB"
		}
		pieces := ""
		if inCall && !x.Routed && !accepted(x, large) && accepted(x, large, "call.chunk_cols=16384") {
			pieces = " chunk_cols=16384"
		}
		if !x.Columns || !x.Routed || accepted(x, "call.core_num=null") {
			out = append(out, x.Name()+pieces)
		}
		if x.Columns && accepted(x, cores) {
			out = append(out, x.Name()+pieces+" "+strings.TrimPrefix(cores, "call."))
		}
	}
	return out
}

// oneMessage are the benchmarks that move one message between rank 0 and rank 1, and so
// can be compared: by URMA in either direction, by SDMA and by remote MTE.
var oneMessage = []string{"micro/hcomm_put", "micro/hcomm_get", "micro/sdma_get", "micro/mte_get"}

// baseOf is the workload whose forms are compared.
func baseOf(x *collectives.Algorithm, sized bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "machine: 950dt-64\nranks: 8\ncall:\n  op: %s\n  form: %s\n", x.Op, x.Form)
	reads := func(f string) bool { return slices.Contains(x.Fields, f) }
	if !sized && reads("size") {
		b.WriteString("  size: 64\n")
	}
	if reads("chunk_rows") {
		b.WriteString("  rows: 2\n  chunk_rows: 1\n  chunk_cols: 16384\n") // or large ones would not fit in the Unified Buffer
	}
	if reads("hidden") {
		b.WriteString("  hidden: 1024\n")
	}
	if x.Op == "moe" {
		b.WriteString("routing: {kind: moe_topk, experts: 64, top_k: 8, tokens: 16}\n")
	} else if x.Routed && !reads("message") {
		b.WriteString("routing: {kind: uniform, rows: 16}\n")
	}
	return b.String()
}

func describeForm(t *testing.T, b *strings.Builder, x *collectives.Algorithm) {
	fmt.Fprintf(b, "\n## %s\n%s.\n\n| quantity | each rank | formula |\n|---|---|---|\n", x.Name(), strings.TrimSuffix(x.Doc, "."))
	w, err := defaults().workload(x)
	require.NoError(t, err, x.Name())
	c, err := costCard(w)
	require.NoError(t, err, x.Name())
	rows := c.Calls[0].Rows()
	for i := range rows {
		name := rows[i].Name
		if rows[i].Unit != "" {
			name += " (" + rows[i].Unit + ")"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", name, rows[i].Each(), strings.ReplaceAll(strings.ReplaceAll(rows[i].Formula, "|", `\|`), "*", `\*`))
	}
	w, err = defaults("ranks=4").smaller().workload(x)
	require.NoError(t, err, x.Name())
	fm, err := record(w, 1, 0)
	require.NoError(t, err, x.Name())
	if len(fm.lines) == 0 {
		b.WriteString("\nIts program is empty.\n")
		return
	}
	var text bytes.Buffer
	both := reports.SideBySide{Titles: [2]string{fm.title}, A: fm.lines}
	require.NoError(t, both.Write(&text, reports.Text, reports.Options{Width: 120}))
	fmt.Fprintf(b, "\n```text\n%s```\n", text.String())
}

// smaller are the flags for a program that fits on a page.
func (f *costFlags) smaller() *costFlags {
	f.size, f.hidden, f.row, f.coreNum = 64, 64, 5, 2
	return f
}

// operands lists what the buffers of a call may be, found by trying.
func operands(t *testing.T, b *strings.Builder, op string) {
	fmt.Fprintf(b, "\n## Operands of %s\nWhat the compiler accepts, form by form: a window (DistributedTensor) where peers access it, a plain tensor elsewhere.\n\n| form | window | plain tensor | either | different buffers |\n|---|---|---|---|---|\n", op)
	for _, form := range collectives.Forms(op) {
		x, err := collectives.Lookup(op, form)
		require.NoError(t, err)
		w, err := defaults("ranks=4").smaller().workload(x)
		require.NoError(t, err, x.Name())
		job, err := w.Job()
		require.NoError(t, err, x.Name())
		var kinds [3][]string
		var names, distinct []string
		for i := range job.Buffers {
			name := job.Buffers[i].Name
			window, tensor := accepted(x, "call.kinds."+name+"=window"), accepted(x, "call.kinds."+name+"=tensor")
			switch {
			case window && tensor:
				kinds[2] = append(kinds[2], name)
			case window:
				kinds[0] = append(kinds[0], name)
			case tensor:
				kinds[1] = append(kinds[1], name)
			default:
				continue // no operand: a buffer of the caller
			}
			for _, other := range names {
				if !accepted(x, "call.same."+name+"="+other) {
					distinct = append(distinct, other+" and "+name)
				}
			}
			names = append(names, name)
		}
		cell := func(of []string) string {
			if len(of) == 0 {
				return "-"
			}
			return strings.Join(of, ", ")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", form, cell(kinds[0]), cell(kinds[1]), cell(kinds[2]), cell(distinct))
	}
}

// accepted reports whether the compiler accepts settings of a small call.
func accepted(x *collectives.Algorithm, sets ...string) bool {
	_, err := defaults(append([]string{"ranks=4"}, sets...)...).smaller().workload(x)
	return err == nil
}

func mistakeTable(b *strings.Builder, op string) {
	type row struct{ name, doc, row, forms string }
	var rows []row
	for _, form := range collectives.Forms(op) {
		x, err := collectives.Lookup(op, form)
		if err != nil {
			continue
		}
		for _, m := range x.Mistakes {
			i := slices.IndexFunc(rows, func(r row) bool { return r.name == m.Name && r.doc == m.Doc })
			if i < 0 {
				rows = append(rows, row{m.Name, m.Doc, m.Row, form})
			} else {
				rows[i].forms += ", " + form
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## Mistakes in %s\nTo make one on purpose, set `call.mistake`. The last column is the row of the [symptom table](../SYMPTOMS.md), which also has the mistakes that any program can have.\n\n| mistake | what it does | forms | row |\n|---|---|---|---|\n", op)
	for _, r := range rows {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", r.name, r.doc, r.forms, r.row)
	}
}
