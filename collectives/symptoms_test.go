package collectives_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/collectives/symptoms"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// rows returns the rows of a diagnosis.
func rowsOf(d []result.Diagnosis) (out []string) {
	for _, x := range d {
		out = append(out, x.Row)
	}
	return out
}

// diagnosed composes a call, and diagnoses a made-up result of it.
func diagnosed(t *testing.T, c *collectives.Call, res *result.Result) []result.Diagnosis {
	t.Helper()
	items := []collectives.Item{{Name: "a", Call: c}}
	job, err := collectives.Compose(c.Ranks, items)
	require.NoError(t, err)
	return symptoms.Diagnose(items, job, res, func(int, program.Buf) []int32 { return make([]int32, 64) })
}

func hazard(kind result.HazardKind, first, second string) *result.Result {
	h := result.Hazard{Kind: kind, Text: "the text", Count: 1}
	if first != "" {
		h.First = &result.Access{Task: first, Kind: "write", Buffer: "a.target"}
	}
	if second != "" {
		h.Second = &result.Access{Task: second, Kind: "read", Buffer: "a.target"}
	}
	return &result.Result{Status: result.Hazardous, Hazards: []result.Hazard{h}}
}

func TestHazardsNameTheRowOfTheirOperator(t *testing.T) {
	a2a := func(mistake string) *collectives.Call {
		return &collectives.Call{Op: "all_to_all", Form: "incore", Ranks: 4, DType: "FP32", Size: 8, Mistake: mistake}
	}
	idx := indexed(1, 8, "INT8", rows(4, 8, 3, func(_, _ int) int { return 1 }))
	for _, x := range []struct {
		name          string
		call          *collectives.Call
		kind          result.HazardKind
		first, second string
		want          []string
	}{
		{"a read that no barrier orders", a2a("no_barrier"), result.ReadEarly, "a", "a", []string{"F5"}},
		{"a read behind a handshake that came early", a2a("handshake_early"), result.ReadEarly, "a", "a", []string{"F16"}},
		{"a read in one of two blocks", a2a("spmd"), result.ReadEarly, "a", "a", []string{"F46"}},
		{"two blocks that write one place", a2a("spmd"), result.TwoWriters, "a", "a", []string{"F46"}},
		{"a write into an input that is a target", &collectives.Call{Op: "all_to_all", Form: "hand", Ranks: 4, DType: "FP32", Size: 8, Mistake: "alias"}, result.WriteEarly, "a", "a", []string{"F3"}},
		{"a write over another call's rows", idx, result.WriteEarly, "b", "a", []string{"F49"}},
		{"two exchanges", idx, result.TwoOpen, "b", "a", []string{"F50"}},
		{"a credit of another call", a2a(""), result.StaleCredit, "b", "a", []string{"F41"}},
		{"Set and AtomicAdd", a2a("reset_by_set"), result.SetAndAdd, "", "a", []string{"F7"}},
		{"cells that are not zero", a2a(""), result.CellsSet, "", "", []string{"F45"}},
		{"credits that are left", a2a(""), result.CreditsLeft, "", "", []string{"F45"}},
		{"a call that does nothing", a2a(""), result.NothingDone, "", "", nil},
	} {
		assert.Equal(t, x.want, rowsOf(diagnosed(t, x.call, hazard(x.kind, x.first, x.second))), x.name)
	}
}

func TestAReadThatAStaleCreditLetsPassIsThatCreditsFault(t *testing.T) {
	res := hazard(result.ReadEarly, "a", "a")
	res.Hazards = append(res.Hazards, result.Hazard{Kind: result.StaleCredit, Text: "a credit of b", Second: &result.Access{Task: "a"}})
	d := diagnosed(t, &collectives.Call{Op: "all_to_all", Form: "hand", Ranks: 4, DType: "FP32", Size: 8}, res)
	require.Equal(t, []string{"F41"}, rowsOf(d))
	assert.Equal(t, "a credit of b", d[0].Evidence)
}

func TestARunThatIsRightHasNoDiagnosis(t *testing.T) {
	res := hazard(result.SetAndAdd, "a", "a")
	res.Status = result.OK
	assert.Empty(t, diagnosed(t, &collectives.Call{Op: "all_to_all", Form: "hand", Ranks: 4, DType: "FP32", Size: 8}, res))
}

