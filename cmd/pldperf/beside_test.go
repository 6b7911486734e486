package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
)

// handForms are the forms by hand that have a builtin.
func handForms() (out []*collectives.Algorithm) {
	for _, x := range collectives.All() {
		if isMode(x.Form, "hand") && modeForm(x, "builtin") != "" {
			out = append(out, x)
		}
	}
	return out
}

// small writes a workload of a form at P = 4 with 64 elements.
func small(t *testing.T, x *collectives.Algorithm) string {
	path := filepath.Join(t.TempDir(), "small.yaml")
	text := fmt.Sprintf("machine: 950dt-64\nranks: 4\ncall: {op: %s, size: 64}\n", x.Name())
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestEveryHandFormStandsBesideItsBuiltin(t *testing.T) {
	require.NotEmpty(t, handForms())
	for _, x := range handForms() {
		t.Run(x.Name(), func(t *testing.T) {
			out, errs, code := pldperf("ir", small(t, x), "--rank", "1")
			require.Zero(t, code, errs)
			assert.Contains(t, out, " beside "+x.Op+"/")
			path := filepath.Join("testdata", "ir", strings.ReplaceAll(x.Name(), "/", "-")+".txt")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(out), 0o644))
				return
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err, "run: go test ./cmd/pldperf -run Beside -update")
			assert.Equal(t, string(want), out, "run: go test ./cmd/pldperf -run Beside -update")
		})
	}
}

func TestTheJSONOfTwoProgramsMarksEachLineOfBoth(t *testing.T) {
	for _, x := range handForms() {
		out, errs, code := pldperf("ir", small(t, x), "--mode", x.Form+",builtin", "--json")
		require.Zero(t, code, errs)
		var doc struct {
			IR   struct{ A, B []map[string]any }
			Rows []struct {
				Mark string
				A, B map[string]any
			}
		}
		require.NoError(t, json.Unmarshal([]byte(out), &doc))
		var a, b []map[string]any
		for _, r := range doc.Rows {
			if r.A != nil {
				a = append(a, r.A)
			}
			if r.B != nil {
				b = append(b, r.B)
			}
			assert.Equal(t, map[string][2]bool{"=": {true, true}, "~": {true, true}, "<": {true, false}, ">": {false, true}}[r.Mark], [2]bool{r.A != nil, r.B != nil})
		}
		assert.Equal(t, doc.IR.A, a, "%s: every line of the left program is there, in order", x.Name())
		assert.Equal(t, doc.IR.B, b, "%s: and of the right one", x.Name())
		assert.Contains(t, a[0], "times")
	}
}

func TestAModeIsTheFormThatIsMostLikeTheFiles(t *testing.T) {
	for file, want := range map[string][]string{
		"all_to_all/hand": {"hand", "incore"}, "all_to_all/host": {"hand", "host"}, "allreduce/ring_hand": {"ring_hand", "ring_incore"},
		"allreduce/ring_host": {"ring_hand", "ring_host"}, "indexed_all_to_all_v/l2": {"l2"},
	} {
		op, form, _ := strings.Cut(file, "/")
		x, err := collectives.Lookup(op, form)
		require.NoError(t, err)
		assert.Equal(t, want, counterparts(x), file)
	}
	ring, err := collectives.Lookup("allreduce", "ring_hand")
	require.NoError(t, err)
	for mode, want := range map[string]string{"host": "ring_host", "incore": "ring_incore", "hand": "hand", "mesh_host": "mesh_host", "two": "two_phase", "hst": ""} {
		assert.Equal(t, want, modeForm(ring, mode), mode)
	}
}
