package ub

import (
	"pldperf/engine"
	"pldperf/hw/cause"
	"pldperf/hw/memory"
)

// Piece is one trip through a stage: N bytes from Src to Dst of the own rank.
type Piece struct {
	Src, Dst memory.Addr
	N        int64
}

// Source supplies the pieces of one copy in order.
type Source interface {
	Next() (Piece, bool)
}

// Stats are what the ring reports of its work.
type Stats struct {
	Pieces   int64
	Waits    int64           // loads that waited for their stage
	WaitTime engine.Duration // how long
}

// Ring streams pieces through the stages: piece m uses stage m mod Stages.
//
//	MTE2  L0 L1 L2 L3 L4 L5 L6 L7 L8 ...      L8 waits for S0 alone
//	MTE3        S0 S1 S2 S3 S4 S5 ...         Sm waits for Lm and S(m-1)
//
// It is woken by the engine for each start and end; its user learns of the
// progress through the Handler that Start is given.
type Ring struct {
	eng    *engine.Engine
	spec   *Spec
	pipes  *Pipes
	mem    *memory.Space
	owner  uint32
	src    Source
	next   Piece
	more   bool
	stages []stage
	loads  int64 // started
	loaded int64 // ended
	stores int64 // started
	done   int64 // stores visible
	armed  bool  // a load start is scheduled
	kick   bool  // a store start is scheduled
	wait   engine.Time
	stuck  bool // the next load waits for its stage
	Stats  Stats
	user   engine.Handler
	tags   Tags
}

// Tags are the arguments with which a Ring wakes its user.
type Tags struct {
	Issued uint64 // the last load has started
	Loaded uint64 // the last load has ended
	Idle   uint64 // the last store is visible
}

type stage struct {
	piece  Piece
	data   memory.Data
	loaded bool
}

// Events of the ring; the low bits of an argument.
const (
	evLoad = iota
	evLoaded
	evStore
	evStored
	evBits = 2
)

// Init prepares a ring on the pipes of one core.
func (r *Ring) Init(eng *engine.Engine, spec *Spec, pipes *Pipes, mem *memory.Space, owner uint32) {
	stages := r.stages
	if len(stages) != spec.Stages {
		stages = make([]stage, spec.Stages)
	}
	*r = Ring{eng: eng, spec: spec, pipes: pipes, mem: mem, owner: owner, stages: stages}
}

// Start begins to copy what src supplies. It reports false, and does nothing, when
// there are no pieces; otherwise user is woken as tags say.
func (r *Ring) Start(src Source, user engine.Handler, tags Tags) bool {
	r.src, r.user, r.tags = src, user, tags
	r.loads, r.loaded, r.stores, r.done = 0, 0, 0, 0
	if r.next, r.more = src.Next(); !r.more {
		return false
	}
	r.advance()
	return true
}

// Busy reports whether stores are still on their way.
func (r *Ring) Busy() bool { return r.more || r.done < r.loads }

// Handle implements engine.Handler.
func (r *Ring) Handle(arg uint64) {
	s := &r.stages[arg>>evBits]
	switch arg & (1<<evBits - 1) {
	case evLoad:
		r.armed = false
		r.load()
	case evLoaded:
		s.loaded = true
		if r.loaded++; !r.more && r.loaded == r.loads {
			r.tell(r.tags.Loaded)
		}
		r.store()
	case evStore:
		r.kick = false
		r.store()
	case evStored:
		r.mem.Land(s.piece.Dst, &s.data)
		s.loaded = false
		r.done++
		r.pipes.line.Stages(r.eng.Now(), r.loads-r.done)
		r.advance()
		if !r.Busy() {
			r.tell(r.tags.Idle)
		}
	}
	r.eng.Progress()
}

// advance schedules the next load for when MTE2 is free, unless its stage is not.
func (r *Ring) advance() {
	if !r.more || r.armed {
		return
	}
	if r.loads-r.done >= int64(len(r.stages)) {
		if !r.stuck {
			r.stuck, r.wait = true, max(r.eng.Now(), r.pipes.LoadFree())
		}
		return
	}
	r.armed = true
	r.eng.Because(r.pipes.why(cause.MTE2))
	r.eng.At(max(r.eng.Now(), r.pipes.LoadFree()), r, evLoad)
}

// load starts the next load: it samples memory and takes the pipe.
func (r *Ring) load() {
	now := r.eng.Now()
	if r.stuck {
		r.unstick(now)
	}
	i := uint64(r.loads) % uint64(len(r.stages))
	s := &r.stages[i]
	s.piece = r.next
	s.data.Reset()
	r.mem.Capture(&s.data, s.piece.Src, s.piece.N)
	end := r.pipes.Load(now, s.piece.Src, s.piece.N, r.owner)
	r.loads++
	r.Stats.Pieces++
	r.pipes.line.Stages(now, r.loads-r.done)
	r.eng.At(end, r, i<<evBits|evLoaded)
	if r.next, r.more = r.src.Next(); !r.more {
		r.tell(r.tags.Issued)
		return
	}
	r.advance()
}

// unstick ends a wait for a stage; a wait that MTE2 would have had anyway is none.
func (r *Ring) unstick(now engine.Time) {
	r.stuck = false
	if d := now.Sub(r.wait); d > 0 {
		r.Stats.Waits++
		r.Stats.WaitTime += d
		r.pipes.line.Carve(r.wait, now, "stage_wait")
	}
}

// store starts every store whose load is there while MTE3 is free.
func (r *Ring) store() {
	for r.stores < r.loads {
		i := uint64(r.stores) % uint64(len(r.stages))
		s := &r.stages[i]
		if !s.loaded || r.kick {
			return
		}
		now := r.eng.Now()
		if free := r.pipes.StoreFree(); free > now {
			r.kick = true
			r.eng.Because(r.pipes.why(cause.MTE3))
			r.eng.At(free, r, evStore)
			return
		}
		end := r.pipes.Store(now, s.piece.Dst, s.piece.N, r.owner)
		r.stores++
		r.eng.At(end, r, i<<evBits|evStored)
	}
}

func (r *Ring) tell(tag uint64) { r.eng.At(r.eng.Now(), r.user, tag) }
