package configs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
)

func TestWhatIsNoYAMLIsReportedWithLineAndColumn(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"empty", "", "a.yaml:1:1: empty: it holds no value"},
		{"only a comment", "# nothing\n", "a.yaml:1:1: empty: it holds no value"},
		{"duplicate key", "a: 1\nb:\n  c: 1\n  c: 2\na: 3\n",
			"a.yaml:4:3: c: duplicate key; it is on line 3 already\na.yaml:5:1: a: duplicate key; it is on line 1 already"},
		{"tab", "a:\n\tb: 1\n", "a.yaml:2:1: the line is indented by a tab; use spaces"},
		{"tab after a value", "a: 1\n\tb: 2\n", "a.yaml:2:1: the line is indented by a tab; use spaces"},
		{"open list", "a: [1\n", "a.yaml:2:1: did not find expected ',' or ']' while parsing a flow sequence that began at 1:4"},
		{"open quote", "a: \"x\n", "a.yaml:2:1: found unexpected end of stream while scanning a quoted scalar that began at 1:4"},
		{"bad indentation", "a: 1\n b: 2\n", "a.yaml:2:3: mapping values are not allowed in this context"},
		{"unknown alias", "a: *x\n", "a.yaml:1:4: unknown anchor 'x' referenced"},
		{"two documents", "a: 1\n---\nb: 2\n", "a.yaml:1:1: it holds several documents (---); want one"},
		{"NUL", "a: 1\nb: é\x00\n", "a.yaml:2:5: the byte 0x00 is no text; is this a YAML file in UTF-8?"},
		{"not UTF-8", "a: \xff\n", "a.yaml:1:4: the byte 0xff is no text; is this a YAML file in UTF-8?"},
		{"UTF-16", "\xff\xfea\x00", "a.yaml:1:1: the byte 0xff is no text; is this a YAML file in UTF-8?"},
		{"explicit type", "a: !!str 1\nb: !mine 2\n",
			"a.yaml:1:4: the explicit type \"!!str\" is not supported; leave it out\na.yaml:2:4: the explicit type \"!mine\" is not supported; leave it out"},
		{"a list as key", "? [a]\n: 1\n", "a.yaml:1:3: a key must be plain text, not a list"},
		{"an empty key", ": 1\n", "a.yaml:1:1: a key is empty"},
		{"a long key", "? " + strings.Repeat("k", 300) + "\n: 1\n", "a.yaml:1:3: a key is longer than 200 bytes"},
		{"merge of a scalar", "<<: 1\n", "a.yaml:1:5: <<: want a section to take keys from, got \"1\""},
		{"deep flow", "a: " + strings.Repeat("[", 5000), "a.yaml:1:132: exceeded max depth of 128"},
		{"deep, closed", strings.Repeat("[", 100) + strings.Repeat("]", 100), "a.yaml:1:66: nested more than 64 deep"},
		{"alias to itself", "a: &a [*a]\n", "a.yaml:1:4: nested more than 64 deep"},
		{"huge", strings.Repeat("a", 2<<20), "a.yaml: larger than 1 MiB, which no configuration is"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := configs.Load("a.yaml", []byte(c.text))
			assert.EqualError(t, err, c.want)
			assert.IsType(t, configs.Problems{}, err)
		})
	}
}

func TestAnAliasBombIsRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString("l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 20; i++ {
		ref := fmt.Sprintf("*l%d", i-1)
		fmt.Fprintf(&b, "l%d: &l%d [%s]\n", i, i, strings.Repeat(ref+", ", 9)+ref)
	}
	_, err := configs.Load("bomb.yaml", []byte(b.String()))
	require.Error(t, err)
	assert.Regexp(t, `^bomb.yaml:\d+:\d+: more than 300000 values, aliases followed$`, err.Error())
}

func TestAliasesAndMergeKeysAreFollowed(t *testing.T) {
	d := load(t, `
base: &base {op: call, x: 1}
same: *base
more: {<<: *base, x: 2}
both:
  <<: [*base, {x: 3, y: 4}]
`)
	assert.Equal(t, `base:
  op: call
  x: 1
same:
  op: call
  x: 1
more:
  x: 2
  op: call
both:
  op: call
  x: 1
  y: 4
`, string(d.Marshal()))
}

func TestAFaultInAnAliasIsShownWhereItIsUsedOrWritten(t *testing.T) {
	d := load(t, "rate: &r 3\nports:\n  - {rate: *r}\n")
	var s struct {
		Rate  int    `yaml:"rate"`
		Ports []port `yaml:"ports"`
	}
	assert.ErrorContains(t, d.Decode(&s), "a.yaml:3:12: ports.0.rate: ")
}
