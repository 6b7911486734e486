package engine

import (
	"encoding"
	"fmt"
	"strconv"
)

// Quantity is a kind of number that text can hold: its noun with an article, how it is
// read into base units and how it is written.
type Quantity struct {
	Noun  string
	Parse func(text string) (int64, error)
	Print func(int64) string
}

// numberKinds are tried in order: a text belongs to the first that can read it.
var numberKinds = []Quantity{
	{"a whole number", func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }, func(v int64) string { return strconv.FormatInt(v, 10) }},
	numberKind[Bytes]("a size"),
	numberKind[Duration]("a time"),
	numberKind[Rate]("a rate"),
	numberKind[Hertz]("a frequency"),
	numberKind[Cycles]("a number of cycles"),
	numberKind[Fraction]("a share"),
}

// numberKind is the kind of a unit type.
func numberKind[T interface {
	~int64
	fmt.Stringer
}, P interface {
	*T
	encoding.TextUnmarshaler
}](noun string) Quantity {
	return Quantity{noun, func(s string) (int64, error) {
		var v T
		err := P(&v).UnmarshalText([]byte(s))
		return int64(v), err
	}, func(v int64) string { return T(v).String() }}
}

// ReadQuantity reads a number of any kind in base units; the kind is nil when it is none.
func ReadQuantity(text string) (int64, *Quantity) {
	for i := range numberKinds {
		if v, err := numberKinds[i].Parse(text); err == nil {
			return v, &numberKinds[i]
		}
	}
	return 0, nil
}
