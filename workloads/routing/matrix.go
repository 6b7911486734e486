package routing

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mostFaults bounds the faults listed for one matrix; a file of the wrong kind has one in every cell.
const mostFaults = 20

// ParseMatrix reads a square traffic matrix from CSV text, one line for each source and one whole number from 0 for each
// destination, and returns rows, [source][destination]. Lines that start with # are comments. A first line without any
// number is a header; so is one whose first field is empty, src, source or rank: then the first column is labels. unit is
// "rows" or "bytes"; bytes are turned into whole rows of rowBytes, where a remainder is an error, or with round "up" one
// row more. Errors name file:line:column; name is the file's.
func ParseMatrix(name string, data []byte, unit, round string, rowBytes int64) ([][]int64, error) {
	if unit == "bytes" && rowBytes < 1 {
		return nil, fmt.Errorf("%s: a matrix of bytes needs rows of at least 1 byte, not %d", name, rowBytes)
	}
	records, err := readCells(name, data)
	if err != nil {
		return nil, err
	}
	records = dropHeader(records)
	if len(records) == 0 {
		return nil, fmt.Errorf("%s:1:1: no numbers", name)
	}
	var p problems
	m := make([][]int64, len(records))
	for i, record := range records {
		if len(record) != len(records) {
			p = append(p, record[0].fault("%d destinations for %d sources; a matrix must be square", len(record), len(records)))
		}
		for _, c := range record {
			m[i] = append(m[i], c.rows(unit, round, rowBytes, &p))
		}
	}
	if len(p) > mostFaults {
		p = append(p[:mostFaults:mostFaults], fmt.Errorf("%s: %d more", name, len(p)-mostFaults))
	}
	if len(p) > 0 {
		return nil, p.join()
	}
	return m, nil
}

// rows turns one number of a matrix into rows.
func (c cell) rows(unit, round string, rowBytes int64, p *problems) int64 {
	if unit != "bytes" {
		return c.whole(MaxRows, p)
	}
	n := c.whole(MaxRows*min(rowBytes, 1<<30), p)
	if n%rowBytes != 0 && round != "up" {
		*p = append(*p, c.fault("%d bytes are not whole rows of %d; round: up would send a row more", n, rowBytes))
	}
	return (n + rowBytes - 1) / rowBytes
}

// dropHeader removes a header line and, where the header announces one, a column of labels.
func dropHeader(records [][]cell) [][]cell {
	if len(records) == 0 {
		return records
	}
	labelled := isLabel(records[0][0].text)
	if !labelled && slices.ContainsFunc(records[0], isNumber) {
		return records // a wrong number among right ones is a fault, not a header
	}
	records = records[1:]
	for i := range records {
		if labelled && len(records[i]) > 1 {
			records[i] = records[i][1:]
		}
	}
	return records
}

// isLabel says whether a header's first field stands over a column of labels.
func isLabel(text string) bool {
	return slices.Contains([]string{"", "src", "source", "rank"}, strings.ToLower(text))
}

func isNumber(c cell) bool {
	_, err := strconv.ParseFloat(c.text, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}
