package engine

import (
	"encoding/json"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSpanRoundsUpOnceAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		rate Rate
		n    Bytes
		want Duration
	}{
		{392e9, 0, 0},
		{392e9, 1, 3},                    // 2.551 ps
		{392e9, 1000, 2552},              // 2551.02 ps: the error does not grow with n
		{392e9, 392, 1000},               // exact: nothing to round
		{1e12, math.MaxInt64, 1<<63 - 1}, // a byte a picosecond
		{392e9, 1 << 40, 2804876601470},  // 1.1e24 before the division: needs 128 bits
		{1, 9223372, 9223372 * Second},   // the longest whole seconds that fit
		{math.MaxInt64 - 1, math.MaxInt64, Second + 1},
		{Unlimited, math.MaxInt64, 0},
	} {
		assert.Equal(t, c.want, c.rate.Span(c.n), "%d B at %d B/s", c.n, c.rate)
	}
	assert.Equal(t, 607*Picosecond, Hertz(1.65e9).Span(1), "606.06 ps")
	assert.Equal(t, Microsecond, Hertz(1.65e9).Span(1650))
}

func TestSpanPanicsRatherThanInventATime(t *testing.T) {
	for name, f := range map[string]func(){
		"no rate":           func() { Rate(0).Span(1) },
		"no rate, no bytes": func() { Rate(0).Span(0) },
		"no clock":          func() { Hertz(0).Span(1) },
		"negative rate":     func() { Rate(-1).Span(1) },
		"negative bytes":    func() { Rate(1).Span(-1) },
		"fewer than none":   func() { Unlimited.Span(-1) },
		"106 days":          func() { Rate(1).Span(9223373) },
		"beyond 64 bits":    func() { Rate(1).Span(math.MaxInt64) },
	} {
		assert.Panics(t, f, name)
	}
}

func TestSpanIsTheExactQuotientRoundedUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Min(0).Draw(t, "bytes")
		r := rapid.Int64Range(1, math.MaxInt64-1).Draw(t, "rate")
		exact := new(big.Int).Mul(big.NewInt(n), big.NewInt(int64(Second)))
		want, rest := exact.QuoRem(exact, big.NewInt(r), new(big.Int))
		if rest.Sign() > 0 {
			want.Add(want, big.NewInt(1))
		}
		if !want.IsInt64() {
			require.Panics(t, func() { Rate(r).Span(Bytes(n)) })
			return
		}
		require.Equal(t, want.Int64(), int64(Rate(r).Span(Bytes(n))))
		require.Equal(t, Rate(r).Span(Bytes(n)), Hertz(r).Span(Cycles(n)))
	})
}

func TestAShareIsRoundedUpSoThatItNeverVanishes(t *testing.T) {
	assert.Equal(t, Rate(53088e6), Rate(56e9).Times(948_000))
	assert.Equal(t, Rate(1), Rate(1).Times(1))
	assert.Equal(t, Rate(0), Rate(56e9).Times(0))
	assert.Equal(t, Rate(112e9), Rate(56e9).Times(2*One))
	assert.Equal(t, Rate(math.MaxInt64-1), Rate(math.MaxInt64-1).Times(One), "needs 128 bits")
	assert.Equal(t, Unlimited, Unlimited.Times(1))
	assert.Equal(t, Rate(0), Unlimited.Times(0))
	assert.Panics(t, func() { Rate(math.MaxInt64 - 1).Times(One + 1) })
	assert.Panics(t, func() { Rate(-1).Times(One) })
	assert.Panics(t, func() { Rate(1).Times(-One) })

	assert.Equal(t, 151*Picosecond, Duration(101).Scale(1_490_000), "150.49 ps")
	assert.Equal(t, Duration(math.MaxInt64), Duration(math.MaxInt64).Scale(One))
}

func TestInstantsAndDurationsAddUp(t *testing.T) {
	var start Time
	assert.Equal(t, Time(1_500_000), start.Add(1500*Nanosecond))
	assert.Equal(t, 2*Second, Time(5e12).Sub(Time(3e12)))
	assert.Equal(t, -2*Second, Time(3e12).Sub(Time(5e12)))
	assert.Equal(t, 0.35, (350 * Nanosecond).Micros())
	assert.Equal(t, 53.1, Rate(53.1e9).GBps())
	assert.True(t, math.IsInf(Unlimited.GBps(), 1))
}

func TestJSONHoldsPlainIntegers(t *testing.T) {
	type all struct {
		T Time
		D Duration
		B Bytes
		C Cycles
		R Rate
		H Hertz
		F Fraction
	}
	in := all{1, 350 * Nanosecond, 8 << 10, 38, Unlimited, 1.65e9, 948_000}
	text, err := json.Marshal(in)
	require.NoError(t, err)
	assert.Equal(t, `{"T":1,"D":350000,"B":8192,"C":38,"R":9223372036854775807,"H":1650000000,"F":948000}`, string(text))
	var out all
	require.NoError(t, json.Unmarshal(text, &out))
	assert.Equal(t, in, out)
	assert.Error(t, json.Unmarshal([]byte(`{"D":"350 ns"}`), &out))
}
