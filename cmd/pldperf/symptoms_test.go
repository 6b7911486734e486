package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/collectives/symptoms"
	"pldperf/configs"
	"pldperf/hw"
	"pldperf/hw/result"
	"pldperf/workloads"
)

// mistake is a file under configs/mistakes and what it says about itself.
type mistake struct {
	name, file, text string
	row, shows       string
	right            []string
}

// mistakes reads all of them.
func mistakes(t *testing.T) (out []mistake) {
	for _, name := range configs.Names(configs.Mistakes) {
		file, data, err := configs.Read(configs.Mistakes, name)
		require.NoError(t, err)
		m := mistake{name: name, file: file, text: string(data)}
		m.row = only(t, name, `(?m)^title: "(F\d+):`, m.text)
		m.shows = only(t, name, `(?m)^# shows: (\w+)$`, m.text)
		for _, s := range strings.Split(only(t, name, `(?m)^# right: (.+)$`, m.text), "; ") {
			m.right = append(m.right, strings.TrimSpace(s))
		}
		out = append(out, m)
	}
	require.NotEmpty(t, out)
	return out
}

func only(t *testing.T, name, pattern, text string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1)
	require.Len(t, found, 1, "%s: %s", name, pattern)
	return found[0][1]
}

func TestEveryMistakeShowsItsRowAndItsCauseAndFix(t *testing.T) {
	for _, m := range mistakes(t) {
		row, ok := symptoms.SymptomOf(m.row)
		require.True(t, ok, m.row)
		out, errs, code := pldperf("run", m.name)
		if m.shows == "refused" {
			assert.Equal(t, 2, code, m.name)
			assert.Contains(t, oneLine(errs), m.row+": "+row.Fix, m.name)
			continue
		}
		assert.Equal(t, 1, code, "%s: %s", m.name, errs)
		text := oneLine(out)
		assert.Contains(t, text, fmt.Sprintf("Symptom %s Cause %s Fix %s In this run ", row.Symptom, row.Cause, row.Fix), m.name)
		w, err := workloads.Load(m.file, nil)
		require.NoError(t, err)
		got, err := w.Run(hw.Options{})
		require.NoError(t, err)
		assert.Equal(t, m.shows, string(got.Result.Status), m.name)
		assert.Equal(t, m.row, got.Result.Diagnoses[0].Row, "%s: the likeliest row comes first", m.name)
		assert.Len(t, got.Result.Diagnoses, 1, m.name)
	}
}

// oneLine undoes the wrapping of lines.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestWithoutItsMistakeEveryRunIsRightAndDiagnosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs much that other tests run, too")
	}
	for _, m := range mistakes(t) {
		w, err := workloads.Load(m.file, m.right)
		require.NoError(t, err, m.name)
		got, err := w.Run(hw.Options{})
		require.NoError(t, err)
		assert.Equal(t, result.OK, got.Result.Status, "%s %v %v", m.name, got.Result.Hazards, got.Result.Data.Mismatches)
		assert.Positive(t, int64(got.Result.Data.Checked)+got.Result.Data.Words, "%s: nothing was checked", m.name)
		assert.Empty(t, got.Result.Diagnoses, m.name)
	}
}

func TestTheRowIsFoundWhateverTheTimingOfTheRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs much that other tests run, too")
	}
	for _, m := range mistakes(t) {
		for seed := range 3 {
			if m.shows == "refused" || m.name == "f10-eq-on-a-jumping-cell" { // a cell jumps past slow ranks only
				continue
			}
			w, err := workloads.Load(m.file, []string{fmt.Sprintf("skew={random: 30 us, seed: %d}", seed)})
			require.NoError(t, err)
			got, err := w.Run(hw.Options{})
			require.NoError(t, err)
			assert.NotEqual(t, result.OK, got.Result.Status, "%s, seed %d", m.name, seed)
			if assert.Len(t, got.Result.Diagnoses, 1, "%s, seed %d", m.name, seed) {
				assert.Equal(t, m.row, got.Result.Diagnoses[0].Row, "%s, seed %d", m.name, seed)
			}
		}
	}
}

func TestTheTableHasFiftyRowsAndSaysHowEachIsShown(t *testing.T) {
	by := shownBy(t)
	require.Len(t, symptoms.Symptoms, 50)
	for i, s := range symptoms.Symptoms {
		assert.Equal(t, fmt.Sprintf("F%d", i+1), s.Row)
		for _, word := range []string{s.Op, s.Symptom, s.Cause, s.Fix, s.From} {
			assert.NotEmpty(t, word, s.Row)
		}
		if s.How == symptoms.Elsewhere {
			assert.NotEmpty(t, s.Why, s.Row)
			assert.Empty(t, by[s.Row], s.Row)
			continue
		}
		assert.NotEmpty(t, by[s.Row], "%s has no config under configs/mistakes", s.Row)
		runs := slices.ContainsFunc(by[s.Row], func(m mistake) bool { return m.shows != "refused" })
		assert.Equal(t, s.How == symptoms.Runs, runs, s.Row)
	}
}

