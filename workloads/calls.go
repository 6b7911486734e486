package workloads

import (
	"os"
	"path/filepath"

	"pldperf/collectives"
	"pldperf/configs"
	"pldperf/workloads/routing"
)

// files reads what a routing names: a file beside the workload, or a shipped table.
func (c *Config) files(name string) ([]byte, error) {
	data, err := c.read(name)
	if err == nil && c.noted != nil {
		c.noted(name, data)
	}
	return data, err
}

func (c *Config) read(name string) ([]byte, error) {
	if !filepath.IsAbs(name) && c.dir != "" {
		if data, err := os.ReadFile(filepath.Join(c.dir, name)); err == nil {
			return data, nil
		}
	}
	_, data, err := configs.Find(name)
	return data, err
}

// form returns the form, or the one that people mean when they name none.
func (k *CallConfig) form() string {
	if a, err := collectives.Lookup(k.Op, k.Form); err == nil {
		return a.Form
	}
	return k.Form
}

// routed reports whether the operation reads a routing.
func (k *CallConfig) routed() bool {
	a, err := collectives.Lookup(k.Op, k.Form)
	return err == nil && a.Routed
}

// dtype returns the element type, or the default.
func (k *CallConfig) dtype() string {
	if k.DType == "" {
		return "FP32"
	}
	return k.DType
}

// hidden returns H: as given, by the model, or from a message below one row.
func (c *Config) hidden(k *CallConfig) int {
	h := k.Hidden
	if h == 0 && c.Model != "" {
		if s, err := c.shape(); err == nil {
			h = s.Hidden
		}
	}
	return h
}

func (c *Config) shape() (routing.Shape, error) {
	data, err := c.files(routing.ShapesFile)
	if err != nil {
		return routing.Shape{}, err
	}
	shapes, err := routing.ParseShapes(routing.ShapesFile, data)
	if err != nil {
		return routing.Shape{}, err
	}
	return shapes.Model(c.Model)
}

// routing returns the routing of an item and the bytes of its rows. A message size
// stands for uniform rows: below one row it is one row of that size, above it whole
// rows (resolution: message sizes).
func (c *Config) routing(it *ItemConfig) (routing.Spec, int64) {
	spec := c.Routing
	if it.Routing != nil {
		spec = *it.Routing
	}
	if spec.Model == "" && spec.Kind == "moe_topk" {
		spec.Model = c.Model
	}
	row := int64(c.hidden(it.Call)) * int64(collectives.ElemSize(it.Call.dtype()))
	if it.Call.Message > 0 && row > 0 && (spec.Kind == "" || spec.Kind == "uniform") {
		spec.Kind = "uniform"
		n, bytes := routing.RowsFor(int64(it.Call.Message), row)
		spec.Rows, row = int(n), bytes
	}
	return spec, row
}

// call returns the collective of an item with the machine's queue parameters.
func (c *Config) call(it *ItemConfig, traffic []collectives.Traffic) *collectives.Call {
	k := it.Call
	e := collectives.ElemSize(k.dtype())
	out := &collectives.Call{
		Op: k.Op, Form: k.form(), Ranks: c.Ranks, CoreNum: k.CoreNum, DType: k.dtype(), Hidden: c.hidden(k), Size: k.Size,
		Rows: k.Rows, Reduce: k.Reduce, Root: k.Root, Capacity: k.Capacity, Epochs: k.Epochs, ChunkRows: k.ChunkRows,
		Pipeline: k.Pipeline, Atomic: k.Atomic, Wire: k.Wire, Mistake: k.Mistake, ChunkCols: k.Chunk, Signal: k.Signal, Traffic: traffic, Platform: c.Machine.Platform, Kinds: k.Kinds, Same: k.Same,
		Depth: c.Machine.URMA.Depth, SGEs: c.Machine.URMA.MaxSGEs, Segment: c.Machine.URMA.Segment, Block: int64(c.Machine.SDMA.Block),
		Software: collectives.Software(k.Software), WQEs: k.WQEs, WQESGEs: k.WQESGEs, FlushEach: k.FlushEach, Commit: k.Commit, Grid: k.Grid, Shared: k.Shared,
		Passes: k.Passes, Slices: k.Slices, Ops: k.Ops, Targets: k.Targets, TargetBytes: k.Apart, Returns: k.Returns,
		Options: collectives.Options{
			Piece: k.Piece, Split: k.Split, Drain: k.Drain, Transport: k.Transport, WhatIf: k.WhatIf, Queues: k.Queues,
			NoReadBack: k.ReadBack != nil && !*k.ReadBack,
		},
	}
	if k.routed() {
		if _, row := c.routing(it); k.Message > 0 && e > 0 && row > 0 { // a row of no size is told of by Check
			out.Hidden = int(max((row+int64(e)-1)/int64(e), 1))
		}
	} else if k.Message > 0 && e > 0 {
		out.Size = int((int64(k.Message) + int64(e) - 1) / int64(e))
	}
	return out
}
