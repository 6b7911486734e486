package workloads

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/configs"
	"pldperf/engine"
)

// axis reads one axis from its text in a sweep file.
func axis(t require.TestingT, text string) (Axis, error) {
	doc, err := configs.Load("s.yaml", []byte("axes: {call.x: "+text+"}"))
	require.NoError(t, err)
	return readAxis("call.x", doc.At("axes").Child("call.x"))
}

func TestAnAxisIsAListOrASpanByStepOrFactor(t *testing.T) {
	for text, want := range map[string]string{
		"[1, 2, 5]":                                                      "1|2|5",
		"[auto, bytes]":                                                  "auto|bytes",
		"[true, false]":                                                  "true|false",
		"['8', 8]":                                                       `"8"|8`,
		"[[1, 2], {a: 1}]":                                               "[1, 2]|{a: 1}",
		"[94.8 %, 100 %]":                                                "94.8 %|100 %",
		"{from: 1, to: 64, times: 2}":                                    "1|2|4|8|16|32|64",
		"{from: 1, to: 10, times: 3}":                                    "1|3|9",
		"{from: 1, to: 7, step: 3}":                                      "1|4|7",
		"{from: -2, to: 1, step: 1}":                                     "-2|-1|0|1",
		"{from: 0, to: 4, step: 4}":                                      "0|4",
		"{from: 5, to: 5, step: 1}":                                      "5",
		"{from: 1 KiB, to: 4 KiB, times: 2}":                             "1 KiB|2 KiB|4 KiB",
		"{from: 512 B, to: 1 MiB, times: 32}":                            "512 B|16 KiB|512 KiB",
		"{from: 0.5 us, to: 1 us, step: 250 ns}":                         "500 ns|750 ns|1 us",
		"{from: 50 GB/s, to: 60 GB/s, step: 5 GB/s}":                     "50 GB/s|55 GB/s|60 GB/s",
		"{from: 1.35 GHz, to: 1.65 GHz, step: 150 MHz}":                  "1.35 GHz|1.5 GHz|1.65 GHz",
		"{from: 10 cycles, to: 20 cycles, step: 10 cycles}":              "10 cycles|20 cycles",
		"{from: 50 %, to: 100 %, step: 25 %}":                            "50 %|75 %|100 %",
		"{from: 4611686018427387904, to: 9223372036854775807, times: 2}": "4611686018427387904",
		"{from: 9223372036854775806, to: 9223372036854775807, step: 3}":  "9223372036854775806",
	} {
		a, err := axis(t, text)
		require.NoError(t, err, text)
		assert.Equal(t, want, strings.Join(a.Values, "|"), text)
		assert.Len(t, a.at, len(a.Values), text)
	}
}

func TestAWrongAxisIsAnErrorWhereItStands(t *testing.T) {
	for text, want := range map[string]string{
		"[]":                                   "an axis is a list of values",
		"8":                                    "an axis is a list of values",
		"{}":                                   "an axis is a list of values",
		"{from: 1, to: 8}":                     "give either step or times",
		"{from: 1, to: 8, step: 1, times: 2}":  "give either step or times",
		"{from: 1, to: 8, times: 1}":           "1 is below the least value, 2",
		"{from: 1, to: 8, step: 0}":            "0 is no step up",
		"{from: 1, to: 8, step: -1}":           "-1 is no step up",
		"{from: 0, to: 8, times: 2}":           "0 times anything never reaches 8",
		"{from: 8, to: 1, times: 2}":           "1 is below 8",
		"{from: 1 KiB, to: 8, times: 2}":       `want a size like the first value, got "8"`,
		"{from: 1 KiB, to: 8 KiB, step: 1 us}": `want a size like the first value, got "1 us"`,
		"{from: many, to: 8, times: 2}":        `want a whole number or a quantity with a unit, got "many"`,
		"{from: [1], to: 8, times: 2}":         "want a whole number or a quantity with a unit",
		"{from: 1.5, to: 8, times: 2}":         "want a whole number or a quantity with a unit",
		"{from: 1, too: 8, times: 2}":          `unknown key; did you mean "to"?`,
		"{from: 1, times: 2}":                  "to: missing",
		"{from: 1, to: 100000, step: 1}":       "more than 10000 values",
		"[1, 2, 1]":                            "1 is there twice",
	} {
		_, err := axis(t, text)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want, text)
		assert.Contains(t, err.Error(), "s.yaml:1:", text)
	}
}

func TestASpanStartsAtFromNeverPassesToAndGrowsByItsStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Int64Range(-1000, 1000).Draw(t, "from")
		to := from + rapid.Int64Range(0, 5000).Draw(t, "more")
		step := rapid.Int64Range(1, 600).Draw(t, "step")
		a, err := axis(t, "{from: "+fmt.Sprint(from)+", to: "+fmt.Sprint(to)+", step: "+fmt.Sprint(step)+"}")
		require.NoError(t, err)
		require.Len(t, a.Values, int((to-from)/step)+1)
		for i, text := range a.Values {
			v, k := engine.ReadQuantity(text)
			require.Equal(t, "a whole number", k.Noun)
			require.Equal(t, from+int64(i)*step, v)
		}
	})
}

func FuzzAnAxisIsReadOrRefused(f *testing.F) {
	for _, s := range []string{"[1, 2]", "{from: 1, to: 8, times: 2}", "{from: 1 KiB, to: 1 MiB, step: 1 KiB}", "{from: -9223372036854775808, to: 9, step: 9223372036854775807}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := configs.Load("s.yaml", []byte("a: "+text))
		if err != nil {
			return
		}
		a, err := readAxis("a", doc.Child("a"))
		if err != nil {
			require.NotEmpty(t, problemsOf(err)[0].File, "%v", err)
			return
		}
		require.NotEmpty(t, a.Values)
		require.Len(t, a.at, len(a.Values))
	})
}
