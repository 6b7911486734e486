package aiv

import (
	"fmt"

	"pldperf/engine"
	"pldperf/hw/cause"
	"pldperf/hw/fabric"
	"pldperf/hw/hazard"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/sdma"
	"pldperf/hw/timeline"
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
	SDMA    *sdma.Spec
	DMAs    []*sdma.DMA
	Signals *Signals
	Links   *Links
	Buffers []memory.ID // of the job's buffers
	Ranks   int
	Report  Reporter
	Hazards *hazard.Checker // nil: nobody looks for hazards
	meets   map[place]*meeting
	Copied  int64 // bytes that copies and stores of tiles have put into the own memory, in all
	Tiled   int64 // bytes that remote loads have brought into tiles, in all
}

// Reporter is told how blocks end.
type Reporter interface {
	// Ended is called when a block has executed its last op.
	Ended(c *Core)
	// Violated is called at a device-side violation; the machine then stops.
	Violated(a result.Abort)
	// Received is called when n bytes of a task's payload are known to have landed at
	// another rank: at the landing of a put, or when the CQE of a send is read.
	Received(tag, rank int, n int64)
	// Served is called when a peer asks a rank for n bytes of a task's payload.
	Served(tag, rank int, n int64)
	// Noted records something that a person should read, once.
	Noted(text string)
}

// Task is what a core needs to know of the task that it works for.
type Task struct {
	Rank, Block, Blocks int
	ID                  uint32 // of this AIV among all of the run; 0 is nobody
	Tag                 int    // the task's number
	Slow                engine.Fraction
	Line                *timeline.Block // nil: nobody watches
	Program             *program.Program
	Counters            *result.Counters
	Start               engine.Time // from which the account runs
}

// Core executes the program of one block.
type Core struct {
	Task Task
	// Acct is the block's account; the present reason's time is added when it ends.
	Acct result.Block
	// BarrierExit is when the last signal wait was satisfied.
	BarrierExit engine.Time

	env    *Env
	watch  *hazard.Thread  // nil: nobody looks for hazards
	line   *timeline.Block // nil: nobody watches
	here   program.Here
	loops  [program.MaxLoops]loop // around the op, the outer one first
	depth  int
	pc     int
	step   int         // place within the op
	peer   int         // loop of the op over sources or destinations
	row    int         // SendOwned: first row of the next segment
	sq     *urma.Queue // to peer, in SendOwned and PollOwned
	reason result.Reason
	since  engine.Time // from which reason holds
	wait   wait
	polled engine.Time // PollOwned: when polling for the CQE began
	shown  engine.Time // when the last uncached write can be seen
	pipes  ub.Pipes
	ring   ub.Ring
	tail   ringTail
	rows   pieces
	put    transfer
	remote request
	tiles  [program.MaxTiles]memory.Data
	sges   []urma.SGE

	carried carriage
	stream  stream
	moves   []sdma.Move // of its batch

	flights []*flight
	flying  int  // remote stores that the core does not know to be over
	fenced  bool // and it waits for them

	holder   int // rank that it waits for, while there is a record
	notifier int // rank whose notify was the last that it waited for, or -1
	last     int // rank at which its last remote store landed
}

// loop is a Loop that a core is in.
type loop struct {
	first, last int // ops of the body: [first, last)
	count       int64
}

// Events of a core: a kind in the low bits, and for evFlight a number above them.
const (
	evResume  = iota // the op goes on
	evLoaded         // a piece of a transfer is in the Unified Buffer
	evLanded         // the last byte of a piece is at its place
	evStored         // the drain knows of a piece
	evRead           // the request of a remote load is at the peer
	evArrived        // the fabric has brought its last byte
	evIssued         // the ring has started its last load
	evEmptied        // the ring's last load has ended
	evIdle           // the ring's last store is visible
	evFlight         // a remote store is there, or known to be
	evTile           // a Stream can load its next tile
	evWorked         // its oldest tile has been worked on
	evFreed          // its oldest buffer to store is free again

	evBits = 8
)

