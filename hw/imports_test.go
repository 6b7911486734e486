package hw_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "pldperf/"

// allowed says which rooms of the project a room may import (design, section 3):
// each line may import what stands in it, and a room ending in "..." all below it.
var allowed = map[string][]string{
	"engine":               {},
	"hw/timeline":          {"engine"},
	"hw/memory":            {"engine", "hw/timeline"},
	"hw/fabric":            {"engine", "hw/timeline", "hw/cause"},
	"hw/cause":             {"engine"},
	"hw/program":           {"engine"},
	"hw/result":            {"engine"},
	"hw/arith":             {"hw/program"},
	"hw/hazard":            {"engine", "hw/memory", "hw/program", "hw/result"},
	"hw/ub":                {"engine", "hw/memory", "hw/timeline", "hw/cause"},
	"hw/urma":              {"engine", "hw/memory", "hw/fabric", "hw/timeline", "hw/cause"},
	"hw/sdma":              {"engine", "hw/memory", "hw/fabric", "hw/timeline", "hw/cause"},
	"hw/aiv":               {"engine", "hw/memory", "hw/fabric", "hw/program", "hw/result", "hw/ub", "hw/urma", "hw/sdma", "hw/arith", "hw/hazard", "hw/timeline", "hw/cause"},
	"hw":                   {"engine", "hw/..."},
	"hw/hwtest":            {"engine", "hw", "hw/timeline", "configs"}, // for tests alone
	"collectives":          {"engine", "hw", "hw/program", "hw/result", "hw/arith"},
	"collectives/symptoms": {"collectives", "hw/arith", "hw/program", "hw/result"},
	"configs":              {},
	"workloads":            {"engine", "hw", "hw/...", "collectives", "collectives/...", "configs", "workloads/..."},
	"workloads/explain":    {"engine", "hw", "hw/result", "configs", "workloads"},
	"workloads/fit":        {"engine", "hw", "hw/result", "collectives", "configs", "workloads"},
	"reports":              {"engine", "hw/program", "hw/result", "reports", "reports/..."},
	"reports/document":     {"engine", "hw/result"},
	"reports/traces":       {"engine", "hw/result", "hw/timeline"},
	"reports/page":         {"engine", "hw/result", "hw/timeline", "reports", "reports/document", "reports/traces"},
	"reports/diff":         {"engine", "hw/result", "reports/document"},
	"cmd":                  {"engine", "hw", "hw/...", "collectives", "collectives/...", "configs", "workloads", "workloads/...", "reports", "reports/...", "cmd/..."},
}

// nested rooms have the rules of the room that they are in, unless they are listed.
func rules(room string) (string, []string) {
	for at := room; at != ""; at = parent(at) {
		if r, ok := allowed[at]; ok {
			return at, r
		}
	}
	return "", nil
}

func parent(room string) string {
	i := strings.LastIndexByte(room, '/')
	if i < 0 {
		return ""
	}
	return room[:i]
}

func permits(rule, room string) bool {
	tree, ok := strings.CutSuffix(rule, "/...")
	return rule == room || ok && strings.HasPrefix(room, tree+"/") && room != "hw/hwtest"
}

type room struct {
	ImportPath string
	Imports    []string
}

func rooms(t *testing.T) (out []room) {
	list := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	list.Dir = ".."
	text, err := list.Output()
	require.NoError(t, err)
	for d := json.NewDecoder(strings.NewReader(string(text))); ; {
		var r room
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return out
		} else {
			require.NoError(t, err)
		}
		r.ImportPath = strings.TrimPrefix(r.ImportPath, module)
		out = append(out, r)
	}
}

func TestImportsGoOneWay(t *testing.T) {
	all := rooms(t)
	require.Greater(t, len(all), 8)
	for _, r := range all {
		name, may := rules(r.ImportPath)
		if !assert.NotEmpty(t, name, "%s is no room of the design: say here what it may import", r.ImportPath) {
			continue
		}
		for _, path := range r.Imports {
			to, own := strings.CutPrefix(path, module)
			if own {
				assert.True(t, slices.ContainsFunc(may, func(rule string) bool { return permits(rule, to) }), "%s must not import %s", r.ImportPath, to)
			}
		}
	}
}

func TestModelsKnowNoClockNoChanceAndNoPrinting(t *testing.T) {
	banned := []string{"os", "log", "time", "math/rand", "math/rand/v2", "sync", "context", "net/http"}
	for _, r := range rooms(t) {
		if name, _ := rules(r.ImportPath); r.ImportPath == "hw/hwtest" || name != "engine" && name != "collectives" && !strings.HasPrefix(name, "hw") {
			continue
		}
		for _, path := range r.Imports {
			if path == "sync" && r.ImportPath == "collectives" {
				continue // golden results are kept for all machines that run one job
			}
			assert.NotContains(t, banned, path, r.ImportPath)
		}
	}
}

func TestTheRulesOfImportsCanBeBroken(t *testing.T) {
	for _, x := range []struct{ from, to string }{
		{"hw/ub", "hw/urma"}, {"hw/program", "hw/memory"}, {"reports", "hw"}, {"reports/plots", "hw/urma"}, {"collectives", "hw/aiv"},
		{"workloads", "reports"}, {"configs", "engine"}, {"workloads", "cmd/pldperf"}, {"hw", "hw/hwtest"}, {"reports/document", "reports"},
	} {
		_, may := rules(x.from)
		assert.False(t, slices.ContainsFunc(may, func(rule string) bool { return permits(rule, x.to) }), "%s to %s", x.from, x.to)
	}
	_, may := rules("workloads/routing")
	assert.True(t, slices.ContainsFunc(may, func(rule string) bool { return permits(rule, "engine") }))
}
