package engine

import (
	"encoding"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A value of each type, as a settable pointer.
type quantityPointer interface {
	fmt.Stringer
	encoding.TextUnmarshaler
	encoding.TextMarshaler
}

func ofEachType() []quantityPointer {
	return []quantityPointer{new(Duration), new(Time), new(Bytes), new(Cycles), new(Rate), new(Hertz), new(Fraction)}
}

func read[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](t *testing.T, text string) T {
	var v T
	require.NoError(t, P(&v).UnmarshalText([]byte(text)), text)
	return v
}

func TestEveryUnitOfTheClosedListIsRead(t *testing.T) {
	for text, want := range map[string]Duration{
		"1 ps": 1, "1 ns": 1e3, "1 us": 1e6, "1 ms": 1e9, "1 s": 1e12, "0.35 us": 350_000, "0 ns": 0, "007ns": 7e3, " 5  us ": 5e6,
	} {
		assert.Equal(t, want, read[Duration](t, text), text)
		assert.Equal(t, Time(want), read[Time](t, text), text)
	}
	for text, want := range map[string]Bytes{
		"1 B": 1, "1 kB": 1e3, "1 MB": 1e6, "1 GB": 1e9, "1 TB": 1e12,
		"1 KiB": 1 << 10, "1 MiB": 1 << 20, "1 GiB": 1 << 30, "1 TiB": 1 << 40, "1.5 KiB": 1536, "8KiB": 8192,
	} {
		assert.Equal(t, want, read[Bytes](t, text), text)
	}
	for text, want := range map[string]Rate{
		"1 B/s": 1, "1 kB/s": 1e3, "1 MB/s": 1e6, "1 GB/s": 1e9, "1 TB/s": 1e12, "1 KiB/s": 1 << 10, "1 MiB/s": 1 << 20, "1 GiB/s": 1 << 30,
		"400 Gbps": 50e9, "53.1 GB/s": 53_100_000_000, "unlimited": Unlimited, "9223372036854775807 B/s": Unlimited,
	} {
		assert.Equal(t, want, read[Rate](t, text), text)
	}
	for text, want := range map[string]Hertz{"1 Hz": 1, "1 kHz": 1e3, "1 MHz": 1e6, "1.65 GHz": 1_650_000_000} {
		assert.Equal(t, want, read[Hertz](t, text), text)
	}
	assert.Equal(t, Cycles(38), read[Cycles](t, "38 cycles"))
	assert.Equal(t, Cycles(1), read[Cycles](t, "1 cycle"))
	assert.Equal(t, Fraction(948_000), read[Fraction](t, "94.8 %"))
	assert.Equal(t, 2*One, read[Fraction](t, "200%"))
}

func TestGBIsDecimalAndGiBIsBinary(t *testing.T) {
	assert.Equal(t, Bytes(1_000_000_000), read[Bytes](t, "1 GB"))
	assert.Equal(t, Bytes(1_073_741_824), read[Bytes](t, "1 GiB"))
	assert.Equal(t, "1 GB", Bytes(1_000_000_000).String())
	assert.Equal(t, "1 GiB", Bytes(1_073_741_824).String())
	assert.Equal(t, Rate(1_000_000_000), read[Rate](t, "8 Gbps"))
}

func TestQuantitiesPrintExactlyInAReadableUnit(t *testing.T) {
	for _, c := range []struct {
		value fmt.Stringer
		want  string
	}{
		{Duration(0), "0 ps"}, {Duration(1), "1 ps"}, {Duration(1500), "1.5 ns"}, {350 * Nanosecond, "350 ns"},
		{Duration(1_234_567), "1.234567 us"}, {3 * Second, "3 s"}, {Duration(-1500), "-1.5 ns"},
		{Duration(math.MaxInt64), "9223372.036854775807 s"}, {Duration(math.MinInt64), "-9223372.036854775808 s"}, {Time(2e6), "2 us"},
		{Bytes(0), "0 B"}, {Bytes(1000), "1 kB"}, {Bytes(1024), "1 KiB"}, {Bytes(1536), "1.5 KiB"}, {Bytes(4160), "4160 B"},
		{Bytes(7168), "7 KiB"}, {Bytes(1_234_567), "1234567 B"}, {Bytes(1<<40 + 1), "1099511627777 B"},
		{Rate(1), "1 B/s"}, {Rate(53.1e9), "53.1 GB/s"}, {Rate(50 << 30), "50 GiB/s"}, {Rate(125e6), "125 MB/s"}, {Unlimited, "unlimited"},
		{Hertz(1.65e9), "1.65 GHz"}, {Hertz(900e6), "900 MHz"},
		{Cycles(0), "0 cycles"}, {Cycles(1), "1 cycle"}, {Cycles(38), "38 cycles"},
		{Fraction(948_000), "94.8 %"}, {One, "100 %"}, {Fraction(1), "0.0001 %"}, {Fraction(0), "0 %"},
	} {
		assert.Equal(t, c.want, c.value.String())
	}
}

func TestWhatIsPrintedIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mantissa := rapid.Int64Range(0, 1<<20).Draw(t, "mantissa")
		v := mantissa << rapid.IntRange(0, 42).Draw(t, "shift")
		if rapid.Bool().Draw(t, "any") {
			v = rapid.Int64Min(0).Draw(t, "value")
		}
		for _, p := range []struct{ in, out quantityPointer }{
			{(*Duration)(&v), new(Duration)}, {(*Time)(&v), new(Time)}, {(*Bytes)(&v), new(Bytes)}, {(*Cycles)(&v), new(Cycles)},
			{(*Rate)(&v), new(Rate)}, {(*Hertz)(&v), new(Hertz)}, {(*Fraction)(&v), new(Fraction)},
		} {
			text, err := p.in.MarshalText()
			require.NoError(t, err)
			require.NoError(t, p.out.UnmarshalText(text))
			require.Equal(t, p.in, p.out, "%T by way of %q", p.in, text)
		}
	})
}

