package reports

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"pldperf/engine"
)

func TestNumbersPrintExactly(t *testing.T) {
	assert.Equal(t, "0.001", us(1_499), "0.0015 us less a picosecond rounds down")
	assert.Equal(t, "0.002", us(1_500))
	assert.Equal(t, "-0.002", us(-1_500))
	assert.Equal(t, "9223372036854.775807", exact(math.MaxInt64))
	assert.Equal(t, "53.10", gbps(53_100_000_000))
	assert.Equal(t, "unlimited", gbps(engine.Unlimited))
	assert.Equal(t, "94.8", percent(948_000))
	assert.Equal(t, "1,234,567", count(1_234_567))
	assert.Equal(t, "-123", count(-123))
	assert.Equal(t, "1 point", plural(1, "point"))
	assert.Equal(t, "n/a", percentOf(1, 0))
	assert.Equal(t, "n/a", gbpsOf(1, 0))
	assert.Equal(t, "1.00", gbpsOf(1000, engine.Microsecond))
}

func TestRatiosAreRoundedToTheNearestInteger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, scale, b := rapid.Int64Min(0).Draw(t, "a"), rapid.Int64Range(1, 1e12).Draw(t, "scale"), rapid.Int64Min(1).Draw(t, "b")
		got, ok := ratio(a, scale, b)
		want := new(big.Int).Mul(big.NewInt(a), big.NewInt(scale))
		want.Add(want, big.NewInt(b/2)).Quo(want, big.NewInt(b))
		if want.IsInt64() != ok {
			t.Fatalf("ratio(%d, %d, %d) = %d, %t; exactly %s", a, scale, b, got, ok, want)
		}
		if ok && got != want.Int64() {
			t.Fatalf("ratio(%d, %d, %d) = %d, not %s", a, scale, b, got, want)
		}
	})
}

func TestAGBIsABillionBytes(t *testing.T) {
	r, ok := over(1_000_000_000, engine.Second)
	assert.True(t, ok)
	assert.Equal(t, "1.00", gbps(r), "1 GB is 10^9 B, so 10^9 B in a second are 1 GB/s")
}
