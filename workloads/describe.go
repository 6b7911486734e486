package workloads

import (
	"fmt"
	"slices"
	"strings"

	"pldperf/collectives"
	"pldperf/engine"
)

// describe says in one line what a call is: what its algorithm reads, and no more.
func describe(c *collectives.Call) string {
	a, err := collectives.Lookup(c.Op, c.Form)
	if err != nil {
		return c.Op
	}
	reads := func(field string) bool { return slices.Contains(a.Fields, field) }
	parts := []string{c.Op}
	add := func(when bool, format string, args ...any) {
		if when {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	if len(collectives.Forms(c.Op)) > 1 {
		parts[0] += " " + c.Form
	}
	add(c.CoreNum > 0, "core_num %d", c.CoreNum)
	add(reads("dtype"), "%s", c.DType)
	add(a.Routed, "H %d (row %v)", c.Hidden, engine.Bytes(c.Row()))
	add(!a.Routed && reads("size"), "SIZE %d (%v)", c.Size, engine.Bytes(c.Chunk()))
	add(reads("rows") && c.Rows > 0, "%d rows", c.Rows)
	add(reads("reduce") && c.Reduce != "", "%s", c.Reduce)
	add(reads("root"), "root %d", c.Root)
	add(c.Capacity > 0, "C %d", c.Capacity)
	add(c.Epochs > 0, "%d epochs", c.Epochs)
	add(c.ChunkRows > 0, "chunk_rows %d", c.ChunkRows)
	add(c.ChunkCols > 0, "chunk_cols %d", c.ChunkCols)
	add(c.Pipeline, "two stages")
	add(c.Atomic, "atomic add")
	add(reads("wire") && c.Wire != "", "wire %s", c.Wire)
	add(c.Options.Transport != "", "by %s", c.Options.Transport)
	add(c.Options.WhatIf, "WHAT IF: the real operator may lack this transport")
	add(c.Mistake != "", "MISTAKE on purpose: %s", c.Mistake)
	return strings.Join(parts, ", ")
}

// skewText lists the ranks that start late or run slowly.
func (c *Config) skewText() string {
	var late, slow []string
	for r, d := range c.offsets() {
		if d > 0 {
			late = append(late, fmt.Sprintf("rank %d %v", r, d))
		}
	}
	for r, f := range c.Skew.Slow {
		if f != engine.One {
			slow = append(slow, fmt.Sprintf("rank %d %v", r, f))
		}
	}
	var parts []string
	if len(late) > 0 {
		parts = append(parts, "late: "+brief(late))
	}
	if len(slow) > 0 {
		parts = append(parts, "AIV time: "+brief(slow))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, "; ")
}

// brief joins words, of many the first.
func brief(words []string) string {
	const most = 8
	if len(words) > most {
		words = append(slices.Clone(words[:most]), fmt.Sprintf("and %d more", len(words)-most))
	}
	return strings.Join(words, ", ")
}
