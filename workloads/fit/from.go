package fit

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"pldperf/configs"
	"pldperf/engine"
	"pldperf/workloads"
)

// Kept is a parameter whose value does not come from a fit to the rows that it moves.
type Kept struct {
	Label string `json:"label"`
	Value string `json:"value"`
	Why   string `json:"why"`
}

// Override is a value that cases set in place of their machine's own.
type Override struct {
	Cases   []string `json:"cases"`
	Machine string   `json:"machine"`
	Path    string   `json:"path"` // within the machine
	Value   string   `json:"value"`
	Own     string   `json:"machine_has"` // empty: nothing
}

// written are the parameters of the explanation that is written: all of the spec's and
// those of its first rival.
func (s *Spec) written() []Param {
	if len(s.Alternatives) == 0 {
		return s.Params
	}
	return slices.Concat(s.Params, s.Alternatives[0].Params)
}

// sameBase reports a machine to begin at that is not made from the one of the spec.
func (s *Spec) sameBase(machine string) error {
	if want, got := preset(s.beside(s.Machine)), preset(machine); got != want {
		return fmt.Errorf("%s is based on %s, but %s is about %s", machine, got, s.file, want)
	}
	return nil
}

// preset is the machine that a machine file is based on in the end.
func preset(name string) string {
	for range 8 {
		if !exists(name) {
			break
		}
		doc, err := configs.Load(name, read(name))
		if err != nil || !doc.Has("based_on") {
			return name
		}
		name = doc.At("based_on").Text()
	}
	return strings.TrimSuffix(filepath.Base(name), ".yaml")
}

// labels reports names of values to begin at that are no parameters of the spec, and
// values of another kind.
func (s *Spec) labels(start map[string]string) error {
	var known []string
	for _, g := range s.groups() {
		for i := range g.params {
			p := &g.params[i]
			known = append(known, p.Label())
			text, ok := start[p.Label()]
			if _, k := engine.ReadQuantity(text); ok && k != p.kind {
				return fmt.Errorf("the value of %q in the earlier fit: want %s, got %q", p.Label(), p.kind.Noun, text)
			}
		}
	}
	for _, label := range slices.Sorted(maps.Keys(start)) {
		if !slices.Contains(known, label) {
			return fmt.Errorf("the earlier fit has a value of %q, which is no parameter of %s; there are: %s", label, s.file, strings.Join(known, "; "))
		}
	}
	return nil
}

// found are the parameters of which an earlier fit, of the options, has a value.
func (b *bench) found(opt Options) (params []Param, x at, err error) {
	if opt.Machine == "" && len(opt.Start) == 0 {
		return nil, nil, nil
	}
	if err := b.spec.labels(opt.Start); err != nil {
		return nil, nil, err
	}
	if len(b.spec.Alternatives) > 0 {
		b.set = &b.spec.Alternatives[0].Set
	}
	for _, p := range b.spec.written() {
		text, ok := opt.Start[p.Label()]
		if !ok {
			text = overlaid(opt.Machine, &p)
		}
		if text == "" {
			continue
		}
		v, k := engine.ReadQuantity(text)
		if k != p.kind { // of the overlay
			return nil, nil, fmt.Errorf("%s in the earlier fit: want %s, got %q", p.Label(), p.kind.Noun, text)
		}
		params, x = append(params, p), append(x, v)
	}
	if len(params) == 0 {
		return nil, nil, fmt.Errorf("the earlier fit has no value of any parameter of %s", b.spec.file)
	}
	return params, x, nil
}

// overlaid is what an overlay, a file, says itself of a parameter of the machine.
func overlaid(machine string, p *Param) string {
	path, of := strings.CutPrefix(p.Path, "machine.")
	if !of || !exists(machine) {
		return ""
	}
	doc, err := configs.Load(machine, read(machine))
	switch {
	case err != nil || !doc.Has(path):
		return ""
	case doc.At(path).Has("value"):
		return doc.At(path).At("value").Text()
	}
	return doc.At(path).Text()
}

