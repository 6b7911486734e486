// Package hw assembles the models into a machine and runs a job on it: it starts
// each task on each rank when its dependencies have ended and AIVs are free, checks
// the data at the moment at which a consumer could read it, and turns what the
// models counted into a plain Result.
package hw

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/aiv"
	"pldperf/hw/fabric"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/ub"
	"pldperf/hw/urma"
)

// Spec describes a machine completely; configs/machines/*.yaml are Specs.
type Spec struct {
	Name     string      `yaml:"name" help:"what the machine is called in reports"`
	Title    string      `yaml:"title" help:"what the machine is, in a few words"`
	BasedOn  string      `yaml:"based_on" help:"preset whose values hold where this file gives none"`
	Platform string      `yaml:"platform" enum:"a5,a2a3" help:"generation: only a5 has SIMT and URMA for AIVs"`
	AIV      aiv.Spec    `yaml:"aiv"`
	UB       ub.Spec     `yaml:"ub"`
	URMA     urma.Spec   `yaml:"urma"`
	Memory   memory.Spec `yaml:"memory"`
	Fabric   fabric.Spec `yaml:"fabric"`
}

// Options are about how a run is done, not what it computes.
type Options struct {
	EventQueue string              // "radix" or "reference": same order, same result
	Payload    string              // "bytes", "provenance" or "auto"
	Watch      []Watch             // WQEs whose steps are wanted
	Inspect    func(*memory.Space) // called with the memory at the end
}

// Watch asks for the steps of WQEs First ... First+N-1 of the queue from Rank to Peer.
type Watch struct{ Rank, Peer, First, N int }

// bytesLimit is the largest job whose payload "auto" keeps as real bytes.
const bytesLimit = 64 << 20

type machine struct {
	spec    Spec
	job     *program.Job
	opt     Options
	eng     *engine.Engine
	mem     *memory.Space
	net     fabric.Fabric
	env     aiv.Env
	tasks   [][]taskRun // [task][rank]
	left    []int       // ranks on which a task has not ended
	ranks   []rankState
	aivs    int // AIV numbers given out
	res     *result.Result
	noted   map[string]bool
	counter [][]result.Counters // [task][rank]
	bases   []urma.Counters     // of the NICs when the first timed call began
}

// taskRun is a task on one rank.
type taskRun struct {
	state   taskState
	missing int // dependencies that have not ended
	blocks  int // blocks that have not ended
	span    result.Span
	cores   []*aiv.Core
}

type taskState uint8

const (
	waiting taskState = iota
	ready             // waits for AIVs
	running
	ended
)

type rankState struct {
	free   int   // AIVs
	queue  []int // ready tasks in order
	begun  bool
	finish engine.Time
}

// Run executes a job on a fresh machine. The error is about the job or the machine;
// everything that goes wrong during the run is in the Result.
func Run(spec Spec, job *program.Job, opt Options) (*result.Result, error) {
	m, err := build(spec, job, opt)
	if err != nil {
		return nil, err
	}
	for r := range job.Ranks {
		m.eng.At(engine.Time(offset(job.Offsets, r)), m, event(evRank, 0, r))
	}
	if err := m.eng.Run(); err != nil {
		return nil, err
	}
	return m.finish(), nil
}

func build(spec Spec, job *program.Job, opt Options) (*machine, error) {
	eng := engine.New(engine.Options{Queue: opt.EventQueue})
	m := &machine{spec: spec, job: job, opt: opt, eng: eng, noted: map[string]bool{}}
	if err := m.admit(); err != nil {
		return nil, err
	}
	net, err := fabric.New(eng, spec.Fabric, job.Ranks)
	if err != nil {
		return nil, err
	}
	m.net = net
	if err := m.allocate(); err != nil {
		return nil, err
	}
	if err := m.connect(); err != nil {
		return nil, err
	}
	m.plan()
	return m, nil
}

// admit checks every task's width against the AIVs that can start together (S-48).
func (m *machine) admit() error {
	for i := range m.job.Tasks {
		t := &m.job.Tasks[i]
		if limit := m.spec.AIV.Limit(); t.Blocks > limit {
			return fmt.Errorf("%s: core_num %d exceeds the %d AIVs that %s can start together (require_sync_start, code 7)", t.Name, t.Blocks, limit, m.spec.Name)
		}
	}
	return nil
}

