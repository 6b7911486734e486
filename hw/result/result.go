// Package result is what a run leaves behind: plain data, without reference to
// the models that made it, so that reports are functions of it and it can be
// written, read, compared and hashed.
package result

import "pldperf/engine"

// Schema is the version of the result format; it grows when a field changes meaning.
const Schema = 1

// Status says how a run ended.
type Status string

// The ways in which a run ends.
const (
	OK        Status = "ok"
	WrongData Status = "wrong_data"
	Aborted   Status = "aborted"
	Deadlock  Status = "deadlock"
	Hazardous Status = "hazard"
)

// Result is the outcome of one Job on one machine.
type Result struct {
	Schema    int             `json:"schema"`
	Status    Status          `json:"status"`
	Elapsed   engine.Duration `json:"elapsed_ps"` // first launch of a timed call to the last block's end
	Calls     []Call          `json:"calls"`
	Ranks     []Rank          `json:"ranks"`
	Blocks    []Block         `json:"blocks"`
	Totals    Counters        `json:"totals"` // of the timed calls
	Resources []Resource      `json:"resources"`
	Path      *Path           `json:"path,omitempty"`
	Data      Data            `json:"data"`
	Hazards   []Hazard        `json:"hazards,omitempty"`
	Diagnoses []Diagnosis     `json:"diagnoses,omitempty"`
	Abort     *Abort          `json:"abort,omitempty"`
	Stuck     *Stuck          `json:"deadlock,omitempty"`
	Steps     []Step          `json:"wqe_steps,omitempty"`
	Perturbed *Perturbed      `json:"perturbed,omitempty"`
	Notes     []string        `json:"notes,omitempty"` // e.g. a silent no-op shown as what it is
	Events    uint64          `json:"events"`
	Digests   Digests         `json:"digests"`
}

// Digests identify a run: equal digests mean the same events and the same result.
type Digests struct {
	Events string `json:"events"`
	Result string `json:"result"`
}

// Call is one task on all ranks.
type Call struct {
	Name    string          `json:"name"`
	Op      string          `json:"op"`
	Repeat  int             `json:"repeat"`
	Blocks  int             `json:"core_num"`
	Timed   bool            `json:"timed"`
	Start   engine.Time     `json:"start_ps"`
	End     engine.Time     `json:"end_ps"`
	Elapsed engine.Duration `json:"elapsed_ps"`
	Ranks   []Span          `json:"ranks"`
}

// Span is when one rank worked on a call, and when it left the last barrier.
type Span struct {
	Start       engine.Time `json:"start_ps"`
	BarrierExit engine.Time `json:"barrier_exit_ps"`
	End         engine.Time `json:"end_ps"`
}

// Rank sums up one rank over the timed calls.
type Rank struct {
	Rank     int             `json:"rank"`
	Elapsed  engine.Duration `json:"elapsed_ps"`
	Counters Counters        `json:"counters"`
	PeakSQ   int64           `json:"peak_sq_wqebb"` // the fullest queue
}

// Block is the account of one AIV in one timed call. Time tiles the call, from its
// first start on any rank to its last end, so that its sum is the call's Elapsed to
// the picosecond. Start and End are the block's own.
type Block struct {
	Call     int             `json:"call"`
	Rank     int             `json:"rank"`
	Block    int             `json:"block"`
	Start    engine.Time     `json:"start_ps"`
	End      engine.Time     `json:"end_ps"`
	Time     Times           `json:"time_ps"`
	MTE2     engine.Duration `json:"mte2_busy_ps"` // occupied, also while memory or a peer is slower than the pipe
	MTE3     engine.Duration `json:"mte3_busy_ps"`
	MTE2Held PipeHeld        `json:"mte2_blocked_ps"` // part of it
	MTE3Held PipeHeld        `json:"mte3_blocked_ps"`
	Overlap  engine.Duration `json:"mte_overlap_ps"` // both pipes busy
	SIMT     engine.Duration `json:"simt_busy_ps"`   // building SQEs, issuing atomics; not polling
	Pieces   int64           `json:"pieces"`
	Waits    int64           `json:"stage_waits"`
	WaitTime engine.Duration `json:"stage_wait_ps"`
	Held     []Held          `json:"held,omitempty"` // of the waits for other ranks: for whom; only with a path, and up to 128 ranks
}

