package configs_test

import (
	"encoding"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
	"pldperf/engine"
)

// spec is a small machine that uses every kind of key.
type spec struct {
	Name   string `yaml:"name" required:"true" help:"what reports call it"`
	AIVs   int    `yaml:"aivs" required:"true" min:"1" max:"72" help:"vector cores a chip"`
	Clock  engine.Hertz
	Fabric fabric            `yaml:"fabric"`
	Steps  []step            `yaml:"steps"`
	Sizes  []engine.Bytes    `yaml:"sizes" max:"1 MiB"`
	Shapes map[string]shape  `yaml:"shapes"`
	Ideal  *bool             `yaml:"ideal"`
	Share  engine.Fraction   `yaml:"share" default:"94.8 %" help:"payload of the raw rate"`
	Pair   [2]uint8          `yaml:"pair"`
	Skew   float64           `yaml:"skew"`
	Labels map[string]string `yaml:"labels" enum:"red,green"`
	Axes   configs.Doc       `yaml:"axes"`
	Extra  any               `yaml:"extra"`
	Common `yaml:",inline"`
	_      int // unexported fields are no keys
}

// Common lends its keys to the struct around it.
type Common struct {
	Seed int64 `yaml:"seed" default:"1"`
}

type fabric struct {
	Kind string `yaml:"kind" enum:"ideal,mesh,clos" default:"mesh"`
	Port port   `yaml:"port"`
}

type port struct {
	Rate    engine.Rate     `yaml:"rate" unit:"GB/s"`
	Count   int             `yaml:"count" default:"7"`
	Latency engine.Duration `yaml:"latency"`
}

// Check demands a rate of every port, as a model would.
func (p *port) Check(report func(path, format string, args ...any)) {
	if p.Rate == 0 {
		report("rate", "a port needs a rate; ports here: %d", p.Count)
	}
}

type step struct {
	Op string `yaml:"op" enum:"call,compute" required:"true"`
	X  int8   `yaml:"x"`
}

// shape reads "rows x cols".
type shape struct{ rows, cols int }

func (s *shape) UnmarshalDoc(d *configs.Doc) error {
	var text string
	if err := d.Decode(&text); err != nil {
		return err
	}
	if _, err := fmt.Sscanf(text, "%dx%d", &s.rows, &s.cols); err != nil {
		return fmt.Errorf("%q is no shape such as 4x8", text)
	}
	return nil
}

const good = `# a machine
name: small
aivs: 64                         # src: hardware 1.1
clock: 1.65 GHz                  # src: hardware 1.1
fabric:
  kind: clos                     # src: seed
  port:
    rate: 53.1 GB/s              # fit: measured/a5_urma_p2p_hcomm_put
    latency: {value: 0.35 us, low: 0.2 us, high: 0.6 us}  # est: hardware 4
steps:
  - op: call
    x: -3
  - {op: compute, x: 4}
sizes: [1 KiB, 64 KiB]
shapes: {wide: 4x8}
ideal: true
pair: [1, 0x10]
skew: 1.5e-1
labels: {a: red}
axes: {core_num: [1, 2, 4]}
extra: [1, 2.5, true, "1", ~, {a: b}]
seed: 42
`

func load(t testing.TB, text string) *configs.Doc {
	t.Helper()
	d, err := configs.Load("a.yaml", []byte(text))
	require.NoError(t, err)
	return d
}

func TestEveryKindOfKeyDecodes(t *testing.T) {
	var s spec
	require.NoError(t, load(t, good).Decode(&s))
	yes := true
	assert.Equal(t, "small", s.Name)
	assert.Equal(t, 64, s.AIVs)
	assert.Equal(t, engine.Hertz(1_650_000_000), s.Clock, "a field without a tag has its name in lower case")
	assert.Equal(t, fabric{Kind: "clos", Port: port{Rate: 53_100_000_000, Count: 7, Latency: 350 * engine.Nanosecond}}, s.Fabric)
	assert.Equal(t, []step{{"call", -3}, {"compute", 4}}, s.Steps)
	assert.Equal(t, []engine.Bytes{1024, 65536}, s.Sizes)
	assert.Equal(t, map[string]shape{"wide": {4, 8}}, s.Shapes)
	assert.Equal(t, &yes, s.Ideal)
	assert.Equal(t, engine.Fraction(948_000), s.Share, "the default tag fills what is absent")
	assert.Equal(t, [2]uint8{1, 16}, s.Pair)
	assert.InDelta(t, 0.15, s.Skew, 0)
	assert.Equal(t, map[string]string{"a": "red"}, s.Labels)
	assert.Equal(t, "core_num: [1, 2, 4]\n", string(s.Axes.Marshal()))
	assert.Equal(t, []any{int64(1), 2.5, true, "1", nil, map[string]any{"a": "b"}}, s.Extra)
	assert.Equal(t, int64(42), s.Seed)
}

