package reports

import (
	"pldperf/engine"
	"pldperf/hw/result"
)

// pipeRow is a figure of the blocks' pipes: the sum over blocks and its greatest.
type pipeRow struct {
	name   string
	unit   string // "us" or ""
	sum    int64
	most   int64
	at     *result.Block // who has the most
	values func(*result.Block) int64
}

func pipeRows(r *result.Result) []pipeRow {
	rows := []pipeRow{
		{name: "pieces", values: func(b *result.Block) int64 { return b.Pieces }},
		{name: "stage_waits", values: func(b *result.Block) int64 { return b.Waits }},
		{name: "stage_wait", unit: "us", values: func(b *result.Block) int64 { return int64(b.WaitTime) }},
		{name: "mte2_busy", unit: "us", values: func(b *result.Block) int64 { return int64(b.MTE2) }},
		{name: "mte3_busy", unit: "us", values: func(b *result.Block) int64 { return int64(b.MTE3) }},
		{name: "mte2_held_by_memory", unit: "us", values: func(b *result.Block) int64 { return int64(b.MTE2Held.Memory) }},
		{name: "mte2_held_by_peers", unit: "us", values: func(b *result.Block) int64 { return int64(b.MTE2Held.Remote) }},
		{name: "mte3_held_by_memory", unit: "us", values: func(b *result.Block) int64 { return int64(b.MTE3Held.Memory) }},
		{name: "mte3_held_by_peers", unit: "us", values: func(b *result.Block) int64 { return int64(b.MTE3Held.Remote) }},
		{name: "mte_overlap", unit: "us", values: func(b *result.Block) int64 { return int64(b.Overlap) }},
		{name: "simt_busy", unit: "us", values: func(b *result.Block) int64 { return int64(b.SIMT) }},
	}
	for i := range rows {
		for j := range r.Blocks {
			v := rows[i].values(&r.Blocks[j])
			rows[i].sum += v
			if rows[i].at == nil || v > rows[i].most {
				rows[i].most, rows[i].at = v, &r.Blocks[j]
			}
		}
	}
	return rows
}

func (p *pipeRow) text(v int64) string {
	if p.unit == "us" {
		return us(engine.Duration(v))
	}
	return count(v)
}

func pipeTable(p *page, r *result.Result) {
	t := p.table("Pipes of the AIVs", "figure", "unit", ">all blocks", ">most in a block", ">% of elapsed", "where")
	for _, row := range pipeRows(r) {
		if row.most == 0 {
			continue
		}
		part, where := "", place(row.at)
		if len(r.Calls) > 1 {
			where = callName(&r.Calls[row.at.Call]) + ", " + where
		}
		if row.unit == "us" {
			part = percentOf(engine.Duration(row.most), r.Elapsed)
		}
		t.add(row.name, row.unit, row.text(row.sum), row.text(row.most), part, where)
	}
	if len(t.rows) > 0 {
		t.notes = append(t.notes, "overlap: MTE2 and MTE3 busy at once; held: part of the busy time, in which memory or a peer was slower than the pipe; a pipe's busy time may go on while its block has another reason")
	}
}
