package configs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"pldperf/configs"
)

// FuzzLoad feeds arbitrary bytes to all that reads a user's file. Whatever
// loads must print as YAML that loads as the same values.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{good, preset, provenance, "", "a: &a [*a]", "<<: {a: 1}\na: 2", "? x\n: - y", "a: |\n b\n", "{value: 1, low: 1, high: 1}",
		"a: ---", "- - - 1\n  - {}", "\"\\u2028\": '\\x'", "a: 1\r\nb: 2\r\n", "\ufeffa: 1", "%YAML 1.2\n---\na: 1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := configs.Load("f.yaml", data)
		if err != nil {
			require.IsType(t, configs.Problems{}, err)
			require.NotEmpty(t, err.Error())
			return
		}
		var s spec
		if err := d.Decode(&s); err != nil {
			require.NotEmpty(t, err.Error())
		}
		configs.CheckSourced(d)
		printed := d.Marshal()
		again, err := configs.Load("f.yaml", printed)
		require.NoError(t, err, "%s", printed)
		require.Equal(t, values(d), values(again), "%s", printed)
		require.Equal(t, string(d.Canonical()), string(again.Canonical()))
		require.Equal(t, string(d.Canonical()), string(configs.Merge(d, again).Canonical()), "a document over itself changes no value")
	})
}

// FuzzSet feeds arbitrary assignments to Set; one that is accepted can be
// read back at its path.
func FuzzSet(f *testing.F) {
	for _, seed := range []string{"a=1", "fabric.port.rate=53 GB/s", "sizes.0=[1, {a: b}]", `"a.b".c={d: "x"}`, "=", "a.=", `"\x`, "steps.0.op=x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, assignment string) {
		d := load(t, good)
		if err := d.Set(assignment); err != nil {
			require.True(t, strings.HasPrefix(err.Error(), "--set"))
			return
		}
		for _, p := range d.Params() {
			require.True(t, d.Has(p.Path), p.Path)
		}
		_ = d.Decode(&spec{})
		_, err := configs.Load("f.yaml", d.Marshal())
		require.NoError(t, err, "%s", d.Marshal())
	})
}