func TestValuesSetBeforeDecodingSurviveWhereTheFileIsSilent(t *testing.T) {
	s := spec{Share: 5, Skew: 2, Common: Common{Seed: 9}}
	require.NoError(t, load(t, "name: x\naivs: 1").Decode(&s))
	assert.Equal(t, engine.Fraction(5), s.Share)
	assert.Equal(t, 2.0, s.Skew)
	assert.Equal(t, int64(9), s.Seed)
	assert.Equal(t, fabric{Kind: "mesh", Port: port{Count: 7}}, s.Fabric, "an absent section gets its defaults, unchecked")
}

// says is the unit's own message, which configs passes on word for word.
func says(unit encoding.TextUnmarshaler, text string) string {
	return unit.UnmarshalText([]byte(text)).Error()
}

// The head makes each file complete, so that only the fault under test shows.
const head = "name: x\naivs: 8\n"

func TestBadFilesAreReportedWithPositionPathAndRightWord(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"unknown key", head + "fabrik: {}\n", `a.yaml:3:1: fabrik: unknown key; did you mean "fabric"?`},
		{"unknown key, inner", head + "fabric:\n  port:\n    rate: 1 GB/s\n    lateny: 1 us\n",
			`a.yaml:6:5: fabric.port.lateny: unknown key; did you mean "latency"?`},
		{"unknown key, nothing near", head + "fabric:\n  zzzzzz: 1\n", `a.yaml:4:3: fabric.zzzzzz: unknown key; known: kind, port`},
		{"missing keys", "seed: 1\n", "a.yaml:1:1: aivs: missing; want a whole number\na.yaml:1:1: name: missing; want text"},
		{"missing in a list", head + "steps:\n  - x: 1\n", `a.yaml:4:5: steps.0.op: missing; want text`},
		{"no unit", head + "clock: 1650\n", `a.yaml:3:8: clock: ` + says(new(engine.Hertz), "1650")},
		{"wrong unit", head + "clock: 1.65 GB/s\n", `a.yaml:3:8: clock: ` + says(new(engine.Hertz), "1.65 GB/s")},
		{"wrong unit in a list", head + "sizes: [1 KiB, 2 us]\n", `a.yaml:3:16: sizes.1: ` + says(new(engine.Bytes), "2 us")},
		{"list for a scalar", "name: x\naivs: [1, 2]\n", `a.yaml:2:7: aivs: want a whole number, got a list`},
		{"list for a quantity", head + "clock: [1 GHz]\n", `a.yaml:3:8: clock: want a hertz, got a list`},
		{"scalar for a list", head + "sizes: 1 KiB\n", `a.yaml:3:8: sizes: want a list, got "1 KiB"; write [1 KiB]`},
		{"section for a list", head + "sizes: {a: 1}\n", `a.yaml:3:8: sizes: want a list, got a section`},
		{"scalar for a section", head + "fabric: mesh\n", `a.yaml:3:9: fabric: want a section, got "mesh"`},
		{"section for a scalar", "name: x\naivs:\n  many: 1\n", `a.yaml:2:1: aivs: want a whole number, got a section`},
		{"nothing for a scalar", "name: x\naivs:\n", `a.yaml:2:6: aivs: want a whole number, got nothing`},
		{"text for a number", "name: x\naivs: many\n", `a.yaml:2:7: aivs: want a whole number, got "many"`},
		{"quoted number", "name: x\naivs: \"8\"\n", `a.yaml:2:7: aivs: want a whole number, got the text "8"`},
		{"fraction for a whole number", "name: x\naivs: 1.5\n", `a.yaml:2:7: aivs: want a whole number, got "1.5"`},
		{"octal or decimal", "name: x\naivs: 010\n", `a.yaml:2:7: aivs: want a whole number, got "010"`},
		{"yes is no bool", head + "ideal: yes\n", `a.yaml:3:8: ideal: want true or false, got "yes"`},
		{"not a number", head + "skew: .nan\n", `a.yaml:3:7: skew: want a number, got ".nan"`},
		{"below the least", "name: x\naivs: 0\n", `a.yaml:2:7: aivs: 0 is below the least value, 1`},
		{"above the largest", "name: x\naivs: 73\n", `a.yaml:2:7: aivs: 73 is above the largest value, 72`},
		{"limits of a quantity", head + "sizes: [2 MiB]\n", `a.yaml:3:9: sizes.0: 2 MiB is above the largest value, 1 MiB`},
		{"too large for its type", head + "steps: [{op: call, x: 300}]\n", `a.yaml:3:23: steps.0.x: 300 is out of range for a whole number`},
		{"too large for any", "name: x\naivs: 99999999999999999999\n", `a.yaml:2:7: aivs: 99999999999999999999 is out of range for a whole number`},
		{"negative", head + "pair: [1, -1]\n", `a.yaml:3:11: pair.1: -1 is out of range for a whole number`},
		{"wrong length", head + "pair: [1]\n", `a.yaml:3:7: pair: want 2 elements, got 1`},
		{"wrong word", head + "fabric: {kind: mehs, port: {rate: 1 GB/s}}\n",
			`a.yaml:3:16: fabric.kind: "mehs" is none of ideal, mesh, clos; did you mean "mesh"?`},
		{"wrong word in a dictionary", head + "labels: {a: red, b: blue}\n", `a.yaml:3:21: labels.b: "blue" is none of red, green`},
		{"incomplete band", head + "clock: {value: 1 GHz, low: 1 GHz}\n", `a.yaml:3:8: clock: a band needs value, low and high`},
		{"band out of order", head + "clock: {value: 1 GHz, low: 2 GHz, high: 0.5 GHz}\n",
			"a.yaml:3:28: clock.low: 2 GHz is above the value 1 GHz\na.yaml:3:41: clock.high: 0.5 GHz is below the value 1 GHz"},
		{"bad end of a band", head + "clock: {value: 1 GHz, low: 1, high: 2 GHz}\n",
			`a.yaml:3:28: clock.low: ` + says(new(engine.Hertz), "1")},
		{"own decoder", head + "shapes: {wide: 4by8}\n", `a.yaml:3:16: shapes.wide: "4by8" is no shape such as 4x8`},
		{"own decoder, placed", head + "shapes:\n  wide: [4, 8]\n", `a.yaml:4:9: shapes.wide: want text, got a list`},
		{"cross check at an absent key", head + "fabric:\n  port:\n    count: 3\n", `a.yaml:4:3: fabric.port.rate: a port needs a rate; ports here: 3`},
		{"a list at the top", "[1, 2]\n", `a.yaml:1:1: want a section, got a list`},
		{"two at once", "name: x\naivs: many\nclock: 3\nfabrik: 1\n",
			"a.yaml:2:7: aivs: want a whole number, got \"many\"\n" +
				"a.yaml:3:8: clock: " + says(new(engine.Hertz), "3") + "\n" +
				"a.yaml:4:1: fabrik: unknown key; did you mean \"fabric\"?"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var s spec
			err := load(t, c.text).Decode(&s)
			assert.EqualError(t, err, c.want)
			assert.IsType(t, configs.Problems{}, err)
		})
	}
}

