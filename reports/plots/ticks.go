package plots

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"

	"pldperf/engine"
)

// sizeTicks marks powers of two on an axis of bytes: 1 KiB, 64 KiB, 1 MiB.
type sizeTicks struct{}

// Ticks implements plot.Ticker: at most 11 labels, whose step is a power of two.
func (sizeTicks) Ticks(lo, hi float64) (ticks []plot.Tick) {
	first, last := int(math.Ceil(math.Log2(lo)-1e-9)), int(math.Floor(math.Log2(hi)+1e-9))
	step := 1
	for (last-first)/step >= 11 {
		step *= 2
	}
	for k := first; k <= last; k++ {
		label := ""
		if k%step == 0 && k >= 0 {
			label = binary(k)
		}
		ticks = append(ticks, plot.Tick{Value: math.Exp2(float64(k)), Label: label})
	}
	return ticks
}

// binary names 2^k bytes.
func binary(k int) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	u := min(k/10, len(units)-1)
	return strconv.Itoa(1<<(k-10*u)) + " " + units[u]
}

// logTicks marks 1, 2 and 5 of each decade, or whole decades when there are many.
type logTicks struct{}

// Ticks implements plot.Ticker. Within a fraction of a decade there may be too few
// such marks; the axis then has even ones.
func (logTicks) Ticks(lo, hi float64) (ticks []plot.Tick) {
	decades := math.Log10(hi / lo)
	labels := 0
	for k := int(math.Floor(math.Log10(lo))); k <= int(math.Ceil(math.Log10(hi))); k++ {
		for m := 1; m <= 9; m++ {
			v := float64(m) * math.Pow10(k)
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) {
				continue
			}
			label := ""
			if m == 1 || decades < 3 && (m == 2 || m == 5) || decades < 0.8 {
				label = number(v)
				labels++
			}
			ticks = append(ticks, plot.Tick{Value: v, Label: label})
		}
	}
	if labels < 2 {
		return evenTicks{}.Ticks(lo, hi)
	}
	return ticks
}

// powerTicks marks powers of two of a plain number, such as core_num.
type powerTicks struct{}

// Ticks implements plot.Ticker.
func (powerTicks) Ticks(lo, hi float64) (ticks []plot.Tick) {
	for k := int(math.Floor(math.Log2(lo))); k <= int(math.Ceil(math.Log2(hi))); k++ {
		v := math.Exp2(float64(k))
		if v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
			ticks = append(ticks, plot.Tick{Value: v, Label: number(v)})
		}
	}
	return ticks
}

// countTicks marks powers of two of what is counted over many of them, such as elements:
// at most 9 labels, whose step is a power of two.
type countTicks struct{}

// Ticks implements plot.Ticker.
func (countTicks) Ticks(lo, hi float64) []plot.Tick {
	ticks := powerTicks{}.Ticks(lo, hi)
	step := 1
	for len(ticks) > 9*step {
		step *= 2
	}
	for i := range ticks {
		if i%step != 0 {
			ticks[i].Label = ""
		}
	}
	return ticks
}

// evenTicks marks about six round values.
type evenTicks struct{}

// Ticks implements plot.Ticker.
func (evenTicks) Ticks(lo, hi float64) (ticks []plot.Tick) {
	step := roundUp((hi - lo) / 7)
	for k := int(math.Ceil(lo/step - 1e-9)); float64(k)*step <= hi*(1+1e-9); k++ {
		v := float64(k) * step
		ticks = append(ticks, plot.Tick{Value: v, Label: number(v)})
	}
	return ticks
}

// wholeTicks are evenTicks of things that are counted.
type wholeTicks struct{}

// Ticks implements plot.Ticker.
func (wholeTicks) Ticks(lo, hi float64) []plot.Tick {
	return slices.DeleteFunc(evenTicks{}.Ticks(lo, hi), func(t plot.Tick) bool { return t.Value != math.Trunc(t.Value) })
}

// roundUp returns the least of 1, 2, 5 times a power of ten that is not below v.
func roundUp(v float64) float64 {
	unit := math.Pow10(int(math.Floor(math.Log10(v))))
	for _, m := range []float64{1, 2, 5} {
		if m*unit >= v*(1-1e-9) {
			return m * unit
		}
	}
	return 10 * unit
}

// number prints v with a comma between thousands and no more digits than it has.
func number(v float64) string {
	if v >= 1e9 || v != 0 && math.Abs(v) < 1e-4 {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if v >= 10_000 && v == math.Trunc(v) {
		for i := len(s) - 3; i > 0; i -= 3 {
			s = s[:i] + "," + s[i:]
		}
	}
	if len(s) > 9 {
		s = strconv.FormatFloat(v, 'g', 6, 64)
	}
	return s
}

// logSpan returns the limits of a logarithmic axis that shows all values, with a little
// room: a factor at both ends.
func logSpan(values []float64, room float64) (lo, hi float64) {
	lo, hi = math.Inf(1), 0
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo / room, hi * room
}

// sizeSpan is logSpan for sizes: it holds two powers of two, so that there are labels.
func sizeSpan(values []float64) (lo, hi float64) {
	lo, hi = logSpan(values, 1.25)
	if math.Floor(math.Log2(hi))-math.Ceil(math.Log2(lo)) < 1 {
		return math.Exp2(math.Floor(math.Log2(lo))), math.Exp2(math.Ceil(math.Log2(hi)))
	}
	return lo, hi
}

// micros is a duration as a plot has it, in microseconds.
func micros(d engine.Duration) float64 { return d.Micros() }