// Start launches a block: its program begins at begin. A core that has ended can be
// started again, and reuses its storage.
func (c *Core) Start(env *Env, t Task, begin engine.Time) {
	if c.env == nil {
		env.Eng.Keep(&c.wait.from)
	}
	for i := range c.tiles {
		c.tiles[i].Reset()
	}
	*c = Core{
		env: env, Task: t, line: t.Line, since: t.Start, reason: result.Launch, here: program.Here{Rank: t.Rank, Block: t.Block},
		ring: c.ring, put: transfer{data: c.put.data}, tiles: c.tiles, sges: c.sges[:0], moves: c.moves[:0], flights: c.flights, stream: stream{data: c.stream.data},
	}
	c.Acct = result.Block{Call: t.Tag, Rank: t.Rank, Block: t.Block, Start: t.Start}
	c.watch = env.Hazards.Launch(t.Tag, t.Rank, t.Block, t.Program)
	c.pipes.Init(env.Eng, t.ID, env.UB, env.Mem, env.Spec.Clock, t.Slow)
	c.pipes.Watch(t.Line)
	env.Eng.Because(cause.Launch.Why(int(t.ID), 0))
	env.Eng.At(begin, c, evResume)
}

// Handle implements engine.Handler.
func (c *Core) Handle(arg uint64) {
	switch arg & (1<<evBits - 1) {
	case evResume:
		c.run()
	case evLoaded:
		c.pieceLoaded()
	case evLanded:
		c.landed()
	case evStored:
		c.pieceStored()
	case evRead:
		c.read()
	case evArrived:
		c.arrived()
	case evFlight:
		c.flown(int(arg >> evBits))
	case evIssued:
		c.rowsIssued()
	case evEmptied:
		c.rowsEmptied()
	case evIdle:
		c.rowsIdle()
	case evTile:
		c.loadTiles()
	case evWorked:
		c.tileWorked()
	case evFreed:
		c.tileFreed()
	}
}

// run executes ops until one takes time.
func (c *Core) run() {
	for c.pc < len(c.Task.Program.Ops) {
		c.watch.Begin(c.pc, &c.here)
		if !c.exec(&c.Task.Program.Ops[c.pc]) {
			return
		}
		c.watch.Over(&c.here)
		c.env.Eng.Progress()
		c.pc++
		c.step = 0
		c.turnLoops()
	}
	if c.drainedStores() { // as the end of a kernel does
		c.end()
	}
}

// turnLoops goes back to the start of the loops whose end the core has reached, if
// they are not over.
func (c *Core) turnLoops() {
	for c.depth > 0 && c.pc >= c.loops[c.depth-1].last {
		l, i := &c.loops[c.depth-1], &c.here.Loop[c.depth-1]
		if *i++; *i < l.count && c.pc == l.last {
			c.pc = l.first
			return
		}
		*i = 0
		c.depth--
	}
}

// execLoop enters a loop, or passes by one of no iterations.
func (c *Core) execLoop(op *program.Op) bool {
	n := op.Count.At(&c.here)
	if n <= 0 {
		c.pc += op.Skip
		return true
	}
	c.loops[c.depth] = loop{first: c.pc + 1, last: c.pc + 1 + op.Skip, count: n}
	c.depth++
	return true
}

