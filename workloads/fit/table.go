package fit

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pldperf/configs"
)

// row is one measurement: the fields of a line by column, and whether it is held out.
type row struct {
	line   int
	fields map[string]string
	held   bool
}

// table reads a CSV file with named columns; lines that start with # are comments.
func table(name string, data []byte) (columns []string, rows []row, err error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comment, r.TrimLeadingSpace = '#', true
	all, err := r.ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(all) < 2 {
		return nil, nil, fmt.Errorf("%s: a table needs a line of column names and one of values", name)
	}
	columns = all[0]
	for i, record := range all[1:] {
		f := make(map[string]string, len(columns))
		for k, c := range columns {
			f[c] = strings.TrimSpace(record[k])
		}
		rows = append(rows, row{line: i + 1, fields: f})
	}
	return columns, rows, nil
}

// is reports whether a row has all of a selection's texts; numbers are compared as such.
func (s Selection) is(r row) bool {
	for c, want := range s {
		got := r.fields[c]
		if a, err := strconv.ParseFloat(got, 64); err == nil {
			if b, err := strconv.ParseFloat(want, 64); err == nil && a == b {
				continue
			}
		}
		if got != want {
			return false
		}
	}
	return true
}

// rows reads the rows of a case. A column that the table lacks, a selection that picks
// nothing and a measurement that is no number are faults.
func (s *Spec) rows(i int) ([]row, error) {
	c, at := &s.Cases[i], s.doc.At(fmt.Sprintf("cases.%d", i))
	name := s.beside(c.Data)
	file, data, err := configs.Find(name)
	if err != nil {
		file, data, err = configs.Read(configs.Measured, c.Data)
	}
	if err != nil {
		return nil, at.At("data").Fault("%v", err)
	}
	columns, all, err := table(file, data)
	if err != nil {
		return nil, at.At("data").Fault("%v", err)
	}
	if err := c.columns(at, columns); err != nil {
		return nil, err
	}
	var out []row
	for _, r := range all {
		if !Selection(c.Rows).is(r) || r.fields[c.Measured.Column] == "" {
			continue
		}
		r.held = slices.ContainsFunc(c.HeldOut, func(h Selection) bool { return h.is(r) })
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, at.At("rows").Fault("no row of %s is such", file)
	}
	for _, h := range c.HeldOut {
		if !slices.ContainsFunc(out, h.is) {
			return nil, at.At("held_out").Fault("no row of the case is such")
		}
	}
	return out, nil
}

// columns reports names of columns that the table lacks.
func (c *Case) columns(at *configs.Doc, known []string) error {
	need := func(path, column string) error {
		if column == "" || slices.Contains(known, column) {
			return nil
		}
		return at.At(path).Fault("no column %q; there are %s", column, strings.Join(known, ", "))
	}
	for _, column := range slices.Sorted(maps.Keys(c.Rows)) {
		if err := need("rows", column); err != nil {
			return err
		}
	}
	for _, h := range c.HeldOut {
		for _, column := range slices.Sorted(maps.Keys(h)) {
			if err := need("held_out", column); err != nil {
				return err
			}
		}
	}
	if err := need("measured", c.Measured.Column); err != nil {
		return err
	}
	if err := need("measured", c.Measured.To); err != nil {
		return err
	}
	return need("baseline", c.Baseline.Column)
}

// name says which row it is: the columns in which the rows of a case differ and that
// select or set something.
func (c *Case) name(r row, all []row) string {
	var columns []string
	add := func(column string) {
		if column == "" || slices.Contains(columns, column) {
			return
		}
		differ := slices.ContainsFunc(all, func(o row) bool { return o.fields[column] != r.fields[column] })
		if differ || len(all) == 1 && len(columns) == 0 {
			columns = append(columns, column)
		}
	}
	for i := range c.Set.values {
		add(c.Set.values[i].Column)
	}
	for _, h := range c.HeldOut {
		for _, column := range slices.Sorted(maps.Keys(h)) {
			add(column)
		}
	}
	add(c.Baseline.Column)
	var parts []string
	for _, column := range columns {
		parts = append(parts, column+" "+r.fields[column])
	}
	return strings.Join(parts, ", ")
}
