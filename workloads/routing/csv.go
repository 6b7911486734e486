package routing

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// A cell is one field of a CSV file with its place, for errors.
type cell struct {
	text         string
	file         string
	line, column int
}

func (c cell) fault(format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: "+format, append([]any{c.file, c.line, c.column}, args...)...)
}

// number reads a finite number from 0; a fault goes to p and gives 0.
func (c cell) number(p *problems) float64 {
	x, err := strconv.ParseFloat(c.text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		*p = append(*p, c.fault("%q is not a number from 0", c.text))
		return 0
	}
	return x
}

// whole reads a whole number from 0 to most; a fault goes to p and gives 0.
func (c cell) whole(most int64, p *problems) int64 {
	n, err := strconv.ParseInt(c.text, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && n > most:
		*p = append(*p, c.fault("%s is above the limit of %d", c.text, most))
	case err != nil || n < 0:
		*p = append(*p, c.fault("%q is not a whole number from 0", c.text))
	default:
		return n
	}
	return 0
}

// readCells reads the records of a CSV file: spaces around fields, blank lines and lines that start with # do not count.
func readCells(name string, data []byte) ([][]cell, error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	r.Comment, r.FieldsPerRecord, r.TrimLeadingSpace = '#', -1, true
	var records [][]cell
	for {
		fields, err := r.Read()
		if err == io.EOF {
			return records, nil
		}
		var at *csv.ParseError
		if errors.As(err, &at) {
			return nil, fmt.Errorf("%s:%d:%d: %w", name, at.Line, at.Column, at.Err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		record := make([]cell, len(fields))
		for i, f := range fields {
			line, column := r.FieldPos(i)
			record[i] = cell{strings.TrimSpace(f), name, line, column}
		}
		records = append(records, record)
	}
}

// A table is a CSV file whose first record names its columns.
type table struct {
	header []cell
	rows   [][]cell
}

func readTable(name string, data []byte) (table, error) {
	records, err := readCells(name, data)
	if err != nil {
		return table{}, err
	}
	if len(records) == 0 {
		return table{}, fmt.Errorf("%s:1:1: no header line", name)
	}
	t := table{records[0], records[1:]}
	var p problems
	for _, row := range t.rows {
		if len(row) != len(t.header) {
			p = append(p, row[0].fault("%d fields for %d columns", len(row), len(t.header)))
		}
	}
	return t, p.join()
}

// column finds a column by name; a fault goes to p and gives 0.
func (t table) column(name string, p *problems) int {
	for i, c := range t.header {
		if c.text == name {
			return i
		}
	}
	*p = append(*p, t.fault("no column %q", name))
	return 0
}

// fault is an error about the table as a whole.
func (t table) fault(format string, args ...any) error { return t.header[0].fault(format, args...) }
