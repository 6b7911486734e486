package fit

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/configs"
	"pldperf/hw"
	"pldperf/hw/result"
)

// covers says what a case's clock covers, as a benchmark says it.
func (k *Clock) covers() string {
	c := collectives.Clock{Core: k.Covers == "core"}
	for _, name := range k.Reasons {
		for r := range result.NumReasons {
			if r.String() == name {
				c.Reasons = append(c.Reasons, r)
			}
		}
	}
	return c.Text()
}

// The card of a benchmark shows what validate compares: the clock of a case.
func TestABenchmarksClockIsThatOfACaseWhichMeasuresIt(t *testing.T) {
	clocks := map[string][]string{}
	for _, name := range configs.Names(configs.Measured) {
		file, data, err := configs.Read(configs.Measured, name)
		if err != nil || !strings.HasSuffix(file, ".yaml") {
			continue
		}
		doc, err := configs.Load(file, data)
		require.NoError(t, err)
		s, err := FromDoc(file, doc)
		require.NoError(t, err)
		b, err := s.open("", 1)
		require.NoError(t, err)
		for c := range s.Cases {
			w, err := b.build(c, 0, nil, nil)
			require.NoError(t, err)
			if k := &w.Config.Call; k.Op == "micro" {
				clocks[k.Form] = append(clocks[k.Form], s.Cases[c].Clock.covers())
			}
		}
	}
	assert.NotEmpty(t, clocks)
	for _, form := range collectives.Forms("micro") {
		a, err := collectives.Lookup("micro", form)
		require.NoError(t, err)
		if len(clocks[form]) > 0 {
			assert.Contains(t, clocks[form], a.Clock.Text(), form)
		}
	}
}

func TestTheCardOfABenchmarkShowsWhatValidateCompares(t *testing.T) {
	for _, name := range []string{"a5-hcomm", "a5-urma-get", "a5-remote-mte"} {
		s, err := Load(name)
		require.NoError(t, err)
		b, err := s.open("", 1)
		require.NoError(t, err)
		seconds, err := b.seconds(context.Background(), nil, nil, func(row) bool { return true })
		require.NoError(t, err)
		for c := range s.Cases {
			w, err := b.build(c, 0, nil, nil)
			require.NoError(t, err)
			out, err := w.Run(hw.Options{Path: "off"})
			require.NoError(t, err)
			require.NotNil(t, out.Clock, s.Cases[c].Name)
			assert.InDelta(t, seconds[c][0]*1e12, float64(out.Clock.Time+s.Cases[c].Clock.Plus), 1, s.Cases[c].Name)
			assert.Less(t, out.Clock.Time, out.Result.Elapsed, s.Cases[c].Name)
		}
	}
}
