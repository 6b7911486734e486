package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"pldperf/engine"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

var (
	hand = []program.Line{
		{Phase: "push", Op: "put", Operands: "target+0 of rank 0 <- input+0, 64 B in stages of 64 B", Times: 1},
		{Phase: "push", Op: "put", Operands: "target+0 of rank 1 <- input+64, 64 B in stages of 64 B", Times: 1},
		{Phase: "barrier", Op: "notify_peers", Operands: "signal[0,0] of every peer, Set +1, scalar", Times: 1},
		{Phase: "barrier", Op: "wait_peers", Operands: "signal[s,0] Ge 1 for every s != 0, scalar", Times: 1},
		{Phase: "read back", Op: "copy", Operands: "output+0 <- target+0, 128 B", Times: 1},
	}
	builtin = []program.Line{
		{Phase: "push", Op: "pipe_barrier", Times: 1},
		{Phase: "push", Op: "put", Operands: "target+0 of rank 0 <- input+0, 64 B in stages of 64 B", Times: 1},
		{Phase: "push", Op: "pipe_barrier", Times: 1},
		{Phase: "push", Op: "put", Operands: "target+0 of rank 1 <- input+64, 64 B in stages of 64 B", Times: 1},
		{Phase: "push", Op: "pipe_barrier", Times: 1},
		{Phase: "credit", Op: "fence", Times: 1},
		{Phase: "credit", Op: "notify_peers", Operands: "signal[0,0] of every peer, AtomicAdd +1, scalar", Times: 1},
		{Phase: "credit", Op: "wait_peers", Operands: "signal[s,0] Ge 1 for every s != 0, scalar", Times: 1},
		{Phase: "epilogue", Op: "add_peers", Operands: "signal[s,0] of self, AtomicAdd -1 for every s != 0, scalar", Times: 1},
	}
)

func TestProgramsSideBySideKeepTheirForm(t *testing.T) {
	goldens(t, "ir", func(b *bytes.Buffer, f Format) error {
		return IRSideBySide(b, f, Options{}, hand, builtin, [2]string{"hand", "builtin HOST"})
	})
}

func TestProgramsAlignByTheirOps(t *testing.T) {
	var marks string
	for _, r := range (&SideBySide{A: hand, B: builtin}).Rows() {
		marks += string(r.Mark)
	}
	assert.Equal(t, ">=>=>>~=<>", marks)
}

func TestEmptyProgramsAlign(t *testing.T) {
	rows := (&SideBySide{A: hand}).Rows()
	require.Len(t, rows, len(hand))
	assert.Equal(t, OnlyA, rows[0].Mark)
	var b bytes.Buffer
	assert.ErrorContains(t, IRSideBySide(&b, Text, Options{}, nil, nil, [2]string{}), "both programs are empty")
}

func TestLongProgramsAreAlignedInWindows(t *testing.T) {
	long := func(n int, op string) (out []program.Line) {
		for range n {
			out = append(out, program.Line{Op: op}, program.Line{Op: "put"})
		}
		return out
	}
	a, b := long(3000, "x"), long(3000, "y")
	require.Greater(t, len(a)*len(b), maxCells)
	n := 0
	for _, r := range (&SideBySide{A: a, B: b}).Rows() {
		if r.Mark == Same {
			n++
		}
	}
	assert.Equal(t, 3000, n, "the puts pair up across windows")
}

func TestAnAlignmentKeepsAllLinesInOrderAndPairsEqualOpsOnly(t *testing.T) {
	line := rapid.Custom(func(t *rapid.T) program.Line {
		s := rapid.SampledFrom([]string{"a", "b", "c"})
		return program.Line{Phase: s.Draw(t, "phase"), Op: s.Draw(t, "op"), Operands: s.Draw(t, "operands")}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOfN(line, 0, 12).Draw(t, "a"), rapid.SliceOfN(line, 0, 12).Draw(t, "b")
		var left, right []program.Line
		for _, r := range (&SideBySide{A: a, B: b}).Rows() {
			if r.A != nil {
				left = append(left, *r.A)
			}
			if r.B != nil {
				right = append(right, *r.B)
			}
			if (r.A != nil && r.B != nil) != (r.Mark == Same || r.Mark == Differ) || r.A != nil && r.B != nil && r.A.Op != r.B.Op {
				t.Fatalf("row %+v", r)
			}
		}
		assert.Equal(t, append([]program.Line{}, a...), append([]program.Line{}, left...))
		assert.Equal(t, append([]program.Line{}, b...), append([]program.Line{}, right...))
	})
}