// shownBy returns the configs of each row.
func shownBy(t *testing.T) map[string][]mistake {
	by := map[string][]mistake{}
	for _, m := range mistakes(t) {
		by[m.row] = append(by[m.row], m)
	}
	return by
}

func TestTheDocumentOfSymptomsIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs much that other tests run, too")
	}
	t.Chdir(root)
	now := symptomsDocument(t)
	if *update {
		require.NoError(t, os.WriteFile("docs/SYMPTOMS.md", []byte(now), 0o644))
		return
	}
	old, err := os.ReadFile("docs/SYMPTOMS.md")
	require.NoError(t, err)
	assert.Equal(t, now, string(old), "run: go test ./cmd/pldperf -run Symptoms -update")
}

const symptomsHead = `# Symptoms

What goes wrong in programs with collectives, what the real system shows, and why. The
table is that of the specification (section 8); its rows go by F1 to F50. Each row that
concerns an operator here has a config under configs/mistakes that makes the mistake on
purpose: ` + "`pldperf run NAME`" + ` shows the symptom and names the cause and the fix. The
diagnosis is made from what the run shows: where wrong bytes come from, which cell is
missing in a deadlock, which accesses nothing orders. It does not know which mistake was
made. The same words come with any run of your own that goes wrong.

This page is generated: ` + "`go test ./cmd/pldperf -run Symptoms -update`" + `.

| Row | Operator | Symptom | Cause | Fix | From | Shown by |
|---|---|---|---|---|---|---|
`

const mistakesHead = `
## Mistakes

` + "`call.mistake: NAME`" + ` makes one of these in a call. A mistake of any program is an error
where the program has nothing of the kind, so that none passes unseen.

| Name | Of | What the program does |
|---|---|---|
`

// ownMistake is a mistake of some algorithms.
type ownMistake struct {
	collectives.Mistake
	who string
}

// ownMistakes lists the mistakes of single algorithms, each once.
func ownMistakes() (out []ownMistake) {
	for _, a := range collectives.All() {
		for _, m := range a.Mistakes {
			i := slices.IndexFunc(out, func(o ownMistake) bool { return o.Mistake == m && strings.Contains(o.who, a.Op) })
			if i < 0 {
				out = append(out, ownMistake{m, a.Name()})
			} else {
				out[i].who += ", " + a.Form
			}
		}
	}
	return out
}

func symptomsDocument(t *testing.T) string {
	by := shownBy(t)
	var b strings.Builder
	b.WriteString(symptomsHead)
	for _, s := range symptoms.Symptoms {
		shown := s.Why
		for i, m := range by[s.Row] {
			if shown == "" || i == 0 {
				shown = ""
			} else {
				shown += ", "
			}
			shown += fmt.Sprintf("[%s](#%[1]s)", m.name)
		}
		if s.How == symptoms.Elsewhere {
			shown = "not here: " + s.Why
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", s.Row, s.Op, s.Symptom, s.Cause, s.Fix, s.From, shown)
	}
	b.WriteString(mistakesHead)
	for _, m := range collectives.AnyMistakes() {
		fmt.Fprintf(&b, "| `%s` | any | %s |\n", m.Name, m.Doc)
	}
	for _, m := range ownMistakes() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.Name, m.who, m.Doc)
	}
	for _, s := range symptoms.Symptoms {
		for _, m := range by[s.Row] {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", m.name, m.section(t))
		}
	}
	return b.String()
}

// section shows a config: what it does wrong, the call, and what is printed.
func (m *mistake) section(t *testing.T) string {
	comment, yaml := "", ""
	for _, line := range strings.Split(strings.TrimRight(string(withoutEditorLine([]byte(m.text))), "\n"), "\n") {
		if c, ok := strings.CutPrefix(line, "# "); ok && !strings.HasPrefix(c, "shows: ") && !strings.HasPrefix(c, "right: ") {
			comment += c + "\n"
		} else if !strings.HasPrefix(line, "#") {
			yaml += line + "\n"
		}
	}
	out, errs, code := pldperf("run", m.name)
	text, _, _ := strings.Cut(out, "\n\nInputs\n")
	if _, rest, ok := strings.Cut(text, "\n"); ok { // below the title
		text = rest
	}
	if m.shows != "hazard" { // a page of them would hide what the run shows
		text, _, _ = strings.Cut(text, "\n\nHazards: ")
	}
	if m.shows == "refused" {
		text = strings.TrimRight(errs, "\n")
	}
	if lead, tables, ok := strings.Cut(text, "\n\n"); ok {
		text = short(lead) + "\n\n" + tables
	}
	return fmt.Sprintf("%s\n```yaml\n%s```\n\n`pldperf run %s` ends with %d:\n\n```text\n%s\n```", comment, yaml, m.name, code, text)
}

// short leaves out what is more of the same.
func short(text string) string {
	const most = 6
	if lines := strings.Split(text, "\n"); len(lines) > most {
		return strings.Join(append(lines[:most-1:most-1], "..."), "\n")
	}
	return text
}
