package collectives_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"pldperf/collectives"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/result"
)

func broadcastCall(form string, ranks, size, root int) *collectives.Call {
	return &collectives.Call{Op: "broadcast", Form: form, Ranks: ranks, DType: "FP32", Size: size, Root: root}
}

// windowOf is the buffer in which a form leaves its result.
func windowOf(form string) string {
	if form == "hand" {
		return "output"
	}
	return "target"
}

func TestCase25BroadcastGivesEveryRankRootsRowAndNothingElse(t *testing.T) {
	for _, form := range []string{"hand", "incore", "host"} {
		for root := range 4 {
			got, _ := out(t, broadcastCall(form, 4, 64, root), "input", steps(100), windowOf(form))
			for r := range 4 {
				assert.Equal(t, count(100*root, 64), got[r], "%s root %d", form, root)
			}
		}
	}
}

func TestBroadcastServesEveryByteFromRoot(t *testing.T) {
	for _, form := range []string{"hand", "incore", "host"} {
		_, res := out(t, broadcastCall(form, 4, 64, 2), "input", steps(100), windowOf(form))
		for r := range 4 {
			n := &res.Ranks[r].Counters
			if r == 2 {
				assert.Equal(t, []int64{768, 0}, []int64{n[result.BytesSent], n[result.BytesReceived]}, form)
			} else {
				assert.Equal(t, []int64{0, 256}, []int64{n[result.BytesSent], n[result.BytesReceived]}, form)
			}
		}
	}
}

func TestHostBroadcastHasACreditBarrierForEachTile(t *testing.T) {
	c := broadcastCall("host", 4, 1000, 1)
	got, res := out(t, c, "input", steps(5000), "target") // cells0: -4 at the end
	for r := range 4 {
		assert.Equal(t, count(5000, 1000), got[r])
		n := &res.Ranks[r].Counters
		assert.Equal(t, []int64{12, 12, 3, 8}, []int64{n[result.Notifies], n[result.PollsSatisfied], n[result.SelfAdds], n[result.PipeBarriers]})
	}
	assert.Equal(t, int64(12), res.Totals[result.RemoteLoads], "four tiles for each of three ranks")
	assert.Less(t, len(compose(t, c).Tasks[1].Program.Ops), 20, "however many tiles there are")
}

func TestHostBroadcastBeyondSixteenRanksDoesNothing(t *testing.T) {
	res := run(t, mesh(t, "fabric.kind=clos"), compose(t, broadcastCall("host", 17, 64, 0)), hw.Options{})
	assert.Equal(t, result.Hazardous, res.Status)
	assert.Contains(t, res.Hazards[0].Text, "returned without communicating")
	assert.Zero(t, res.Totals[result.BytesSent]+res.Totals[result.Notifies])
}

// The builtin has no closing barrier: with nothing between two calls root's next row
// overtakes a slow reader of the last one.
func TestARootThatGoesOnOverwritesWhatASlowRankStillReads(t *testing.T) {
	for _, form := range []string{"incore", "host"} {
		c := broadcastCall(form, 4, 4000, 0)
		for between, want := range map[string]result.Status{"none": result.WrongData, "barrier": result.OK} {
			job := chain(t, collectives.Item{Call: c, Repeat: collectives.Repeat{Count: 2, Between: between}})
			job.Slow = []engine.Fraction{engine.One, engine.One, engine.One, 20 * engine.One}
			if between == "none" && form == "host" {
				continue // the last tile is small: the next call's stage takes longer
			}
			assert.Equal(t, want, run(t, mesh(t), job, hw.Options{}).Status, "%s %s", form, between)
		}
	}
}

func TestMistakesOfABroadcastShowWhatTheyDoOnHardware(t *testing.T) {
	for _, x := range []struct{ form, mistake string }{{"hand", "read_self"}, {"hand", "not_staged"}, {"incore", "not_staged"}} {
		c := broadcastCall(x.form, 4, 64, 1)
		c.Mistake = x.mistake
		res := run(t, mesh(t), compose(t, c), hw.Options{})
		require.Equal(t, result.WrongData, res.Status, "%+v", x)
	}
}

func TestWhatTheCompilerRefusesOfABroadcast(t *testing.T) {
	for want, change := range map[string]func(c *collectives.Call){
		"root: -1, must be a compile-time int":        func(c *collectives.Call) { c.Root = -1 },
		"root: 4, must be a valid rank in [0,4)":      func(c *collectives.Call) { c.Root = 4 },
		"dtype: the HOST builtin takes FP32, not INT": func(c *collectives.Call) { c.Form, c.DType = "host", "INT8" },
		"size: 0, must be positive":                   func(c *collectives.Call) { c.Size = 0 },
		"size: a tile load of 16 B":                   func(c *collectives.Call) { c.Form, c.Size = "hand", 4 },
		"signal_columns: the signal of broadcast":     func(c *collectives.Call) { c.Signal = 2 },
		"target and signal must be different":         func(c *collectives.Call) { c.Same = map[string]string{"signal": "target"} },
		"target must be a window":                     func(c *collectives.Call) { c.Kinds = map[string]string{"target": "tensor"} },
		"transport: urma does not carry broadcast":    func(c *collectives.Call) { c.Options.Transport = "urma" },
		`broadcast has no operand "input"`:            func(c *collectives.Call) { c.Kinds = map[string]string{"input": "tensor"} },
	} {
		c := broadcastCall("incore", 4, 64, 0)
		change(c)
		_, err := collectives.Compose(4, []collectives.Item{{Call: c}})
		assert.ErrorContains(t, err, want)
	}
}

func TestASignalOfTwoDimensionsIsAcceptedOfAHostBuiltinWithAWord(t *testing.T) {
	c := broadcastCall("host", 4, 64, 0)
	assert.Empty(t, c.Notes())
	c.Signal = 1
	ok(t, mesh(t), compose(t, c))
	require.Len(t, c.Notes(), 1)
	assert.Contains(t, c.Notes()[0], "takes [P] only")
	c.Form = "incore"
	assert.Empty(t, c.Notes(), "[P,1] is what the composite takes")
}
