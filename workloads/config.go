// Package workloads turns YAML into runs: a machine (a preset with overrides), the
// calls of a chain, the routing of their rows, skew and faults become a job for the
// machine; a sweep varies any of their fields. Everything that is wrong with a file
// is reported at once, where it stands in the file.
package workloads

import (
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/workloads/routing"
)

// Config is a workload file.
type Config struct {
	Title   string         `yaml:"title" help:"what the workload is, in a few words"`
	Machine MachineConfig  `yaml:"machine" required:"true" help:"a preset's name, or a section with preset and overrides"`
	Ranks   int            `yaml:"ranks" required:"true" min:"2" max:"4096" help:"P, NPUs of the communication domain"`
	Model   string         `yaml:"model" help:"MoE model whose hidden size and routing hold where none are given, such as deepseek-v3"`
	Call    CallConfig     `yaml:"call" help:"the one call of a workload without a chain"`
	Routing routing.Spec   `yaml:"routing" help:"who sends which rows to whom (indexed_all_to_all_v, all_to_all_v, moe)"`
	Repeat  RepeatConfig   `yaml:"repeat" help:"the call again on the same windows"`
	Chain   []ItemConfig   `yaml:"chain" help:"several calls and computations instead of one call"`
	Skew    SkewConfig     `yaml:"skew" help:"ranks that start late or run slowly"`
	Payload string         `yaml:"payload_as" enum:"auto,bytes,provenance" default:"auto" help:"how payload is kept: real bytes, or where each byte came from; auto: bytes when they are few"`
	Faults  []FaultConfig  `yaml:"faults" help:"failures to inject"`
	Signals []SignalConfig `yaml:"signals" help:"signal cells that do not start at zero"`

	dir   string                         // of the file, for files that it names
	noted func(name string, data []byte) // told of each file that it names; nil: nobody
	thin  bool                           // draw few rows: only the programs are wanted
}

// MachineConfig is the machine of a workload.
type MachineConfig struct {
	Preset  string `yaml:"preset" help:"name of a machine preset, or a file"`
	hw.Spec `yaml:",inline"`
}

