package workloads

import (
	"fmt"
	"slices"
	"strings"

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

// withForms spells out calls whose operation is "op/form" and that name no form apart.
func withForms(doc *configs.Doc) (*configs.Doc, error) {
	calls := []string{"call"}
	for i := range doc.At("chain").Len() {
		calls = append(calls, fmt.Sprintf("chain.%d.call", i))
	}
	own := *doc
	for _, call := range calls {
		at := doc.At(call + ".op")
		op, form, both := strings.Cut(at.Text(), "/")
		if !both || doc.Has(call+".form") {
			continue
		}
		where := at.Fault("")[0]
		origin := fmt.Sprintf("%s:%d:%d:", where.File, where.Line, where.Col)
		if err := own.SetFrom(origin, call+".op", op); err != nil {
			return nil, err
		}
		if err := own.SetFrom(origin, call+".form", form); err != nil {
			return nil, err
		}
	}
	return &own, nil
}
