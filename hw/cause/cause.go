// Package cause names what simulated time is spent on. Each part of a machine says of each event that it schedules what
// the time up to it goes to: a kind, the part's own place, and where one waits for somebody, the holder of what one waits
// for. The engine keeps these words and does not look into them; the path of a run, from its first launch to its last
// block's end, is made of them.
package cause

import "pldperf/engine"

// Kind is one thing that time is spent on.
type Kind uint8

// The kinds, in the order in which reports show them. Those of a block are what its program counter does; the others
// are what a block waits for. Comments say whose a cause's two numbers are.
const (
	Unknown Kind = iota
	// Of a block: the AIV, numbered by launch, and the op.
	Skew     // the rank has not begun (rank)
	Launch   // kernel launch and sync-start
	Notice   // the scheduler learns of a cell (rank)
	Compute  // a compute item
	Scalar   // scalar code
	Index    // loading and checking index
	Count    // uncached reads and writes of counts
	Build    // SIMT lanes write SQEs
	Doorbell // ringing a doorbell
	Issue    // entering a SIMT region for signals, issuing notifies
	Poll     // it is there, but no poll has seen it yet
	Drain    // reading a CQE
	Fence    // fence
	Pipe     // PIPE_ALL
	Vector   // vector unit
	// Of a block's pipes.
	MTE2    // a load's own time
	MTE3    // a store's own time
	Hop     // the endpoint of a remote access
	Remote  // the rate of remote MTE between two ranks (rank, peer)
	RemoteQ // waiting for remote MTE of another AIV (rank, peer)
	// Of memory (rank).
	HBM     // HBM or L2 is busy with others, or slower than who asks
	Latency // first byte
	// Of signals.
	SignalWire // a notify on its way (AIV, op)
	Sector     // a sector serves atomics
	// Of queues (rank, peer).
	DoorbellWire // a doorbell store on its way to the NIC
	Fetch        // the NIC reads an SQE
	EngineQ      // the NIC's engine is busy with others
	Engine       // the NIC's engine
	Gather       // the first byte of a gather
	Order        // the queue's SQE before this one
	Gap          // least time between two SQEs of a queue
	Ack          // the acknowledgement on its way back
	CQE          // the CQE is written
	Timeout      // nothing arrives
	SDMA         // start of an SDMA transfer
	SDMARate     // an SDMA channel
	SDMAQ        // an SDMA channel is busy with others
	// Of the fabric (flow, flow that holds the link).
	Wire     // latency of links and switches
	Egress   // the sender's cap or port carries this flow
	EgressQ  // it carries others
	Uplink   // the uplink or downlink of a group carries this flow
	UplinkQ  // it carries others
	Ingress  // the receiver's cap or port carries this flow
	IngressQ // it carries others

	NumKinds
)

// Group is a part of the machine, made ideal as a whole to see what it costs.
type Group uint8

// The groups.
const (
	Other Group = iota
	Start
	Core
	SIMT
	Pipes
	Memory
	Signals
	Queues
	Fabric

	NumGroups
)

var groupNames = [NumGroups]string{"other", "launch", "core", "simt", "mte", "memory", "signals", "urma", "fabric"}

// String returns the group's name in results and tables.
func (g Group) String() string { return groupNames[g] }

// place says whose the two numbers of a cause are.
type place uint8

const (
	ofBlock place = iota // the AIV by launch, the op
	ofRank               // the rank
	ofPair               // the rank, the peer
	ofFlow               // the flow, the flow that holds the link
)

