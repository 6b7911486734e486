package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
)

// schemaOfKind are the schemas of the folders of shipped files.
var schemaOfKind = map[string]string{
	configs.Workloads: "workload", configs.Mistakes: "workload", configs.Sweeps: "sweep", configs.Machines: "machine", configs.Measured: "fit",
}

// compiled returns a validator of a kind of file.
func compiled(t *testing.T, kind string) *validator.Schema {
	t.Helper()
	doc, err := validator.UnmarshalJSON(bytes.NewReader(schemaText(kind)))
	require.NoError(t, err)
	c := validator.NewCompiler()
	require.NoError(t, c.AddResource(kind+".json", doc))
	s, err := c.Compile(kind + ".json")
	require.NoError(t, err)
	return s
}

// against validates a YAML text as an editor would see it.
func against(t *testing.T, s *validator.Schema, text []byte) error {
	t.Helper()
	doc, err := configs.Load("x.yaml", text)
	require.NoError(t, err)
	var v any
	require.NoError(t, doc.Decode(&v))
	data, err := json.Marshal(v)
	require.NoError(t, err)
	plain, err := validator.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	return s.Validate(plain)
}

func TestTheSchemasInTheRepositoryAreCurrent(t *testing.T) {
	for _, kind := range schemaKinds {
		path := filepath.Join(root, "configs/schema", kind+".json")
		if *update {
			require.NoError(t, os.WriteFile(path, schemaText(kind), 0o644))
		}
		old, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(schemaText(kind)), string(old), "run: go test ./cmd/pldperf -run Schemas -update")
	}
}

func TestEveryShippedFileNamesItsSchemaAndAgreesWithIt(t *testing.T) {
	n := 0
	for folder, kind := range schemaOfKind {
		s := compiled(t, kind)
		for _, name := range configs.Names(folder) {
			file, data, err := configs.Read(folder, name)
			require.NoError(t, err)
			if filepath.Ext(file) != ".yaml" {
				continue
			}
			n++
			first, _, _ := strings.Cut(string(data), "\n")
			line := editorMark + "../schema/" + kind + ".json"
			if *update && first != line {
				require.NoError(t, os.WriteFile(filepath.Join(root, file), append([]byte(line+"\n"), data...), 0o644))
				first = line
			}
			assert.Equal(t, line, first, "%s; run: go test ./cmd/pldperf -run Schema -update", file)
			assert.NoError(t, against(t, s, data), file)
		}
	}
	assert.Greater(t, n, 90)
}

func TestTheStarterAgreesWithTheSchemaAndSoDoesAWholeMachine(t *testing.T) {
	assert.NoError(t, against(t, compiled(t, "workload"), []byte(starter())))
	out, errs, code := pldperf("show", "950dt-64-clos")
	require.Zero(t, code, errs)
	assert.NoError(t, against(t, compiled(t, "machine"), []byte(out)))
}

