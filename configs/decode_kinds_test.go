package configs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
)

// wide has the rarer kinds of fields.
type wide struct {
	Costs  map[engine.Bytes]engine.Duration `yaml:"costs"`
	Ranks  map[uint8]bool                   `yaml:"ranks"`
	Curve  []engine.Rate                    `yaml:"curve" default:"[1 GB/s, 2 GB/s]"`
	Empty  string                           `yaml:"empty" default:"''"`
	Gain   float64                          `yaml:"gain" min:"0" max:"1"`
	Lanes  uint16                           `yaml:"lanes" enum:"32,64"`
	Limit  *validated                       `yaml:"limit"`
	Always bool                             `yaml:"-"`
}

type validated struct {
	N int `yaml:"n"`
}

// Validate wants a positive number.
func (v *validated) Validate() error {
	if v.N <= 0 {
		return errors.New("n must be positive")
	}
	return nil
}

func TestDictionariesTakeKeysOfAnyScalarType(t *testing.T) {
	var w wide
	require.NoError(t, load(t, "costs: {1 KiB: 2 us}\nranks: {3: true}\nlanes: 64\nlimit: {n: 1}").Decode(&w))
	assert.Equal(t, wide{
		Costs: map[engine.Bytes]engine.Duration{1024: 2 * engine.Microsecond},
		Ranks: map[uint8]bool{3: true},
		Curve: []engine.Rate{1e9, 2e9},
		Lanes: 64, Limit: &validated{1},
	}, w)
	assert.EqualError(t, load(t, "costs: {1024: 2 us}\nranks: {256: true}\n").Decode(&w),
		"a.yaml:1:9: costs.1024: key: "+says(new(engine.Bytes), "1024")+"\n"+
			"a.yaml:2:9: ranks.256: key: 256 is out of range for a whole number")
	assert.EqualError(t, load(t, "costs: [1]").Decode(&w), "a.yaml:1:8: costs: want a section, got a list")
}

func TestAListMayBeABandToo(t *testing.T) {
	var w wide
	d := load(t, "curve: {value: [2 GB/s], low: [1 GB/s], high: [3 GB/s]} # est: drawn")
	require.NoError(t, d.Decode(&w))
	assert.Equal(t, []engine.Rate{2e9}, w.Curve)
	p := d.Params()[0]
	assert.Equal(t, []string{"[2 GB/s]", "[1 GB/s]", "[3 GB/s]"}, []string{p.Value, p.Low, p.High})
	assert.ErrorContains(t, load(t, "curve: {value: [2 GB/s], low: [1], high: [3 GB/s]}").Decode(&w), "a.yaml:1:32: curve.low.0: ")
}

func TestRulesHoldForEveryKindOfNumber(t *testing.T) {
	for text, want := range map[string]string{
		"gain: -0.1":                            "a.yaml:1:7: gain: -0.1 is below the least value, 0",
		"gain: 1.1":                             "a.yaml:1:7: gain: 1.1 is above the largest value, 1",
		"gain: 1e999":                           "a.yaml:1:7: gain: 1e999 is out of range for a number",
		"gain: {value: 1, low: 2, high: 1}":     "a.yaml:1:23: gain.low: 2 is above the largest value, 1",
		"gain: {value: 1, low: 0, high: 0.5}":   "a.yaml:1:32: gain.high: 0.5 is below the value 1",
		"lanes: 48":                             `a.yaml:1:8: lanes: "48" is none of 32, 64`,
		"lanes: {value: 32, low: 64, high: 64}": "a.yaml:1:25: lanes.low: 64 is above the value 32",
		"limit: {n: 0}":                         "a.yaml:1:8: limit: n must be positive",
		"always: true":                          "a.yaml:1:1: always: unknown key; known: costs, ranks, curve, empty, gain, lanes, limit",
	} {
		assert.EqualError(t, load(t, text).Decode(&wide{}), want, text)
	}
}

func TestALongValueIsShortenedInItsMessage(t *testing.T) {
	err := load(t, "lanes: "+strings.Repeat("x", 500)).Decode(&wide{})
	assert.EqualError(t, err, `a.yaml:1:8: lanes: want a whole number, got "`+strings.Repeat("x", 60)+`..."`)
}

type astray struct {
	N int `yaml:"n"`
}

func (astray) Check(report func(string, string, ...any)) { report("a..b", "lost") }

func TestACheckThatReportsAtNoPathIsAMistakeOfTheProgram(t *testing.T) {
	assert.Panics(t, func() { _ = load(t, "n: 1").Decode(&astray{}) })
}
