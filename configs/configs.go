// Package configs finds, merges and strictly decodes the YAML files of
// pldperf, and never forgets where a value came from. A Doc is a tree whose
// every node knows its file, line and column, and whose every leaf knows its
// source: a trailing comment "# src:", "# fit:" or "# est:", or the user who
// overrode it. Documents are merged (a preset below, the user's file above),
// changed by path (--set), and decoded into whatever struct the caller owns;
// every fault is a Problem with file:line:column, the full path and the
// nearest right word, and all of them are reported at once. The package knows
// no hardware and no collective: it imports neither.
package configs

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// The kinds of embedded files, each a folder of this package.
const (
	Machines  = "machines"  // YAML, one machine a file
	Workloads = "workloads" // YAML, one workload a file
	Mistakes  = "mistakes"  // YAML, one workload a file that goes wrong on purpose
	Sweeps    = "sweeps"    // YAML, one sweep a file
	Measured  = "measured"  // CSV, one published measurement a file
	Traffic   = "traffic"   // CSV, one matrix of rows or bytes a file
)

//go:embed machines workloads mistakes sweeps measured traffic
var embedded embed.FS

// ResultSchema is the JSON Schema of what commands write as JSON.
//
//go:embed schema/result.json
var ResultSchema []byte

// FitDomain and FitRanges say over what parameters were fitted: what the rows of the
// measured cases cover, and between which values calibrate looks. They are made from the
// cases by a test of the validate command.
//
//go:embed fit/domain.csv
var FitDomain []byte

// FitRanges: see FitDomain.
//
//go:embed fit/ranges.csv
var FitRanges []byte

var kinds = []string{Machines, Workloads, Mistakes, Sweeps, Measured, Traffic}

// maxFile is above any honest matrix of counts and bounds what a wrong path (a
// device, a dump) can cost.
const maxFile = 64 << 20

// Names lists the embedded files of a kind, sorted, without their extension.
// An unknown kind has none.
func Names(kind string) []string {
	var names []string
	for _, file := range files(kind) {
		names = append(names, stem(file))
	}
	slices.Sort(names) // "a-b.yaml" comes before "a.yaml", but "a" before "a-b"
	return names
}

// Read returns the embedded file of a kind by its name, with or without the
// extension, and the path that messages should show for it. An unknown name
// is an error that names the nearest one.
func Read(kind, name string) (file string, data []byte, err error) {
	if !slices.Contains(kinds, kind) {
		return "", nil, fmt.Errorf("no kind of file is called %q%s", kind, hint(kind, kinds))
	}
	for _, f := range files(kind) {
		if f == name || stem(f) == name {
			return open(kind + "/" + f)
		}
	}
	names := Names(kind)
	return "", nil, fmt.Errorf("no %s is called %q%s", strings.TrimSuffix(kind, "s"), name, hintOrList(name, names))
}

// Preset loads the embedded YAML file of a kind by its name.
func Preset(kind, name string) (*Doc, error) {
	file, data, err := Read(kind, name)
	if err != nil {
		return nil, err
	}
	return Load(file, data)
}

// Find reads the file at a path on disk if there is one, else the embedded
// file with that path ("configs/sweeps/x.yaml", "sweeps/x.yaml") or name
// ("x"). It returns the path that messages should show. A name that several
// kinds share must be given as a path.
func Find(name string) (file string, data []byte, err error) {
	data, err = readDisk(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return name, data, err
	}
	wanted := strings.TrimPrefix(path.Clean(strings.ReplaceAll(name, "\\", "/")), "configs/")
	var found, known []string
	for _, kind := range kinds {
		for _, f := range files(kind) {
			known = append(known, stem(f))
			if slices.Contains([]string{f, stem(f), kind + "/" + f, kind + "/" + stem(f)}, wanted) {
				found = append(found, kind+"/"+f)
			}
		}
	}
	switch len(found) {
	case 0:
		return "", nil, fmt.Errorf("no file %q on disk and none built in%s", name, hint(stem(path.Base(wanted)), known))
	case 1:
		return open(found[0])
	}
	return "", nil, fmt.Errorf("%q is the name of several files: %s", name, strings.Join(found, ", "))
}

// Open finds a file as Find does and loads it.
func Open(name string) (file string, doc *Doc, err error) {
	file, data, err := Find(name)
	if err != nil {
		return "", nil, err
	}
	doc, err = Load(file, data)
	return file, doc, err
}

func open(inner string) (string, []byte, error) {
	data, err := embedded.ReadFile(inner)
	return "configs/" + inner, data, err
}

func readDisk(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("%s: larger than %d MiB", name, maxFile>>20)
	}
	return data, err
}

// files lists the embedded data files of a kind; notes for people are none.
func files(kind string) []string {
	entries, err := embedded.ReadDir(kind)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if ext := path.Ext(e.Name()); ext == ".yaml" || ext == ".csv" {
			names = append(names, e.Name())
		}
	}
	return names
}

// stem drops the extension of a data file, and only that: "cm384.v2" keeps its dot.
func stem(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(file, ".yaml"), ".csv")
}
