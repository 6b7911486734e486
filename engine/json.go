package engine

import "strconv"

// In JSON every quantity is a plain integer in its base unit (ps, B, B/s, Hz,
// cycles, millionths), because scripts calculate with it; the field's name carries
// the unit. The text form with a unit is for people and YAML.

// MarshalJSON writes picoseconds.
func (t Time) MarshalJSON() ([]byte, error) { return number(t) }

// UnmarshalJSON reads picoseconds.
func (t *Time) UnmarshalJSON(b []byte) error { return fromNumber(t, b) }

// MarshalJSON writes picoseconds.
func (d Duration) MarshalJSON() ([]byte, error) { return number(d) }

// UnmarshalJSON reads picoseconds.
func (d *Duration) UnmarshalJSON(b []byte) error { return fromNumber(d, b) }

// MarshalJSON writes bytes.
func (n Bytes) MarshalJSON() ([]byte, error) { return number(n) }

// UnmarshalJSON reads bytes.
func (n *Bytes) UnmarshalJSON(b []byte) error { return fromNumber(n, b) }

// MarshalJSON writes cycles.
func (n Cycles) MarshalJSON() ([]byte, error) { return number(n) }

// UnmarshalJSON reads cycles.
func (n *Cycles) UnmarshalJSON(b []byte) error { return fromNumber(n, b) }

// MarshalJSON writes bytes a second.
func (r Rate) MarshalJSON() ([]byte, error) { return number(r) }

// UnmarshalJSON reads bytes a second.
func (r *Rate) UnmarshalJSON(b []byte) error { return fromNumber(r, b) }

// MarshalJSON writes hertz.
func (f Hertz) MarshalJSON() ([]byte, error) { return number(f) }

// UnmarshalJSON reads hertz.
func (f *Hertz) UnmarshalJSON(b []byte) error { return fromNumber(f, b) }

// MarshalJSON writes millionths.
func (f Fraction) MarshalJSON() ([]byte, error) { return number(f) }

// UnmarshalJSON reads millionths.
func (f *Fraction) UnmarshalJSON(b []byte) error { return fromNumber(f, b) }

func number[T ~int64](v T) ([]byte, error) { return strconv.AppendInt(nil, int64(v), 10), nil }

func fromNumber[T ~int64](v *T, b []byte) error {
	n, err := strconv.ParseInt(string(b), 10, 64)
	*v = T(n)
	return err
}
