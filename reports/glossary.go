package reports

import (
	"io"
	"strings"

	"pldperf/hw/result"
	"pldperf/reports/document"
)

// Glossary says what words of cards and explanations mean.
type Glossary struct {
	List  string // the word or the list that was asked for
	Words []Word
	Note  string
}

// Word is one of them.
type Word struct {
	Name string `json:"name"`
	Part string `json:"part,omitempty"` // of the machine; only causes have one
	What string `json:"what"`
	List string `json:"list"` // causes, reasons, figures or counters
}

// Key is the word as a person types it.
func (w *Word) Key() string { return strings.ReplaceAll(w.Name, " ", "_") }

// lists are the kinds of words: what each is called, alone and as a title.
var lists = []struct{ list, one, title string }{
	{"causes", "cause", "What simulated time is spent on"},
	{"reasons", "reason", "What a block's program counter is blocked on"},
	{"figures", "figure", "Figures of a run"},
	{"counters", "counter", "What runs count and formulas predict"},
}

// The definitions of figures, as every report prints them.
const (
	defElapsed = "first launch of a timed call to the last block's end"
	defBound   = "no schedule is faster"
	defReached = "lower bound / elapsed"
	defRank    = "a rank's launch to its last block's end: without skew"
	defExit    = "from the last timed call's start to the rank's last satisfied wait"
)

var figureWords = []Word{
	{Name: "elapsed", What: defElapsed}, {Name: "algbw", What: DefAlgbw}, {Name: "busbw", What: DefBusbw}, {Name: "wire rate", What: DefWire},
	{Name: "lower bound", What: defBound + "; what each resource would allow is listed by resource"}, {Name: "reached", What: defReached},
	{Name: "fullest send queue", What: "the most WQEBBs that a queue held at once, of its depth"},
	{Name: "rank time", What: defRank}, {Name: "barrier exit", What: defExit},
	{Name: "start skew", What: "between the first and the last rank's start"},
}

var reasonWords = [result.NumReasons]string{
	result.Launch: "kernel launch and sync-start", result.Scalar: "scalar code: coalescing, loop control",
	result.IndexCheck: "loading and checking index", result.CountRead: "uncached reads and writes of counts",
	result.SIMTBuild: "SIMT lanes write SQEs", result.Doorbell: "ringing a doorbell",
	result.SignalIssue: "entering a SIMT region for signals, issuing notifies", result.SignalWait: "a signal cell is below what is expected",
	result.PollOvershoot: "all is there (cells, a CQE), but no poll has seen it yet", result.MTE2: "issuing loads or waiting for them",
	result.MTE3: "waiting for stores", result.StageWait: "the stage to be reused still holds an old store",
	result.CQEWait: "waiting for CQEs and draining them", result.RemoteWait: "waiting for a synchronous remote store to drain",
	result.Fence: "fence, and the clearing of the own signal cells", result.PipeBarrier: "PIPE_ALL", result.Vector: "the vector unit combines tiles",
	result.Compute: "a compute item of a chain", result.DependencyWait: "tasks that must end first, or AIVs that are taken",
	result.Idle: "before the rank starts or after the block has ended",
}

var counterWords = [result.NumCounters]string{
	result.BytesSent: "payload to other ranks", result.BytesReceived: "payload that is known to have landed", result.BytesSelf: "payload moved within the rank",
	result.SQEs: "send queue entries, one a message", result.SGEs: "rows that SQEs gather", result.WQEBBs: "64-byte blocks of send queues, which SQEs take up",
	result.NOPs: "WQEBBs that fill a queue up to its end", result.Doorbells: "times that a NIC is told of new SQEs", result.CQEs: "completions that were read",
	result.Sends: "growth of submittedWqeCount (S-71)", result.DescriptorBytes: "bytes of SQEs and SGEs that were written", result.IndexReads: "reads of index",
	result.CountReads: "remote reads of 4-byte counts", result.Notifies: "signal messages to other ranks", result.SelfAdds: "adds to own signal cells",
	result.PollsSatisfied: "polls that saw what they waited for", result.PollsAttempted: "polls, one a lane or TWAIT each; a sweep of a column is P-1",
	result.Pieces: "pieces through the stage ring", result.Puts: "puts", result.PutStages: "stages of puts and gets through the Unified Buffer",
	result.PipeBarriers: "PIPE_ALL", result.Gets: "gets", result.RemoteLoads: "tiles loaded from a peer", result.RemoteStores: "tiles stored at a peer",
	result.Combined: "bytes of results of the vector unit",
}

// Words lists the reasons, figures and counters; causes are the models' own.
func Words() (out []Word) {
	for r, what := range reasonWords {
		out = append(out, Word{Name: result.Reason(r).String(), What: what, List: "reasons"})
	}
	for _, w := range figureWords {
		w.List = "figures"
		out = append(out, w)
	}
	for c, what := range counterWords {
		k := result.Counter(c)
		if k.Unit() != "" {
			what += ", in " + k.Unit()
		}
		out = append(out, Word{Name: k.String(), What: what, List: "counters"})
	}
	return out
}

// Write writes the words.
func (g Glossary) Write(w io.Writer, f Format, o Options) error { return write(w, f, o, g) }

func (g Glossary) check() error { return nil }

func (g Glossary) document(program string) writable {
	return &listing{Head: document.NewHead(document.KindCauses, program), Causes: g.Words}
}

func (g Glossary) page() *page {
	p := &page{title: g.List}
	var of []table
	for _, l := range lists {
		t := table{title: l.title, head: []string{l.one, "~what it is"}}
		if l.list == "causes" {
			t.head = []string{l.one, "part", "~what it is"}
		}
		for _, w := range g.Words {
			switch {
			case w.List != l.list:
			case l.list == "causes":
				t.add(w.Name, w.Part, w.What)
			default:
				t.add(w.Name, w.What)
			}
		}
		if len(t.rows) > 0 {
			of = append(of, t)
		}
	}
	if len(of) == 1 {
		p.title, of[0].title = of[0].title, ""
	}
	if p.tables = of; g.Note != "" {
		p.tail = []string{g.Note}
	}
	return p
}

func (g Glossary) records() [][]string {
	rows := [][]string{{"word", "part", "what", "list"}}
	for _, x := range g.Words {
		rows = append(rows, []string{x.Name, x.Part, x.What, x.List})
	}
	return rows
}
