package program

import (
	"fmt"
	"slices"
	"strings"
)

// DType is the type of an element.
type DType uint8

// The element types (semantics 6.2).
const (
	FP32 DType = iota
	FP16
	BF16
	INT32
	INT16
	INT8
	numDTypes
)

var dtypes = [numDTypes]struct {
	name string
	size int64
}{{"FP32", 4}, {"FP16", 2}, {"BF16", 2}, {"INT32", 4}, {"INT16", 2}, {"INT8", 1}}

// String returns the type's name in files and reports.
func (d DType) String() string { return dtypes[d].name }

// Size returns the bytes of an element.
func (d DType) Size() int64 { return dtypes[d].size }

// ParseDType finds a type by name.
func ParseDType(name string) (DType, error) {
	for d := range numDTypes {
		if dtypes[d].name == name {
			return d, nil
		}
	}
	return 0, fmt.Errorf("no type %q; there are %s", name, strings.Join(DTypes(), ", "))
}

// DTypes returns the names of all element types, sorted.
func DTypes() []string {
	var out []string
	for _, d := range dtypes {
		out = append(out, d.name)
	}
	slices.Sort(out)
	return out
}

// Reduce is how two elements are combined (pld.ReduceOp; semantics 3.2).
type Reduce uint8

// The reductions, with the values of pld.ReduceOp.
const (
	Sum Reduce = iota
	Max
	Min
	Prod
	numReduces
)

var reduces = [numReduces]string{"Sum", "Max", "Min", "Prod"}

// String returns the reduction's name.
func (r Reduce) String() string { return reduces[r] }

// ParseReduce finds a reduction by name.
func ParseReduce(name string) (Reduce, error) {
	if i := slices.Index(reduces[:], name); i >= 0 {
		return Reduce(i), nil
	}
	return 0, fmt.Errorf("no reduction %q; there are %s", name, strings.Join(reduces[:], ", "))
}