// CallConfig is one use of a collective.
type CallConfig struct {
	Op        string            `yaml:"op" help:"collective or primitive; pldperf cost lists them with their forms"`
	Form      string            `yaml:"form" help:"how it is written: by hand, as an InCore composite, as a HOST builtin ..."`
	CoreNum   int               `yaml:"core_num" help:"B, AIVs that the call launches on a rank, where the form takes it"`
	DType     string            `yaml:"dtype" enum:"FP32,FP16,BF16,INT32,INT16,INT8" help:"element type"`
	Hidden    int               `yaml:"hidden" min:"0" help:"H, elements of a row (indexed_all_to_all_v, all_to_all_v, moe)"`
	Size      int               `yaml:"size" min:"0" help:"SIZE, elements of a chunk, a row or a whole vector, as the operation says"`
	Rows      int               `yaml:"rows" min:"0" help:"rows of size elements (primitives, micro local_load, local_add, mte_rows)"`
	Reduce    string            `yaml:"reduce" enum:"Sum,Max,Min,Prod" default:"Sum" help:"how elements are combined (allreduce, reduce_scatter)"`
	Root      int               `yaml:"root" min:"0" help:"rank whose data all get (broadcast)"`
	Capacity  int               `yaml:"capacity" min:"0" help:"C, rows of a partition (all_to_all_v); default: what the routing needs"`
	Epochs    int               `yaml:"epochs" min:"0" max:"100000" help:"barriers in a row (barrier, micro core_barrier); default 1"`
	Message   engine.Bytes      `yaml:"message" help:"bytes that a rank gives to each rank, instead of size or routing rows"`
	ChunkRows int               `yaml:"chunk_rows" min:"0" help:"rows of a put's or get's stage; 0 is all"`
	Pipeline  bool              `yaml:"pipeline" help:"two stages: the load of one overlaps the store of the other (put, get)"`
	Atomic    bool              `yaml:"atomic" help:"add to what is there instead of overwriting it (put, remote_store)"`
	Wire      string            `yaml:"wire" enum:"v0,v1,v2,v3,v4" default:"v4" help:"all_to_all_v: which version of the protocol"`
	Mistake   string            `yaml:"mistake" help:"an error to make on purpose, to see what it looks like"`
	WhatIf    bool              `yaml:"what_if" when:"transport" help:"allow a transport that the real operator lacks; the card says so"`
	Chunk     int               `yaml:"chunk_cols" min:"0" help:"elements of a put's stage; 0 is the whole chunk"`
	Signal    int               `yaml:"signal_columns" min:"0" max:"1024" help:"S, columns of the signal window; default core_num"`
	Kinds     map[string]string `yaml:"kinds" help:"operand: window or tensor, where not the default"`
	Same      map[string]string `yaml:"same" help:"operand: another operand whose buffer it is, to see the error"`
	Piece     string            `yaml:"piece" enum:"bytes,rows" default:"bytes" help:"self path: cut intervals at the stage size, or at rows where they fit"`
	Split     string            `yaml:"split" enum:"floor,front" default:"floor" help:"self path: block b takes rows floor(b*n/B) on, or the first blocks one more each"`
	Drain     string            `yaml:"drain" enum:"before_cqe,after_cqe" default:"before_cqe" help:"self path: when the stage ring is drained"`
	Transport string            `yaml:"transport" enum:"mte,urma,sdma" help:"what carries payload between ranks; default: the real operator's"`
	Queues    string            `yaml:"queues" enum:"per_peer,shared_pool" default:"per_peer" help:"only per_peer is supported"`
	Software  SoftwareConfig    `yaml:"software" help:"what an API spends on top of the hardware's part (micro)"`
	WQEs      int               `yaml:"wqes" min:"0" max:"32768" help:"WQEs to one peer (micro wqe_issue, rdma_write, hcomm_get); default 1"`
	WQESGEs   int               `yaml:"wqe_sges" min:"0" max:"12" help:"SGEs of each of them; default 1"`
	FlushEach int               `yaml:"flush_every" min:"0" help:"WQEs after which their CQEs are read (micro hcomm_get); default all"`
	Commit    string            `yaml:"commit" enum:"immediate,last" default:"immediate" help:"a doorbell for each WQE, or one for all (micro wqe_issue)"`
	Grid      int               `yaml:"grid" min:"0" max:"65536" help:"blocks of the kernel, which can be more than AIVs (micro launch); default 1"`
	Shared    int               `yaml:"shared" min:"0" max:"64" help:"messages of a token to shared experts, dealt over the ranks (micro ep_dispatch, ep_combine)"`
	Passes    int               `yaml:"passes" min:"0" max:"1000" help:"times that the matrix is loaded (micro local_load); default 1"`
	Slices    int               `yaml:"slices" min:"0" max:"65536" help:"parts of the matrix that are loaded in all passes before the next (micro local_load); default 1"`
	Ops       int               `yaml:"ops" min:"0" max:"2048" help:"SIMT lanes of an AIV, each of which adds once (micro atomic_storm); default 1"`
	Targets   int               `yaml:"targets" min:"0" max:"16777216" help:"words that are added to (micro atomic_storm); default 1"`
	Apart     int               `yaml:"target_bytes" min:"0" max:"8" help:"how far those words are apart, 4 or 8; default 4 (micro atomic_storm)"`
	Returns   bool              `yaml:"returns" help:"each lane gets the old value (micro atomic_storm)"`
	ReadBack  *bool             `yaml:"read_back" help:"all_to_all: include the caller's read-back; default true"`
}

// SoftwareConfig is the time of an API's software, by its version.
type SoftwareConfig struct {
	First engine.Duration `yaml:"first" help:"once for a batch of puts and its flush"`
	Put   engine.Duration `yaml:"put" help:"for each put"`
	Take  engine.Duration `yaml:"take" help:"for each row that is taken from a window (micro ep_dispatch, ep_combine)"`
	Rate  engine.Rate     `yaml:"rate" help:"at which a put's payload holds up the thread that posts, where both are in one memory (micro rdma_write); 0: not at all"`
}

