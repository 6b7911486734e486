package main

import (
	"io"

	"pldperf/configs"
	"pldperf/workloads"
)

// maxInput is more than any honest YAML file holds.
const maxInput = 2 << 20

// stdin is how messages name standard input.
const stdin = "standard input"

// read reads a file, a shipped file, or standard input ("-").
func (a *app) read(name string) (file string, data []byte, err error) {
	if name != "-" {
		return configs.Find(name)
	}
	data, err = io.ReadAll(io.LimitReader(a.in, maxInput))
	return stdin, data, err
}

// document reads a YAML file like read.
func (a *app) document(name string) (string, *configs.Doc, error) {
	file, data, err := a.read(name)
	if err != nil {
		return "", nil, err
	}
	doc, err := configs.Load(file, data)
	return file, doc, err
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
	if isMachine(doc) {
		return nil, doc.At("name").Fault("this is a machine, which a workload names; see: pldperf show %s", name)
	}
	return workloads.LoadDoc(file, doc, sets)
}
