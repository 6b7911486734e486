// Package hw assembles the models into a machine and runs a job on it: it starts
// each task on each rank when its dependencies have ended and AIVs are free, checks
// the data at the moment at which a consumer could read it, and turns what the
// models counted into a plain Result.
package hw

import (
	"pldperf/engine"
	"pldperf/hw/aiv"
	"pldperf/hw/cause"
	"pldperf/hw/fabric"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/sdma"
	"pldperf/hw/timeline"
	"pldperf/hw/ub"
	"pldperf/hw/urma"
)

// Spec describes a machine completely; configs/machines/*.yaml are Specs.
type Spec struct {
	Name     string      `yaml:"name" help:"what the machine is called in reports"`
	Title    string      `yaml:"title" help:"what the machine is, in a few words"`
	BasedOn  string      `yaml:"based_on" help:"preset whose values hold where this file gives none"`
	Platform string      `yaml:"platform" enum:"a5,a2a3" help:"generation: only a5 has SIMT and URMA for AIVs"`
	Family   string      `yaml:"family" help:"hardware that measurements of one machine of it stand for; those of another family say nothing about it"`
	AIV      aiv.Spec    `yaml:"aiv" help:"the vector cores of a rank"`
	UB       ub.Spec     `yaml:"ub" help:"the Unified Buffer of an AIV and the pipes MTE2 and MTE3"`
	URMA     urma.Spec   `yaml:"urma" help:"send queues and NIC engine of a rank"`
	SDMA     sdma.Spec   `yaml:"sdma" help:"the system DMA of a rank"`
	Memory   memory.Spec `yaml:"memory" help:"HBM and L2 of a rank"`
	Fabric   fabric.Spec `yaml:"fabric" help:"what connects the ranks"`
}

// Options are about how a run is done, not what it computes. The zero value is the
// default.
type Options struct {
	EventQueue string              // "radix" (default) or "reference": same order, same result
	Payload    string              // "bytes", "provenance" or "auto" (default): bytes when they are few
	Watch      []Watch             // WQEs whose steps are wanted
	Inspect    func(*memory.Space) // called with the memory at the end
	Cells      CellFunc            // called at every change of a signal cell
	Ties       uint64              // seed of another order of what happens at one instant; 0: that of scheduling
	Timeline   timeline.Sink       // is told what every part does over time, if not nil
	Path       string              // what the elapsed time was spent on: "on", "off", "parts" (no list of steps) or "auto" (default): unless the run is large
	Progress   func(Progress)      // is told from time to time how far the run is, if not nil
	Hazards    string              // "on", "off" or "auto" (default): on unless the run is large
}

// A CellFunc is told that a signal cell of a rank (row * columns + column) has a new value.
type CellFunc func(rank int, buf program.Buf, cell int, value int32)

// Progress is how far a run is.
type Progress struct {
	Now    engine.Time
	Events uint64
	Moved  engine.Bytes // payload sent or kept by calls that is where it should be: BytesSent and BytesSelf of all ranks in the end
}

// Watch asks for the steps of WQEs First ... First+N-1 of the queue from Rank to Peer.
type Watch struct{ Rank, Peer, First, N int }

// bytesLimit is the largest job whose payload "auto" keeps as real bytes.
const bytesLimit = 1 << 20

type machine struct {
	spec     Spec
	job      *program.Job
	opt      Options
	eng      *engine.Engine
	mem      *memory.Space
	net      fabric.Fabric
	env      aiv.Env
	tasks    [][]taskRun // [task][rank]
	next     [][]int     // [task] tasks that wait for it
	first    []int       // [task] its first account in res.Blocks, or -1
	ranks    []rankState
	launched int         // AIVs started so far
	idle     []*aiv.Core // that can be started again
	timed    []result.Counters
	untimed  []result.Counters
	res      *result.Result
	noted    map[string]bool
	line     *timeline.Recorder // nil: nobody watches
	shown    []timeline.Call    // the tasks as it knows them
	births   []birth            // AIVs in the order of launch, while there is a record
	last     engine.Point       // the end of the timed call that ended last
}

// taskRun is a task on one rank.
type taskRun struct {
	state   taskState
	asked   bool // its deferred wait is registered
	missing int  // dependencies that have not ended
	blocks  int  // blocks that have not ended
	span    result.Span
	begun   engine.Time       // when the launch was over
	cores   []*aiv.Core       // by block, while the task runs
	shown   []*timeline.Block // of a compute item, while it runs
}

type taskState uint8

const (
	waiting taskState = iota
	ready             // waits for AIVs
	running
	ended
)

type rankState struct {
	free  int   // AIVs
	queue []int // ready tasks in order
	here  bool  // it has begun
}

