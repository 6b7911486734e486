package engine

// Scale returns d times f, rounded up.
func (d Duration) Scale(f Fraction) Duration {
	if f == One {
		return d
	}
	return Duration(mulDivUp(uint64(d), uint64(f), uint64(One)))
}
