package configs_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/configs"
	"pldperf/engine"
)

func TestCanonicalIsTheSameForTheSameMeaning(t *testing.T) {
	a := load(t, "b: {y: 1 us, x: [1, 2]} # src: one\na: \"text\"\nc: '8 KiB'\n")
	b := load(t, "# other layout\nc: 8 KiB\na: text\nb:\n  x:\n    - 1\n    - 2\n  y: 1 us # est: two\n")
	assert.Equal(t, "a: text\nb:\n  x: [1, 2]\n  y: 1 us\nc: 8 KiB\n", string(a.Canonical()))
	assert.Equal(t, string(a.Canonical()), string(b.Canonical()))
}

func TestCanonicalTellsValuesApart(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{"a: 1", "a: \"1\"", "a: null", "a: \"null\"", "a: true", "a: 'true'", "a: [1]", "a: {b: 1}",
		"a: []", "a: {}", "a: ''", "a: 1.0", "a: {value: 1, low: 1, high: 1}", "b: 1"} {
		canonical := string(load(t, text).Canonical())
		assert.Empty(t, seen[canonical], text)
		seen[canonical] = text
	}
}

func TestMarshalQuotesWhatYAMLWouldReadOtherwise(t *testing.T) {
	for _, text := range []string{"", " ", "a b", "a: b", "a #b", "- x", "-", "--- x", "yes", "No", "~", "null", "1", "1e3", "0x1f", ".inf", "-.INF",
		"1_000", "2001-12-14", "&a", "*a", "!x", "%y", "@z", "`", "'", "\"", "[", "{}", ",", "a,b", "x\ny", "\t", "é", "\u2028", "\ufeff", "a ",
		"<<", "=", "?", "? a", "53.1 GB/s", "94.8 %", "configs/x.yaml"} {
		var d configs.Doc
		require.NoError(t, d.Set(fmt.Sprintf("k.%s=%s", "v", quoteYAML(text))))
		for _, printed := range [][]byte{d.Marshal(), d.Canonical()} {
			var s struct {
				K map[string]any `yaml:"k"`
			}
			require.NoError(t, load(t, string(printed)).Decode(&s), "%s", printed)
			assert.Equal(t, text, s.K["v"], "%s", printed)
		}
	}
}

func quoteYAML(text string) string {
	var b bytes.Buffer
	b.WriteByte('"')
	for _, r := range text {
		fmt.Fprintf(&b, "\\U%08x", r)
	}
	b.WriteByte('"')
	return b.String()
}

// written is a value of every kind that a file can hold.
type written struct {
	Text  string                  `yaml:"text"`
	Int   int64                   `yaml:"int"`
	Rate  engine.Rate             `yaml:"rate"`
	Sizes []engine.Bytes          `yaml:"sizes"`
	Flag  bool                    `yaml:"flag"`
	Float float64                 `yaml:"float"`
	Inner map[string]writtenInner `yaml:"inner"`
	Rows  [][]int                 `yaml:"rows"`
	Items []writtenInner          `yaml:"items"`
	Any   any                     `yaml:"any"`
}

type writtenInner struct {
	Name string            `yaml:"name"`
	Wait engine.Duration   `yaml:"wait"`
	Next map[string]string `yaml:"next"`
}

// drawYAML writes a random document in random layouts and with random sources.
func drawYAML(t *rapid.T) string {
	comment := rapid.SampledFrom([]string{"", " # src: paper", " # fit: data, row 3", " # est: x", " # just a remark"})
	text := rapid.Map(rapid.StringOfN(rapid.RuneFrom([]rune("ab1:#- \"'[]{},&*!%\n\té")), 0, 8, -1), quoteYAML)
	var b bytes.Buffer
	line := func(indent, key, value string) {
		fmt.Fprintf(&b, "%s%s: %s%s\n", indent, key, value, comment.Draw(t, "comment"))
	}
	line("", "text", text.Draw(t, "text"))
	line("", "int", fmt.Sprint(rapid.Int64().Draw(t, "int")))
	rate := fmt.Sprint(engine.Rate(rapid.Int64Range(0, 1e15).Draw(t, "rate")))
	if rapid.Bool().Draw(t, "band") {
		rate = fmt.Sprintf("{low: 0 B/s, value: %s, high: %s}", rate, "unlimited")
	}
	line("", "rate", rate)
	line("", "sizes", fmt.Sprintf("[%s, 8 KiB]", engine.Bytes(rapid.Int64Range(0, 1<<40).Draw(t, "size"))))
	line("", "flag", fmt.Sprint(rapid.Bool().Draw(t, "flag")))
	line("", "float", fmt.Sprint(rapid.Float64Range(-1e9, 1e9).Draw(t, "float")))
	b.WriteString("inner:\n")
	for i := range rapid.IntRange(1, 3).Draw(t, "inner") {
		line("  ", quoteYAML(fmt.Sprint(i)+"."), fmt.Sprintf("{name: %s, wait: %d ps}", text.Draw(t, "name"), i))
	}
	b.WriteString("rows:\n  - [1, 2]\n  -\n    - 3\n  - []\n")
	b.WriteString("items:\n")
	for range rapid.IntRange(1, 3).Draw(t, "items") {
		fmt.Fprintf(&b, "  - name: %s\n", text.Draw(t, "item"))
		line("    ", "next", fmt.Sprintf("{%s: %s}", quoteYAML("k"), text.Draw(t, "next")))
	}
	line("", "any", rapid.SampledFrom([]string{"~", "[1, [2, {a: b}]]", "{}", "[]", "[{}]", "{a: [], b: [{c: d}, [e, {}]]}"}).Draw(t, "any"))
	return b.String()
}

func TestWhatMarshalPrintsLoadsAsTheSameValuesAndSources(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawYAML(t)
		d, err := configs.Load("a.yaml", []byte(text))
		require.NoError(t, err, text)
		var before, after written
		require.NoError(t, d.Decode(&before), text)
		again, err := configs.Load("b.yaml", d.Marshal())
		require.NoError(t, err, "%s", d.Marshal())
		require.NoError(t, again.Decode(&after), "%s", d.Marshal())
		require.Equal(t, before, after)
		require.Equal(t, values(d), values(again))
		require.Equal(t, string(d.Marshal()), string(again.Marshal()))
		require.Equal(t, string(d.Canonical()), string(again.Canonical()))
	})
}

// values are the leaves without their places.
func values(d *configs.Doc) []configs.Param {
	params := d.Params()
	for i := range params {
		params[i].File, params[i].Line = "", 0
	}
	return params
}
