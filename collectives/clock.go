package collectives

import "pldperf/hw/result"

// Clock is what the clock of a benchmark covers, as those who measured it read theirs: all
// of a call from its launch to its last end, or, with Core, from the first to the last op
// of the slowest AIV, which has been launched before; or only some Reasons of its account.
// The zero Clock is that of a collective: the elapsed time.
type Clock struct {
	Core    bool
	Reasons []result.Reason
}

// Text says what a clock covers, in words; empty of the elapsed time.
func (c Clock) Text() string {
	switch {
	case len(c.Reasons) > 0:
		text := ""
		for i, r := range c.Reasons {
			if i > 0 {
				text += " and "
			}
			text += r.String()
		}
		return text + " of the slowest AIV alone"
	case c.Core:
		return "first to last op of the slowest AIV, without its launch"
	}
	return ""
}

// core is the clock of most benchmarks, whose kernel runs already when it starts.
var core = Clock{Core: true}
