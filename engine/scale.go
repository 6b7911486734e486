package engine

// Whole is the Fraction that changes nothing.
const Whole Fraction = 1_000_000

// Scale returns d times f, rounded up.
func (d Duration) Scale(f Fraction) Duration {
	if f == Whole {
		return d
	}
	return Duration(mulDivUp(uint64(d), uint64(f), uint64(Whole)))
}
