package aiv

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/fabric"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/ub"
	"pldperf/hw/urma"
)

// Env is what the cores of a machine share.
type Env struct {
	Eng     *engine.Engine
	Spec    *Spec
	UB      *ub.Spec
	URMA    *urma.Spec
	Mem     *memory.Space
	Net     fabric.Fabric
	NICs    []*urma.NIC
	Signals *Signals
	Links   *Links
	Buffers []memory.ID // of the job's buffers
	Ranks   int
	Report  Reporter
}

// Reporter is told how blocks end.
type Reporter interface {
	// Ended is called when a block has executed its last op.
	Ended(c *Core)
	// Violated is called at a device-side violation; the machine then stops.
	Violated(a result.Abort)
	// Received is called when a task's payload has landed at another rank.
	Received(tag, rank int, n int64)
	// Noted records something that a person should read, once.
	Noted(text string)
}

// Core executes the program of one block.
type Core struct {
	env    *Env
	rank   int
	block  int
	blocks int
	id     uint32 // of this AIV among all of the run
	clock  engine.Hertz
	slow   engine.Fraction
	prog   *program.Program
	pc     int
	sub    int // progress within the op
	i, k   int // loop counters of the op
	wide   int64
	reason result.Reason
	since  engine.Time
	mark   engine.Time
	waits  *program.Op // the signal wait that blocks the core
	tag    int
	count  *result.Counters
	pipes  ub.Pipes
	ring   ub.Ring
	rows   pieces
	put    transfer
	sges   []urma.SGE
	Acct   result.Block
	// BarrierExit is when the last signal wait was satisfied.
	BarrierExit engine.Time
}

// Events of a core.
const (
	evResume  = iota // the op goes on
	evLoaded         // a transfer's load has ended
	evLanded         // a transfer's last byte is there
	evIssued         // the ring has started its last load
	evEmptied        // the ring's last load has ended
	evIdle           // the ring's last store is visible
)

// Task is what a core needs to know of the task that it works for.
type Task struct {
	Rank, Block, Blocks int
	ID                  uint32 // of this AIV among all of the run
	Tag                 int    // the task's number
	Slow                engine.Fraction
	Program             *program.Program
	Counters            *result.Counters
	Start               engine.Time // from which the account runs
}

// Start launches a block: its program begins at begin.
func (c *Core) Start(env *Env, t Task, begin engine.Time) {
	*c = Core{
		env: env, rank: t.Rank, block: t.Block, blocks: t.Blocks, id: t.ID, slow: t.Slow, tag: t.Tag,
		clock: env.Spec.Clock, prog: t.Program, count: t.Counters, since: t.Start, reason: result.Launch,
		ring: c.ring, sges: c.sges[:0],
	}
	c.Acct = result.Block{Call: t.Tag, Rank: t.Rank, Block: t.Block, Start: t.Start}
	c.pipes.Init(env.UB, env.Mem, env.Spec.Clock, t.Slow)
	env.Eng.At(begin, c, evResume)
}

// Handle implements engine.Handler.
func (c *Core) Handle(arg uint64) {
	switch arg {
	case evResume:
		c.run()
	case evLoaded:
		c.loaded()
	case evLanded:
		c.landed()
	case evIssued:
		c.rowsIssued()
	case evEmptied:
		c.rowsEmptied()
	case evIdle:
		c.rowsIdle()
	}
}

// run executes ops until one takes time.
func (c *Core) run() {
	for c.pc < len(c.prog.Ops) {
		op := &c.prog.Ops[c.pc]
		if !c.exec(op) {
			return
		}
		c.env.Eng.Progress()
		c.pc++
		c.sub, c.i, c.k = 0, 0, 0
	}
	c.end()
}

