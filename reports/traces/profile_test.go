package traces_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports/traces"
)

func profiled(t *testing.T) (*profile.Profile, []byte, *result.Result) {
	t.Helper()
	spec, c := busy(t)
	p := traces.NewProfile()
	res := run(t, spec, c, p)
	var out bytes.Buffer
	require.NoError(t, p.Write(&out, res, ""))
	got, err := profile.ParseData(out.Bytes())
	require.NoError(t, err)
	return got, out.Bytes(), res
}

// Each stack is rounded to a nanosecond, so the sum of n of them is off by at most n/2.
func TestAProfileAddsUpToTheAccounts(t *testing.T) {
	p, _, res := profiled(t)
	var want, spent, busy, moved int64
	for i := range res.Blocks {
		want += int64(res.Blocks[i].Time.Sum())
	}
	require.EqualValues(t, len(res.Blocks)*int(res.Elapsed), want)
	for _, s := range p.Sample {
		spent, busy, moved = spent+s.Value[0], busy+s.Value[1], moved+s.Value[2]
	}
	assert.InDelta(t, float64(want)/1000, float64(spent), float64(len(p.Sample))/2)
	var resources, bytes int64
	for i := range res.Resources {
		resources += int64(res.Resources[i].Busy)
		bytes += int64(res.Resources[i].Bytes)
	}
	for i := range res.Blocks {
		b := &res.Blocks[i]
		resources += int64(b.MTE2 + b.MTE3 + b.SIMT)
	}
	assert.InDelta(t, float64(resources)/1000, float64(busy), float64(len(p.Sample))/2)
	assert.Equal(t, bytes, moved)
	assert.Equal(t, int64(res.Elapsed/engine.Nanosecond), p.DurationNanos)
}

func TestAStackLeadsFromTheRankToTheReason(t *testing.T) {
	p, again, _ := profiled(t)
	var stacks [][]string
	for _, s := range p.Sample {
		var stack []string
		for i := len(s.Location) - 1; i >= 0; i-- {
			stack = append(stack, s.Location[i].Line[0].Function.Name)
		}
		stacks = append(stacks, stack)
	}
	assert.Contains(t, stacks, []string{"rank 2", "block 1", "call indexed_all_to_all_v", "phase ready", "wait_peers (op 1)", "signal_wait"})
	assert.Contains(t, stacks, []string{"rank 2", "block 1", "call indexed_all_to_all_v", "launch"})
	assert.Contains(t, stacks, []string{"rank 2", "block 1", "call indexed_all_to_all_v", "idle"})
	assert.Contains(t, stacks, []string{"rank 0", "resources", "port to rank 3"})
	assert.Contains(t, stacks, []string{"rank 0", "block 0", "MTE2"})
	_, data, _ := profiled(t)
	assert.Equal(t, again, data, "two runs give the same file")
}

func TestGoToolPprofReadsAProfile(t *testing.T) {
	_, data, _ := profiled(t)
	path := filepath.Join(t.TempDir(), "out.pb.gz")
	require.NoError(t, os.WriteFile(path, data, 0o644))
	for _, x := range []struct{ flag, want string }{
		{"-sample_index=simulated", `(?m)^ .*\d+(us|ns) +[\d.]+% .* signal_wait$`}, {"-sample_index=busy", `(?m)egress cap$`}, {"-sample_index=bytes", `(?m)^ .*(kB|MB) .* hbm$`},
	} {
		text, err := exec.Command("go", "tool", "pprof", "-top", x.flag, path).CombinedOutput()
		require.NoError(t, err, "%s", text)
		assert.Regexp(t, x.want, string(text))
	}
}