func TestTheSchemasRefuseWhatTheProgramRefuses(t *testing.T) {
	const good = "machine: 950dt-64\nranks: 4\ncall: {op: all_to_all, size: 64}\n"
	for kind, wrong := range map[string]map[string]string{
		"workload": {
			"machine: 950dt-64\ncall: {op: barrier}":                              "ranks",
			good + "rannks: 3":                                                    "rannks",
			"machine: 950dt-64\nranks: four":                                      "/ranks",
			"machine: 950dt-64\nranks: 1":                                         "/ranks",
			"machine: 950dt-64\nranks: 4.5":                                       "/ranks",
			"machine: [950dt-64]\nranks: 4":                                       "/machine",
			good + "skew: {random: 3}":                                            "/skew/random",
			good + "skew: {random: 3 GB/s}":                                       "/skew/random",
			good + "skew: {random: -3 us}":                                        "/skew/random",
			good + "skew: {offsets: 3 us}":                                        "/skew/offsets",
			good + "payload_as: words":                                            "/payload_as",
			"machine: 950dt-64\nranks: 4\ncall: {op: all2all}":                    "/call/op",
			"machine: 950dt-64\nranks: 4\ncall: {op: barrier, pipeline: yes}":     "/call/pipeline",
			"machine: {preset: 950dt-64, fabric: {kind: ring}}\nranks: 4":         "/machine/fabric/kind",
			"machine: {preset: 950dt-64, fabric: {clos: {ports: 256}}}\nranks: 4": "/machine/fabric/clos/ports",
			"machine: {preset: 950dt-64, aiv: {fence: {value: 1 us, low: 0 us, hihg: 1 us}}}\nranks: 4": "/machine/aiv/fence",
			good + "chain: [{call: {op: barrier}}]":                                                     "/chain/0",
			good + "faults: [{kind: cqe_status, status: 256}]":                                          "/faults/0/status",
		},
		"sweep": {
			"axes: {ranks: [2, 4]}":                     "base",
			"base: x\naxes: {}":                         "/axes",
			"base: x\naxes: {ranks: 3}":                 "/axes/ranks",
			"base: x\naxes: {ranks: [2, 2]}":            "/axes/ranks",
			"base: x\naxes: {ranks: {from: 2}}":         "/axes/ranks",
			"base: x\naxes: {ranks: []}":                "/axes/ranks",
			"base: x\naxes: {ranks: [2]}\nplots: [pie]": "/plots/0",
			"base: x\naxes: {ranks: [2]}\nset: 3":       "/set",
		},
		"machine": {
			"name: x\nfabrik: {}":                 "fabrik",
			"aiv: {clock: 1.65}":                  "/aiv/clock",
			"urma: {max_sges: 13}":                "/urma/max_sges",
			"platform: a7":                        "/platform",
			"ub: {kind: idael}":                   "/ub/kind",
			"aiv: {signal: {sector: 128 cycles}}": "/aiv/signal/sector",
		},
		"fit": {
			"machine: x":                      "cases",
			"machine: x\ncases: [{name: a}]":  "/cases/0",
			"machine: x\nnoise: 3\ncases: []": "/noise",
		},
	} {
		s := compiled(t, kind)
		for text, where := range wrong {
			err := against(t, s, []byte(text))
			if assert.Error(t, err, "%s: %s", kind, text) {
				assert.Contains(t, err.Error(), where, text)
			}
		}
	}
	assert.NoError(t, against(t, compiled(t, "workload"), []byte(good)))
}

func TestTheSchemasAcceptTheShortAndLongFormsOfValues(t *testing.T) {
	w := compiled(t, "workload")
	for _, text := range []string{
		"machine: {preset: 950dt-64, fabric: {mesh: {port: 56 GB/s}}}\nranks: 4\ncall: {op: all_to_all/host, size: 64}\n",
		"machine: {preset: 950dt-64, aiv: {fence: {value: 1 us, low: 0.5 us, high: 2 us}, count: {value: 8, low: 4, high: 9}}}\nranks: 4\n",
		"machine: {preset: 950dt-64, aiv: {fence: {low: 0.5 us}}}\nranks: 4\n",
		"machine: {preset: 950dt-64, fabric: {mesh: {egress_cap: unlimited}}}\nranks: 4\nskew:\nfaults:\n",
		"machine: 950dt-64\nranks: 4\ntitle: 12\nrouting: {self_rows: null, counts: [[1, -2], [3, 4]], skew: {factor: 1.5}}\ncall: {read_back: false}\n",
		"machine: 950dt-64\nranks: 4\ncall: {op: 'allreduce/*', message: 64B}\n",
	} {
		assert.NoError(t, against(t, w, []byte(text)), text)
	}
	assert.NoError(t, against(t, compiled(t, "sweep"), []byte("base: x\naxes: {call.op: allreduce/*, ranks: {from: 2, to: 8, times: 2}, machine.fabric.kind: [mesh, clos]}\n")))
}
