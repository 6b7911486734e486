package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/configs"
)

func TestEveryShippedConfigPassesCheck(t *testing.T) {
	args := []string{"check"}
	for _, kind := range []string{configs.Machines, configs.Workloads, configs.Sweeps} {
		for _, name := range configs.Names(kind) {
			args = append(args, kind+"/"+name)
		}
	}
	out, errs, code := pldperf(args...)
	assert.Zero(t, code, errs)
	assert.Equal(t, len(args)-1, strings.Count(out, ": ok, "))
}

func TestShippedNamesMeanOneThingEach(t *testing.T) {
	seen := map[string]string{}
	for _, kind := range listed {
		all, err := presetsOf(kind)
		require.NoError(t, err)
		for _, p := range all {
			assert.Empty(t, seen[p.Name], "%s is also in %s", p.Name, kind)
			seen[p.Name] = kind
		}
	}
}

func TestEveryShippedWorkloadRunsToAnOK(t *testing.T) {
	for _, name := range configs.Names(configs.Workloads) {
		if testing.Short() && (strings.Contains(name, "ep64") || strings.Contains(name, "supernode")) {
			continue
		}
		out, errs, code := pldperf("run", name, "--format", "csv")
		assert.Zero(t, code, "%s: %s", name, errs)
		assert.Contains(t, out, "verdict,status,,,,,ok\n", name)
		assert.NotContains(t, out, "INCONSISTENT", name)
	}
}

func TestEveryCommandHasExamplesThatParse(t *testing.T) {
	a := &app{}
	for _, c := range a.root().Commands() {
		if c.Name() == "version" || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		lines := regexp.MustCompile(`(?m)^  (pldperf .*)$`).FindAllStringSubmatch(c.Long, -1)
		assert.NotEmpty(t, lines, c.Name())
		for _, l := range lines {
			for _, part := range regexp.MustCompile(` (?:&&|\||#|>) ?`).Split(l[1], -1) {
				words := strings.Fields(part)
				if len(words) < 2 || words[0] != "pldperf" {
					continue
				}
				cmd, rest, err := a.root().Find(words[1:])
				require.NoError(t, err, part)
				require.NoError(t, cmd.ParseFlags(rest), part)
				require.NoError(t, cmd.ValidateArgs(cmd.Flags().Args()), part)
			}
		}
	}
}

// broken is an input whose reader has a fault of ours.
type broken struct{}

func (broken) Read([]byte) (int, error) { panic("broken reader") }

func TestAFaultOfOursIsReportedAsSuch(t *testing.T) {
	for _, command := range []string{"run", "check", "sweep"} {
		var out, errs bytes.Buffer
		code := run(context.Background(), []string{command, "-"}, broken{}, &out, &errs)
		assert.Equal(t, exitInternal, code, command)
		assert.Contains(t, errs.String(), "internal error, please report it", command)
		assert.Contains(t, errs.String(), "broken reader", command)
		assert.Empty(t, out.String(), command)
	}
}

func TestARunThatTheUserInterruptsEndsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, args := range [][]string{{"run", "a5-moe-dispatch"}, {"sweep", "a5-core-num", "-o", "-", "--no-cache"}, {"plot", "a5-core-num", "-o", t.TempDir(), "--no-cache"}} {
		var out, errs bytes.Buffer
		assert.Equal(t, exitStopped, run(ctx, args, strings.NewReader(""), &out, &errs), args)
		assert.Empty(t, out.String())
		assert.Equal(t, "pldperf: interrupted\n", errs.String())
	}
}

// entries rewrites the data of all entries of a cache, with its checksum if it is to
// look whole.
func entries(t *testing.T, dir string, whole bool, change func([]byte) []byte) (n int) {
	for _, name := range list(dir) {
		all, err := os.ReadFile(name)
		require.NoError(t, err)
		_, data, _ := bytes.Cut(all, []byte("\n"))
		data = change(data)
		sum := sha256.Sum256(data)
		if !whole {
			sum[0]++
		}
		require.NoError(t, os.WriteFile(name, append([]byte(hex.EncodeToString(sum[:])+"\n"), data...), 0o644))
		n++
	}
	return n
}

func TestASweepTakesWholeEntriesFromItsCacheAndReplacesDamagedOnes(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	sweep := func() string {
		out, errs, code := pldperf("sweep", "a5-core-num", "-o", "-", "--format", "csv", "--cache", cache)
		require.Zero(t, code, errs)
		return out
	}
	elapsed := regexp.MustCompile(`"elapsed_ps":\d+`)
	mark := func(data []byte) []byte { return elapsed.ReplaceAll(data, []byte(`"elapsed_ps":12345678`)) }
	truth := sweep()
	assert.Equal(t, truth, sweep())

	require.Equal(t, 12, entries(t, cache, true, mark))
	assert.Equal(t, 12, strings.Count(sweep(), ",12.345678,"), "the entries are read")

	entries(t, cache, false, mark)
	assert.Equal(t, truth, sweep(), "damaged entries are not")
	entries(t, cache, true, func([]byte) []byte { return []byte(`{"schema": "of another version"}`) })
	assert.Equal(t, truth, sweep(), "nor what is no point")
	entries(t, cache, true, mark)
	assert.Equal(t, 12, strings.Count(sweep(), ",12.345678,"), "they had been written anew")
}

func TestAListOfWQEsIsReadStrictly(t *testing.T) {
	for text, want := range map[string][4]int{"0:3": {0, 3, 0, 1}, "1:0:7": {1, 0, 7, 1}, "1:0:7+64": {1, 0, 7, 64}, "1:2+3": {1, 2, 0, 3}} {
		w, err := parseWatch(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, [4]int{w.Rank, w.Peer, w.First, w.N}, text)
	}
	for _, text := range []string{"", "0", "0:", ":0", "0:1:", "0:1:2:3", "0:1+", "0:1+0", "-1:0", "0:+1", "0:1:2+2000000", "0:9999999999", "0: 1", "a:b"} {
		_, err := parseWatch(text)
		assert.ErrorContains(t, err, "want SRC:DST", text)
	}
}
