package result

import (
	"encoding/json"
	"fmt"
	"strconv"

	"pldperf/engine"
)

// MarshalJSON writes counters by name.
func (c Counters) MarshalJSON() ([]byte, error) {
	return named(len(c), func(i int) (string, int64) { return Counter(i).String(), c[i] })
}

// UnmarshalJSON reads what MarshalJSON wrote; unknown names are an error.
func (c *Counters) UnmarshalJSON(b []byte) error {
	return unnamed(b, len(c), func(i int) string { return Counter(i).String() }, func(i int, v int64) { c[i] = v })
}

// MarshalJSON writes times by name, in picoseconds.
func (t Times) MarshalJSON() ([]byte, error) {
	return named(len(t), func(i int) (string, int64) { return Reason(i).String(), int64(t[i]) })
}

// UnmarshalJSON reads what MarshalJSON wrote; unknown names are an error.
func (t *Times) UnmarshalJSON(b []byte) error {
	return unnamed(b, len(t), func(i int) string { return Reason(i).String() }, func(i int, v int64) { t[i] = engine.Duration(v) })
}

func named(n int, at func(int) (string, int64)) ([]byte, error) {
	out := make([]byte, 0, 32*n)
	for i := range n {
		name, v := at(i)
		out = append(out, `,"`...)
		out = append(append(out, name...), `":`...) // names need no escapes
		out = strconv.AppendInt(out, v, 10)
	}
	out[0] = '{'
	return append(out, '}'), nil
}

func unnamed(b []byte, n int, name func(int) string, set func(int, int64)) error {
	var m map[string]int64
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	for i := range n {
		if v, ok := m[name(i)]; ok {
			set(i, v)
			delete(m, name(i))
		}
	}
	for k := range m {
		return fmt.Errorf("unknown name %q", k)
	}
	return nil
}