// PipeHeld is how long a pipe of a block was held by what it moves data from or to.
type PipeHeld struct {
	Memory engine.Duration `json:"memory"` // of the own rank
	Remote engine.Duration `json:"remote"` // of another rank, or the fabric to it
}

// Held is how long a block or a shared part waited for one other rank, for one reason: a block for its notify, for what
// a queue sends there, or for remote MTE between the two; a port for traffic with it at the cap of the port's rank. The
// times of a reason add up to that of the block or part.
type Held struct {
	Reason string          `json:"reason"`
	Peer   int             `json:"peer"` // -1: for a sector to serve what has landed already, or for memory
	Time   engine.Duration `json:"time_ps"`
}

// Resource is one shared part of the machine: what it carried and how long it was busy.
type Resource struct {
	Name  string          `json:"name"`
	Rank  int             `json:"rank"`
	Peer  int             `json:"peer"` // -1 when there is none
	Rate  engine.Rate     `json:"rate_bytes_per_s"`
	Bytes engine.Bytes    `json:"bytes"`
	Busy  engine.Duration `json:"busy_ps"`

	// Blocked is how long a part carried nothing although it had to: what it was to carry next was held elsewhere. What
	// Busy and Blocked leave of a run, it was idle.
	Blocked engine.Duration `json:"blocked_ps"`
	Held    []Held          `json:"held,omitempty"` // Blocked by whom; only with a path, and up to 128 ranks
}

// Data is the verdict on the payload and the control words.
type Data struct {
	Payload    string       `json:"payload"`                   // "bytes" or "provenance"
	Hazards    string       `json:"hazards_checked,omitempty"` // "yes", or "no" and why
	Checked    engine.Bytes `json:"checked_bytes"`
	Wrong      engine.Bytes `json:"wrong_bytes"`
	Words      int64        `json:"checked_words"`
	WrongWords int64        `json:"wrong_words"`
	Mismatches []string     `json:"mismatches,omitempty"`
	Where      []Mismatch   `json:"where,omitempty"` // the first of them, for programs
}

// Mismatch is a range of payload that does not hold what a call has promised.
type Mismatch struct {
	Task      string  `json:"task"`
	Rank      int     `json:"rank"`
	Buffer    string  `json:"buffer"`
	Off       int64   `json:"offset"`
	Len       int64   `json:"bytes"`
	Want      *Origin `json:"want,omitempty"` // nil: the result of arithmetic
	Got       *Origin `json:"got,omitempty"`  // nil: nobody knows
	WantBytes []byte  `json:"want_bytes,omitempty"`
	GotBytes  []byte  `json:"got_bytes,omitempty"` // the first bytes, where payload is kept as bytes
}

// Origin says where bytes come from: offset Off of a version of a rank's buffer, as its
// producer wrote it. What nobody has written is its own origin.
type Origin struct {
	Rank    int    `json:"rank"`
	Buffer  string `json:"buffer"`
	Version uint32 `json:"version"`
	Off     int64  `json:"offset"`
}

// HazardKind says what sort of order is missing.
type HazardKind string