// origins counts the parameters whose values come from a fit to the spec's rows, because
// an earlier fit gave them or their comments in the files say so; lists the others; and
// says of each row whether anything was fitted to it.
func (b *bench) origins(e *Evaluation, given []Param) error {
	for _, p := range b.spec.written() {
		if !slices.ContainsFunc(given, func(g Param) bool { return g.Label() == p.Label() }) {
			value, why, err := b.origin(&p)
			if err != nil {
				return err
			}
			if why != "" {
				e.Kept = append(e.Kept, Kept{p.Label(), value, why})
				continue
			}
		}
		e.Params++
		for i := range e.Rows {
			r := &e.Rows[i]
			r.Fitted = r.Fitted || !r.HeldOut && (len(p.In) == 0 || slices.Contains(p.In, r.Case))
		}
	}
	return nil
}

// origin returns what the files say of a parameter in the first case to which it applies,
// and why that does not come from a fit to the spec's rows, if so.
func (b *bench) origin(p *Param) (value, why string, err error) {
	c := slices.IndexFunc(b.spec.Cases, func(k Case) bool { return p.applies(&k) })
	doc, err := b.doc(c, 0, nil, nil)
	if err != nil {
		return "", "", err
	}
	w, err := workloads.CheckDoc(b.files[c], doc, nil)
	if err != nil {
		return "", "", err
	}
	leaves := w.Doc.Params(p.Path)
	if v := b.spec.Cases[c].Set.comment(p.Path); v != nil {
		if leaves = v.Params(); len(leaves) > 0 && leaves[0].Kind == configs.KindNone {
			leaves[0].Kind = configs.User
		}
	}
	if len(leaves) == 0 {
		return "", "no file says it", nil
	}
	switch leaf := leaves[0]; {
	case leaf.Kind != configs.Fitted:
		return leaf.Value, kept[leaf.Kind], nil
	case !b.spec.names(leaf.Source):
		return leaf.Value, "fitted to other data: " + leaf.Source, nil
	default:
		return leaf.Value, "", nil
	}
}

// kept says where a value comes from that was not fitted.
var kept = map[configs.Kind]string{
	configs.KindNone: "a default", configs.Documented: "documented", configs.Assumed: "assumed", configs.User: "set by the case",
}

// comment is the document of a constant that a case sets, which has its comment.
func (v *Values) comment(path string) *configs.Doc {
	if i := slices.Index(v.paths, path); i >= 0 && v.values[i].Column == "" {
		return v.values[i].at
	}
	return nil
}

// names reports whether a comment means the spec or one of its tables. Those of shipped
// machines need not: a test of the shipped cases stands for them.
func (s *Spec) names(comment string) bool {
	if strings.HasPrefix(filepath.ToSlash(s.file), "configs/measured/") {
		return true
	}
	known := []string{stem(s.file)}
	for _, k := range s.Cases {
		known = append(known, stem(k.Data))
	}
	return slices.ContainsFunc(known, func(name string) bool { return strings.Contains(comment, name) })
}

func stem(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(name), ".yaml"), ".csv")
}

// overrides lists what cases set in place of what their machines have.
func (b *bench) overrides() (out []Override, err error) {
	for c := range b.rows {
		for r := range b.rows[c] {
			doc, err := b.doc(c, r, nil, nil)
			if err != nil {
				return nil, err
			}
			own := doc.At("machine.preset").Text()
			base, err := workloads.Machine(own)
			if err != nil {
				return nil, err
			}
			for _, leaf := range doc.Params("machine") {
				_, path, _ := strings.Cut(leaf.Path, "machine.") // in front of it is where the workload stands
				had := ""
				if p := base.Params(path); len(p) > 0 {
					had = p[0].Value
				}
				if path == "preset" || same(had, leaf.Value) {
					continue
				}
				o := Override{Machine: stem(own), Path: path, Value: leaf.Value, Own: had}
				out = o.into(out, b.spec.Cases[c].Name)
			}
		}
	}
	return out, nil
}

// into adds a case's override to a list, in which cases that share one stand together.
func (o Override) into(all []Override, name string) []Override {
	for i := range all {
		a := &all[i]
		if a.Machine == o.Machine && a.Path == o.Path && a.Value == o.Value {
			if !slices.Contains(a.Cases, name) {
				a.Cases = append(a.Cases, name)
			}
			return all
		}
	}
	o.Cases = []string{name}
	return append(all, o)
}

// same reports whether two texts are one value.
func same(a, b string) bool {
	x, k := engine.ReadQuantity(a)
	y, l := engine.ReadQuantity(b)
	return a == b || k != nil && k == l && x == y
}
