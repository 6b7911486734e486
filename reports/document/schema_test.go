package document

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/result"
)

var update = flag.Bool("update", false, "write the schema anew")

const schemaFile = "../../configs/schema/result.json"

// comments maps "package.Type" and "package.Type.Field" to what the sources say of them.
func comments(t *testing.T, folders ...string) map[string]string {
	out := map[string]string{}
	for _, folder := range folders {
		names, err := filepath.Glob(filepath.Join("../..", folder, "*.go"))
		require.NoError(t, err)
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			require.NoError(t, err)
			for _, d := range file.Decls {
				if g, ok := d.(*ast.GenDecl); ok {
					declared(out, "pldperf/"+folder, g)
				}
			}
		}
	}
	return out
}

func declared(out map[string]string, pkg string, g *ast.GenDecl) {
	for _, spec := range g.Specs {
		s, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		name := pkg + "." + s.Name.Name
		out[name] = one(s.Doc.Text() + g.Doc.Text())
		if body, ok := s.Type.(*ast.StructType); ok {
			for _, f := range body.Fields.List {
				for _, n := range f.Names {
					out[name+"."+n.Name] = one(f.Doc.Text() + f.Comment.Text())
				}
			}
		}
	}
}

func one(text string) string { return strings.Join(strings.Fields(text), " ") }

// whole is the schema of a quantity, which JSON holds as a whole number.
func whole(title string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Description: title}
}

// named is the schema of values that are found by name.
func named(title string, n int, name func(int) string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Description: title, AdditionalProperties: jsonschema.FalseSchema, Properties: jsonschema.NewProperties()}
	for i := range n {
		s.Properties.Set(name(i), &jsonschema.Schema{Type: "integer"})
	}
	return s
}

func words[T ~string](title string, all ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", Description: title}
	for _, w := range all {
		s.Enum = append(s.Enum, string(w))
	}
	return s
}

// unique names a type so that two packages may have one of a name.
func unique(t reflect.Type) string {
	if pkg := path.Base(t.PkgPath()); pkg != "document" && t.PkgPath() != "" {
		return pkg + "." + t.Name()
	}
	return t.Name()
}

// special are the types that write themselves.
func special(t reflect.Type) *jsonschema.Schema {
	switch reflect.Zero(t).Interface().(type) {
	case engine.Time, engine.Duration:
		return whole("picoseconds")
	case engine.Bytes:
		return whole("bytes")
	case engine.Rate:
		return whole("bytes a second")
	case engine.Fraction:
		return whole("millionths")
	case result.Times:
		return named("picoseconds by reason", int(result.NumReasons), func(i int) string { return result.Reason(i).String() })
	case result.Counters:
		return named("counts by name, of bytes or of things", int(result.NumCounters), func(i int) string { return result.Counter(i).String() })
	case result.Status:
		return words("how a run ended", statuses...)
	case Source:
		return words("who says so: a document, a fit to data, reasoning, the user, the workload's file, or nobody", Documented, Fitted, Assumed, User, Stated, Default)
	case Kind:
		return words("names the field that holds the body", Kinds()...)
	}
	return nil
}

// generate makes the schema of documents from their types.
func generate(t *testing.T) []byte {
	said := comments(t, "reports/document", "hw/result")
	r := jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: true, Mapper: special, Namer: unique,
		LookupComment: func(of reflect.Type, field string) string {
			return said[strings.TrimSuffix(of.PkgPath()+"."+of.Name()+"."+field, ".")]
		},
	}
	s := r.Reflect(&Document{})
	s.Title = "Result of pldperf"
	set := func(key string, v any) {
		p, ok := s.Properties.Get(key)
		require.True(t, ok)
		p.Const = v
	}
	set("schema", Schema)
	set("version", Version)
	for _, k := range Kinds() {
		s.AllOf = append(s.AllOf, bodyOf(k))
	}
	nullable(s)
	for _, d := range s.Definitions {
		nullable(d)
	}
	b, err := json.MarshalIndent(s, "", " ")
	require.NoError(t, err)
	return append(b, '\n')
}

// bodyOf says that a document of a kind has the body of that kind.
func bodyOf(k Kind) *jsonschema.Schema {
	is := jsonschema.NewProperties()
	is.Set("kind", &jsonschema.Schema{Const: string(k)})
	needs := []string{string(k)}
	if k == KindRun {
		needs = append(needs, "summary")
	}
	return &jsonschema.Schema{If: &jsonschema.Schema{Properties: is}, Then: &jsonschema.Schema{Required: needs}}
}