// exec goes on with an op and reports whether it is over; if it is not, an event
// will call run again. Each op keeps its place in c.sub and its loop in c.i.
func (c *Core) exec(op *program.Op) bool {
	switch op.Kind {
	case program.Put:
		return c.execPut(op)
	case program.CopyTile:
		return c.execCopy(op)
	case program.NotifyPeers:
		return c.execNotify(op)
	case program.WaitPeers:
		return c.execWait(op)
	case program.AddPeers:
		return c.execAdd(op)
	case program.PullCounts:
		return c.execPull(op.Rows)
	case program.CheckCounts:
		return c.execCheck(op.Rows)
	case program.SendOwned:
		return c.execSend(op.Rows)
	case program.CopyRows:
		return c.execRows(op)
	case program.DrainRows:
		return c.execDrain()
	case program.PollOwned:
		return c.execPoll(op.Rows)
	case program.Fence:
		return c.once(result.Fence, c.env.Spec.FenceTime)
	case program.PipeBarrier:
		c.count[result.PipeBarriers] += int64(1 - c.sub)
		return c.once(result.PipeBarrier, c.env.Spec.PipeBarrier)
	case program.Return:
		c.env.Report.Noted(op.Note)
		c.pc = len(c.prog.Ops)
		return true
	}
	panic(fmt.Sprintf("aiv: no op %d", op.Kind))
}

// once spends d in the op's only step.
func (c *Core) once(r result.Reason, d engine.Duration) bool {
	c.sub++
	return c.sub > 1 || c.spend(r, d)
}

// spend blocks the core for d, longer on a slow rank. It reports true, and takes no
// event, when d is zero.
func (c *Core) spend(r result.Reason, d engine.Duration) bool { return c.pause(r, d.Scale(c.slow)) }

// pause is spend for a time that does not depend on the core's own speed.
func (c *Core) pause(r result.Reason, d engine.Duration) bool {
	c.turn(r)
	if d == 0 {
		return true
	}
	c.env.Eng.After(d, c, evResume)
	return false
}

// turn charges the time so far to the present reason and begins the next.
func (c *Core) turn(r result.Reason) { c.turnAt(c.env.Eng.Now(), r) }

func (c *Core) turnAt(t engine.Time, r result.Reason) {
	c.Acct.Time[c.reason] += t.Sub(c.since)
	c.since, c.reason = t, r
}

func (c *Core) end() {
	c.turn(result.Idle)
	c.Acct.End = c.env.Eng.Now()
	c.Acct.MTE2, c.Acct.MTE3, c.Acct.Overlap = c.pipes.Busy()
	c.prog = nil
	c.env.Report.Ended(c)
}

// Close charges the time until the end of the run, which the block spent idle.
func (c *Core) Close(t engine.Time) { c.turnAt(t, result.Idle) }

// Rank, Block and Tag tell whose core this is.
func (c *Core) Rank() int { return c.rank }

// Block returns the core's number within its task.
func (c *Core) Block() int { return c.block }

// Tag returns the number of the task that the core works for.
func (c *Core) Tag() int { return c.tag }

// Running reports whether the core has a program that is not over.
func (c *Core) Running() bool { return c.prog != nil }

// buf returns the machine's name of a job's buffer.
func (c *Core) buf(b program.Buf) memory.ID { return c.env.Buffers[b] }

// violate ends the run as the real kernel would abort it.
func (c *Core) violate(what string, value, limit int64, format string, args ...any) bool {
	op := "end"
	if c.pc < len(c.prog.Ops) {
		op = c.prog.Ops[c.pc].Kind.String()
	}
	c.env.Report.Violated(result.Abort{
		Time: c.env.Eng.Now(), Rank: c.rank, Block: c.block, Op: op, What: what,
		Value: value, Limit: limit, Text: fmt.Sprintf(format, args...),
	})
	return false
}

// Waiting describes what the core is blocked on, for a deadlock.
func (c *Core) Waiting() result.Waiting {
	w := result.Waiting{Rank: c.rank, Block: c.block, Since: c.since}
	if c.pc >= len(c.prog.Ops) {
		return w
	}
	op := &c.prog.Ops[c.pc]
	w.Op = fmt.Sprintf("%s (op %d, phase %s)", op.Kind, c.pc, op.Phase)
	if c.waits == nil {
		w.Missing = "no event will come"
		return w
	}
	id, col := c.buf(op.Signal), int(op.Col.At(c.rank, c.block))
	row, value, want := c.env.Signals.short(c.rank, id, col)
	w.Cell = fmt.Sprintf("%s[%d,%d]", c.env.Mem.Buffer(id).Name, row, col)
	w.Value, w.Expected = int64(value), int64(want)
	w.Missing = fmt.Sprintf("a notify from rank %d to column %d", row, col)
	return w
}