// RepeatConfig calls an item several times on the same windows.
type RepeatConfig struct {
	Count   int    `yaml:"count" min:"0" max:"10000" help:"timed calls; default 1"`
	Warmup  int    `yaml:"warmup" min:"0" max:"1000" help:"calls before them that are not timed"`
	Between string `yaml:"between" enum:"none,barrier,reset" default:"barrier" help:"what separates two calls: nothing, a barrier of all ranks, or that and zeroed windows"`
	Same    bool   `yaml:"same_input" help:"do not rewrite the inputs between calls"`
	Reroute bool   `yaml:"reroute" help:"draw a new routing for each call, from the next seed"`
}

// ItemConfig is one element of a chain.
type ItemConfig struct {
	Name    string         `yaml:"name" required:"true" help:"for after, reads, writes and signal of other items"`
	Call    *CallConfig    `yaml:"call" help:"a collective or primitive"`
	Routing *routing.Spec  `yaml:"routing" when:"call" help:"default: the workload's"`
	Compute *ComputeConfig `yaml:"compute" help:"work between calls"`
	After   []string       `yaml:"after" help:"items that must end first"`
	Signal  string         `yaml:"signal" when:"call" help:"item whose signal this call shares: an InOut dependency"`
	Window  string         `yaml:"window" when:"call" help:"item whose target this call writes, too: an InOut dependency"`
	Kernel  string         `yaml:"kernel" when:"call" help:"items with the same kernel are one program in one launch; hand and InCore forms"`
	Repeat  RepeatConfig   `yaml:"repeat" help:"the call again on the same windows"`
}

// ComputeConfig is work between calls.
type ComputeConfig struct {
	Time   engine.Duration `yaml:"time" required:"true" help:"how long it takes"`
	Blocks int             `yaml:"blocks" min:"0" help:"AIVs that it occupies; default 1"`
	Reads  []string        `yaml:"reads" help:"calls whose result it consumes"`
	Writes []string        `yaml:"writes" help:"calls whose input it produces"`
}

// SkewConfig makes ranks unequal in time.
type SkewConfig struct {
	Offsets []engine.Duration `yaml:"offsets" help:"when each rank starts; a shorter list leaves the rest at 0"`
	Random  engine.Duration   `yaml:"random" help:"each rank starts at a random time up to this"`
	Seed    uint64            `yaml:"seed" when:"random" help:"of the random starts"`
	Slow    []engine.Fraction `yaml:"slow" help:"factor on the AIV time of each rank; 100 % is nominal"`
}

// FaultConfig is a failure to inject.
type FaultConfig struct {
	Kind   string `yaml:"kind" enum:"cqe_status,dead_link,drop_notify" required:"true" help:"cqe_status: a CQE with an error; dead_link: nothing passes; drop_notify: a notify is lost"`
	Src    int    `yaml:"src" min:"0" help:"rank that sends"`
	Dst    int    `yaml:"dst" min:"0" help:"rank that receives"`
	Nth    int    `yaml:"nth" when:"kind=cqe_status|drop_notify" min:"0" help:"which CQE or notify of the pair, from 0"`
	Status int    `yaml:"status" when:"kind=cqe_status" min:"0" max:"255" help:"cqe_status: the status; default 1"`
}

// SignalConfig gives a signal cell a value before the first call.
type SignalConfig struct {
	Item  string `yaml:"item" when:"^chain" help:"of a chain"`
	Rank  int    `yaml:"rank" min:"0" help:"whose cell it is"`
	Row   int    `yaml:"row" min:"0" help:"row of the signal: the source"`
	Col   int    `yaml:"col" min:"0" help:"column of the signal"`
	Value int    `yaml:"value" help:"what it holds before the first call"`
}
