package main

import (
	"io"

	"pldperf/configs"
	"pldperf/workloads"
)

// maxInput is more than any honest YAML file holds.
const maxInput = 2 << 20

// document reads a file, a shipped file, or standard input ("-").
func (a *app) document(name string) (string, *configs.Doc, error) {
	if name != "-" {
		file, data, err := configs.Find(name)
		if err != nil {
			return "", nil, err
		}
		doc, err := configs.Load(file, data)
		return file, doc, err
	}
	data, err := io.ReadAll(io.LimitReader(a.in, maxInput))
	if err != nil {
		return "", nil, err
	}
	doc, err := configs.Load("standard input", data)
	return "standard input", doc, err
}

// workload reads a workload with its routing drawn.
func (a *app) workload(name string, sets []string) (*workloads.Workload, error) {
	file, doc, err := a.document(name)
	if err != nil {
		return nil, err
	}
	if doc.Has("axes") {
		return nil, doc.At("axes").Fault("this is a sweep; run it with: pldperf sweep %s", name)
	}
	return workloads.LoadDoc(file, doc, sets)
}
