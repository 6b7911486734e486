package engine

import (
	"fmt"
	"math"
	"math/bits"
)

// Time is an instant: whole picoseconds since the simulation began.
// Its zero value is the start.
type Time int64

// Duration is a span of simulated time in whole picoseconds. An int64 holds
// 106 days of them, and adding them up never rounds.
type Duration int64

// The durations that one counts in.
const (
	Picosecond  Duration = 1
	Nanosecond           = 1000 * Picosecond
	Microsecond          = 1000 * Nanosecond
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond
)

// Add returns the instant d after t.
func (t Time) Add(d Duration) Time { return t + Time(d) }

// Sub returns how long after u the instant t is; it is negative when t is
// the earlier one.
func (t Time) Sub(u Time) Duration { return Duration(t - u) }

// Micros returns d in microseconds, for display only.
func (d Duration) Micros() float64 { return float64(d) / float64(Microsecond) }

// Bytes is an amount of data. In text GB is 10^9 bytes and GiB is 2^30.
type Bytes int64

// Cycles is a number of periods of some clock.
type Cycles int64

// Rate is a bandwidth in bytes a second. A zero rate is a missing value, not
// an infinite one: Span panics on it.
type Rate int64

// Unlimited is the rate of an ideal twin: any amount of data takes no time.
// Its text is "unlimited".
const Unlimited Rate = math.MaxInt64

// Hertz is a clock frequency in cycles a second. Like a Rate, a zero one is
// a missing value.
type Hertz int64

// Fraction is a share in millionths: 948000 is "94.8 %". It may exceed one.
type Fraction int64

// One is the whole: "100 %".
const One Fraction = 1_000_000

// Span returns how long a resource of rate r is busy with n bytes, rounded up
// to a picosecond. It panics if n is negative, r is not positive, or the
// answer exceeds a Duration.
func (r Rate) Span(n Bytes) Duration {
	if r == Unlimited && n >= 0 {
		return 0
	}
	return span(int64(n), int64(r))
}

// GBps returns r in units of 10^9 bytes a second, for display only. It is
// +Inf when r is Unlimited.
func (r Rate) GBps() float64 {
	if r == Unlimited {
		return math.Inf(1)
	}
	return float64(r) / 1e9
}

// Times returns the share f of r, rounded up to a byte a second, so that a
// positive share of a positive rate is positive. A positive share of
// Unlimited is Unlimited. It panics on negative operands and when the answer
// exceeds a Rate.
func (r Rate) Times(f Fraction) Rate {
	if r == Unlimited && f > 0 {
		return Unlimited
	}
	if r < 0 || f < 0 {
		panic(fmt.Sprintf("engine: %d millionths of %d B/s", f, r))
	}
	return Rate(mulDivUp(uint64(r), uint64(f), uint64(One)))
}

// Span returns how long n cycles of the clock f take, rounded up to a
// picosecond. It panics like Rate.Span.
func (f Hertz) Span(n Cycles) Duration { return span(int64(n), int64(f)) }

// span returns n/perSecond seconds, rounded up to a picosecond. It divides
// last: rounding the time of one byte instead would be 15 % off at 392 GB/s,
// where a byte takes 2.55 ps.
func span(n, perSecond int64) Duration {
	if n < 0 || perSecond <= 0 {
		panic(fmt.Sprintf("engine: span of %d at %d a second", n, perSecond))
	}
	return Duration(mulDivUp(uint64(n), uint64(Second), uint64(perSecond)))
}

// mulDivUp returns a*b/c rounded up, with the product in 128 bits. It panics
// when the answer exceeds an int64: no simulated quantity may wrap.
func mulDivUp(a, b, c uint64) int64 {
	hi, lo := bits.Mul64(a, b)
	lo, carry := bits.Add64(lo, c-1, 0)
	hi += carry
	if hi < c {
		if q, _ := bits.Div64(hi, lo, c); q <= math.MaxInt64 {
			return int64(q)
		}
	}
	panic(fmt.Sprintf("engine: %d * %d / %d exceeds 63 bits", a, b, c))
}

// Scale returns d times f, rounded up.
func (d Duration) Scale(f Fraction) Duration {
	if f == One {
		return d
	}
	return Duration(mulDivUp(uint64(d), uint64(f), uint64(One)))
}
