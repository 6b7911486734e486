package configs

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type partSpec struct {
	Kind  string     `yaml:"kind"`
	Mesh  innerSpec  `yaml:"mesh" when:"kind=mesh|torus"`
	Cost  int        `yaml:"cost" when:"kind!=ideal @nic|dma"`
	Seed  int        `yaml:"seed" when:"spread"`
	Spead int        `yaml:"spread"`
	List  []listSpec `yaml:"list"`
}

type innerSpec struct {
	Port int `yaml:"port"`
	Rate int `yaml:"rate" when:"^kind=mesh"`
}

type listSpec struct {
	N    int    `yaml:"n"`
	Name string `yaml:"name" when:"^kind=ideal"`
}

func (l *listSpec) Unread(key string) string {
	if key == "n" && l.N == 7 {
		return "seven is no number"
	}
	return ""
}

// unreadOf lists what nothing reads in a text, where only the NIC is used.
func unreadOf(t *testing.T, text string) (out []string) {
	t.Helper()
	doc, err := Load("x.yaml", []byte(text))
	require.NoError(t, err)
	var s partSpec
	require.NoError(t, doc.Decode(&s))
	for _, p := range doc.Unread(&s, func(part string) (bool, string) { return part == "nic", "calls by " + part }) {
		out = append(out, p.Error())
	}
	return out
}

func TestAKeyIsUnreadWhereItsConditionFails(t *testing.T) {
	for text, want := range map[string][]string{
		"kind: mesh\nmesh: {port: 1, rate: 2}\ncost: 1\n": nil,
		"kind: torus\nmesh: {port: 1, rate: 2}":           {"x.yaml:2:23: mesh.rate: nothing reads it: kind is torus; it counts where that is mesh"},
		"kind: ideal\nmesh: {port: 1, rate: 2}":           {"x.yaml:2:7: mesh: nothing reads it: kind is ideal; it counts where that is mesh or torus"},
		"kind: ideal\nmesh: {port: 1}":                    {"x.yaml:2:14: mesh.port: nothing reads it: kind is ideal; it counts where that is mesh or torus"},
		"kind: ideal\ncost: 1":                            {"x.yaml:2:7: cost: nothing reads it: kind is ideal"},
		"seed: 1":                                         {"x.yaml:1:7: seed: nothing reads it: spread is not set"},
		"seed: 1\nspread: 2":                              nil,
		"mesh: {port: 1}":                                 nil, // the kind says nothing yet
		"kind: mesh\nlist: [{n: 1}, {n: 7, name: a}]":     {"x.yaml:2:20: list.1.n: nothing reads it: seven is no number", "x.yaml:2:29: list.1.name: nothing reads it: kind is mesh; it counts where that is ideal"},
		"mesh:": nil,
	} {
		assert.Equal(t, want, unreadOf(t, text), text)
	}
}

func TestAKeyNeedsOneOfThePartsThatItsConditionNames(t *testing.T) {
	doc, err := Load("x.yaml", []byte("cost: 1"))
	require.NoError(t, err)
	s := partSpec{Kind: "mesh", Cost: 1}
	for used, want := range map[string]int{"nic": 0, "dma": 0, "other": 1} {
		got := doc.Unread(s, func(part string) (bool, string) { return part == used, "calls by " + part })
		require.Len(t, got, want, used)
		if want > 0 {
			assert.Equal(t, "nothing reads it: only calls by nic, or calls by dma would", got[0].Message)
		}
	}
}

func TestConditionsBeginAtTheTopAndAreThoseOfTheSectionsToo(t *testing.T) {
	words := map[string][]string{}
	for _, k := range Describe(struct {
		Part partSpec `yaml:"part"`
	}{}) {
		for _, c := range k.When {
			words[k.Path] = append(words[k.Path], c.Words(func(p string) (bool, string) { return false, "calls by " + p }))
		}
	}
	assert.Equal(t, map[string][]string{
		"part.mesh":         {"part.kind is mesh or torus"},
		"part.mesh.port":    {"part.kind is mesh or torus"},
		"part.mesh.rate":    {"part.kind is mesh or torus", "part.kind is mesh"},
		"part.cost":         {"part.kind is not ideal", "calls by nic, or calls by dma"},
		"part.seed":         {"part.spread is set"},
		"part.list.[].name": {"part.kind is ideal"},
	}, words)
}

func TestATagThatNamesNoFieldIsAMistakeOfTheProgram(t *testing.T) {
	doc, err := Load("x.yaml", []byte("a: 1"))
	require.NoError(t, err)
	assert.Panics(t, func() {
		doc.Unread(struct {
			A int `yaml:"a" when:"b=1"`
		}{}, nil)
	})
}