// Run executes a job on a fresh machine. The error is about the job or the machine;
// everything that goes wrong during the run is in the Result.
func Run(spec Spec, job *program.Job, opt Options) (*result.Result, error) {
	if err := check(&spec, job, &opt); err != nil {
		return nil, err
	}
	m := &machine{spec: spec, job: job, opt: opt, noted: map[string]bool{}, res: &result.Result{Schema: result.Schema}}
	sim := engine.Options{Queue: opt.EventQueue, Ties: opt.Ties}
	if opt.Progress != nil {
		sim.Sample = func() { opt.Progress(m.progress()) }
	}
	m.eng = engine.New(sim)
	if err := m.build(); err != nil {
		return nil, err
	}
	m.record()
	defer m.eng.Forget()
	m.eng.Keep(&m.last)
	for r := range job.Ranks {
		m.eng.Because(cause.Skew.Why(r, 0))
		m.eng.At(m.arrival(r), m, event(evRank, 0, r))
	}
	if err := m.eng.Run(); err != nil {
		return nil, err
	}
	return m.finish(), nil
}

// progress counts as conserve does, though bytes may still be on their way.
func (m *machine) progress() Progress {
	return Progress{m.eng.Now(), m.eng.Events(), engine.Bytes(m.mem.Landed() - m.env.Copied + m.env.Tiled)}
}

func (m *machine) build() error {
	net, err := fabric.New(m.eng, m.spec.Fabric, m.job.Ranks)
	if err != nil {
		return err
	}
	m.net = net
	if err := m.allocate(); err != nil {
		return err
	}
	if err := m.connect(); err != nil {
		return err
	}
	m.show()
	m.checkHazards()
	m.plan()
	m.suspectSignals()
	return nil
}

// allocate places the job's buffers.
func (m *machine) allocate() error {
	m.mem = memory.New(m.eng, m.spec.Memory, memory.Options{Ranks: m.job.Ranks, Bytes: m.asBytes(), Clock: m.spec.AIV.Clock})
	m.res.Data.Payload = "provenance"
	if m.mem.Bytes() {
		m.res.Data.Payload = "bytes"
	}
	for i, b := range m.job.Buffers {
		var fill memory.Content
		if b.Fill != nil {
			fill = b.Fill
		} else if !b.Window && !b.Words {
			fill = memory.Unique{ID: memory.ID(i)}
		}
		id, err := m.mem.Alloc(memory.Buffer{Name: b.Name, Window: b.Window, Words: b.Words, Size: b.Size, Fill: fill, Table: b.Table})
		if err != nil {
			return err
		}
		m.env.Buffers = append(m.env.Buffers, id)
	}
	return nil
}

func (m *machine) asBytes() bool {
	if m.job.Computes() {
		return true
	}
	if m.opt.Payload != "" && m.opt.Payload != "auto" {
		return m.opt.Payload == "bytes"
	}
	var total engine.Bytes
	for _, b := range m.job.Buffers {
		if !b.Words {
			total += b.Size * engine.Bytes(m.job.Ranks)
		}
	}
	return total <= bytesLimit
}

// connect makes the parts that move data.
func (m *machine) connect() error {
	faults, drops := m.faults()
	nics := make([]*urma.NIC, m.job.Ranks)
	for r := range nics {
		n, err := urma.New(m.eng, m.spec.URMA, m.mem, m.net, r, faults)
		if err != nil {
			return err
		}
		nics[r] = n
	}
	dmas := make([]*sdma.DMA, m.job.Ranks)
	for r := range dmas {
		dmas[r] = sdma.New(m.eng, m.spec.SDMA, m.mem, m.net, r)
	}
	for _, w := range m.opt.Watch {
		nics[w.Rank].Watch(w.Peer, w.First, w.N)
	}
	signals := aiv.NewSignals(m.eng, m.mem, m.net, &m.spec.AIV, m.job.Ranks, drops)
	if m.opt.Cells != nil {
		signals.Probe(func(rank int, id memory.ID, cell int, value int32) { m.opt.Cells(rank, program.Buf(id), cell, value) })
	}
	m.env = aiv.Env{
		Eng: m.eng, Spec: &m.spec.AIV, UB: &m.spec.UB, URMA: &m.spec.URMA, Mem: m.mem, Net: m.net, NICs: nics, SDMA: &m.spec.SDMA, DMAs: dmas,
		Signals: signals, Links: aiv.NewLinks(m.eng, m.net, &m.spec.AIV.Remote, m.job.Ranks),
		Buffers: m.env.Buffers, Ranks: m.job.Ranks, Report: m,
	}
	return nil
}

func (m *machine) faults() (nic []urma.Fault, drops []aiv.Drop) {
	for _, f := range m.job.Faults {
		if f.Kind == "drop_notify" {
			drops = append(drops, aiv.Drop{Src: f.Src, Dst: f.Dst, Nth: f.Nth})
		} else {
			nic = append(nic, urma.Fault{Kind: f.Kind, Src: f.Src, Dst: f.Dst, Nth: f.Nth, Status: uint8(f.Value)})
		}
	}
	return nic, drops
}

// arrival returns when a rank begins.
func (m *machine) arrival(rank int) engine.Time {
	if rank < len(m.job.Offsets) {
		return engine.Time(m.job.Offsets[rank])
	}
	return 0
}

// slow returns the factor on a rank's AIV time.
func (m *machine) slow(rank int) engine.Fraction {
	if rank < len(m.job.Slow) && m.job.Slow[rank] > 0 {
		return m.job.Slow[rank]
	}
	return engine.One
}
