package hazard

// clock is a vector clock: of each lane, how much of what was done in it is known to
// have been done. Lanes that it does not reach are at 0. What a clock has been copied
// to does not change with it.
type clock []uint32

// at returns the count of a lane.
func (c clock) at(lane uint32) uint32 {
	if int(lane) < len(c) {
		return c[lane]
	}
	return 0
}

// set makes c know count of a lane.
func (c *clock) set(lane, count uint32) {
	if n := int(lane) + 1; n > len(*c) {
		*c = append(*c, make(clock, n-len(*c))...)
	}
	(*c)[lane] = count
}

// join makes c know what o knows.
func (c *clock) join(o clock) {
	if n := len(o) - len(*c); n > 0 {
		*c = append(*c, o[len(*c):]...)
	}
	own := (*c)[:len(o)]
	for i, n := range o {
		if n > own[i] {
			own[i] = n
		}
	}
}

// copy returns a clock of its own with the same counts.
func (c clock) copy() clock { return append(make(clock, 0, len(c)), c...) }
