package symptoms

import (
	"slices"
	"strings"
)

// refused are the rows of the table that the compiler sees: the operation, words that
// its error holds, and the row.
var refused = []struct{ op, words, row string }{
	{"all_to_all", "must be different windows", "F3"},
	{"allreduce", "requires an explicit signal", "F9"},
	{"", "Unified Buffer", "F17"},
	{"put", "chunk_", "F17"},
	{"get", "chunk_", "F17"},
	{"allreduce", "divisible", "F25"},
	{"allreduce", "core_num columns", "F47"},
	{"allreduce", "signal", "F30"},
	{"broadcast", "root", "F35"},
	{"allgather", "plain tensor", "F37"},
	{"indexed_all_to_all_v", "is below core_num", "F47"},
}

// RefusedAs returns the row of the symptom table to which an error of the compiler about
// an operation belongs; ok is false when there is none.
func RefusedAs(op, text string) (s Symptom, ok bool) {
	i := slices.IndexFunc(refused, func(r struct{ op, words, row string }) bool {
		return (r.op == "" || r.op == op) && strings.Contains(text, r.words)
	})
	if i < 0 {
		return s, false
	}
	return SymptomOf(refused[i].row)
}
