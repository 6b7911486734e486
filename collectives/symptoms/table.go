// Package symptoms knows what wrong programs look like: the table of fifty failures
// with their causes and fixes (semantics 8), which row of it a run shows, and to which
// row a refusal of the compiler belongs. It judges by what a run shows and by the
// programs that it ran, never by what was asked for.
package symptoms

import "slices"

// Symptom is a row of the table of failures (semantics 8): what the real system shows
// when a program is wrong, why, and what is to be done.
type Symptom struct {
	Row     string // F1 ... F50
	Op      string
	Symptom string
	Cause   string
	Fix     string
	From    string // who says so: S the seed, T09 ... T21 a tutorial, DBG the debugging guide, D documents, K kernels
	How     How
	Why     string // for Elsewhere, and where How needs a word
}

// How says by what a row of the table is shown.
type How uint8

// The ways to show a row.
const (
	Runs      How = iota // a config under configs/mistakes makes the mistake, and running it shows the row
	Refused              // a config under configs/mistakes that the compiler, and so pldperf, refuses in the row's words
	Elsewhere            // it concerns no operator here: Why says what instead
)

var howNames = [...]string{"run", "refused", "not here"}

// String returns the word for it in tables.
func (h How) String() string { return howNames[h] }

// Symptoms is the table, in the order of its rows.
var Symptoms = []Symptom{
	{Row: "F1", Op: "all_to_all", Symptom: "the chunk for rank d shows up at another peer", Cause: "the put's peer is not the destination whose row was read", Fix: "put row dest to peer dest", From: "S"},
	{Row: "F2", Op: "all_to_all", Symptom: "the output is the rank's own chunk", Cause: "row my_rank, or the own input, was read back", Fix: "after the barrier read row src for every src", From: "S"},
	{Row: "F3", Op: "all_to_all", Symptom: "corrupted chunks", Cause: "input and target are the same buffer: pushes overwrite chunks that are still to be sent", Fix: "use separate buffers for input and target", From: "S"},
	{Row: "F4", Op: "all_to_all", Symptom: "one rank hangs", Cause: "the rows of Set notify and wait do not match", Fix: "notify row my_rank of the peer; wait for row src of the own signal", From: "S"},
	{Row: "F5", Op: "all_to_all", Symptom: "wrong values only at P=4", Cause: "there is no barrier between the put loop and the read loop", Fix: "insert a barrier between the put loop and the read loop", From: "S"},
	{Row: "F6", Op: "any", Symptom: "every rank hangs", Cause: "every rank waits before it notifies", Fix: "issue all notifies before the first wait", From: "DBG"},
	{Row: "F7", Op: "any", Symptom: "a cell never reaches the expected value", Cause: "Set is used on a cell that several add to, and erases their credits", Fix: "use AtomicAdd, for resets too: add -N instead of setting 0", From: "DBG"},
	{Row: "F8", Op: "any", Symptom: "silent garbage", Cause: "remote offsets or shape do not equal the peer's layout", Fix: "use the same layout of the window on both sides", From: "DBG"},
	{Row: "F9", Op: "allreduce, HOST", Symptom: "the call is rejected in a loop", Cause: "the signal is omitted inside for or while", Fix: "pass a signal", From: "DBG", How: Refused},
	{Row: "F10", Op: "barrier", Symptom: "a shared or jumping cell passes early or hangs", Cause: "Set or Eq on a cell that more than one credit reaches: a later write clobbers it, an Eq is jumped over", Fix: "use AtomicAdd and Ge", From: "T09"},
	{Row: "F11", Op: "barrier", Symptom: "the second hand barrier passes at once", Cause: "the cells still satisfy Ge(1)", Fix: "reset the cells, or raise expected by one each round", From: "T09"},
	{Row: "F12", Op: "barrier", Symptom: "the signal reads zeros after the builtin", Cause: "the builtin clears its credits", Fix: "prove ordering with data, not with the signal", From: "T09", How: Elsewhere, Why: "nothing here reads a signal as data; every run checks that a credit signal ends at zero"},
	{Row: "F13", Op: "barrier", Symptom: "one rank waits forever", Cause: "the rows of notify and wait do not match", Fix: "notify row my_rank of the peer; wait for row src of the own signal", From: "T09"},
	{Row: "F14", Op: "remote_load", Symptom: "zeros, or what was there before, from a remote read", Cause: "the peer had not staged its data: there is no barrier", Fix: "stage, then a barrier, then load", From: "T10"},
	{Row: "F15", Op: "load, store, put, get", Symptom: "the shift goes in the wrong direction", Cause: "pull and push are mixed up", Fix: "pull from r+1 gives y = x[r+1]; push to r+1 gives y = x[r-1]", From: "T10, T11, T12"},
	{Row: "F16", Op: "put, get", Symptom: "the receiver reads stale data", Cause: "the handshake comes before the move has finished", Fix: "notify after the move, wait before the read", From: "T11"},
	{Row: "F17", Op: "put, get", Symptom: "a large transfer stalls or overruns", Cause: "the rules for chunks are broken", Fix: "stage at most the Unified Buffer; with pipeline=True give chunk_rows and chunk_cols (semantics 3.3)", From: "T11", How: Refused},
	{Row: "F18", Op: "ring", Symptom: "a hang or a wrong peer at rank 0", Cause: "(r-1) % P with a modulo that truncates is -1 at rank 0", Fix: "use (r-1+P) % P", From: "T12, T15"},
	{Row: "F19", Op: "get ring", Symptom: "stale data at P > 2", Cause: "the wrong neighbour was notified", Fix: "notify the rank that reads you", From: "T12"},
	{Row: "F20", Op: "allreduce mesh", Symptom: "sums contain zeros", Cause: "the barrier before the remote loads is missing", Fix: "put a barrier before remote_load", From: "T13"},
	{Row: "F21", Op: "allreduce mesh", Symptom: "correct at P=2 only", Cause: "a race that one peer hides", Fix: "test with P >= 4, and put the barrier in", From: "T13"},
	{Row: "F22", Op: "allreduce mesh", Symptom: "a huge difference", Cause: "the own slice is counted twice", Fix: "seed the sum with the own slice, then add peers only", From: "T13"},
	{Row: "F23", Op: "allreduce, reduce_scatter", Symptom: "not bit-equal to the reference", Cause: "the order of the additions", Fix: "compare with a tolerance", From: "T13-T16, T19", How: Elsewhere, Why: "no mistake: runs combine in the order of the real form, and the golden data does too"},
	{Row: "F24", Op: "allreduce two_phase", Symptom: "the allgather phase reads stale data", Cause: "both barriers are on one row of the signal", Fix: "use one row for each barrier", From: "T14"},
	{Row: "F25", Op: "allreduce two_phase", Symptom: "wrong at P >= 4", Cause: "N is not divisible by P", Fix: "choose N with N % P = 0", From: "T14", How: Refused},
	{Row: "F26", Op: "allreduce two_phase", Symptom: "a chunk is in the wrong place", Cause: "the order of the allgather phase", Fix: "chunk c comes from peer c and goes to offset c", From: "T14"},
	{Row: "F27", Op: "allreduce two_phase", Symptom: "every rank holds only its own reduced chunk", Cause: "the allgather phase is missing", Fix: "add the allgather phase", From: "T14"},
	{Row: "F28", Op: "allreduce ring", Symptom: "two handshakes share a row", Cause: "rows are reused between reduce_scatter and allgather", Fix: "reduce_scatter uses rows 0 to P-2, allgather rows P-1 to 2P-3", From: "T15"},
	{Row: "F29", Op: "allreduce ring", Symptom: "chunks in wrong positions", Cause: "the index arithmetic is off by one", Fix: "trace step 0 by hand: which segment, from which rank", From: "T15"},
	{Row: "F30", Op: "allreduce", Symptom: "a compile error about the signal's shape", Cause: "the shape belongs to the other mode", Fix: "mesh [NR,1], ring [2(NR-1),NR]", From: "T16", How: Refused},
	{Row: "F31", Op: "allreduce ring", Symptom: "the builtin is slower than the hand ring", Cause: "the builtin has a full barrier each round", Fix: "use the hand ring", From: "T16", How: Elsewhere, Why: "no mistake: compare allreduce/ring_incore with allreduce/ring_hand in a sweep over call.form"},
	{Row: "F32", Op: "allreduce", Symptom: "the result is the rank's own slice", Cause: "the returned value was not rebound", Fix: "rebind: data = allreduce(data, ...)", From: "T16", How: Elsewhere, Why: "a matter of names in the caller's program; a recorded program has buffers"},
	{Row: "F33", Op: "broadcast", Symptom: "every rank gets its own slice", Cause: "the load reads from the own rank", Fix: "read from root", From: "T17"},
	{Row: "F34", Op: "broadcast", Symptom: "data of another rank than root leaks", Cause: "root did not stage, or the window is stale", Fix: "stage on root before the barrier, and only there", From: "T17"},
	{Row: "F35", Op: "broadcast", Symptom: "root is rejected", Cause: "root is a runtime scalar or no rank", Fix: "give a compile-time int in [0, NR)", From: "T17", How: Refused},
	{Row: "F36", Op: "allgather", Symptom: "the order is wrong, or there are gaps", Cause: "the offset is not peer * SIZE", Fix: "store what peer gives at offset peer * SIZE", From: "T18"},
	{Row: "F37", Op: "allgather", Symptom: "the source is rejected", Cause: "a tile or a window was passed", Fix: "pass a plain tensor", From: "T18", How: Refused},
	{Row: "F38", Op: "allgather", Symptom: "stale data at P=4", Cause: "the barrier is missing", Fix: "put a barrier over all peers before the loads", From: "T18"},
	{Row: "F39", Op: "reduce_scatter", Symptom: "off by the own chunk", Cause: "the accumulator is seeded with zero", Fix: "load the own row first", From: "T19"},
	{Row: "F40", Op: "reduce_scatter", Symptom: "all ranks hold the same chunk", Cause: "the row is fixed to 0", Fix: "reduce row my_rank", From: "T19"},
	{Row: "F41", Op: "chain", Symptom: "the second collective passes early", Cause: "one hand signal serves two collectives and nobody resets it", Fix: "give each its own signal, reset it between the calls (repeat: between: reset), or use the self-clearing builtins", From: "T21, X-4"},
	{Row: "F42", Op: "all_to_all_v", Symptom: "tail rows are not zero, or NaN", Cause: "rows behind recv_counts are read", Fix: "read only the first recv_counts[s] rows of each partition", From: "K"},
	{Row: "F43", Op: "all_to_all_v", Symptom: "recv_counts read as 0", Cause: "the consumer has cached stale control data", Fix: "invalidate the cache at the consumer's entry", From: "K"},
	{Row: "F44", Op: "all_to_all_v", Symptom: "the geometry of partitions is wrong", Cause: "C is derived from a signal with more rows than ranks", Fix: "derive C from the rows of target and the runtime P", From: "K"},
	{Row: "F45", Op: "any with credits", Symptom: "a hang or an early pass after an aborted call", Cause: "credits are left over in the signal", Fix: "reset the windows before the next call", From: "D"},
	{Row: "F46", Op: "InCore in pl.spmd", Symptom: "the barrier opens early and transfers are repeated", Cause: "every block runs the whole collective, and the first one's notify satisfies Ge(1)", Fix: "call the collective from a single block", From: "zh 01, X-8"},
	{Row: "F47", Op: "allreduce mesh, several cores", Symptom: "silent corruption or a hang", Cause: "the signal's stride is below core_num", Fix: "use a signal with at least core_num columns", From: "K"},
	{Row: "F48", Op: "indexed_all_to_all_v", Symptom: "the run aborts", Cause: "a count, an index or a send breaks a limit of the device", Fix: "counts in [0,C], indices in [0,Nmax), 4*ceil(n/12) <= sqDepth", From: "S-60, S-66"},
	{Row: "F49", Op: "indexed_all_to_all_v, and every window", Symptom: "rows of another round in the result after reuse", Cause: "the consumer of the previous round is not ordered before the next call", Fix: "make the next call depend on the consumer; where a collective has one barrier only, put another between the calls", From: "S-83"},
	{Row: "F50", Op: "indexed_all_to_all_v", Symptom: "a corrupted send queue", Cause: "two exchanges are open on the same peer queue", Fix: "serialise them: one signal for both, or an explicit dependency", From: "S-89"},
}

// SymptomOf returns a row of the table; ok is false when there is none of that name.
func SymptomOf(row string) (s Symptom, ok bool) {
	i := slices.IndexFunc(Symptoms, func(s Symptom) bool { return s.Row == row })
	if i < 0 {
		return s, false
	}
	return Symptoms[i], true
}
