package fabric

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"pldperf/engine"
)

// A Spec describes a fabric. Only the section of its kind is read, of a frame those of mesh and clos, too, so that a
// machine can be switched to another topology by the kind alone. The defaults are those of Ascend 950 (A5).
type Spec struct {
	Kind string `yaml:"kind" enum:"clos,frame,ideal,mesh" default:"mesh" help:"mesh: a port for each peer; clos: ports shared by all peers, one or two tiers of switches; frame: mesh in a server, clos beyond; ideal: latency alone"`
	// est: the arbitration quantum is below 25 KB, since a short read overtakes long ones (RACM traces of Ascend 950PR).
	Quantum engine.Bytes `yaml:"quantum" when:"kind=mesh|clos|frame" default:"16 KiB" help:"all but ideal: bytes after which flows that share a link take turns"`
	Ideal   IdealSpec    `yaml:"ideal" when:"kind=ideal" help:"a fabric of latency alone"`
	Mesh    MeshSpec     `yaml:"mesh" when:"kind=mesh|frame" help:"a port for each peer"`
	Clos    ClosSpec     `yaml:"clos" when:"kind=clos|frame" help:"ports that all peers share, one or two tiers of switches"`
	Frame   FrameSpec    `yaml:"frame" when:"kind=frame" help:"a mesh in each server, a clos beyond"`
}

// Check reports everything that is wrong with the section that the kind selects.
func (s *Spec) Check(report func(path, format string, args ...any)) {
	m, ok := models[s.Kind]
	if !ok {
		report("kind", "no model %q; there are %s", s.Kind, strings.Join(Kinds(), ", "))
		return
	}
	m.check(s, report)
}

// MaxRanks returns how many ranks the fabric stands for at most; 0 where it does not say.
func (s *Spec) MaxRanks() int {
	return map[string]int{"mesh": s.Mesh.MaxRanks, "clos": s.Clos.MaxRanks, "frame": s.Frame.MaxRanks}[s.Kind]
}

// checkQuantum is for the models that cut messages.
func (s *Spec) checkQuantum(report func(path, format string, args ...any)) {
	if s.Quantum <= 0 {
		report("quantum", "must be positive")
	}
}

// checkPort checks what every port has; section is where the fields are.
func checkPort(section string, port engine.Rate, efficiency engine.Fraction, ports int, report func(path, format string, args ...any)) {
	switch {
	case port == engine.Unlimited:
		report(section+".port", "a port has a rate; kind ideal is the fabric without")
	case port <= 0:
		report(section+".port", "must be positive")
	}
	if efficiency <= 0 || efficiency > engine.One {
		report(section+".efficiency", "%v is not above 0 %% and up to 100 %%", efficiency)
	}
	if ports < 1 {
		report(section+".ports", "must be at least 1")
	}
}

// checkCaps checks what every rank has.
func checkCaps(section string, egress, ingress engine.Rate, latency engine.Duration, report func(path, format string, args ...any)) {
	if egress <= 0 {
		report(section+".egress_cap", "must be positive; unlimited switches it off")
	}
	if ingress <= 0 {
		report(section+".ingress_cap", "must be positive; unlimited switches it off")
	}
	if latency < 0 {
		report(section+".latency", "%v is negative", latency)
	}
}

// Default returns the spec whose fields are the defaults in the struct tags.
func Default() Spec {
	var s Spec
	fill(reflect.ValueOf(&s).Elem())
	return s
}

// fill sets fields from their default tags, which are the program's own: a bad one is a bug.
func fill(v reflect.Value) {
	for i := range v.NumField() {
		f, text := v.Field(i), v.Type().Field(i).Tag.Get("default")
		var err error
		switch to := f.Addr().Interface().(type) {
		case encoding.TextUnmarshaler:
			err = to.UnmarshalText([]byte(text))
		case *string:
			*to = text
		case *int:
			*to, err = strconv.Atoi(text)
		default:
			fill(f)
		}
		if err != nil {
			panic(fmt.Sprintf("fabric: default of %s: %v", v.Type().Field(i).Name, err))
		}
	}
}
