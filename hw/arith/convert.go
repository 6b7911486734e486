package arith

import "pldperf/hw/program"

// Convert appends the elements of src, of type from, as elements of type to. What an
// integer type cannot hold wraps around; fractions are cut off. dst and src must not
// overlap, unless the types are the same size.
func Convert(dst, src []byte, from, to program.DType) []byte {
	n := len(src) / int(from.Size())
	at := len(dst)
	dst = append(dst, make([]byte, n*int(to.Size()))...)
	for i := range n {
		Put(dst[at:], i, to, Value(src, i, from))
	}
	return dst
}
