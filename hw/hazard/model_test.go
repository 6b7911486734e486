package hazard

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
	"pldperf/hw/memory"
	"pldperf/hw/program"
)

// The naive model: what somebody knows is the set of all accesses that it knows to be
// over, and every access is compared with all before it.
type naive struct {
	accesses []seenAccess
	cells    map[[2]int][]map[int]bool // credits, each what its sender knew
}

type seenAccess struct {
	k      kind
	owner  int
	lo, hi int64
}

type follower struct {
	*Thread
	knows   map[int]bool
	pending map[int]bool // remote stores that no fence has waited for
}

// races reports whether an access conflicts with one that its maker does not know to be
// over, and keeps it.
func (n *naive) races(f *follower, a seenAccess, beside bool) (bad bool) {
	for i, o := range n.accesses {
		reads := a.k == read && o.k == read || a.k == add && o.k == add
		if o.owner != a.owner || o.hi <= a.lo || o.lo >= a.hi || reads || f.knows[i] || beside && f.pending[i] {
			continue
		}
		bad = true
	}
	n.accesses = append(n.accesses, a)
	if beside {
		f.pending[len(n.accesses)-1] = true
	} else {
		f.knows[len(n.accesses)-1] = true
	}
	return bad
}

const (
	window program.Buf = iota
	signal
)

// rig is a checker of a task of some blocks on some ranks, which share a window and have
// a signal of a cell for each of them and each of the rank's own blocks.
func rig(t require.TestingT, ranks, blocks int) (*Checker, []*follower) {
	eng := engine.New(engine.Options{})
	mem := memory.New(eng, memory.Spec{Kind: "ideal"}, memory.Options{Ranks: ranks})
	ops := []program.Op{{Kind: program.Put, Dst: window, Src: window}, {Kind: program.Notify, Signal: signal, Value: program.Const(1)}}
	job := &program.Job{
		Ranks: ranks,
		Buffers: []program.Buffer{
			{Name: "window", Window: true, Size: 64}, {Name: "signal", Window: true, Words: true, Signal: true, Size: engine.Bytes(4 * ranks * blocks * blocks)},
		},
		Tasks: []program.Task{{Name: "task", Blocks: blocks, Program: &program.Program{Ops: ops}}},
	}
	for _, b := range job.Buffers {
		_, err := mem.Alloc(memory.Buffer{Name: b.Name, Window: b.Window, Words: b.Words, Size: b.Size})
		require.NoError(t, err)
	}
	c := New(job, eng, mem)
	var out []*follower
	for r := range ranks {
		c.Offer(0, r)
		for b := range blocks {
			out = append(out, &follower{c.Launch(0, r, b, job.Tasks[0].Program), map[int]bool{}, map[int]bool{}})
		}
	}
	return c, out
}

func TestTheFirstHazardIsFoundAtTheAccessWhereANaiveModelFindsIt(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		const ranks = 2
		c, all := rig(t, ranks, 2)
		n := &naive{cells: map[[2]int][]map[int]bool{}}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			i := rapid.IntRange(0, len(all)-1).Draw(t, "who")
			f := all[i]
			f.seq++
			switch rapid.SampledFrom([]string{"access", "access", "store", "fence", "notify", "notify", "wait"}).Draw(t, "step") {
			case "access", "store":
				lo := rapid.Int64Range(0, 60).Draw(t, "lo")
				a := seenAccess{rapid.SampledFrom([]kind{read, write, add}).Draw(t, "kind"), rapid.IntRange(0, ranks-1).Draw(t, "owner"), lo, lo + rapid.Int64Range(1, 64-lo).Draw(t, "n")}
				beside := a.k != read && rapid.Bool().Draw(t, "remote store")
				bad := n.races(f, a, beside)
				if beside {
					f.beside(stores, f.begin(stores, false), a.k, a.owner, window, a.lo, a.hi-a.lo)
				} else {
					f.at(a.k, a.owner, window, a.lo, a.hi-a.lo)
				}
				require.Equal(t, bad, len(c.found) > 0, "%v", c.found)
				if bad { // what comes behind a hazard is not compared
					found++
					return
				}
			case "fence":
				f.joined(stores)
				maps.Copy(f.knows, f.pending)
				clear(f.pending)
			case "notify":
				to, cell := rapid.IntRange(0, ranks-1).Draw(t, "to"), 2*i+rapid.IntRange(0, 1).Draw(t, "block")
				c.Land(to, signal, cell, 1, false, f.Release())
				at := [2]int{to, cell}
				n.cells[at] = append(n.cells[at], maps.Clone(f.knows))
			case "wait":
				cell := 2*rapid.IntRange(0, len(all)-1).Draw(t, "cell") + f.block
				credits := n.cells[[2]int{f.rank, cell}]
				if len(credits) == 0 {
					continue
				}
				want := rapid.IntRange(1, len(credits)).Draw(t, "want")
				f.acquire(signal, cell, int32(want), false)
				c.found = c.found[:0]
				clear(c.groups) // stale credits are another matter
				for _, knew := range credits[:want] {
					maps.Copy(f.knows, knew)
				}
			}
		}
	})
	require.Positive(t, found)
}

func TestAWriteOverPartOfWhatWasReadLeavesTheRest(t *testing.T) {
	for _, rest := range []int64{0, 1} {
		c, all := rig(t, 2, 1)
		reader, writer := all[0], all[1]
		reader.at(read, 0, window, 10, 10)
		reader.at(read, 0, window, 40, 4) // beside what is written
		c.Land(1, signal, 0, 1, false, reader.Release())
		writer.acquire(signal, 0, 1, false)
		writer.at(write, 0, window, 10, 5) // it knows of the read
		require.Empty(t, c.found)
		other := c.Launch(0, 1, 0, writer.program)
		other.at(write, 0, window, 15, 5*rest)
		other.at(write, 0, window, 40, 4*(1-rest))
		require.Len(t, c.found, 1, "and who does not know of it is found")
	}
}
