package result

import "pldperf/engine"

// Reason is what a block's program counter is blocked on. At each instant a block
// has exactly one, so a block's reasons add up to the whole elapsed time.
type Reason uint8

// The reasons, in the order in which reports show them.
const (
	Launch         Reason = iota // kernel launch and sync-start
	Scalar                       // scalar code: coalescing, loop control
	IndexCheck                   // loading and checking index
	CountRead                    // uncached reads and writes of counts
	SIMTBuild                    // SIMT lanes that write SQEs
	Doorbell                     // ringing a doorbell
	SignalIssue                  // entering a SIMT region for signals, issuing notifies
	SignalWait                   // a signal cell below what is expected
	PollOvershoot                // all there (cells, CQE), but no poll has seen it yet
	MTE2                         // issuing or waiting for loads
	MTE3                         // waiting for stores
	StageWait                    // the stage to be reused still holds an old store
	CQEWait                      // waiting for and draining CQEs
	RemoteWait                   // waiting for a synchronous remote store to drain
	Fence                        // fence, and the clearing of the own signal cells
	PipeBarrier                  // PIPE_ALL
	Vector                       // the vector unit combines tiles
	Compute                      // a compute item of a chain
	DependencyWait               // tasks that must end first, or AIVs that are taken
	Idle                         // before the rank starts or after the block has ended
	NumReasons
)

var reasonNames = [NumReasons]string{
	"launch", "scalar", "index_check", "count_read", "simt_build", "doorbell", "signal_issue",
	"signal_wait", "poll_overshoot", "mte2", "mte3", "stage_wait", "cqe_wait", "remote_wait",
	"fence", "pipe_barrier", "vector", "compute", "dependency_wait", "idle",
}

// String returns the reason's name in results and tables.
func (r Reason) String() string { return reasonNames[r] }

// Counter names one thing that runs count and formulas predict.
type Counter uint8

// The counters. All are per rank.
const (
	BytesSent     Counter = iota // payload to other ranks
	BytesReceived                // payload known to have landed here
	BytesSelf                    // payload moved within the rank
	SQEs
	SGEs
	WQEBBs
	NOPs
	Doorbells
	CQEs  // read
	Sends // growth of submittedWqeCount (S-71)
	DescriptorBytes
	IndexReads
	CountReads // remote 4-byte reads
	Notifies   // remote signal messages
	SelfAdds   // local signal adds of the epilogue
	PollsSatisfied
	PollsAttempted // one lane or TWAIT each; a sweep of a column is P-1
	Pieces         // of the stage ring
	Puts
	PutStages // stages of puts and gets through the Unified Buffer
	PipeBarriers
	Gets
	RemoteLoads  // tiles loaded from a peer
	RemoteStores // tiles stored at a peer
	Combined     // bytes of results of the vector unit
	NumCounters
)

var counterNames = [NumCounters]struct{ name, unit string }{
	{"bytes_sent", "B"}, {"bytes_received", "B"}, {"bytes_self", "B"}, {"sqes", ""}, {"sges", ""}, {"wqebbs", ""},
	{"nops", ""}, {"doorbells", ""}, {"cqes", ""}, {"sends", ""}, {"descriptor_bytes", "B"}, {"index_reads", ""},
	{"count_reads", ""}, {"notifies", ""}, {"self_adds", ""}, {"polls_satisfied", ""}, {"polls_attempted", ""},
	{"pieces", ""}, {"puts", ""}, {"put_stages", ""}, {"pipe_barriers", ""}, {"gets", ""}, {"remote_loads", ""},
	{"remote_stores", ""}, {"combined", "B"},
}

// String returns the counter's name in results and tables.
func (c Counter) String() string { return counterNames[c].name }

// Unit returns "B" for counters of bytes and "" for others.
func (c Counter) Unit() string { return counterNames[c].unit }

// Counters holds a value for each Counter.
type Counters [NumCounters]int64

// Add adds all of d.
func (c *Counters) Add(d *Counters) {
	for i := range c {
		c[i] += d[i]
	}
}

// Times holds a duration for each Reason.
type Times [NumReasons]engine.Duration

// Sum returns all of them together.
func (t *Times) Sum() (d engine.Duration) {
	for _, v := range t {
		d += v
	}
	return d
}