func TestAStructWithAFaultInsideIsNotCheckedAsWell(t *testing.T) {
	var s spec
	err := load(t, head+"fabric: {port: {rate: fast}}\n").Decode(&s)
	assert.EqualError(t, err, `a.yaml:3:23: fabric.port.rate: `+says(new(engine.Rate), "fast"))
}

type outer struct {
	Inner inner `yaml:"inner"`
}

func (o *outer) Check(report func(string, string, ...any)) {
	report("", "outer sees %d", o.Inner.N)
	report("inner.n", "outer points inside")
}

type inner struct {
	N int `yaml:"n"`
}

func (i inner) Validate() error {
	if i.N == 1 {
		return errors.Join(errors.New("first"), errors.New("second"))
	}
	return nil
}

func TestChecksRunFromTheInsideOutAndStopAtTheFirstFaultyStruct(t *testing.T) {
	err := load(t, "x: {inner: {n: 1}}").At("x").Decode(&outer{})
	assert.EqualError(t, err, "a.yaml:1:12: x.inner: first\na.yaml:1:12: x.inner: second")
	err = load(t, "x: {inner: {n: 2}}").At("x").Decode(&outer{})
	assert.EqualError(t, err, "a.yaml:1:4: x: outer sees 2\na.yaml:1:16: x.inner.n: outer points inside")
}

// Lender is exported, since an unexported embedded struct lends no keys.
type Lender struct {
	N int `yaml:"n"`
}