var kinds = [NumKinds]struct {
	name  string
	group Group
	place place
	help  string
}{
	Unknown:      {"unknown", Other, ofRank, "a part of the model that does not say"},
	Skew:         {"skew", Start, ofRank, "the rank has not begun yet"},
	Launch:       {"launch", Start, ofBlock, "kernel launch and sync-start"},
	Notice:       {"notice", Start, ofRank, "the task scheduler learns of a signal or of a task's end"},
	Compute:      {"compute", Core, ofRank, "a compute item"},
	Scalar:       {"scalar", Core, ofBlock, "scalar code: coalescing, loop control, an API's software"},
	Index:        {"index_check", Core, ofBlock, "loading and checking index"},
	Count:        {"count_read", Core, ofBlock, "uncached reads and writes of counts"},
	Build:        {"simt_build", SIMT, ofBlock, "SIMT lanes write SQEs"},
	Doorbell:     {"doorbell", SIMT, ofBlock, "the block's part of a doorbell"},
	Issue:        {"signal_issue", SIMT, ofBlock, "entering a SIMT region for signals, issuing notifies"},
	Poll:         {"poll_overshoot", Signals, ofBlock, "what was waited for is there, but no poll has seen it yet"},
	Drain:        {"cqe_drain", Queues, ofBlock, "reading a CQE"},
	Fence:        {"fence", Core, ofBlock, "fence"},
	Pipe:         {"pipe_barrier", Pipes, ofBlock, "PIPE_ALL"},
	Vector:       {"vector", Core, ofBlock, "vector unit"},
	MTE2:         {"mte2", Pipes, ofBlock, "a load's own time in MTE2"},
	MTE3:         {"mte3", Pipes, ofBlock, "a store's own time in MTE3"},
	Hop:          {"remote_hop", Pipes, ofBlock, "the endpoint's part of a remote access"},
	Remote:       {"remote_mte", Pipes, ofPair, "the rate of remote MTE between two ranks"},
	RemoteQ:      {"remote_mte_queue", Pipes, ofPair, "remote MTE between two ranks is busy with other AIVs"},
	HBM:          {"memory_rate", Memory, ofRank, "HBM or L2 is busy with others, or slower than who asks"},
	Latency:      {"memory_latency", Memory, ofRank, "first byte of a load"},
	SignalWire:   {"signal_wire", Signals, ofBlock, "a notify on its way"},
	Sector:       {"signal_sector", Signals, ofBlock, "a sector of signal cells serves atomics one by one"},
	DoorbellWire: {"doorbell_wire", Queues, ofPair, "a doorbell on its way to the NIC"},
	Fetch:        {"wqe_fetch", Queues, ofPair, "the NIC reads an SQE"},
	EngineQ:      {"nic_engine_queue", Queues, ofPair, "the NIC's engine is busy with SQEs of other queues"},
	Engine:       {"nic_engine", Queues, ofPair, "the NIC's engine works on the SQE"},
	Gather:       {"sge_gather", Queues, ofPair, "first byte of the rows of an SQE"},
	Order:        {"queue_order", Queues, ofPair, "the queue's SQE before this one"},
	Gap:          {"wqe_gap", Queues, ofPair, "least time between two SQEs of a queue"},
	Ack:          {"ack", Queues, ofPair, "the acknowledgement on its way back"},
	CQE:          {"cqe_write", Queues, ofPair, "the CQE becomes visible"},
	Timeout:      {"timeout", Queues, ofPair, "a transport timeout"},
	SDMA:         {"sdma_start", Queues, ofPair, "start of an SDMA transfer"},
	SDMARate:     {"sdma_rate", Queues, ofPair, "the rate of an SDMA channel"},
	SDMAQ:        {"sdma_queue", Queues, ofPair, "an SDMA channel is busy with SQEs before this one"},
	Wire:         {"wire", Fabric, ofFlow, "latency of links and switches"},
	Egress:       {"egress", Fabric, ofFlow, "the sender's cap or port carries this flow"},
	EgressQ:      {"egress_queue", Fabric, ofFlow, "the sender's cap or port carries other flows"},
	Uplink:       {"uplink", Fabric, ofFlow, "the link between groups carries this flow"},
	UplinkQ:      {"uplink_queue", Fabric, ofFlow, "the link between groups carries other flows"},
	Ingress:      {"ingress", Fabric, ofFlow, "the receiver's cap or port carries this flow"},
	IngressQ:     {"ingress_queue", Fabric, ofFlow, "the receiver's cap or port carries other flows"},
}

// String returns the kind's name in results and tables.
func (k Kind) String() string { return kinds[k].name }

// Help returns a sentence on what the kind is.
func (k Kind) Help() string { return kinds[k].help }

// Group returns the part of the machine that a kind belongs to.
func (k Kind) Group() Group { return kinds[k].group }

// Waits reports whether the kind is waiting for what others hold.
func (k Kind) Waits() bool {
	switch k {
	case RemoteQ, EngineQ, SDMAQ, EgressQ, UplinkQ, IngressQ:
		return true
	}
	return false
}

// Held returns what a kind that waits is waiting for: the same, without the others.
func (k Kind) Held() Kind {
	switch k {
	case RemoteQ:
		return Remote
	case EngineQ:
		return Engine
	case SDMAQ:
		return SDMARate
	}
	return k - 1
}

// OfBlock reports whether the numbers are an AIV's, by launch, and its op's.
func (k Kind) OfBlock() bool { return kinds[k].place == ofBlock }

// OfPair reports whether the numbers are a rank and its peer.
func (k Kind) OfPair() bool { return kinds[k].place == ofPair }

// OfFlow reports whether the numbers are those of a flow and of the flow that holds the link.
func (k Kind) OfFlow() bool { return kinds[k].place == ofFlow }

// numberBits is the size of each of a cause's two numbers.
const numberBits = 28

// Why packs a cause for the engine. Numbers that are too large lose their upper bits.
func (k Kind) Why(a, b int) engine.Why {
	const mask = 1<<numberBits - 1
	return engine.Why(k)<<(2*numberBits) | engine.Why(a&mask)<<numberBits | engine.Why(b&mask)
}

// KindOf unpacks the kind alone.
func KindOf(w engine.Why) Kind { return Kind(w >> (2 * numberBits)) }

// Of unpacks what Why packed.
func Of(w engine.Why) (k Kind, a, b int) {
	const mask = 1<<numberBits - 1
	return Kind(w >> (2 * numberBits)), int(w>>numberBits) & mask, int(w) & mask
}