// exec goes on with an op and reports whether it is over; if it is not, an event
// will call run again. Each op keeps its place in c.step, which starts at 0.
func (c *Core) exec(op *program.Op) bool {
	switch op.Kind {
	case program.Put:
		return c.execPut(op)
	case program.Get:
		return c.execGet(op)
	case program.CopyTile:
		return c.execCopy(op)
	case program.LoadTile:
		return c.execLoad(op)
	case program.StoreTile:
		return c.execStore(op)
	case program.RemoteLoad:
		return c.execRemoteLoad(op)
	case program.RemoteStore:
		return c.execRemoteStore(op)
	case program.Combine:
		return c.execCombine(op)
	case program.Notify:
		return c.execNotifyOne(op)
	case program.Wait:
		return c.execWaitOne(op)
	case program.Loop:
		return c.execLoop(op)
	case program.NotifyPeers:
		return c.execNotify(op)
	case program.WaitPeers:
		return c.execWait(op)
	case program.AddPeers:
		return c.execAdd(op)
	case program.PullCounts:
		return c.execPull(op.Rows)
	case program.Convert:
		return c.execConvert(op)
	case program.ReadCount:
		return c.execCount(op.Counted)
	case program.CheckCounts:
		return c.execCheck(op.Rows)
	case program.SendOwned:
		return c.execSend(op.Rows)
	case program.PutOwned:
		return c.execPutOwned(op)
	case program.CopyRows:
		return c.execRows(op)
	case program.DrainRows:
		return c.execDrain()
	case program.PollOwned:
		return c.execPoll(op.Rows)
	case program.Fence:
		return c.execFence()
	case program.PipeBarrier:
		c.count(result.PipeBarriers, int64(1-c.step))
		return c.once(result.PipeBarrier, c.env.Spec.PipeBarrier)
	case program.Spend:
		return c.once(result.Scalar, engine.Duration(op.Value.At(&c.here)))
	case program.Submit:
		return c.execSubmit(op)
	case program.Flush:
		return c.execFlush(op)
	case program.Stream:
		return c.execStream(op)
	case program.Storm:
		return c.execStorm(op)
	case program.SyncBlocks:
		return c.execSync()
	case program.Return:
		c.env.Report.Noted(op.Note)
		c.pc = len(c.Task.Program.Ops)
		return true
	}
	panic(fmt.Sprintf("aiv: no op %d", op.Kind))
}

// execFence waits for the remote stores in flight, spends the fence's own time, or waits
// longer for uncached writes that cannot be seen yet.
func (c *Core) execFence() bool {
	if c.step > 0 {
		return true
	}
	if !c.drainedStores() {
		return false
	}
	c.step = 1
	own := c.env.Spec.FenceTime.Scale(c.Task.Slow)
	return c.pause(result.Fence, max(own, c.shown.Sub(c.env.Eng.Now())))
}

// once spends d in the op's only step.
func (c *Core) once(r result.Reason, d engine.Duration) bool {
	c.step++
	return c.step > 1 || c.spend(r, d)
}

// spend blocks the core for d, longer on a slow rank. It reports true, and takes no
// event, when d is zero.
func (c *Core) spend(r result.Reason, d engine.Duration) bool {
	return c.pause(r, d.Scale(c.Task.Slow))
}

// pause is spend for a time that does not depend on the core's own speed alone.
func (c *Core) pause(r result.Reason, d engine.Duration) bool {
	c.turn(r)
	if d == 0 {
		return true
	}
	c.env.Eng.Because(c.why(spent[r]))
	c.env.Eng.After(d, c, evResume)
	return false
}

// spent is what a block's own time for a reason is in the record.
var spent = [result.NumReasons]cause.Kind{
	result.Launch: cause.Launch, result.Scalar: cause.Scalar, result.IndexCheck: cause.Index, result.CountRead: cause.Count,
	result.SIMTBuild: cause.Build, result.Doorbell: cause.Doorbell, result.SignalIssue: cause.Issue, result.PollOvershoot: cause.Poll,
	result.MTE2: cause.MTE2, result.MTE3: cause.MTE3, result.CQEWait: cause.Drain, result.Fence: cause.Fence,
	result.PipeBarrier: cause.Pipe, result.Vector: cause.Vector,
}

// why names the op that the core is at as what time is spent on.
func (c *Core) why(k cause.Kind) engine.Why { return k.Why(int(c.Task.ID), c.pc) }

// turn charges the time so far to the present reason and begins the next.
func (c *Core) turn(r result.Reason) { c.turnAt(c.env.Eng.Now(), r) }

// turnAt is turn at a time between that of the last turn and now.
func (c *Core) turnAt(t engine.Time, r result.Reason) {
	c.Acct.Time[c.reason] += t.Sub(c.since)
	if c.env.Eng.Recording() {
		c.hold(t.Sub(c.since))
		if heldByOthers(r) {
			c.holder = c.waitsFor()
		}
	}
	c.since, c.reason = t, r
	if c.line != nil {
		c.turned(t, r)
	}
}

