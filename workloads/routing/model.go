package routing

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Shape is what a MoE model's published configuration says about its routing. A number that the source leaves out is 0
// and its column is listed in Unknown.
type Shape struct {
	Names     []string // what users may call it, the fullest first
	Hidden    int      // elements of a row
	Experts   int      // routed experts
	TopK      int      // experts for each token
	Shared    int      // shared experts, which every token uses and no routing carries
	NGroup    int      // groups of experts; 1 if routing is not limited to groups
	TopkGroup int      // groups that one token may use

	FP8BytesPerMsg  int // bytes of one dispatched FP8 token with its scales, one for each 128 elements
	BF16BytesPerMsg int // bytes of one BF16 token

	Unknown []string // columns that the source leaves out
}

// Shapes are the models of one table.
type Shapes []Shape

// ParseShapes reads the table of model shapes (columns model, hidden, routed_experts, top_k, shared_experts, routing,
// fp8_dispatch_bytes_per_msg, bf16_bytes_per_msg; others are not read). Errors name file:line:column.
func ParseShapes(name string, data []byte) (Shapes, error) {
	t, err := readTable(name, data)
	if err != nil {
		return nil, err
	}
	var p problems
	model, routing := t.column("model", &p), t.column("routing", &p)
	columns := make([]int, len(shapeColumns))
	for i, c := range shapeColumns {
		columns[i] = t.column(c.name, &p)
	}
	if len(p) > 0 {
		return nil, p.join()
	}
	var shapes Shapes
	for _, row := range t.rows {
		if row[model].text == "" {
			p = append(p, row[model].fault("a model without a name"))
		}
		s := Shape{Names: modelNames(row[model].text)}
		for i, c := range shapeColumns {
			if field := row[columns[i]]; field.text == "" {
				s.Unknown = append(s.Unknown, c.name)
			} else {
				*c.field(&s) = int(field.whole(1<<30, &p))
			}
		}
		s.NGroup = wordAfter(row[routing].text, nGroup, 1)
		s.TopkGroup = wordAfter(row[routing].text, topkGroup, s.NGroup)
		shapes = append(shapes, s)
	}
	shapes.dropAmbiguous()
	return shapes, p.join()
}

var shapeColumns = []struct {
	name  string
	field func(*Shape) *int
}{
	{"hidden", func(s *Shape) *int { return &s.Hidden }},
	{"routed_experts", func(s *Shape) *int { return &s.Experts }},
	{"top_k", func(s *Shape) *int { return &s.TopK }},
	{"shared_experts", func(s *Shape) *int { return &s.Shared }},
	{"fp8_dispatch_bytes_per_msg", func(s *Shape) *int { return &s.FP8BytesPerMsg }},
	{"bf16_bytes_per_msg", func(s *Shape) *int { return &s.BF16BytesPerMsg }},
}

var (
	nGroup    = regexp.MustCompile(`\bn_group (\d+)`)
	topkGroup = regexp.MustCompile(`\btopk_group (\d+)`)
	remark    = regexp.MustCompile(`\s*\(.*?\)`)
	sizes     = regexp.MustCompile(`-\d+b(-a\d+b)?$`) // -355b-a32b: total and active parameters
)

func wordAfter(text string, word *regexp.Regexp, def int) int {
	if m := word.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return n
		}
	}
	return def
}

// Model finds a shape by any of its names; case does not count, nor whether words are joined by -, _ or blanks. A model
// whose hidden size, experts or top_k are unknown is an error that says which (resolution 32).
func (s Shapes) Model(name string) (Shape, error) {
	want, names := normal(name), s.Names()
	for _, shape := range s {
		if slices.Contains(shape.Names, want) {
			return shape, shape.complete()
		}
	}
	var longer []string
	for _, n := range names {
		if want != "" && strings.HasPrefix(n, want) {
			longer = append(longer, n)
		}
	}
	if len(longer) > 0 {
		return Shape{}, fmt.Errorf("no model %q; did you mean %s?", name, strings.Join(longer, " or "))
	}
	return Shape{}, fmt.Errorf("no model %q; did you mean %s? there are %s", name, nearest(want, names), strings.Join(names, ", "))
}

// Names are all names that Model finds, sorted.
func (s Shapes) Names() []string {
	var names []string
	for _, shape := range s {
		names = append(names, shape.Names...)
	}
	slices.Sort(names)
	return names
}

func (s Shape) complete() error {
	var missing []string
	for _, c := range []string{"hidden", "routed_experts", "top_k"} {
		if slices.Contains(s.Unknown, c) {
			missing = append(missing, c)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("the published shape of %s leaves out %s; give experts, top_k and the row size instead of the model",
		s.Names[0], strings.Join(missing, " and "))
}

// modelNames turns a table's entry into the names that a user would type: "DeepSeek-V3/R1" is deepseek-v3 and deepseek-r1,
// "GLM-4.5-355B-A32B" is also glm-4.5.
func modelNames(entry string) []string {
	parts := strings.Split(normal(remark.ReplaceAllString(entry, "")), "/")
	first := parts[0]
	names := []string{first}
	for _, part := range parts[1:] {
		if cut := strings.LastIndex(first, "-"); cut >= 0 && !strings.Contains(part, "-") {
			part = first[:cut+1] + part
		}
		names = append(names, part)
	}
	for _, n := range names {
		if short := sizes.ReplaceAllString(n, ""); short != n {
			names = append(names, short)
		}
	}
	return names
}

// dropAmbiguous takes back short names that two models would share, such as gpt-oss.
func (s Shapes) dropAmbiguous() {
	all := s.Names()
	for i := range s {
		s[i].Names = slices.DeleteFunc(s[i].Names, func(n string) bool {
			at, _ := slices.BinarySearch(all, n)
			return at+1 < len(all) && all[at+1] == n
		})
	}
}

func normal(name string) string {
	return strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(strings.TrimSpace(name)))
}
