package fabric

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
)

func TestKindsAreTheOnesThatTheTagNames(t *testing.T) {
	f, ok := reflect.TypeFor[Spec]().FieldByName("Kind")
	require.True(t, ok)
	assert.Equal(t, strings.Join(Kinds(), ","), f.Tag.Get("enum"))
}

func TestEveryFieldSaysHowItIsWrittenAndWhatItIs(t *testing.T) {
	var walk func(reflect.Type)
	walk = func(s reflect.Type) {
		for i := range s.NumField() {
			f := s.Field(i)
			assert.NotEmpty(t, f.Tag.Get("yaml"), f.Name)
			if f.Type.Kind() == reflect.Struct {
				walk(f.Type)
				continue
			}
			assert.NotEmpty(t, f.Tag.Get("help"), f.Name)
			assert.NotEmpty(t, f.Tag.Get("default"), f.Name)
		}
	}
	walk(reflect.TypeFor[Spec]())
}

func TestDefaultsAreThoseOfTheMeasuredMachine(t *testing.T) {
	s := Default()
	assert.Equal(t, "mesh", s.Kind)
	assert.InEpsilon(t, 53.1e9, float64(s.Mesh.Port.Times(s.Mesh.Efficiency)), 1e-5)
	assert.EqualValues(t, 352e9, s.Mesh.Egress)
	assert.Equal(t, 350*engine.Nanosecond, s.Mesh.Latency)
	assert.EqualValues(t, 327e9, s.Clos.Egress)
	assert.Equal(t, 9, s.Clos.Ports)
	assert.Equal(t, 64, s.Clos.TierRanks)
	for _, kind := range Kinds() {
		s.Kind = kind
		assert.NoError(t, s.Validate(), kind)
	}
}

func TestAllProblemsOfASpecAreReportedAtOnce(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		want []string
	}{
		{Spec{Kind: "mash"}, []string{`fabric.kind: no model "mash"; there are clos, frame, ideal, mesh`}},
		{with("frame", func(s *Spec) { s.Frame.Server = 0 }), []string{"fabric.frame.server_ranks: must be at least 1"}},
		{with("frame", func(s *Spec) { s.Frame.Server = 20 }), []string{"fabric.frame.server_ranks: a full mesh of 20 ranks needs 19 ports a rank, but there are 18"}},
		{with("frame", func(s *Spec) { s.Frame.Server = 6 }), []string{"fabric.frame.server_ranks: a group of clos.tier_ranks, 64, is no whole number of servers of 6 ranks"}},
		{Spec{Kind: "ideal", Ideal: IdealSpec{Latency: -1}}, []string{"fabric.ideal.latency: -1 ps is negative"}},
		{Spec{Kind: "mesh", Mesh: MeshSpec{Port: engine.Unlimited, Latency: -1}}, []string{
			"fabric.quantum: must be positive",
			"fabric.mesh.port: a port has a rate; kind ideal is the fabric without",
			"fabric.mesh.efficiency: 0 % is not above 0 % and up to 100 %",
			"fabric.mesh.ports: must be at least 1",
			"fabric.mesh.egress_cap: must be positive; unlimited switches it off",
			"fabric.mesh.ingress_cap: must be positive; unlimited switches it off",
			"fabric.mesh.latency: -1 ps is negative",
		}},
		{Spec{Kind: "clos", Quantum: 1, Clos: ClosSpec{Efficiency: engine.One + 1, Ports: 300, Egress: 1, Ingress: 1, Spread: "roundrobin"}}, []string{
			"fabric.clos.port: must be positive",
			"fabric.clos.efficiency: 100.0001 % is not above 0 % and up to 100 %",
			"fabric.clos.ports: must be at most 255",
			`fabric.clos.spread: no way "roundrobin" to spread; there are spray, hash`,
			"fabric.clos.tier_ranks: must be at least 1",
			"fabric.clos.uplink: must be positive",
		}},
	} {
		_, err := New(engine.New(engine.Options{}), c.spec, 2)
		require.Error(t, err)
		assert.Equal(t, c.want, strings.Split(err.Error(), "\n"))
	}
}

func TestAMeshHoldsOneMoreRankThanPorts(t *testing.T) {
	eng := engine.New(engine.Options{})
	_, err := New(eng, Default(), 19)
	assert.NoError(t, err)
	_, err = New(eng, Default(), 20)
	assert.EqualError(t, err, "fabric.mesh.ports: a full mesh of 20 ranks needs 19 ports a rank, but there are 18; kind clos shares ports")
	_, err = New(eng, Default(), 0)
	assert.Error(t, err)
}