// Check reports whatever it sees.
func (l *Lender) Check(report func(string, string, ...any)) { report("n", "lent %d", l.N) }

type borrower struct{ Lender }

func (b *borrower) Check(report func(string, string, ...any)) { report("", "borrowed") }

func TestAStructThatLendsItsKeysChecksThemOnce(t *testing.T) {
	d := load(t, "n: 3")
	var named struct {
		L Lender `yaml:",inline"`
	}
	assert.EqualError(t, d.Decode(&named), "a.yaml:1:4: n: lent 3")
	var promoted struct{ Lender }
	assert.EqualError(t, d.Decode(&promoted), "a.yaml:1:4: n: lent 3", "the outer struct has the method too")
	var shadowed borrower
	assert.EqualError(t, d.Decode(&shadowed), "a.yaml:1:1: borrowed\na.yaml:1:4: n: lent 3")
}

func TestAnAbsentPartIsMissingAtItsNearestAncestor(t *testing.T) {
	d := load(t, "a:\n  b: {c: 1}\n")
	assert.True(t, d.Has("a.b.c"))
	assert.False(t, d.Has("a.b.d"))
	assert.EqualError(t, d.At("a.b.d").Decode(new(engine.Rate)), "a.yaml:2:6: a.b.d: missing; want a rate")
	assert.Nil(t, d.At("a.x").Params())
	assert.Empty(t, d.At("a.x").Marshal())
}

func TestManyProblemsAreCountedRatherThanPrinted(t *testing.T) {
	var b strings.Builder
	b.WriteString(head)
	for i := range 80 {
		fmt.Fprintf(&b, "zz%d: 1\n", i)
	}
	err := load(t, b.String()).Decode(&spec{})
	require.Len(t, err, 80)
	assert.Equal(t, 51, strings.Count(err.Error(), "\n")+1)
	assert.Contains(t, err.Error(), "\n... and 30 more problems")
}

func TestMistakesOfTheProgramPanic(t *testing.T) {
	d := load(t, "a: 1")
	assert.Panics(t, func() { _ = d.Decode(spec{}) }, "no pointer")
	assert.Panics(t, func() {
		_ = d.Decode(&struct {
			A int `yaml:"a"`
			B int `yaml:"b" default:"x"`
		}{})
	}, "a default that does not decode")
	assert.Panics(t, func() {
		_ = d.Decode(&struct {
			A int `yaml:"a" min:"x"`
		}{})
	}, "a limit that does not decode")
	assert.Panics(t, func() {
		_ = d.Decode(&struct {
			A int `yaml:"a"`
			B int `yaml:"a"`
		}{})
	}, "one key twice")
	assert.Panics(t, func() {
		_ = d.Decode(&struct {
			A chan int `yaml:"a"`
		}{})
	}, "a type that no text can fill")
}

func TestDescribeListsEveryKeyThatDecodeAccepts(t *testing.T) {
	var lines []string
	for _, k := range configs.Describe(&spec{}) {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s: %s %s", k.Path, k.Type, k.Default)))
	}
	assert.Equal(t, []string{
		"name: text", "aivs: a whole number", "clock: a frequency",
		"fabric: a section", "fabric.kind: text mesh",
		"fabric.port: a section", "fabric.port.rate: a rate", "fabric.port.count: a whole number 7", "fabric.port.latency: a time",
		"steps: a list, each a section", "steps.[].op: text", "steps.[].x: a whole number",
		"sizes: a list, each a size", "shapes: a section, each a section", "ideal: true or false",
		"share: a share 94.8 %", "pair: a list, each a whole number", "skew: a number",
		"labels: a section, each text", "axes: a section", "extra: a value", "seed: a whole number 1",
	}, lines)
	first := configs.Describe(spec{})[1]
	assert.Equal(t, configs.Key{Path: "aivs", Type: "a whole number", Doc: "vector cores a chip", Min: "1", Max: "72", Required: true}, first)
	assert.Equal(t, "GB/s", configs.Describe(port{})[0].Unit)
}

type tree struct {
	Name string  `yaml:"name"`
	Kids []*tree `yaml:"kids"`
}

func TestATypeWithinItselfIsDescribedOnceAndDecodes(t *testing.T) {
	assert.Len(t, configs.Describe(tree{}), 2)
	var root tree
	require.NoError(t, load(t, "name: a\nkids: [{name: b, kids: [{name: c}]}, null]").Decode(&root))
	assert.Equal(t, "c", root.Kids[0].Kids[0].Name)
	assert.Nil(t, root.Kids[1])
}
