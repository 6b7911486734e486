package fit

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"pldperf/configs"
)

// row is one measurement: the fields of a line by column, and whether it is held out.
type row struct {
	line   int // of the file, from 1
	fields map[string]string
	held   bool
}

// table reads a CSV file with named columns; lines that start with # are comments, and a
// byte order mark is none of the text.
func table(name string, data []byte) (columns []string, rows []row, err error) {
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	r.Comment, r.TrimLeadingSpace = '#', true
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := r.FieldPos(0)
		if columns == nil {
			if columns, err = header(name, record); err != nil {
				return nil, nil, err
			}
			continue
		}
		f := make(map[string]string, len(columns))
		for k, c := range columns {
			f[c] = strings.TrimSpace(record[k])
		}
		rows = append(rows, row{line: line, fields: f})
	}
	if len(rows) == 0 {
		return nil, nil, fmt.Errorf("%s: a table needs a line of column names and one of values", name)
	}
	return columns, rows, nil
}

// header returns the names of columns, each of which is there once.
func header(name string, record []string) (columns []string, err error) {
	for _, c := range record {
		c = strings.TrimSpace(c)
		if slices.Contains(columns, c) {
			return nil, fmt.Errorf("%s: two columns are called %q", name, c)
		}
		columns = append(columns, c)
	}
	return columns, nil
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

// rows reads the rows of a case, and says which lines were left out because they have no
// measurement. A column that the table lacks, a selection that picks nothing and a
// measurement that is no number are faults.
func (s *Spec) rows(i int) (out []row, skipped []int, err error) {
	c, at := &s.Cases[i], s.doc.At(fmt.Sprintf("cases.%d", i))
	file, columns, all, err := s.table(i)
	if err != nil {
		return nil, nil, at.At("data").Fault("%v", err)
	}
	if err := c.columns(at, columns); err != nil {
		return nil, nil, err
	}
	for _, r := range all {
		if !Selection(c.Rows).is(r) {
			continue
		}
		if r.fields[c.Measured.Column] == "" {
			skipped = append(skipped, r.line)
			continue
		}
		r.held = slices.ContainsFunc(c.HeldOut, func(h Selection) bool { return h.is(r) })
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, nil, at.At("rows").Fault("no row of %s is such", file)
	}
	for _, h := range c.HeldOut {
		if !slices.ContainsFunc(out, h.is) {
			return nil, nil, at.At("held_out").Fault("no row of the case is such")
		}
	}
	return out, skipped, c.numbers(at, file, out)
}

// table reads the table of a case.
func (s *Spec) table(i int) (file string, columns []string, rows []row, err error) {
	file, data, err := configs.Find(s.beside(s.Cases[i].Data))
	if err != nil {
		file, data, err = configs.Read(configs.Measured, s.Cases[i].Data)
	}
	if err != nil {
		return "", nil, nil, err
	}
	columns, rows, err = table(file, data)
	return file, columns, rows, err
}

// numbers reports fields of rows that are no numbers where there must be some: what was
// measured, a finite number above 0, and the x of the baseline, of which a logarithm wants
// the same.
func (c *Case) numbers(at *configs.Doc, file string, rows []row) error {
	check := func(path, column string, above0 bool) error {
		for _, r := range rows {
			x, err := strconv.ParseFloat(r.fields[column], 64)
			switch {
			case column == "":
			case above0 && (err != nil || !(x > 0) || math.IsInf(x, 0)):
				return at.At(path).Fault("line %d of %s: want a number above 0, got %q", r.line, file, r.fields[column])
			case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
				return at.At(path).Fault("line %d of %s: want a number, got %q", r.line, file, r.fields[column])
			}
		}
		return nil
	}
	return cmp.Or(check("measured", c.Measured.Column, true), check("measured", c.Measured.To, true),
		check("baseline", c.Baseline.Column, c.Baseline.Kind == "log2"))
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
	if len(columns) == 0 {
		add(c.Baseline.Column)
	}
	for _, column := range slices.Sorted(maps.Keys(r.fields)) {
		if len(columns) == 0 && column != c.Measured.Column && column != c.Measured.To {
			add(column) // nothing that the case names tells its rows apart
		}
	}
	var parts []string
	for _, column := range columns {
		parts = append(parts, column+" "+r.fields[column])
	}
	return strings.Join(parts, ", ")
}
