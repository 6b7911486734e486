package reports

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"pldperf/reports/document"
)

// Operations is the table of all operations with their forms.
type Operations struct {
	Forms []OperationForm `json:"forms"`
}

// OperationForm is one form of an operation.
type OperationForm struct {
	Op      string   `json:"op"`
	Form    string   `json:"form"`
	Default bool     `json:"default"`
	Doc     string   `json:"doc"`
	Fields  []string `json:"fields"` // of a call that it reads
	CoreNum bool     `json:"takes_core_num"`
	Routed  bool     `json:"routed"`
}

// Write writes the table.
func (o *Operations) Write(w io.Writer, f Format, opt Options) error { return write(w, f, opt, o) }

func (o *Operations) check() error { return nil }

func (o *Operations) document(program string) writable {
	return &listing{Head: document.NewHead(document.KindOperations, program), Operations: o.Forms}
}

func (o *Operations) page() *page {
	p := &page{title: fmt.Sprintf("%s of operations; * marks the one that is meant when none is named", plural(len(o.Forms), "form"))}
	t := p.table("", "operation", "form", "", "~what it is")
	last := ""
	for _, f := range o.Forms {
		op, mark := f.Op, ""
		if op == last {
			op = ""
		}
		if last = f.Op; f.Default {
			mark = "*"
		}
		t.add(op, f.Form, mark, f.Doc)
	}
	p.tail = []string{"pldperf cost OP/FORM counts one; pldperf ir shows its program; pldperf sweep compares forms with call.op: OP/*"}
	return p
}

func (f *OperationForm) reads() string {
	text := strings.Join(f.Fields, ", ")
	if f.Routed {
		text += "; routing"
	}
	return text
}

func (o *Operations) records() [][]string {
	rows := [][]string{{"op", "form", "default", "takes_core_num", "routed", "doc", "fields"}}
	for _, f := range o.Forms {
		rows = append(rows, []string{f.Op, f.Form, strconv.FormatBool(f.Default), strconv.FormatBool(f.CoreNum), strconv.FormatBool(f.Routed), f.Doc, f.reads()})
	}
	return rows
}
