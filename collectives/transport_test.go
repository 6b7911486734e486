package collectives_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/hw/result"
)

// carriedCalls are calls of an algorithm by a transport that the real operator lacks, on
// three ranks; those that nothing but MTE can do are left out.
func carriedCalls(a *collectives.Algorithm, transport string, size int) (out []*collectives.Call) {
	if !slices.Contains(a.Fields, "transport") {
		return nil
	}
	for _, c := range calls(a, size) {
		c.Options.Transport, c.Options.WhatIf = transport, true
		if c.Ranks == 3 && len(c.Notes()) > 0 && len(a.Check(c)) == 0 {
			out = append(out, c)
		}
	}
	return out
}

func eachCarried(t *testing.T, size int, f func(t *testing.T, a *collectives.Algorithm, c *collectives.Call)) {
	for _, transport := range []string{"mte", "urma", "sdma"} {
		n := 0
		for _, a := range collectives.All() {
			for _, c := range carriedCalls(a, transport, size) {
				n++
				t.Run(transport+"/"+name(c), func(t *testing.T) { f(t, a, c) })
			}
		}
		assert.GreaterOrEqual(t, n, 3, "%s carries several operations", transport)
	}
}

func TestEveryAlgorithmMovesTheSameDataByEveryTransport(t *testing.T) {
	spec := mesh(t)
	for _, size := range []int{29, 300} {
		eachCarried(t, size, func(t *testing.T, a *collectives.Algorithm, c *collectives.Call) {
			res := ok(t, spec, compose(t, c))
			assert.Positive(t, res.Data.Checked)
			if res.Totals[result.BytesSent] > 0 {
				assert.Equal(t, c.Options.Transport == "mte", res.Totals[result.SQEs] == 0, "what carries it is what was named")
			}
			assert.Equal(t, res.Totals[result.Doorbells], res.Totals[result.CQEs])
			tiles(t, res)
			for r := range res.Ranks {
				want := a.Formula(c, r, 0)
				for k := range result.NumCounters {
					if want[k] != collectives.Unknown {
						assert.Equal(t, want[k], res.Ranks[r].Counters[k], "rank %d %v", r, k)
					}
				}
			}
		})
	}
}

func TestNoTransportIsFasterThanItsBounds(t *testing.T) {
	all := machines(t)
	for _, fabric := range []string{"mesh", "free"} {
		spec := all[fabric]
		eachCarried(t, 300, func(t *testing.T, a *collectives.Algorithm, c *collectives.Call) {
			res := ok(t, spec, compose(t, c))
			limits, err := spec.Limits(c.Ranks)
			require.NoError(t, err)
			for _, b := range a.Bounds(c, &limits, 0) {
				assert.GreaterOrEqual(t, res.Elapsed, b.Time, "%s on %s", b.Name, fabric)
			}
		})
	}
}

func TestATransportThatTheRealOperatorLacksNeedsWhatIf(t *testing.T) {
	refused := func(change func(c *collectives.Call)) string {
		c := &collectives.Call{Op: "all_to_all", Form: "hand", Ranks: 4, DType: "FP32", Size: 64}
		change(c)
		_, err := collectives.Compose(4, []collectives.Item{{Call: c}})
		if err == nil {
			return ""
		}
		return err.Error()
	}
	by := func(transport string, whatIf bool) func(c *collectives.Call) {
		return func(c *collectives.Call) { c.Options.Transport, c.Options.WhatIf = transport, whatIf }
	}
	assert.Empty(t, refused(by("", false)))
	assert.Empty(t, refused(by("mte", false)))
	assert.Equal(t, "transport: urma does not carry all_to_all, only mte does; what_if: true tries it anyway", refused(by("urma", false)))
	assert.Empty(t, refused(by("urma", true)))
	assert.Empty(t, refused(by("sdma", true)))
	assert.Equal(t, `transport: no mechanism "rdma"; there are mte, urma and sdma`, refused(by("rdma", true)))
	assert.Equal(t, "transport: the AIVs of this machine have no URMA queues (a2a3)", refused(func(c *collectives.Call) {
		by("urma", true)(c)
		c.Platform = "a2a3"
	}))
	assert.Equal(t, "transport: sdma overwrites; it cannot add to what is there, so an atomic put goes by mte", refused(func(c *collectives.Call) {
		by("sdma", true)(c)
		c.Op, c.Form, c.Atomic, c.Rows = "put", "", true, 2
	}))
}

func TestACallSaysThatItIsAWhatIf(t *testing.T) {
	c := &collectives.Call{Op: "all_to_all", Form: "hand"}
	assert.Empty(t, c.Notes())
	c.Options.Transport = "mte"
	assert.Empty(t, c.Notes(), "which is the real one")
	c.Options.Transport = "urma"
	assert.Equal(t, []string{"what if: all_to_all by urma; the real operator uses remote MTE"}, c.Notes())
}
