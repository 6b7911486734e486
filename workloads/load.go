package workloads

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"pldperf/configs"
)

// Workload is a decoded and checked workload file.
type Workload struct {
	File   string
	Doc    *configs.Doc // with the machine's preset merged in
	Config Config
	items  []item

	own     *configs.Doc    // without the preset
	parts   map[string]bool // of the machine that the programs use
	ignored map[string]bool // paths that nothing reads
}

// Load reads a workload (a file, or the name of a shipped one), merges its machine
// preset and the overrides ("path=value"), and checks all of it.
func Load(name string, sets []string) (*Workload, error) {
	file, doc, err := configs.Open(name)
	if err != nil {
		return nil, err
	}
	return LoadDoc(file, doc, sets)
}

// LoadDoc is Load for a document that has been read already.
func LoadDoc(file string, doc *configs.Doc, sets []string) (*Workload, error) {
	own, err := override(doc, sets)
	if err != nil {
		return nil, err
	}
	return FromDoc(file, own)
}

// override applies "path=value" settings to a copy.
func override(doc *configs.Doc, sets []string) (*configs.Doc, error) {
	doc, err := Normal(doc)
	if err != nil {
		return nil, err
	}
	own := *doc
	for _, s := range sets {
		path, value, ok := strings.Cut(long(s), "=")
		if kv := splitOp(path, value); ok && len(kv) > 1 {
			for _, x := range kv {
				if err := own.SetFrom("--set", x[0], x[1]); err != nil {
					return nil, err
				}
			}
			continue
		}
		if err := own.Set(long(s)); err != nil {
			return nil, err
		}
	}
	return &own, nil
}

// long spells out "machine=NAME", which changes the preset and leaves what the file
// says of the machine.
func long(set string) string {
	if path, value, ok := strings.Cut(set, "="); ok {
		return longPath(strings.TrimSpace(path), value) + "=" + value
	}
	return set
}

func longPath(path, value string) string {
	if path == "machine" && !strings.HasPrefix(strings.TrimSpace(value), "{") {
		return "machine.preset"
	}
	return path
}

// FromDoc makes a workload of a document in which overrides are applied already.
func FromDoc(file string, doc *configs.Doc) (*Workload, error) {
	w, err := decode(file, doc)
	if err != nil {
		return nil, err
	}
	return w, w.Draw()
}

// Draw draws the routing of a workload that was only decoded, which can then run.
func (w *Workload) Draw() (err error) {
	w.items, err = w.Config.items()
	return err
}

// Check reads and checks a workload like Load, without drawing its routing.
func Check(name string, sets []string) (*Workload, error) {
	file, doc, err := configs.Open(name)
	if err != nil {
		return nil, err
	}
	return CheckDoc(file, doc, sets)
}

// CheckDoc is Check for a document that has been read already.
func CheckDoc(file string, doc *configs.Doc, sets []string) (*Workload, error) {
	own, err := override(doc, sets)
	if err != nil {
		return nil, err
	}
	return decode(file, own)
}

func decode(file string, doc *configs.Doc) (*Workload, error) {
	w := &Workload{File: file}
	if err := w.decode(doc); err != nil {
		return w, err
	}
	if err := w.rowless(); err != nil {
		return w, err
	}
	return w, implausible(w.Doc)
}

