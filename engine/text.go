package engine

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// A quantity is what the text form of one kind of unit type may look like: a
// decimal number and one unit of a closed list.
type quantity struct {
	noun     string // with its article, as in "is not a rate"
	examples string
	units    []unit // ascending; the first is what the integer counts
	point    int    // what a decimal point costs when String picks a unit
}

type unit struct {
	name  string
	size  uint64
	print bool // String may choose it
}

var (
	duration = quantity{noun: "a time", examples: `"0.35 us" or "12 ns"`, units: []unit{
		{"ps", 1, true}, {"ns", 1e3, true}, {"us", 1e6, true}, {"ms", 1e9, true}, {"s", 1e12, true},
	}}
	size = quantity{noun: "a size", examples: `"8 KiB" or "64 B"`, point: 2, units: []unit{
		{"B", 1, true},
		{"kB", 1e3, true}, {"KiB", 1 << 10, true},
		{"MB", 1e6, true}, {"MiB", 1 << 20, true},
		{"GB", 1e9, true}, {"GiB", 1 << 30, true},
		{"TB", 1e12, true}, {"TiB", 1 << 40, true},
	}}
	rate = quantity{noun: "a rate", examples: `"53.1 GB/s" or "400 Gbps"`, units: []unit{
		{"B/s", 1, true},
		{"kB/s", 1e3, true}, {"KiB/s", 1 << 10, true},
		{"MB/s", 1e6, true}, {"MiB/s", 1 << 20, true},
		{"Gbps", 1e9 / 8, false},
		{"GB/s", 1e9, true}, {"GiB/s", 1 << 30, true},
		{"TB/s", 1e12, true},
	}}
	frequency = quantity{noun: "a frequency", examples: `"1.65 GHz" or "900 MHz"`, units: []unit{
		{"Hz", 1, true}, {"kHz", 1e3, true}, {"MHz", 1e6, true}, {"GHz", 1e9, true},
	}}
	cycles   = quantity{noun: "a number of cycles", examples: `"38 cycles"`, units: []unit{{"cycles", 1, true}, {"cycle", 1, false}}}
	fraction = quantity{noun: "a share", examples: `"94.8 %"`, units: []unit{{"%", uint64(One) / 100, true}}}

	quantities = [...]*quantity{&duration, &size, &rate, &frequency, &cycles, &fraction}
)

// slips are units that people write whose nearest right spelling is not the
// one they meant.
var slips = map[string]string{
	"µs": "us", "μs": "us", "usec": "us", "sec": "s", "percent": "%",
	"GBps": "GB/s", "MBps": "MB/s", "kBps": "kB/s", "TBps": "TB/s", "Gb/s": "Gbps", "KB": "KiB", "KB/s": "KiB/s",
}

// String prints d exactly, in the largest unit of which it holds at least one: "350 ns", "1.5 us".
func (d Duration) String() string { return duration.format(int64(d)) }

// String prints t like the Duration since the start.
func (t Time) String() string { return duration.format(int64(t)) }

// String prints n exactly, in the unit that needs the fewest digits: "8 KiB", "4160 B".
func (n Bytes) String() string { return size.format(int64(n)) }

// String prints n with its unit: "38 cycles".
func (n Cycles) String() string { return cycles.format(int64(n)) }

// String prints r exactly, in the unit that needs the fewest digits: "53.1 GB/s", "unlimited".
func (r Rate) String() string {
	if r == Unlimited {
		return "unlimited"
	}
	return rate.format(int64(r))
}

// String prints f exactly, in the largest unit of which it holds at least one: "1.65 GHz".
func (f Hertz) String() string { return frequency.format(int64(f)) }

// String prints f in per cent, exactly: "94.8 %".
func (f Fraction) String() string { return fraction.format(int64(f)) }

// MarshalText returns String.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// MarshalText returns String.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalText returns String.
func (n Bytes) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// MarshalText returns String.
func (n Cycles) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// MarshalText returns String.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// MarshalText returns String.
func (f Hertz) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// MarshalText returns String.
func (f Fraction) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads a number with a unit of ps, ns, us, ms, s, such as "0.35 us". A bare or negative number, an
// unknown unit, and a value that is not whole picoseconds are errors; d is then unchanged.
func (d *Duration) UnmarshalText(text []byte) error { return duration.read((*int64)(d), text) }

