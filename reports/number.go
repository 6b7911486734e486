package reports

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"pldperf/engine"
)

// notAvailable stands where a number would need a denominator that is zero.
const notAvailable = "n/a"

// ratio returns a*scale/b rounded to the nearest integer, halves up, with the
// product in 128 bits; false when there is no such number: b is not positive, a is
// negative, or the answer exceeds an int64.
func ratio(a, scale, b int64) (int64, bool) {
	if a < 0 || b <= 0 {
		return 0, false
	}
	hi, lo := bits.Mul64(uint64(a), uint64(scale))
	lo, carry := bits.Add64(lo, uint64(b)/2, 0)
	hi += carry
	if hi >= uint64(b) {
		return 0, false
	}
	q, _ := bits.Div64(hi, lo, uint64(b))
	return int64(q), q <= math.MaxInt64
}

// over returns the rate of n bytes in d; false when d is zero.
func over(n int64, d engine.Duration) (engine.Rate, bool) {
	r, ok := ratio(n, int64(engine.Second), int64(d))
	return engine.Rate(r), ok
}

// share returns a/b; false when b is zero.
func share(a, b engine.Duration) (engine.Fraction, bool) {
	f, ok := ratio(int64(a), int64(engine.One), int64(b))
	return engine.Fraction(f), ok
}

// fixed prints v/10^shift with so many decimals, rounded half away from zero. It
// takes integers because a float would print the last digits of a long time wrong.
func fixed(v int64, shift, decimals int) string {
	sign, u := "", uint64(v)
	if v < 0 {
		sign, u = "-", -u
	}
	unit := pow10(shift - decimals)
	u = u/unit + (u%unit+unit/2)/unit
	if decimals == 0 {
		return sign + strconv.FormatUint(u, 10)
	}
	one := pow10(decimals)
	return fmt.Sprintf("%s%d.%0*d", sign, u/one, decimals, u%one)
}

func pow10(n int) uint64 {
	u := uint64(1)
	for range n {
		u *= 10
	}
	return u
}

// us prints d in microseconds to the nanosecond, exact in microseconds to the picosecond.
func us(d engine.Duration) string    { return fixed(int64(d), 6, 3) }
func exact(d engine.Duration) string { return fixed(int64(d), 6, 6) }

// gbps prints r in GB/s.
func gbps(r engine.Rate) string {
	if r == engine.Unlimited {
		return "unlimited"
	}
	return fixed(int64(r), 9, 2)
}

// gbpsOf prints n bytes in d in GB/s.
func gbpsOf(n int64, d engine.Duration) string {
	if r, ok := over(n, d); ok {
		return gbps(r)
	}
	return notAvailable
}

// percent prints f without the sign.
func percent(f engine.Fraction) string { return fixed(int64(f), 4, 1) }

// percentOf prints a/b in per cent, without the sign.
func percentOf(a, b engine.Duration) string {
	if f, ok := share(a, b); ok {
		return percent(f)
	}
	return notAvailable
}

// sharePercent prints a/b of counts in per cent with its sign.
func sharePercent(a, b int64) string {
	if f, ok := ratio(a, int64(engine.One), b); ok {
		return percent(engine.Fraction(f)) + " %"
	}
	return notAvailable
}

// count prints n with a comma between thousands.
func count[T ~int | ~int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return sign + b.String()
}

// plural prints n and the noun, with an s unless n is one.
func plural[T ~int | ~int64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}