// nullable allows null for lists that are always written: an empty one is null.
func nullable(s *jsonschema.Schema) {
	if s.Properties == nil {
		return
	}
	for key, p := range s.Properties.FromOldest() {
		if p.Type == "array" && slices.Contains(s.Required, key) {
			s.Properties.Set(key, &jsonschema.Schema{Description: p.Description, AnyOf: []*jsonschema.Schema{p, {Type: "null"}}})
			p.Description = ""
		}
	}
}

func TestTheSchemaInTheRepositoryIsThatOfTheTypes(t *testing.T) {
	got := generate(t)
	if *update {
		require.NoError(t, os.WriteFile(schemaFile, got, 0o644))
	}
	want, err := os.ReadFile(schemaFile)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "go test ./reports/document -update writes it anew")
}

// compiled is the schema as an independent validator understands it.
func compiled(t *testing.T) *validator.Schema {
	c := validator.NewCompiler()
	c.DefaultDraft(validator.Draft2020)
	s, err := c.Compile(schemaFile)
	require.NoError(t, err)
	return s
}

func valid(t *testing.T, s *validator.Schema, b []byte) error {
	v, err := validator.UnmarshalJSON(bytes.NewReader(b))
	require.NoError(t, err)
	return s.Validate(v)
}

func TestCommentsOfTheSourcesAreFound(t *testing.T) {
	said := comments(t, "reports/document", "hw/result")
	for _, name := range []string{"pldperf/reports/document.Point.Bound", "pldperf/hw/result.Block.Overlap", "pldperf/reports/document.Run"} {
		assert.NotEmpty(t, said[name], name)
	}
}

// samples are documents of every kind.
func samples() []*Document {
	ok := Point{Status: result.OK, Elapsed: 5, Reasons: result.Times{result.Launch: 2, result.Idle: 1}, Between: 2}
	failed := Point{Axes: []KV{{"call.core_num", "4"}}, Status: NotPossible, Problem: "why"}
	run := Run{Title: "t", Config: []Leaf{{Path: "ranks", Value: "2", Kind: Stated}}, Result: &result.Result{Schema: result.Schema, Status: result.OK}}
	return []*Document{
		{Head: NewHead(KindRun, "v1"), Summary: &ok, Metrics: &Metrics{Status: result.OK}, Run: &run},
		{Head: NewHead(KindSweep, ""), Sweep: &Sweep{Title: "s", Points: []Point{ok, failed}}, Choices: []Choice{{Best: -1, Pick: -1}}, Races: []Race{{Along: "x"}}},
		{Head: NewHead(KindValidation, ""), Validation: &Validation{Files: []ValidationFile{{File: "f", Rows: []ValidationRow{{Case: "c", Measured: 1}}}}}},
		{Head: NewHead(KindCalibration, ""), Calibration: &Calibration{Title: "c", Alternatives: []RivalFit{{Name: "r"}}}},
		{Head: NewHead(KindDiff, ""), Diff: &Diff{A: Side{Kind: KindRun}, B: Side{Kind: KindRun}, Tolerances: []Tolerance{{}}, Inputs: []Changed{{Path: "ranks"}},
			Pairs: []Pair{{Change: 3, Figures: []Figure{{Name: "elapsed_ps", Share: new(engine.Fraction)}}, Words: []Word{{Name: "status"}}, Parts: []PartPair{{"a", 1, 6, 5}, {"b", 2, 0, -2}}}}}},
	}
}

func TestDocumentsFitTheSchemaAndOthersDoNot(t *testing.T) {
	s := compiled(t)
	for _, d := range samples() {
		var b bytes.Buffer
		require.NoError(t, d.Write(&b))
		assert.NoError(t, valid(t, s, b.Bytes()), d.Kind)
		for from, to := range map[string]string{
			`"version": 2`: `"version": 3`, `"schema": "pldperf/result"`: `"schema": "x"`, `"kind": "` + string(d.Kind): `"kind": "nonsense`,
			`"` + string(d.Kind) + `": {`: `"other": {`,
		} {
			bad := strings.Replace(b.String(), from, to, 1)
			require.NotEqual(t, b.String(), bad, from)
			assert.Error(t, valid(t, s, []byte(bad)), "%s: %s", d.Kind, to)
		}
	}
}