// allocate places the job's buffers.
func (m *machine) allocate() error {
	var total engine.Bytes
	for _, b := range m.job.Buffers {
		if !b.Words {
			total += b.Size * engine.Bytes(m.job.Ranks)
		}
	}
	asBytes := m.opt.Payload == "bytes" || m.opt.Payload == "auto" && total <= bytesLimit
	m.mem = memory.New(m.eng, m.spec.Memory, memory.Options{Ranks: m.job.Ranks, Bytes: asBytes, Clock: m.spec.AIV.Clock})
	for i, b := range m.job.Buffers {
		fill := memory.Content(b.Fill)
		if b.Fill == nil && !b.Window && !b.Words {
			fill = memory.Unique{ID: memory.ID(i)}
		}
		if b.Fill == nil && (b.Window || b.Words) {
			fill = nil
		}
		id, err := m.mem.Alloc(memory.Buffer{Name: b.Name, Window: b.Window, Words: b.Words, Size: b.Size, Fill: fill, Table: b.Table})
		if err != nil {
			return err
		}
		m.env.Buffers = append(m.env.Buffers, id)
	}
	return nil
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
	for _, w := range m.opt.Watch {
		if w.Rank < 0 || w.Rank >= m.job.Ranks || w.Peer < 0 || w.Peer >= m.job.Ranks || w.Peer == w.Rank {
			return fmt.Errorf("no queue from rank %d to rank %d among %d ranks", w.Rank, w.Peer, m.job.Ranks)
		}
		nics[w.Rank].Watch(w.Peer, w.First, w.N)
	}
	m.env.Eng, m.env.Spec, m.env.UB, m.env.URMA = m.eng, &m.spec.AIV, &m.spec.UB, &m.spec.URMA
	m.env.Mem, m.env.Net, m.env.NICs, m.env.Ranks, m.env.Report = m.mem, m.net, nics, m.job.Ranks, m
	m.env.Signals = aiv.NewSignals(m.eng, m.mem, m.net, &m.spec.AIV, m.job.Ranks, drops)
	m.env.Links = aiv.NewLinks(m.eng, m.net, m.spec.AIV.Remote.Rate, m.job.Ranks)
	return nil
}

func (m *machine) faults() (nic []urma.Fault, drops []aiv.Drop) {
	for _, f := range m.job.Faults {
		switch f.Kind {
		case "drop_notify":
			drops = append(drops, aiv.Drop{Src: f.Src, Dst: f.Dst, Nth: f.Nth})
		default:
			nic = append(nic, urma.Fault{Kind: f.Kind, Src: f.Src, Dst: f.Dst, Nth: f.Nth, Status: uint8(f.Value)})
		}
	}
	return nic, drops
}

// plan prepares the state of every task on every rank.
func (m *machine) plan() {
	n := len(m.job.Tasks)
	m.tasks, m.left, m.counter = make([][]taskRun, n), make([]int, n), make([][]result.Counters, n)
	for i := range m.tasks {
		m.tasks[i] = make([]taskRun, m.job.Ranks)
		m.counter[i] = make([]result.Counters, m.job.Ranks)
		m.left[i] = m.job.Ranks
		t := &m.job.Tasks[i]
		for r := range m.tasks[i] {
			m.tasks[i][r].missing = len(t.After)
			if t.Barrier {
				m.tasks[i][r].missing = len(t.After) * m.job.Ranks
			}
		}
	}
	m.ranks = make([]rankState, m.job.Ranks)
	for r := range m.ranks {
		m.ranks[r].free = m.spec.AIV.Count
	}
	m.res = &result.Result{Schema: result.Schema}
	m.res.Data.Payload = "provenance"
	if m.mem.Bytes() {
		m.res.Data.Payload = "bytes"
	}
	m.initialSignals()
}

func offset(d []engine.Duration, rank int) engine.Duration {
	if rank < len(d) {
		return d[rank]
	}
	return 0
}

func (m *machine) slow(rank int) engine.Fraction {
	if rank < len(m.job.Slow) && m.job.Slow[rank] > 0 {
		return m.job.Slow[rank]
	}
	return engine.One
}
