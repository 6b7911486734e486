package reports

import (
	"cmp"
	"slices"

	"pldperf/engine"
	"pldperf/hw/result"
)

// accounts splits the elapsed time of a run by reason. A run is a chain of timed
// calls: the one that ended last, before it the one that ended last before that
// began, and so on; what lies between them is its own part. In each call the slowest
// block is the one that waited least for others: barriers make all end together, and
// it is the one that they waited for. A rank stands for its own slowest block. A
// block's account tiles its call, so each column adds up to the elapsed time; if it
// does not, the difference is shown as what it is.
type accounts struct {
	chain   []int           // timed calls, in order of time
	between engine.Duration // before, between and after them
	slowest result.Times
	ranks   []result.Times
	blocks  []*result.Block // whose time slowest is, one for each call of the chain
	lost    engine.Duration // elapsed - slowest - between; not 0 is a fault of the models
}

func newAccounts(r *result.Result) *accounts {
	a := &accounts{ranks: make([]result.Times, len(r.Ranks))}
	a.chain, a.between = chain(r)
	slow := slowestBlocks(r)
	for _, call := range a.chain {
		var slowest *result.Block
		for rank := range r.Ranks {
			b := slow[call][rank]
			if b == nil {
				a.ranks[rank][result.Idle] += r.Calls[call].End.Sub(r.Calls[call].Start)
				continue
			}
			add(&a.ranks[rank], &b.Time)
			if slowest == nil || waited(r, b) < waited(r, slowest) {
				slowest = b
			}
		}
		if slowest != nil {
			a.blocks = append(a.blocks, slowest)
			add(&a.slowest, &slowest.Time)
		}
	}
	a.lost = r.Elapsed - a.slowest.Sum() - a.between
	return a
}

func add(sum, t *result.Times) {
	for i := range sum {
		sum[i] += t[i]
	}
}

// waited returns how long a block waited for others: for signals, for tasks before
// it, and when its own work was done. That its rank began late is no waiting.
func waited(r *result.Result, b *result.Block) engine.Duration {
	before := b.Start.Sub(r.Calls[b.Call].Start)
	return b.Time[result.SignalWait] + b.Time[result.DependencyWait] + b.Time[result.Idle] - before
}

// slowestBlocks returns for each call and rank the block that waited least; of
// equals the lowest number.
func slowestBlocks(r *result.Result) [][]*result.Block {
	slow := make([][]*result.Block, len(r.Calls))
	for i := range slow {
		slow[i] = make([]*result.Block, len(r.Ranks))
	}
	for i := range r.Blocks {
		b := &r.Blocks[i]
		p := &slow[b.Call][b.Rank]
		if *p == nil {
			*p = b
		} else if d := waited(r, b) - waited(r, *p); d < 0 || d == 0 && b.Block < (*p).Block {
			*p = b
		}
	}
	return slow
}

// chain returns the timed calls that follow one another to the run's end, and the
// time that none of them covers.
func chain(r *result.Result) (calls []int, gaps engine.Duration) {
	var timed []int
	for i := range r.Calls {
		if r.Calls[i].Timed && r.Calls[i].End > 0 { // else it never ran
			timed = append(timed, i)
		}
	}
	if len(timed) == 0 {
		return nil, 0
	}
	slices.SortStableFunc(timed, func(i, j int) int {
		a, b := &r.Calls[i], &r.Calls[j]
		return cmp.Or(cmp.Compare(b.End, a.End), cmp.Compare(a.Start, b.Start))
	})
	at := r.Calls[timed[0]].End
	first := at
	for _, i := range timed {
		c := &r.Calls[i]
		first = min(first, c.Start)
		if c.End <= at {
			gaps += at.Sub(c.End)
			at = c.Start
			calls = append(calls, i)
		}
	}
	slices.Reverse(calls)
	return calls, gaps + at.Sub(first)
}

// reasonRow is one line of the account.
type reasonRow struct {
	name           string
	slowest        engine.Duration
	min, mean, max engine.Duration
}

// rows returns the parts that are not zero everywhere. The slowest column adds up
// to the elapsed time.
func (a *accounts) rows() []reasonRow {
	var rows []reasonRow
	values := make([]engine.Duration, len(a.ranks))
	for k := range result.NumReasons {
		for i := range a.ranks {
			values[i] = a.ranks[i][k]
		}
		s := spread(values)
		if a.slowest[k] != 0 || s.Max != 0 {
			rows = append(rows, reasonRow{k.String(), a.slowest[k], s.Min, s.Mean, s.Max})
		}
	}
	if a.between != 0 {
		rows = append(rows, reasonRow{"between_calls", a.between, a.between, a.between, a.between})
	}
	if a.lost != 0 {
		rows = append(rows, reasonRow{name: "UNACCOUNTED", slowest: a.lost})
	}
	return rows
}

// mean returns what the mean column adds up to.
func (a *accounts) mean() engine.Duration {
	sums := make([]engine.Duration, len(a.ranks))
	for i := range a.ranks {
		sums[i] = a.ranks[i].Sum() + a.between
	}
	return spread(sums).Mean
}

// Slowest returns the time by reason of the slowest block, as the cost card shows it;
// of a run with several calls, that of the slowest in each. What lies between calls
// is left out.
func Slowest(r *result.Result) result.Times { return newAccounts(r).slowest }