func TestAWrongQuantityIsRefusedWithTheNearestRightOne(t *testing.T) {
	for _, c := range []struct {
		into quantityPointer
		text string
		want string
	}{
		{new(Rate), "35 GBs", `"35 GBs": unknown unit "GBs"; did you mean "GB/s"?`},
		{new(Rate), "35 GB", `"35 GB": "GB" is the unit of a size, not of a rate; did you mean "GB/s"?`},
		{new(Rate), "35 gb/s", `"35 gb/s": unknown unit "gb/s"; did you mean "GB/s"?`},
		{new(Rate), "35 GBps", `"35 GBps": unknown unit "GBps"; did you mean "GB/s"?`},
		{new(Rate), "35 Gb/s", `"35 Gb/s": unknown unit "Gb/s"; did you mean "Gbps"?`},
		{new(Rate), "Unlimited", `"Unlimited": not a plain decimal number; write a rate such as "53.1 GB/s" or "400 Gbps"`},
		{new(Bytes), "8 KB", `"8 KB": unknown unit "KB"; did you mean "KiB"?`},
		{new(Bytes), "8 kiBs", `"8 kiBs": unknown unit "kiBs"; did you mean "KiB"?`},
		{new(Bytes), "8 G", `"8 G": unknown unit "G"; did you mean "GB"?`},
		{new(Bytes), "8 GB/s", `"8 GB/s": "GB/s" is the unit of a rate, not of a size; did you mean "GB"?`},
		{new(Duration), "5 µs", `"5 µs": unknown unit "µs"; did you mean "us"?`},
		{new(Duration), "5 nS", `"5 nS": unknown unit "nS"; did you mean "ns"?`},
		{new(Duration), "5 parsec", `"5 parsec": unknown unit "parsec"; write a time such as "0.35 us" or "12 ns"`},
		{new(Duration), "5 x", `"5 x": unknown unit "x"; write a time such as "0.35 us" or "12 ns"`},
		{new(Duration), "5 GHz", `"5 GHz": "GHz" is the unit of a frequency, not of a time; write a time such as "0.35 us" or "12 ns"`},
		{new(Hertz), "1.65 Ghz", `"1.65 Ghz": unknown unit "Ghz"; did you mean "GHz"?`},
		{new(Cycles), "38 cycels", `"38 cycels": unknown unit "cycels"; did you mean "cycles"?`},
		{new(Fraction), "95 percent", `"95 percent": unknown unit "percent"; did you mean "%"?`},

		{new(Rate), "35", `"35" has no unit; write a rate such as "53.1 GB/s" or "400 Gbps"`},
		{new(Duration), "0", `"0" has no unit; write a time such as "0.35 us" or "12 ns"`},
		{new(Fraction), "0.948", `"0.948" has no unit; write a share such as "94.8 %"`},
		{new(Bytes), "", `"": not a plain decimal number; write a size such as "8 KiB" or "64 B"`},
		{new(Bytes), "KiB", `"KiB": not a plain decimal number; write a size such as "8 KiB" or "64 B"`},
		{new(Bytes), ".5 KiB", `".5 KiB": not a plain decimal number; write a size such as "8 KiB" or "64 B"`},
		{new(Bytes), "5. KiB", `"5. KiB": not a plain decimal number; write a size such as "8 KiB" or "64 B"`},
		{new(Bytes), "1.5.2 KiB", `"1.5.2 KiB": not a plain decimal number; write a size such as "8 KiB" or "64 B"`},
		{new(Duration), "-5 ns", `"-5 ns": a time cannot be negative`},

		{new(Duration), "0.3 ps", `"0.3 ps": finer than the resolution of 1 ps`},
		{new(Cycles), "1.5 cycles", `"1.5 cycles": finer than the resolution of 1 cycle`},
		{new(Fraction), "94.12345 %", `"94.12345 %": finer than the resolution of 0.0001 %`},
		{new(Rate), "0.000000001 Gbps", `"0.000000001 Gbps": finer than the resolution of 1 B/s`},
		{new(Duration), "9223372.036854775808 s", `"9223372.036854775808 s": too large; the largest is 9223372.036854775807 s`},
		{new(Bytes), "18446744073709551615 TiB", `"18446744073709551615 TiB": too large; the largest is 9223372036854775807 B`},
		{new(Bytes), "20000000000000000 kB", `"20000000000000000 kB": too large; the largest is 9223372036854775807 B`},
		{new(Bytes), "18446744073709551616 B", `"18446744073709551616 B": too many digits; write a size such as "8 KiB" or "64 B"`},
		{new(Duration), "0.00000000000000000001 s", `"0.00000000000000000001 s": too many digits; write a time such as "0.35 us" or "12 ns"`},
	} {
		before := c.into.String()
		assert.EqualError(t, c.into.UnmarshalText([]byte(c.text)), c.want)
		assert.Equal(t, before, c.into.String(), "an error changes nothing")
	}
}

// FuzzUnits: whatever the text, a parser either refuses it or reads a value that it prints and reads again.
func FuzzUnits(f *testing.F) {
	for _, s := range []string{"0.35 us", "35 GBs", "8 KiB", "53.1 GB/s", "400 Gbps", "unlimited", "1.65 GHz", "38 cycles", "94.8 %",
		"", "5", "-1 ns", "1e9 B", "9223372.036854775807 s", "5 µs", "1..2 B", "\xff ns", "0.00000000000000000001 s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		again := ofEachType()
		for i, p := range ofEachType() {
			if err := p.UnmarshalText([]byte(s)); err != nil {
				require.Equal(t, ofEachType()[i], p, "an error changes nothing")
				continue
			}
			text, err := p.MarshalText()
			require.NoError(t, err)
			require.NoError(t, again[i].UnmarshalText(text), "%T: %q is printed as %q", p, s, text)
			require.Equal(t, p, again[i], "%T: %q is printed as %q", p, s, text)
		}
	})
}
