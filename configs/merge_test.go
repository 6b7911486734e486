package configs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
	"pldperf/engine"
)

const preset = `name: base # src: book
fabric:
  kind: mesh # src: book
  port:
    rate: 53.1 GB/s # fit: data
    latency: {value: 0.35 us, low: 0.2 us, high: 0.6 us} # est: reasoned
sizes: [1, 2, 3] # src: book
`

func preload(t *testing.T, name, text string) *configs.Doc {
	t.Helper()
	d, err := configs.Load(name, []byte(text))
	require.NoError(t, err)
	return d
}

func TestTheUpperDocumentWinsLeafByLeafAndKeepsItsOrigin(t *testing.T) {
	base, over := preload(t, "p.yaml", preset), preload(t, "u.yaml", `
fabric:
  port:
    rate: 50 GB/s
    count: 9 # est: guessed
sizes: [4]
extra: {a: 1}
`)
	before := string(base.Marshal())
	m := configs.Merge(base, over)
	assert.Equal(t, `name: base # src: book
fabric:
  kind: mesh # src: book
  port:
    rate: 50 GB/s # user: u.yaml:4
    latency: {value: 0.35 us, low: 0.2 us, high: 0.6 us} # est: reasoned
    count: 9 # est: guessed
sizes: [4] # user: u.yaml:6
extra:
  a: 1 # user: u.yaml:7
`, string(m.Marshal()))
	assert.Equal(t, before, string(base.Marshal()), "the preset is as it was")
	rate := m.Params("fabric.port.rate")[0]
	assert.Equal(t, configs.Param{Path: "fabric.port.rate", Value: "50 GB/s", Kind: configs.User,
		Source: "u.yaml:4", File: "u.yaml", Line: 4}, rate)
	assert.Equal(t, "p.yaml", m.Params("fabric.kind")[0].File)
}

func TestMergeTreatsNothingNullAndBandsAsSaid(t *testing.T) {
	cases := []struct{ name, base, over, want string }{
		{"an empty section changes nothing", "a: {b: 1}", "a:", "a:\n  b: 1\n"},
		{"an explicit null replaces a section", "a: {b: 1}", "a: null", "a: null # user: u.yaml:1\n"},
		{"an empty leaf replaces", "a: 1", "a:", "a: null # user: u.yaml:1\n"},
		{"a section replaces a scalar", "a: 1", "a: {b: 2}", "a:\n  b: 2 # user: u.yaml:1\n"},
		{"a scalar replaces a section", "a: {b: 2}", "a: 1", "a: 1 # user: u.yaml:1\n"},
		{"a scalar replaces a band", "a: {value: 2, low: 1, high: 3} # est: e", "a: 1", "a: 1 # user: u.yaml:1\n"},
		{"a band replaces a band", "a: {value: 2, low: 1, high: 3} # est: e", "a: {low: 4, value: 5, high: 6} # fit: f",
			"a: {low: 4, value: 5, high: 6} # fit: f\n"},
		{"a part of a band", "a: {value: 2, low: 1, high: 3} # est: e", "a: {low: 0}", "a: {value: 2, low: 0, high: 3} # user: u.yaml:1\n"},
		{"lists do not merge", "a: [{b: 1}]", "a: [{c: 2}]", "a:\n  - c: 2 # user: u.yaml:1\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := configs.Merge(preload(t, "p.yaml", c.base), preload(t, "u.yaml", c.over))
			assert.Equal(t, c.want, string(m.Marshal()))
		})
	}
}

func TestAnAbsentDocumentMergesAsNothing(t *testing.T) {
	d := preload(t, "p.yaml", "a: 1")
	assert.Equal(t, "a: 1\n", string(configs.Merge(d, d.At("b")).Marshal()))
	assert.Equal(t, "a: 1\n", string(configs.Merge(d, nil).Marshal()))
	assert.Equal(t, "a: 1 # user: p.yaml:1\n", string(configs.Merge(nil, d).Marshal()))
}

func TestAPresetUnderAPathMergesWithTheFileThatUsesIt(t *testing.T) {
	under, err := preload(t, "p.yaml", preset).Under("machine")
	require.NoError(t, err)
	d := configs.Merge(under, preload(t, "u.yaml", "machine: {fabric: {port: {rate: 40}}}\ncall: all_to_all\n"))
	require.NoError(t, d.Set("machine.fabric.port.count=three"))
	var s struct {
		Machine struct {
			Name   string   `yaml:"name"`
			Fabric fabric   `yaml:"fabric"`
			Sizes  []string `yaml:"sizes"`
		} `yaml:"machine"`
		Call string `yaml:"call"`
	}
	assert.EqualError(t, d.Decode(&s), `--set machine.fabric.port.count: want a whole number, got "three"`+"\n"+
		`u.yaml:1:33: machine.fabric.port.rate: `+says(new(engine.Rate), "40"))
	_, err = d.Under("a..b")
	assert.EqualError(t, err, `path "a..b" has an empty key`)
}

