package workloads

import (
	"slices"

	"pldperf/collectives"
	"pldperf/configs"
)

// WithForm returns a workload's document, with the overrides, for another form of its
// call: fields that the form does not read are taken away, so that forms with different
// arguments can be set side by side.
func WithForm(name string, doc *configs.Doc, sets []string, form string) (*configs.Doc, error) {
	own, err := override(doc, sets)
	if err != nil {
		return nil, err
	}
	w, err := decode(name, own)
	if err != nil {
		return nil, err
	}
	a, err := collectives.Lookup(w.Config.Call.Op, form)
	if err != nil {
		return nil, err
	}
	for _, f := range w.Config.Call.given() {
		if !slices.Contains(a.Fields, f) {
			if err := own.SetFrom("form "+form, "call."+f, "null"); err != nil {
				return nil, err
			}
		}
	}
	return own, own.SetFrom("form "+form, "call.form", form)
}