func TestWrongDataNamesTheRowByWhereItComesFrom(t *testing.T) {
	c := &collectives.Call{Op: "all_to_all", Form: "hand", Ranks: 4, DType: "FP32", Size: 8} // chunks of 32 bytes
	want := result.Origin{Rank: 2, Buffer: "a.input", Off: 32}                               // row 1: for rank 1
	for _, x := range []struct {
		got  *result.Origin
		want []string
	}{
		{&result.Origin{Rank: 2, Buffer: "a.input", Off: 96}, []string{"F1"}},              // for another rank
		{&result.Origin{Rank: 1, Buffer: "a.input", Off: 32}, []string{"F2"}},              // the own chunk
		{&result.Origin{Rank: 2, Buffer: "a.input", Off: 48}, []string{"F8"}},              // across rows
		{&result.Origin{Rank: 1, Buffer: "a.target", Off: 64}, []string{"F5"}},             // what was there
		{&result.Origin{Rank: 2, Buffer: "a.input", Off: 32, Version: 1}, []string{"F49"}}, // of the next round
		{nil, []string{"F5"}},
	} {
		d := diagnosed(t, c, &result.Result{Status: result.WrongData, Data: result.Data{Where: []result.Mismatch{
			{Task: "a", Rank: 1, Buffer: "a.target", Off: 64, Len: 32, Want: &want, Got: x.got},
		}}})
		assert.Equal(t, x.want, rowsOf(d), "%+v", x.got)
		assert.Contains(t, d[0].Evidence, "rank 1 a.target+64")
	}
}

func TestAbortsNameTheLimitOrTheConflict(t *testing.T) {
	c := indexed(1, 8, "INT8", rows(4, 8, 3, func(_, _ int) int { return 1 }))
	for what, want := range map[string][]string{"count": {"F48"}, "index": {"F48"}, "sq_capacity": {"F48"}, "queue_conflict": {"F50"}, "cqe_status": nil} {
		d := diagnosed(t, c, &result.Result{Status: result.Aborted, Abort: &result.Abort{What: what, Text: "because"}})
		assert.Equal(t, want, rowsOf(d), what)
	}
}

func TestALostNotifyIsNoMistakeOfTheProgram(t *testing.T) {
	for _, a := range collectives.All() {
		c := calls(a, 29)[0]
		items := []collectives.Item{{Call: c}}
		job := compose(t, c)
		job.Faults = []program.Fault{{Kind: "drop_notify", Src: 1, Dst: 0}}
		res := run(t, mesh(t), job, hw.Options{})
		if res.Status != result.Deadlock {
			continue // the form has no notify
		}
		assert.Empty(t, symptoms.Diagnose(items, job, res, func(int, program.Buf) []int32 { return make([]int32, 512) }), a.Name())
	}
}

func TestWrongBytesAreTracedToTheSamePlaceInBothPayloadModes(t *testing.T) {
	for _, mistake := range []string{"wrong_peer", "wrong_row", "own_row", "wrong_layout"} {
		c := &collectives.Call{Op: "all_to_all", Form: "hand", Ranks: 4, DType: "FP32", Size: 64, Mistake: mistake}
		places := map[string]map[[4]int64]bool{}
		for _, payload := range []string{"bytes", "provenance"} {
			res := run(t, mesh(t), compose(t, c), hw.Options{Payload: payload})
			require.Equal(t, result.WrongData, res.Status)
			require.NotEmpty(t, res.Data.Where)
			seen := map[[4]int64]bool{}
			for _, m := range res.Data.Where[:8] { // those of rank 0
				require.NotNil(t, m.Want)
				if m.Got == nil || m.Got.Buffer != m.Want.Buffer {
					continue
				}
				seen[[4]int64{int64(m.Rank), int64(m.Want.Rank), int64(m.Got.Rank), m.Got.Off - m.Want.Off}] = true
				if payload == "bytes" {
					assert.NotEqual(t, m.WantBytes, m.GotBytes)
				}
			}
			require.NotEmpty(t, seen, "%s %s", mistake, payload)
			places[payload] = seen
		}
		for p := range places["bytes"] {
			assert.Contains(t, places["provenance"], p, "%s: rank, wanted rank, found rank, distance", mistake)
		}
	}
}

