package reports

import (
	"fmt"
	"slices"
	"strings"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/document"
)

// Sentences says what an explanation comes to, the most important first.
func (e *Explanation) Sentences() (out []string) {
	r := e.Run.Result
	if r.Elapsed == 0 || r.Status != result.OK {
		return nil
	}
	for _, s := range []string{e.boundSentence(), e.pathSentence(), e.twinSentence(), e.chainSentence(), e.coreNumSentence(), e.portSentence(), e.moveSentence(), e.assumedSentence(), e.unsteadySentence()} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func (e *Explanation) boundSentence() string {
	b, r := e.Run.Bound.Binds(), e.Run.Result
	if b == nil || b.Time == 0 {
		return ""
	}
	switch f, _ := share(b.Time, r.Elapsed); {
	case f >= engine.One*9/10:
		return e.nearBound(b, f)
	case f >= engine.One/2:
		return fmt.Sprintf("The run reaches %s %% of its lower bound, which %s sets; %s us are lost to what follows.", percent(f), b.Name, us(r.Elapsed-b.Time))
	default:
		return fmt.Sprintf("No resource is near its limit: the nearest, %s, would allow %s us, %s %% of the time. Latency and fixed costs decide.", b.Name, us(b.Time), percent(f))
	}
}

// beside is how near another bound is to that which binds to count as well: at such a distance either may be what a run
// feels.
const beside = engine.One * 9 / 10

// nearBound names all that a run near its bound has to have more of.
func (e *Explanation) nearBound(binds *BoundPart, reached engine.Fraction) string {
	var near []string
	for i := range e.Run.Bound.Parts {
		b := &e.Run.Bound.Parts[i]
		if f, ok := share(b.Time, binds.Time); ok && b != binds && f >= beside {
			near = append(near, b.Name)
		}
	}
	s := fmt.Sprintf("The run reaches %s %% of what %s allows", percent(reached), binds.Name)
	if len(near) == 0 {
		return s + ": only less traffic or more of that makes it much faster."
	}
	return s + fmt.Sprintf(", and %s would allow hardly more: only less traffic or more of all of these makes it much faster.", join(near))
}

func (e *Explanation) pathSentence() string {
	path, r := e.Run.Result.Path, e.Run.Result
	if path == nil || len(path.Parts) == 0 {
		return ""
	}
	g := groups(path)
	var names []string
	for i := range g[:min(3, len(g))] {
		if f, _ := share(g[i].Time, r.Elapsed); f >= engine.One/100 {
			names = append(names, fmt.Sprintf("%s %s %%", g[i].Group, percent(f)))
		}
	}
	s := "Along the critical path the time goes to " + join(names) + "."
	if q := queued(path); q > r.Elapsed/20 {
		s += fmt.Sprintf(" In %s %% of it others hold what is needed.", percentOf(q, r.Elapsed))
	}
	return s
}

func join(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// twinSentence says which single part would help.
func (e *Explanation) twinSentence() string {
	var names []string
	var none []string
	for _, x := range e.Twins {
		f, _ := share(max(x.Saves, 0), e.Run.Result.Elapsed)
		switch {
		case x.Problem != "" || x.Name == "bandwidth":
		case f >= engine.One/20 && len(names) < 3:
			names = append(names, fmt.Sprintf("%s (%s %%)", x.Name, percent(f)))
		case f < engine.One/100:
			none = append(none, x.Name)
		}
	}
	if len(names) == 0 {
		return "No single ideal part would save 5 %: the time is spread over many."
	}
	s := "Made ideal alone, most would be saved by " + join(names) + "."
	if len(none) > 0 {
		s += " Less than 1 % each: " + join(none) + "."
	}
	return s
}

func (e *Explanation) chainSentence() string {
	x := e.twin("bandwidth")
	if x == nil || x.Problem != "" {
		return ""
	}
	return fmt.Sprintf("Without any limit of a rate it would still take %s us, the longest chain of waits; %s %% of the time is the sharing of rates.",
		us(x.Elapsed), signedPercent(x.Saves, e.Run.Result.Elapsed))
}

// enough is what a larger core_num must gain to count.
const enough = engine.One / 50

// coreNumSentence says from where on more blocks do not help, and why.
func (e *Explanation) coreNumSentence() string {
	best := e.best()
	if best == nil {
		return ""
	}
	i := slices.IndexFunc(e.Blocks, func(b CoreNumPoint) bool {
		f, ok := share(b.Elapsed-best.Elapsed, best.Elapsed)
		return b.Problem == "" && ok && f <= enough
	})
	from := e.Blocks[i].CoreNum
	most := e.Blocks[len(e.Blocks)-1].CoreNum
	if from == most {
		return fmt.Sprintf("More blocks help up to the limit of %d.", most)
	}
	s := fmt.Sprintf("core_num beyond %d does not help (2 %%)", from)
	if why := e.limiter(); why != "" {
		s += ": " + why
	}
	return s + "."
}

// limiter says what blocks cannot make faster.
func (e *Explanation) limiter() string {
	kinds := topResources(e.Run.Result)
	if len(kinds) == 0 {
		return ""
	}
	k := kinds[0]
	f, ok := share(k.busiest.Busy, wholeRun(e.Run.Result))
	switch {
	case !ok:
		return ""
	case f >= engine.One*8/10:
		return fmt.Sprintf("the %s of %s is busy %s %% of the time", k.name, at(k.busiest), percent(f))
	}
	g := groups(e.Run.Result.Path)
	return fmt.Sprintf("no shared part is busy more than %s %% of the time, and most of the path is %s, which more blocks do not shorten", percent(f), g[0].Group)
}

var portKinds = map[string]string{"port in": "incoming port", "port out": "outgoing port"}

// portSentence says how idle the ports are, where there are some.
func (e *Explanation) portSentence() string {
	r := e.Run.Result
	span := wholeRun(r)
	for _, k := range topResources(r) {
		if !strings.HasPrefix(k.name, "port") {
			continue
		}
		idle := span - (k.busy+k.blocked)/engine.Duration(k.number)
		noun := k.name // "port in" is an incoming port
		if kind, ok := portKinds[k.name]; ok {
			noun = kind
		}
		return fmt.Sprintf("The %s are idle %s %% of the time on average, the busiest (%s) %s %%.",
			plural(k.number, noun), percentOf(idle, span), at(k.busiest), percentOf(span-k.busiest.Busy-k.busiest.Blocked, span))
	}
	return ""
}

// notable is the elasticity from which on a parameter is named, and few how many are.
const (
	notable = 0.02
	few     = 4
)

// weighing lists the parameters that a choice wants and that weigh.
func (e *Explanation) weighing(want func(m *Move) bool) (names []string) {
	for i := range e.Moves {
		m := &e.Moves[i]
		if m.Problem == "" && (m.Elasticity > notable || m.Elasticity < -notable) && want(m) {
			names = append(names, fmt.Sprintf("%s (%+.2f %% per %%)", m.Path, m.Elasticity))
		}
	}
	if len(names) > few {
		names = append(names[:few], fmt.Sprintf("%d more", len(names)-few))
	}
	return names
}

// moveSentence names the parameters that the time follows.
func (e *Explanation) moveSentence() string {
	if len(e.Moves) == 0 {
		return ""
	}
	names := e.weighing(func(m *Move) bool { return !m.Unsteady })
	if len(names) == 0 {
		return "No single parameter moves the time steadily by 0.02 % or more for each per cent of its own."
	}
	return "The time follows most: " + join(names) + "."
}

// assumedSentence names those of which nobody knows.
func (e *Explanation) assumedSentence() string {
	if len(e.Moves) == 0 {
		return ""
	}
	names := e.weighing(func(m *Move) bool { return !m.Unsteady && m.Kind == document.Assumed })
	if len(names) == 0 {
		return "No assumed parameter moves the time steadily by 0.02 % or more for each per cent of its own."
	}
	return "Assumed parameters that weigh: " + join(names) + "."
}

// unsteadySentence names what moves the time, but along no slope.
func (e *Explanation) unsteadySentence() string {
	names := e.weighing(func(m *Move) bool { return m.Unsteady })
	if len(names) == 0 {
		return ""
	}
	return "No slope, as half the change gives another one (a step, another limit, or the phase of polls): " + join(names) + "."
}