func (c *Core) end() {
	c.turn(result.Idle)
	c.Acct.End = c.env.Eng.Now()
	c.sumPipes()
	c.Task.Program = nil
	c.watch.End()
	c.line.Done(c.Acct.End, !c.ring.Busy())
	c.env.Report.Ended(c)
}

func (c *Core) sumPipes() {
	c.Acct.MTE2, c.Acct.MTE3, c.Acct.Overlap = c.pipes.Busy()
	load, store := c.pipes.Held()
	c.Acct.MTE2Held, c.Acct.MTE3Held = result.PipeHeld(load), result.PipeHeld(store)
}

// Close brings the account up to t, the end of the run, in a block that has not ended.
func (c *Core) Close(t engine.Time) {
	c.settle(t)
	if c.reason == result.MTE2 && (c.tail == draining || c.tail == leaving) {
		c.closeRing(result.Idle)
	}
	c.turnAt(t, result.Idle)
	c.sumPipes()
}

// Running reports whether the core has a program that is not over.
func (c *Core) Running() bool { return c.Task.Program != nil }

// Busy reports whether the core, though its program may be over, still expects events.
func (c *Core) Busy() bool { return c.Running() || c.ring.Busy() }

func (c *Core) count(k result.Counter, n int64) { c.Task.Counters[k] += n }

// buf returns the machine's name of a job's buffer.
func (c *Core) buf(b program.Buf) memory.ID { return c.env.Buffers[b] }

// violate ends the run as the real kernel would abort it.
func (c *Core) violate(what string, value, limit int64, format string, args ...any) bool {
	c.line.Instant(c.env.Eng.Now(), "abort: "+what)
	c.env.Report.Violated(result.Abort{
		Time: c.env.Eng.Now(), Rank: c.Task.Rank, Block: c.Task.Block, Op: c.Task.Program.Ops[c.pc].Kind.String(),
		What: what, Value: value, Limit: limit, Text: fmt.Sprintf(format, args...),
	})
	return false
}

// Waiting describes what the core is blocked on, for a deadlock.
func (c *Core) Waiting() result.Waiting {
	op := &c.Task.Program.Ops[c.pc]
	w := result.Waiting{
		Rank: c.Task.Rank, Block: c.Task.Block, Since: c.since,
		Op: fmt.Sprintf("%s (op %d, phase %s)", op.Kind, c.pc, op.Phase), Missing: "an event that will not come",
	}
	switch {
	case c.wait.op != nil:
		c.lacks(op, &w)
	case op.Kind == program.PollOwned:
		w.Missing = fmt.Sprintf("the CQE of the send to rank %d", c.peer)
	}
	return w
}

// lacks describes the first cell that a wait still lacks.
func (c *Core) lacks(op *program.Op, w *result.Waiting) {
	x := c.waiter(op, -1)
	if op.Kind == program.WaitPeers && !op.SIMT {
		x.row = int32(c.peer)
	}
	name := c.env.Mem.Buffer(x.at.buf).Name
	c.env.Signals.wrong(c.Task.Rank, &x, func(source int, value int32) bool {
		w.Value, w.Expected = int64(value), int64(x.want)
		switch {
		case op.Kind == program.Wait:
			w.Cell, w.Missing = fmt.Sprintf("%s[%d]", name, x.at.base), fmt.Sprintf("notifies to cell %d of rank %d", x.at.base, c.Task.Rank)
		case op.ByRow:
			w.Cell, w.Missing = fmt.Sprintf("%s[%d,%d]", name, x.at.group, source), fmt.Sprintf("a notify from rank %d to row %d", source, x.at.group)
		default:
			w.Cell, w.Missing = fmt.Sprintf("%s[%d,%d]", name, source, x.at.group), fmt.Sprintf("a notify from rank %d to column %d", source, x.at.group)
		}
		return false
	})
}
