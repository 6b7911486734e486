package collectives_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw/result"
)

// moeEP is a call in which each of so many ranks sends n rows to each other rank, and one
// message a token to a shared expert.
func moeEP(form string, ranks, blocks, n, shared int) *collectives.Call {
	c := bench(form, ranks, 0)
	c.CoreNum, c.Hidden, c.Shared = blocks, 4096, shared
	c.Traffic = []collectives.Traffic{rows(ranks, n*ranks, n, func(s, d int) int {
		if s == d {
			return 0
		}
		return n
	})}
	return c
}

// An AIV waits for each of its messages, then for the peer's count; the flag follows: so
// many ways there and back, and one way, follow each other.
func TestEachMessageOfAnAIVWaitsForTheOneBefore(t *testing.T) {
	for _, form := range []string{"ep_dispatch", "ep_combine"} {
		for _, n := range []int{1, 5, 24} {
			elapsed := func(hop string) engine.Duration {
				return ok(t, mesh(t, "aiv.remote.hop="+hop, "aiv.poll.kind=ideal"), compose(t, moeEP(form, 2, 1, n, 0))).Elapsed
			}
			assert.Equal(t, engine.Duration(n+2)*engine.Microsecond, elapsed("1.39 us")-elapsed("0.39 us"), "%s, %d messages", form, n)
		}
	}
}

func TestSoftwareOfMessagesAddsUpOnTheAIVThatHasMost(t *testing.T) {
	spec := mesh(t, "aiv.poll.kind=ideal")
	for blocks, most := range map[int]int{1: 7, 2: 4, 3: 3, 7: 1} {
		c := moeEP("ep_dispatch", 2, blocks, 7, 0)
		free := ok(t, spec, compose(t, c)).Elapsed
		c.Software.Put = 50 * engine.Microsecond // longer than all else, so that AIVs do not meet on the wire
		c.Software.Take = 40 * engine.Microsecond
		c.Software.First = 3 * engine.Microsecond
		got := ok(t, spec, compose(t, c)).Elapsed - free
		want := c.Software.First + engine.Duration(most)*(c.Software.Put+c.Software.Take)
		assert.InEpsilon(t, float64(want), float64(got), 0.02, "%d AIVs", blocks)
	}
}

func TestSharedExpertsAreDealtEvenlyOverTheRanks(t *testing.T) {
	c := moeEP("ep_dispatch", 4, 3, 2, 1) // 8 tokens a rank, 6 of them routed, one message each besides
	res := ok(t, mesh(t), compose(t, c))
	for r := range res.Ranks {
		n := &res.Ranks[r].Counters
		assert.EqualValues(t, 2*4096, n[result.BytesSelf], "two of eight tokens go to the own rank")
		assert.EqualValues(t, (6+6)*4096+3*32, n[result.BytesSent])
		assert.Equal(t, n[result.BytesSent], n[result.BytesReceived])
	}
}

func TestAnEPBenchmarkThatCannotBeIsRefused(t *testing.T) {
	for want, change := range map[string]func(c *collectives.Call){
		"core_num: 0": func(c *collectives.Call) { c.CoreNum = 0 },
		"hidden: 0":   func(c *collectives.Call) { c.Hidden = 0 },
		"shared: -1":  func(c *collectives.Call) { c.Shared = -1 },
		"software":    func(c *collectives.Call) { c.Software.Take = -1 },
		"mistake":     func(c *collectives.Call) { c.Mistake = "wrong_layout" },
	} {
		c := moeEP("ep_combine", 2, 1, 3, 0)
		change(c)
		_, err := collectives.Compose(2, []collectives.Item{{Call: c}})
		require.ErrorContains(t, err, want)
	}
}