// rowless is an error if a routing leaves out how many rows there are: nothing would move,
// and it would move right. Who means that says rows: 0.
func (w *Workload) rowless() error {
	var problems configs.Problems
	for i, it := range w.Config.list() {
		if it.Call == nil || !it.Call.routed() {
			continue
		}
		spec, _ := w.Config.routing(&it)
		at := "routing"
		if it.Routing != nil {
			at = w.Config.at(i, "routing")
		}
		if (spec.Kind == "uniform" || spec.Kind == "random") && spec.Rows == 0 && spec.SelfRows == nil && !w.Doc.Has(at+".rows") && it.Call.Message == 0 {
			problems = append(problems, w.Doc.At(at+".kind").Fault("%s needs rows, or the call a message; rows: 0 is none", spec.Kind)...)
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

// decode merges the machine's preset in and decodes all of a workload.
func (w *Workload) decode(doc *configs.Doc) error {
	doc, err := Normal(doc)
	if err != nil {
		return err
	}
	w.own = doc
	if w.Doc, err = withMachine(doc); err != nil {
		return err
	}
	w.Config.dir = filepath.Dir(w.File)
	return w.Doc.Decode(&w.Config)
}

// Normal spells out the short forms `machine: NAME` as `machine: {preset: NAME}`, so that
// overrides can go below machine, and `op: OP/FORM` as `op: OP` and `form: FORM`.
func Normal(doc *configs.Doc) (*configs.Doc, error) {
	doc, err := withForms(doc)
	if err != nil {
		return nil, err
	}
	var name string
	if !doc.Has("machine") || doc.At("machine").Decode(&name) != nil {
		return doc, nil
	}
	long, err := doc.At("machine").Under("machine.preset")
	if err != nil {
		return nil, err
	}
	return configs.Merge(doc, long), nil
}

// withMachine puts the preset that machine names under what the file says of it.
func withMachine(doc *configs.Doc) (*configs.Doc, error) {
	at := doc.At("machine.preset")
	var name string
	if !doc.Has("machine.preset") || at.Decode(&name) != nil {
		return doc, nil // decoding the whole will say what is wrong
	}
	preset, err := Machine(name)
	if err != nil {
		return nil, misnamed(at, err)
	}
	below, err := preset.Under("machine")
	if err != nil {
		return nil, err
	}
	return configs.Merge(below, doc), nil
}

// misnamed places an error about a file where it is named, unless it has a place in
// that file.
func misnamed(at *configs.Doc, err error) error {
	var placed configs.Problems
	if errors.As(err, &placed) {
		return err
	}
	return at.Fault("%v", err)
}

// Machine returns a machine preset (by name, or a file) with everything that it is
// based on merged in.
func Machine(name string) (*configs.Doc, error) {
	file, data, err := configs.Find(name)
	if err != nil {
		return nil, err
	}
	key := file + "\x00" + string(data)
	if d, ok := presets.Load(key); ok {
		return d.(*configs.Doc), nil
	}
	doc, err := configs.Load(file, data)
	if err != nil {
		return nil, err
	}
	full, err := WithBases(doc)
	if err == nil && strings.HasPrefix(file, "configs/") {
		presets.Store(key, full)
	}
	return full, err
}

// presets keeps machines as read and merged, by file and content: the points of a
// sweep share one, and a Doc never changes.
var presets sync.Map

// maxBases bounds the chain of based_on.
const maxBases = 8

// WithBases puts what a machine file is based on under what it says itself.
func WithBases(doc *configs.Doc) (*configs.Doc, error) {
	full := doc
	for depth := 0; doc.Has("based_on"); depth++ {
		at := doc.At("based_on")
		var base string
		if err := at.Decode(&base); err != nil {
			return nil, err
		}
		if depth == maxBases {
			return nil, at.Fault("goes more than %d files deep", maxBases)
		}
		file, data, err := configs.Find(base)
		if err != nil {
			return nil, at.Fault("%v", err)
		}
		below, err := configs.Load(file, data)
		if err != nil {
			return nil, err
		}
		doc, full = below, configs.Merge(below, full)
	}
	return full, nil
}

// Files lists the files that the workload is made of and names, as paths on disk if that
// is where they are: its own, the machine's, and those of its routings.
func (w *Workload) Files() (out []string) {
	out = append(out, w.File, w.Config.Machine.Preset)
	for _, it := range w.Config.list() {
		if it.Call == nil {
			continue
		}
		spec, _ := w.Config.routing(&it)
		for _, name := range []string{spec.CSV, spec.Skew.Table} {
			if name != "" && !filepath.IsAbs(name) {
				out = append(out, filepath.Join(w.Config.dir, name))
			}
			if name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}
