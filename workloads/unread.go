package workloads

import (
	"slices"
	"strings"

	"pldperf/collectives"
	"pldperf/configs"
	"pldperf/hw"
	"pldperf/workloads/routing"
)

// Unread lists what the workload's file and the overrides say though nothing reads it in
// this workload: what belongs to another fabric, to the real part behind an ideal twin, to
// another operation, or to parts of the machine that none of the calls uses. What the
// machine's preset says is not the user's.
func (w *Workload) Unread() configs.Problems { return w.own.Unread(&w.Config, w.Uses) }

// Uses reports whether the calls use a part of the machine (hw.Parts), and who would.
func (w *Workload) Uses(part string) (used bool, who string) {
	if w.parts == nil {
		w.parts = w.used()
	}
	return w.parts[part], PartWords(part)
}

// PartWords says who uses a part of the machine.
func PartWords(part string) string {
	all := hw.Parts()
	i := slices.IndexFunc(all, func(p hw.Part) bool { return p.Name == part })
	if i < 0 {
		panic("workloads: a when tag names the part " + part + ", which there is not")
	}
	return all[i].Doc
}

// used composes the workload's programs with few rows, which they do not depend on, and
// lists what they use. Where that fails, everything may be used.
func (w *Workload) used() map[string]bool {
	thin := Workload{Config: w.Config}
	thin.Config.thin = true
	thin.Config.Repeat = thin.Config.Repeat.few()
	thin.Config.Chain = slices.Clone(w.Config.Chain)
	for i := range thin.Config.Chain {
		thin.Config.Chain[i].Repeat = thin.Config.Chain[i].Repeat.few()
	}
	if thin.Draw() == nil {
		if job, err := thin.Job(); err == nil {
			return hw.Uses(job)
		}
	}
	all := map[string]bool{}
	for _, p := range hw.Parts() {
		all[p.Name] = true
	}
	return all
}

func (r RepeatConfig) few() RepeatConfig {
	r.Count, r.Warmup = min(r.Count, 2), min(r.Warmup, 1)
	return r
}

// few returns a routing of the same kind with as few rows as there can be.
func few(s routing.Spec) routing.Spec {
	switch s.Kind {
	case "moe_topk", "skewed":
		s.Tokens = min(s.Tokens, 1)
	case "uniform", "random":
		s.Rows, s.SelfRows, s.Tokens = min(s.Rows, 1), nil, 0
	}
	return s
}

// Unread says why no item reads a key of a workload.
func (c *Config) Unread(key string) string {
	reads := func(ok func(it *ItemConfig, a *collectives.Algorithm) bool) bool {
		list := c.list()
		return slices.ContainsFunc(list, func(it ItemConfig) bool {
			if it.Call == nil {
				return false
			}
			a, err := collectives.Lookup(it.Call.Op, it.Call.Form)
			return err == nil && ok(&it, a)
		})
	}
	switch key {
	case "routing":
		if !reads(func(it *ItemConfig, a *collectives.Algorithm) bool { return a.Routed && it.Routing == nil }) {
			return "no call has rows that it routes by it"
		}
	case "model":
		if !reads(func(it *ItemConfig, a *collectives.Algorithm) bool { return slices.Contains(a.Fields, "hidden") }) {
			return "no call has rows of a hidden size"
		}
	}
	return ""
}

// Unread says why the call's algorithm does not read a key of it.
func (k *CallConfig) Unread(key string) string {
	a, err := collectives.Lookup(k.Op, k.Form)
	if err != nil || slices.Contains(common, key) || slices.Contains(a.Fields, key) {
		return ""
	}
	return a.Name() + " reads " + strings.Join(a.Fields, ", ")
}

// Unread says why a key of repetitions does not matter.
func (r *RepeatConfig) Unread(key string) string {
	if r.Warmup+r.Count > 1 || key == "count" || key == "warmup" {
		return ""
	}
	return "there is one call"
}