// UnmarshalText reads an instant like a Duration since the start.
func (t *Time) UnmarshalText(text []byte) error { return duration.read((*int64)(t), text) }

// UnmarshalText reads a number with a unit of B, kB, KiB, MB, MiB, GB, GiB, TB, TiB; errors as for a Duration.
func (n *Bytes) UnmarshalText(text []byte) error { return size.read((*int64)(n), text) }

// UnmarshalText reads a number with the unit cycles or cycle; errors as for a Duration.
func (n *Cycles) UnmarshalText(text []byte) error { return cycles.read((*int64)(n), text) }

// UnmarshalText reads "unlimited" or a number with a unit of B/s, kB/s, KiB/s, MB/s, MiB/s, GB/s, GiB/s, TB/s, Gbps
// (10^9 bits a second); errors as for a Duration.
func (r *Rate) UnmarshalText(text []byte) error {
	if string(text) == "unlimited" {
		*r = Unlimited
		return nil
	}
	return rate.read((*int64)(r), text)
}

// UnmarshalText reads a number with a unit of Hz, kHz, MHz, GHz; errors as for a Duration.
func (f *Hertz) UnmarshalText(text []byte) error { return frequency.read((*int64)(f), text) }

// UnmarshalText reads a number in per cent with at most four decimals, such as "94.8 %"; errors as for a Duration.
func (f *Fraction) UnmarshalText(text []byte) error { return fraction.read((*int64)(f), text) }

// Syntax says how a Duration is written: its noun, examples, and a pattern that its text matches, for editors.
func (Duration) Syntax() (noun, examples, pattern string) { return duration.syntax() }

// Syntax is that of a Duration.
func (Time) Syntax() (noun, examples, pattern string) { return duration.syntax() }

// Syntax says how Bytes are written.
func (Bytes) Syntax() (noun, examples, pattern string) { return size.syntax() }

// Syntax says how Cycles are written.
func (Cycles) Syntax() (noun, examples, pattern string) { return cycles.syntax() }

// Syntax says how a Rate is written.
func (Rate) Syntax() (noun, examples, pattern string) {
	noun, examples, pattern = rate.syntax()
	return noun, examples + ", or unlimited", "^unlimited$|" + pattern
}

// Syntax says how Hertz are written.
func (Hertz) Syntax() (noun, examples, pattern string) { return frequency.syntax() }

// Syntax says how a Fraction is written.
func (Fraction) Syntax() (noun, examples, pattern string) { return fraction.syntax() }

// syntax names the units in the pattern; that a number is too large or too fine it does not say.
func (q *quantity) syntax() (noun, examples, pattern string) {
	names := make([]string, len(q.units))
	for i, u := range q.units {
		names[i] = u.name
	}
	return q.noun, q.examples, `^[0-9]+(\.[0-9]+)?[ \t]*(` + strings.Join(names, "|") + `)$`
}

// read sets *v to what text says, in whole units of the quantity's first unit. The arithmetic is exact: a value that
// would have to be rounded is an error.
func (q *quantity) read(v *int64, text []byte) error {
	s := strings.TrimSpace(string(text))
	digits := len(s) - len(strings.TrimLeft(s, "0123456789."))
	number, name := s[:digits], strings.TrimLeft(s[digits:], " \t")
	mantissa, places, err := decimal(number)
	switch {
	case strings.HasPrefix(s, "-"):
		return fmt.Errorf("%q: %s cannot be negative", s, q.noun)
	case err != nil:
		return fmt.Errorf("%q: %w; write %s such as %s", s, err, q.noun, q.examples)
	case name == "":
		return fmt.Errorf("%q has no unit; write %s such as %s", s, q.noun, q.examples)
	}
	u, err := q.unit(name)
	if err != nil {
		return fmt.Errorf("%q: %w", s, err)
	}
	n, err := q.scale(mantissa, u.size, places)
	if err != nil {
		return fmt.Errorf("%q: %w", s, err)
	}
	*v = n
	return nil
}