// The kinds of hazards. All of them are found whatever the timing of the run.
const (
	ReadEarly   HazardKind = "read_before_publication" // a read of a range not yet published to the reader
	WriteEarly  HazardKind = "overwrite"               // a write over a range that somebody may still read
	TwoWriters  HazardKind = "two_writers"             // two writes to a range that nothing orders
	StaleCredit HazardKind = "stale_credit"            // a wait satisfied by a credit of another call, or by one used before
	SetAndAdd   HazardKind = "set_and_add"             // Set and AtomicAdd on one cell
	TwoOpen     HazardKind = "two_exchanges"           // two open exchanges on one queue
	CreditsLeft HazardKind = "credits_left"            // cells that are not zero after the last call
	CellsSet    HazardKind = "cells_not_zero"          // cells that are not zero before the first call
	NothingDone HazardKind = "nothing_done"            // a call that returned without communicating
)

// Hazard is something that is right by luck, or not at all: another timing of the same
// program gives another result.
type Hazard struct {
	Kind    HazardKind `json:"kind"`
	Text    string     `json:"text"`                   // a sentence: what, where
	First   *Access    `json:"first,omitempty"`        // the access that the other one does not wait for
	Second  *Access    `json:"second,omitempty"`       // the other one
	Missing string     `json:"missing_edge,omitempty"` // what would order them
	Count   int64      `json:"count"`                  // how often, between the same two ops or on the same cells
}

// String returns what a person reads first.
func (h *Hazard) String() string { return h.Text }

// Access is one use of memory by a block, or by what works for it.
type Access struct {
	Task   string      `json:"task"`
	Rank   int         `json:"rank"`
	Block  int         `json:"block"`
	Op     string      `json:"op"`
	Phase  string      `json:"phase"`
	Kind   string      `json:"kind"` // read, write or add
	Buffer string      `json:"buffer"`
	Owner  int         `json:"owner"` // rank whose memory it is
	Off    int64       `json:"offset"`
	Len    int64       `json:"bytes"`
	Time   engine.Time `json:"time_ps"`
}

// Diagnosis is a row of the symptom table that a run shows (semantics 8).
type Diagnosis struct {
	Row      string `json:"row"` // F1 ... F50
	Symptom  string `json:"symptom"`
	Cause    string `json:"cause"`
	Fix      string `json:"fix"`
	Evidence string `json:"evidence"` // what in this run says so
}

// Abort is a device-side violation: the run ended as the real kernel ends (S-60, S-62).
type Abort struct {
	Time  engine.Time `json:"time_ps"`
	Rank  int         `json:"rank"`
	Block int         `json:"block"`
	Op    string      `json:"op"`
	What  string      `json:"what"`
	Value int64       `json:"value"`
	Limit int64       `json:"limit"`
	Text  string      `json:"text"`
}

// Stuck is a deadlock: who waits, for what, since when, and who should have acted.
type Stuck struct {
	Time  engine.Time `json:"time_ps"`
	Waits []Waiting   `json:"waits"`
	More  int         `json:"more"` // waits that are not listed
}

// Waiting is one block that will never go on.
type Waiting struct {
	Rank     int         `json:"rank"`
	Block    int         `json:"block"`
	Op       string      `json:"op"`
	Since    engine.Time `json:"since_ps"`
	Cell     string      `json:"cell"`
	Value    int64       `json:"value"`
	Expected int64       `json:"expected"`
	Missing  string      `json:"missing"` // who should have written
}

// Step is the life of one WQE, each time absolute; zero where it does not apply.
type Step struct {
	Rank     int         `json:"rank"`
	Peer     int         `json:"peer"`
	Seq      int64       `json:"wqe"` // its number on the queue
	Bytes    int64       `json:"bytes"`
	SGEs     int         `json:"sges"`
	Build    engine.Time `json:"build_ps"`
	Doorbell engine.Time `json:"doorbell_ps"`
	Fetch    engine.Time `json:"fetch_ps"`
	Gather   engine.Time `json:"gather_ps"`
	Wire     engine.Time `json:"wire_ps"`
	Left     engine.Time `json:"left_ps"`
	Land     engine.Time `json:"land_ps"`
	Ack      engine.Time `json:"ack_ps"`
	CQE      engine.Time `json:"cqe_ps"`
}
