package workloads

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"pldperf/collectives"
	"pldperf/configs"
	"pldperf/engine"
)

// OpPath is the path of the operation, and of a sweep's axis that compares algorithms:
// its values are "op/form", patterns such as "allreduce/*", or either with fields of the
// call behind it that hold for these forms only: "allreduce/mesh_host core_num=16".
const OpPath = "call.op"

// opAxis spells out the short path of the axis over algorithms.
func opAxis(path string) string {
	if path == "op" {
		return OpPath
	}
	return path
}

// readOps reads the axis over algorithms: names, of which patterns are spelled out.
func readOps(d *configs.Doc) (a Axis, err error) {
	a.Path = OpPath
	add := func(at *configs.Doc, word string) error {
		names, err := expandOp(at, word)
		for _, name := range names {
			if !slices.Contains(a.Values, name) { // a form that two patterns name is there once
				a.Values, a.at = append(a.Values, name), append(a.at, at)
			}
		}
		return err
	}
	if d.Text() != "" {
		err = add(d, d.Text())
		return a, err
	}
	if d.Len() < 1 {
		return a, d.Fault("an axis of algorithms is a pattern such as all_to_all/*, or a list of them")
	}
	var problems configs.Problems
	for i := range d.Len() {
		v := d.Child(strconv.Itoa(i))
		if err := add(v, v.Text()); err != nil {
			problems = append(problems, problemsOf(err)...)
		}
	}
	if len(problems) > 0 {
		return a, problems
	}
	return a, nil
}

// expandOp returns the algorithms that a word names: op/form, a pattern of such names,
// or an operation, which stands for its default form.
func expandOp(at *configs.Doc, word string) ([]string, error) {
	word, fields, _ := strings.Cut(strings.TrimSpace(word), " ")
	if fields = strings.Join(strings.Fields(fields), " "); fields != "" {
		fields = " " + fields
	}
	for _, f := range strings.Fields(fields) {
		if !strings.Contains(f, "=") {
			return nil, at.Fault("%q is no field=value of the call", f)
		}
	}
	var all, out []string
	for _, x := range collectives.All() {
		all = append(all, x.Name())
		if ok, err := path.Match(word, x.Name()); err == nil && ok {
			out = append(out, x.Name()+fields)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	op, form, _ := strings.Cut(word, "/")
	x, err := collectives.Lookup(op, form)
	if err == nil {
		return []string{x.Name() + fields}, nil
	}
	switch forms := collectives.Forms(op); {
	case strings.ContainsAny(word, "*?["):
		return nil, at.Fault("no algorithm is called %q; there are %s", word, strings.Join(collectives.Ops(), ", "))
	case len(forms) > 0:
		return nil, at.Fault("%v%s", err, suggest(form, forms))
	}
	return nil, at.Fault("%v%s", err, suggest(word, append(all, collectives.Ops()...)))
}

// splitOp returns what a setting of the operation to "op/form" sets: both fields, and
// those behind it. Other settings set one.
func splitOp(path, value string) [][2]string {
	name, fields, _ := strings.Cut(strings.Trim(strings.TrimSpace(value), `"'`), " ")
	op, form, both := strings.Cut(name, "/")
	if strings.TrimSpace(path) != OpPath || !both {
		return [][2]string{{path, value}}
	}
	out := [][2]string{{OpPath, strconv.Quote(op)}, {"call.form", strconv.Quote(form)}} // a bare * is YAML's alias
	for _, f := range strings.Fields(fields) {
		key, v, _ := strings.Cut(f, "=")
		out = append(out, [2]string{"call." + key, v})
	}
	return out
}

// Compares reports whether the sweep compares algorithms: whether it has an axis of them.
func (s *Sweep) Compares() bool { return s.axis(OpPath) != nil }

// set applies one value of an axis to a document.
func (a *Axis) set(doc *configs.Doc, value string) error {
	for _, kv := range splitOp(longPath(a.Path, value), value) {
		if err := doc.SetFrom("axis", kv[0], kv[1]); err != nil {
			return err
		}
	}
	return nil
}

// impossible says why a form cannot do a point; empty when the problems are others: of
// the machine, say, or of the sweep itself.
func impossible(err error) string {
	var parts []string
	for _, p := range problemsOf(err) {
		text := p.Message
		if name, ok := strings.CutPrefix(p.Path, "call."); ok {
			text = name + ": " + text
		} else if p.Path != "" {
			text = p.Path + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// never lists the problems of a sweep in which nothing is possible, and of the words
// among the values of its axes with which no algorithm can do anything: those are faults
// of the sweep and not of an algorithm. That no algorithm reaches a number, such as a
// size, is worth showing.
func (s *Sweep) never() (problems configs.Problems) {
	if !slices.ContainsFunc(s.Points, func(p Point) bool { return p.Impossible == "" }) {
		return s.problems(func(*Point) bool { return true })
	}
	for i := range s.Axes {
		for _, v := range s.Axes[i].Values {
			_, like := engine.ReadQuantity(v)
			with := func(p *Point) bool { return p.Values[i] == v }
			if s.Axes[i].Path == OpPath || like != nil || slices.ContainsFunc(s.Points, func(p Point) bool { return with(&p) && p.Impossible == "" }) {
				continue
			}
			for _, one := range s.problems(with) {
				problems = addNew(problems, one)
			}
		}
	}
	return problems
}

// problems lists why some points are impossible, each reason once.
func (s *Sweep) problems(of func(*Point) bool) (problems configs.Problems) {
	for i := range s.Points {
		if p := &s.Points[i]; of(p) {
			for _, one := range p.problems {
				problems = addNew(problems, one)
			}
		}
	}
	return problems
}