// decimal reads digits with at most one point between them as mantissa / 10^places.
func decimal(s string) (mantissa uint64, places int, err error) {
	whole, frac, point := strings.Cut(s, ".")
	if whole == "" || point && frac == "" || strings.Contains(frac, ".") {
		return 0, 0, fmt.Errorf("not a plain decimal number")
	}
	frac = strings.TrimRight(frac, "0")
	mantissa, err = strconv.ParseUint(whole+frac, 10, 64)
	if err != nil || len(frac) >= len(pow10) {
		return 0, 0, fmt.Errorf("too many digits")
	}
	return mantissa, len(frac), nil
}

// pow10 holds the powers of ten that fit.
var pow10 = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// scale returns mantissa * size / 10^places if that is a whole number.
func (q *quantity) scale(mantissa, size uint64, places int) (int64, error) {
	hi, lo := bits.Mul64(mantissa, size)
	if hi >= pow10[places] {
		return 0, fmt.Errorf("too large; the largest is %s", q.format(math.MaxInt64))
	}
	n, rest := bits.Div64(hi, lo, pow10[places])
	switch {
	case n > math.MaxInt64:
		return 0, fmt.Errorf("too large; the largest is %s", q.format(math.MaxInt64))
	case rest != 0:
		return 0, fmt.Errorf("finer than the resolution of %s", q.format(1))
	}
	return int64(n), nil
}

// unit finds the unit called name, or says which one was probably meant.
func (q *quantity) unit(name string) (unit, error) {
	for _, u := range q.units {
		if u.name == name {
			return u, nil
		}
	}
	what := fmt.Sprintf("unknown unit %q", name)
	for _, other := range quantities {
		for _, u := range other.units {
			if u.name == name {
				what = fmt.Sprintf("%q is the unit of %s, not of %s", name, other.noun, q.noun)
			}
		}
	}
	if best := q.nearest(name); best != "" {
		return unit{}, fmt.Errorf("%s; did you mean %q?", what, best)
	}
	return unit{}, fmt.Errorf("%s; write %s such as %s", what, q.noun, q.examples)
}

// nearest returns the unit of q that is spelled most like name, or "" if none is at all alike.
func (q *quantity) nearest(name string) (best string) {
	for _, alike := range []func(unit string) bool{
		func(unit string) bool { return unit == slips[name] },
		func(unit string) bool { return strings.HasPrefix(unit, name) },
		func(unit string) bool { return strings.HasPrefix(strings.ToLower(unit), strings.ToLower(name)) },
	} {
		for _, u := range q.units {
			if alike(u.name) {
				return u.name
			}
		}
	}
	least := 2*min(2, len(name)-1) + 1 // two edits at most, and one letter at least must be right
	for _, u := range q.units {
		if d := distance(name, u.name); d < least {
			least, best = d, u.name
		}
	}
	return best
}

// distance is the edit distance of two spellings, in half edits: a letter in the wrong case is half of one.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = 2 * j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = 2 * (i + 1)
		for j := range len(b) {
			cost := 2
			if a[i] == b[j] {
				cost = 0
			} else if a[i]|0x20 == b[j]|0x20 {
				cost = 1
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+2, row[j+1]+2)
		}
	}
	return row[len(b)]
}

// format prints v exactly: of the units of which v holds at least one, it takes the one that needs the fewest digits,
// and of equals the largest.
func (q *quantity) format(v int64) string {
	if v == 1 && q == &cycles {
		return "1 cycle"
	}
	sign, n := "", uint64(v)
	if v < 0 {
		sign, n = "-", -n
	}
	best, least := "", math.MaxInt
	for i, u := range q.units {
		if !u.print || i > 0 && n < u.size {
			continue
		}
		if text, ok := ratio(n, u.size); ok {
			cost := len(text)
			if strings.Contains(text, ".") {
				cost += q.point - 1
			}
			if cost <= least {
				best, least = text+" "+u.name, cost
			}
		}
	}
	return sign + best
}

// ratio prints n/size, if twelve decimals suffice to do so exactly.
func ratio(n, size uint64) (string, bool) {
	text := strconv.AppendUint(make([]byte, 0, 32), n/size, 10)
	rest := n % size
	if rest != 0 {
		text = append(text, '.')
	}
	for places := 0; rest != 0; places++ {
		if places == 12 {
			return "", false
		}
		rest *= 10
		text = append(text, byte('0'+rest/size))
		rest %= size
	}
	return string(text), true
}
