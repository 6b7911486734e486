package configs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
)

const provenance = `# src: a head comment is no source
name: x
# est: nor is this one
plain: 1 us   # two cores
doc: 2 us     # src: paper 4.1, "x" # 2
fit: 3 us     # fit:   measured/a.csv
est: 4 us     #est: reasoned
flow: {value: 1 us, low: 0.5 us, high: 2 us}  # est: on the line
block:        # fit: on the key
  value: 5 us
  low: 4 us
  high: 6 us
inner:
  value: 7 us # src: on the value
  low: 6 us
  high: 8 us
list: [1, 2]  # src: list
lines:        # est: above
  - 1
  - 2
first:
  - 3         # fit: on the element
  - 4
long: [1,
  2]          # src: at the end
items:
  - op: a     # est: in an item
  - [1, 2]    # fit: a row
near: 9       # source: misspelt
matrix: [[1, 2], [3]]
none: {}
same: &s 1 B  # src: anchor
alias: *s
other: *s     # est: own
quoted: "#1"  # src: after a quote
empty:        # src: of nothing
"a.b":
  c: 1        # user: w.yaml:3
last: 1
  # est: an indented comment below is no source
`

func TestParamsGiveEveryLeafItsValueBandKindAndPlace(t *testing.T) {
	var lines []string
	for _, p := range load(t, provenance).Params() {
		value := p.Value
		if p.Low != "" {
			value += " (" + p.Low + " to " + p.High + ")"
		}
		lines = append(lines, strings.TrimRight(strings.Join([]string{p.Path, value, p.Kind.String(), p.Source}, " | "), " |"))
		assert.Equal(t, "a.yaml", p.File)
		assert.Positive(t, p.Line)
	}
	assert.Equal(t, []string{
		"name | x | none",
		"plain | 1 us | none",
		`doc | 2 us | documented | paper 4.1, "x" # 2`,
		"fit | 3 us | fitted | measured/a.csv",
		"est | 4 us | assumed | reasoned",
		"flow | 1 us (0.5 us to 2 us) | assumed | on the line",
		"block | 5 us (4 us to 6 us) | fitted | on the key",
		"inner | 7 us (6 us to 8 us) | documented | on the value",
		"list | [1, 2] | documented | list",
		"lines | [1, 2] | assumed | above",
		"first | [3, 4] | fitted | on the element",
		"long | [1, 2] | documented | at the end",
		"items.0.op | a | assumed | in an item",
		"items.1 | [1, 2] | fitted | a row",
		"near | 9 | none",
		"matrix.0 | [1, 2] | none",
		"matrix.1 | [3] | none",
		"same | 1 B | documented | anchor",
		"alias | 1 B | documented | anchor",
		"other | 1 B | assumed | own",
		"quoted | #1 | documented | after a quote",
		"empty | null | documented | of nothing",
		`"a.b".c | 1 | user | w.yaml:3`,
		"last | 1 | none",
	}, lines)
}

func TestParamsOfPartsKeepTheirFullPaths(t *testing.T) {
	d := load(t, good)
	params := append(d.Params("fabric.port", "aivs"), d.At("fabric").Params("port.rate", "nothing")...)
	var paths []string
	for _, p := range params {
		paths = append(paths, p.Path)
	}
	assert.Equal(t, []string{"fabric.port.rate", "fabric.port.latency", "aivs", "fabric.port.rate"}, paths)
	assert.Equal(t, 8, params[0].Line)
}

func TestKindsHaveTheWordsThatReportsUse(t *testing.T) {
	for kind, want := range map[configs.Kind]string{configs.KindNone: "none", configs.Documented: "documented",
		configs.Fitted: "fitted", configs.Assumed: "assumed", configs.User: "user"} {
		text, err := kind.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
}

func TestEveryLeafOfAMachineNeedsASource(t *testing.T) {
	d := load(t, "name: x\na: 1 us # src: paper\nb:\n  c: 2 us\n  d: 3 us # est:\ne: 4 # user: me\nf: [1, 2] # fit: data\n")
	assert.EqualError(t, configs.CheckSourced(d, "name"), strings.Join([]string{
		"a.yaml:4:6: b.c: 2 us has no source; end the line with # src:, # fit: or # est:",
		"a.yaml:5:6: b.d: the source of 3 us is empty; say which document, data or reasoning",
		"a.yaml:6:4: e: 4 has no source; end the line with # src:, # fit: or # est:",
	}, "\n"))
	assert.Len(t, configs.CheckSourced(d), 4, "without the exception the name needs one too")
	assert.Empty(t, configs.CheckSourced(d.At("f")))
	assert.Empty(t, configs.CheckSourced(d.At("absent")))
}