func TestStepsKeepTheirForm(t *testing.T) {
	at := func(ns int64) engine.Time { return engine.Time(ns * 1000) }
	s := &StepList{Title: "Steps of the WQEs from rank 0 to rank 1", Steps: []result.Step{
		{Rank: 0, Peer: 1, Seq: 0, Bytes: 86016, SGEs: 12, Build: at(3500), Doorbell: at(5000), Fetch: at(5400), Gather: at(5620), Wire: at(5640), Left: at(7260), Land: at(7610)},
		{Rank: 0, Peer: 1, Seq: 1, Bytes: 57344, SGEs: 8, Build: at(3500), Doorbell: at(5000), Fetch: at(5420), Gather: at(7260), Wire: at(7260), Left: at(8340), Land: at(8690), Ack: at(9040), CQE: at(9190)},
	}}
	goldens(t, "steps", func(b *bytes.Buffer, f Format) error { return s.Write(b, f, Options{}) })
	var b bytes.Buffer
	assert.ErrorContains(t, (&StepList{}).Write(&b, Text, Options{}), "no WQE was watched")
}

func TestWrapBreaksAtSpacesAndLongWordsAnywhere(t *testing.T) {
	assert.Equal(t, []string{"a bc", "def"}, wrap("a bc def", 5))
	assert.Equal(t, []string{"abcde", "fg h"}, wrap("abcdefg h", 5))
	assert.Equal(t, []string{"中文", "字"}, wrap("中文字", 5), "a Chinese character is two columns wide")
	assert.Equal(t, []string{""}, wrap("", 5))
	rapid.Check(t, func(t *rapid.T) {
		s, width := rapid.String().Draw(t, "s"), rapid.IntRange(1, 20).Draw(t, "width")
		got := strings.Join(wrap(s, width), "")
		want := strings.Join(strings.Fields(s), "")
		if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Fatalf("%q became %q", want, got)
		}
	})
}

func TestOneProgramIsListedWithoutAnEmptySideBesideIt(t *testing.T) {
	var b strings.Builder
	lines := []program.Line{{Phase: "ready", Op: "notify_peers", Operands: "x", Times: 1}, {Phase: "ready", Op: "fence", Times: 1}}
	require.NoError(t, IRSideBySide(&b, Text, Options{}, lines, nil, [2]string{"alone"}))
	assert.Contains(t, b.String(), "2 ops")
	assert.NotContains(t, b.String(), "beside")
	assert.NotContains(t, b.String(), "<")
}

func TestLoopsAreIndentedAndCountedSideBySide(t *testing.T) {
	left := []program.Line{
		{Phase: "push", Op: "loop", Operands: "4 times, i from 0", Times: 1},
		{Phase: "push", Op: "put", Operands: "x", Depth: 1, Times: 4},
		{Phase: "barrier", Op: "fence", Times: 1},
	}
	right := []program.Line{
		{Phase: "push", Op: "put", Operands: "x", Times: 1},
		{Phase: "barrier", Op: "loop", Operands: "n times, i from 0", Times: 1},
		{Phase: "barrier", Op: "fence", Depth: 1, Times: program.Often},
	}
	var b strings.Builder
	require.NoError(t, IRSideBySide(&b, Text, Options{}, left, right, [2]string{"l", "r"}))
	out := b.String()
	assert.Regexp(t, `put +· x +~  x`, out, "the same operands, but in a loop")
	assert.Regexp(t, `put +4 +1\n`, out)
	assert.Regexp(t, `fence +1 +\?\n`, out)
	assert.Regexp(t, `all +6 +\?\n`, out)

	b.Reset()
	require.NoError(t, IRSideBySide(&b, Text, Options{}, left, nil, [2]string{"alone"}))
	assert.Contains(t, b.String(), "3 ops, 6 executed")
	assert.Regexp(t, `\n       +  put  x\n`, b.String())
	b.Reset()
	require.NoError(t, IRSideBySide(&b, Text, Options{}, right, nil, [2]string{"alone"}))
	assert.Contains(t, b.String(), "how often loops run depends on what the block reads")
}