func TestAnUnknownKeyOfAPresetUnderAPathIsShownInThePreset(t *testing.T) {
	under, err := preload(t, "p.yaml", preset).Under("machine")
	require.NoError(t, err)
	assert.EqualError(t, under.Decode(&struct {
		M int `yaml:"machines"`
	}{}), `p.yaml:1:1: machine: unknown key; did you mean "machines"?`)
}

func TestSetOverridesOneLeafAndNamesTheFlagInEveryFault(t *testing.T) {
	d := preload(t, "p.yaml", preset)
	c := *d
	for _, s := range []string{"fabric.port.rate=53 GB/s", "sizes=[4, 5]", "sizes.1=6", "fabric.port.latency.low=0.1 us",
		"labels.a=x=y", `labels."v1.2"=z`, "fabric.kind="} {
		require.NoError(t, c.Set(s))
	}
	assert.Equal(t, `name: base # src: book
fabric:
  kind: null # user: --set fabric.kind
  port:
    rate: 53 GB/s # user: --set fabric.port.rate
    latency: {value: 0.35 us, low: 0.1 us, high: 0.6 us} # user: --set fabric.port.latency.low
sizes: [4, 6] # user: --set sizes.1
labels:
  a: "x=y" # user: --set labels.a
  v1.2: z # user: --set labels."v1.2"
`, string(c.Marshal()))
	assert.Equal(t, string(preload(t, "p.yaml", preset).Marshal()), string(d.Marshal()), "the original is as it was")
}

func TestABadSetIsReportedWithTheFlag(t *testing.T) {
	for assignment, want := range map[string]string{
		"fabric.port.rate":   `--set fabric.port.rate: want path=value, such as --set "call.core_num=8"`,
		"=3":                 `--set: the path is empty`,
		"a..b=3":             `--set: path "a..b" has an empty key`,
		`"a=3`:               `--set "a=3: want path=value, such as --set "call.core_num=8"`,
		`"a"b=3`:             `--set: path "\"a\"b": want a dot after a quoted key`,
		"name.first=x":       `--set name.first: "base" has no key "first": it is a plain value`,
		"sizes.3=1":          `--set sizes.3: want the number of an element, 0 to 2, got "3"`,
		"sizes.x=1":          `--set sizes.x: want the number of an element, 0 to 2, got "x"`,
		"sizes=[1":           `--set sizes: did not find expected ',' or ']' while parsing a flow sequence that began at 1:1`,
		"sizes=\x00":         `--set sizes: the byte 0x00 is no text; is this a YAML file in UTF-8?`,
		"sizes={a: 1, a: 2}": `--set sizes: duplicate key; it is on line 1 already`,
		"sizes=# none":       `--set sizes: empty: it holds no value`,
	} {
		d := preload(t, "p.yaml", preset)
		assert.EqualError(t, d.Set(assignment), want, assignment)
		assert.Equal(t, preset[:4], string(d.Marshal()[:4]), "a failed Set changes nothing")
	}
}

func TestDecodeNamesTheFlagOfAnUnknownPath(t *testing.T) {
	type machine struct {
		Fabric fabric `yaml:"fabric"`
	}
	for assignment, want := range map[string]string{
		"fabric.prot=1":           `--set fabric.prot: unknown key; did you mean "port"?`,
		"fabric.prot.rate=1 GB/s": `--set fabric.prot.rate: fabric.prot: unknown key; did you mean "port"?`,
		"fabric={prot: 1}":        `--set fabric: fabric.prot: unknown key; did you mean "port"?`,
		"fabric.port.rate=fast":   `--set fabric.port.rate: ` + says(new(engine.Rate), "fast"),
		"fabric.kind=ring":        `--set fabric.kind: "ring" is none of ideal, mesh, clos`,
	} {
		d := preload(t, "p.yaml", "fabric: {port: {rate: 1 GB/s}}")
		require.NoError(t, d.Set(assignment))
		assert.EqualError(t, d.Decode(&machine{}), want, assignment)
	}
	d := preload(t, "p.yaml", "fabric: {port: {rate: 1 GB/s}}")
	require.NoError(t, d.SetFrom("axis", "fabric.port.count", "many"))
	assert.EqualError(t, d.Decode(&machine{}), `axis fabric.port.count: want a whole number, got "many"`)
}