func TestOlderRoundsAreTracedToo(t *testing.T) {
	c := &collectives.Call{Op: "all_to_all", Form: "hand", Ranks: 4, DType: "FP32", Size: 64, Mistake: "no_barrier"}
	for _, payload := range []string{"bytes", "provenance"} {
		job := chain(t, collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 2, Between: "barrier"}})
		job.Slow = []engine.Fraction{engine.One, engine.One, engine.One, 10 * engine.One}
		res := run(t, mesh(t), job, hw.Options{Payload: payload})
		require.Equal(t, result.WrongData, res.Status)
		old := 0
		for _, m := range res.Data.Where {
			if m.Got != nil && m.Got.Buffer == "input" && m.Got.Version < m.Want.Version {
				old++
				assert.Equal(t, []any{m.Want.Rank, m.Want.Off}, []any{m.Got.Rank, m.Got.Off})
			}
		}
		assert.Positive(t, old, payload)
	}
}

// recognised are the rows that a mistake of any program can show, by operator.
var recognised = map[string][]string{
	"eq":              {"F10"},
	"handshake_early": {"F16"},
	"mismatched_rows": {"F4", "F13"},
	"no_barrier":      {"F5", "F14", "F16", "F20", "F38", "F6"}, // F6: a deferred wait that nobody ever notifies
	"no_closing":      {"F5", "F14", "F16", "F20", "F38", "F45"},
	"no_ready":        {"F5", "F14", "F16", "F20", "F38", "F45"},
	"one_row":         {"F24", "F28"},
	"reset_by_set":    {"F7"},
	"set_for_add":     {"F7", "F10", "F41"},
	"spmd":            {"F46", "F50", "F10"}, // F50: both blocks write one queue; F10: both credits come at once
	"wait_first":      {"F6"},
	"wrong_layout":    {"F8", "F36", "F44", "F16"}, // F16: the promised place is left empty
}

// rowsFor are the rows that a mistake of an algorithm can show.
func rowsFor(a *collectives.Algorithm, mistake string) []string {
	for _, m := range a.Mistakes {
		if m.Name == mistake {
			return []string{m.Row}
		}
	}
	return recognised[mistake]
}

func TestEveryMistakeIsRecognisedByWhatItsRunsShow(t *testing.T) {
	spec, shown := mesh(t), map[string]bool{}
	for _, a := range collectives.All() {
		for _, mistake := range a.MistakeNames() {
			c := wrongly(ofFour(a), mistake)
			job, err := collectives.Compose(c.Ranks, []collectives.Item{{Call: c}})
			if err != nil {
				continue
			}
			even := false // it shows when all ranks are equally fast; an Eq alone takes a slow one
			for late := range 3 {
				job.Slow = make([]engine.Fraction, c.Ranks)
				for r := range job.Slow {
					job.Slow[r] = engine.One
				}
				if late > 0 {
					job.Slow[(late-1)*(c.Ranks-1)] = 9 * engine.One
				}
				var cells symptoms.Cells
				res := run(t, spec, job, hw.Options{Inspect: func(s *memory.Space) {
					cells = func(rank int, b program.Buf) []int32 { return s.Words(rank, memory.ID(b)) }
				}})
				d := symptoms.Diagnose([]collectives.Item{{Call: c}}, job, res, cells)
				if even = even || late == 0 && res.Status != result.OK; res.Status == result.OK {
					assert.Empty(t, d)
					continue
				}
				assert.True(t, even || mistake == "eq", "%s %s shows under skew only: a race was not found", a.Name(), mistake)
				shown[mistake] = true
				if assert.NotEmpty(t, d, "%s %s: %s", a.Name(), mistake, res.Status) {
					assert.Contains(t, rowsFor(a, mistake), d[0].Row, "%s %s: %s: %s", a.Name(), mistake, res.Status, d[0].Evidence)
				}
			}
		}
	}
	for _, m := range collectives.AnyMistakes() {
		assert.True(t, shown[m.Name], "%s does not show anywhere", m.Name)
	}
}

// ofFour is a call of an algorithm on four ranks, or on as few as it takes.
func ofFour(a *collectives.Algorithm) *collectives.Call {
	all := calls(a, 64)
	for _, c := range all {
		if c.Ranks == 4 {
			return c
		}
	}
	return all[0]
}
