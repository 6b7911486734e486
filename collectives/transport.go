package collectives

import (
	"fmt"
	"slices"
	"strings"

	"pldperf/engine"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// Every op that moves payload between ranks goes by remote MTE, by URMA or by SDMA.
// URMA and SDMA move memory to memory, so a tile that a kernel loads from a peer, or
// stores there, goes through memory of the own rank:
//
//	mte         remote_load tile <- peer              remote_store peer <- tile
//	urma, sdma  get scratch <- peer, load <- scratch  store -> scratch, put peer <- scratch
//
// None of them adds to what is there: an atomic add of a range is a thing of MTE3.

// maxWQE is the bytes that one WQE moves at most (hardware parameters 1.4).
const maxWQE = 256 << 20

// ownCarrier is what carries an operation's payload in the real system.
func (c *Call) ownCarrier() program.Transport {
	if c.Op == "indexed_all_to_all_v" || c.Op == "moe" && c.Form == "indexed" {
		return program.URMA
	}
	return program.MTE
}

// carrier is what carries the call's payload: the operation's own mechanism, unless the
// call names another.
func (c *Call) carrier() program.Transport {
	for _, t := range []program.Transport{program.MTE, program.URMA, program.SDMA} {
		if c.Options.Transport == t.String() {
			return t
		}
	}
	return c.ownCarrier()
}

// Queued reports whether the call's payload goes through send queues.
func (c *Call) Queued() bool {
	return c.carrier() == program.URMA || c.Op == "moe" && c.Form == "indexed" && c.Options.Transport == ""
}

// checkTransport refuses a mechanism that cannot carry the call. own are those that the
// real operator has; others need what_if.
func (c *Call) checkTransport(own ...string) (errs []error) {
	t := c.Options.Transport
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("transport: "+format, args...)) }
	switch {
	case t == "":
	case !slices.Contains([]string{"mte", "urma", "sdma"}, t):
		bad("no mechanism %q; there are mte, urma and sdma", t)
	case !slices.Contains(own, t) && !c.Options.WhatIf:
		bad("%s does not carry %s, only %s does; what_if: true tries it anyway", t, c.Op, strings.Join(own, " or "))
	}
	if c.Platform == "a2a3" && c.carrier() == program.URMA {
		bad("the AIVs of this machine have no URMA queues (a2a3)")
	}
	if c.Atomic && c.carrier() != program.MTE {
		bad("%s overwrites; it cannot add to what is there, so an atomic %s goes by mte", t, c.Op)
	}
	return errs
}

// Notes are what a reader of the call's result has to know: that it is no prediction of
// the real operator, or that the real compiler may refuse it.
func (c *Call) Notes() (out []string) {
	if t, own := c.carrier(), c.ownCarrier(); t != own {
		name := own.String()
		if own == program.MTE {
			name = "remote MTE"
		}
		out = append(out, fmt.Sprintf("what if: %s by %s; the real operator uses %s", c.Op, t, name))
	}
	if c.Form == "host" && c.Signal == 1 && slices.Contains([]string{"barrier", "broadcast", "reduce_scatter"}, c.Op) {
		out = append(out, fmt.Sprintf("signal [P,1]: documents allow it, but the type deducer of the HOST %s takes [P] only", c.Op))
	}
	return out
}

// scratch is memory of the own rank through which tiles go that MTE does not carry: a
// place for each tile of each block.
type scratch struct {
	buf  program.Buf
	tile int64 // bytes of a place
}

// scratch makes the scratch memory of a call whose tiles have at most so many bytes;
// where MTE carries them, there is none.
func (p *Plan) scratch(c *Call, tile int64) scratch {
	if c.carrier() == program.MTE {
		return scratch{}
	}
	tile = max((tile+63)/64*64, 64)
	size := engine.Bytes(int64(c.Blocks()) * program.MaxTiles * tile)
	return scratch{p.buffer("scratch", program.Buffer{Size: size, Fill: program.Zero{}}), tile}
}

// place is where a tile of the executing block waits.
func (s scratch) place(tile uint8) program.Expr {
	return program.Expr{C: int64(tile) * s.tile, B: program.MaxTiles * s.tile}
}

// fetch records the load of op.Tile from Src+SrcOff of op.Peer, op.Bytes long, by what
// carries the call. The peer is not the own rank.
func (c *Call) fetch(p *program.Program, s scratch, op program.Op) {
	if op.Transport = c.carrier(); op.Transport == program.MTE {
		op.Kind = program.RemoteLoad
		p.Add(op)
		return
	}
	load := program.Op{Kind: program.LoadTile, Tile: op.Tile, Src: s.buf, SrcOff: s.place(op.Tile), Bytes: op.Bytes}
	op.Kind, op.Dst, op.DstOff = program.Get, s.buf, s.place(op.Tile)
	p.Add(op)
	p.Add(load)
}

// deliver records the store of op.Tile at Dst+DstOff of op.Peer, op.Bytes long, by what
// carries the call. The peer is not the own rank. By MTE it is in flight until a fence;
// otherwise it is there when the op is over.
func (c *Call) deliver(p *program.Program, s scratch, op program.Op) {
	if op.Transport = c.carrier(); op.Transport == program.MTE {
		op.Kind = program.RemoteStore
		p.Add(op)
		return
	}
	p.Add(program.Op{Kind: program.StoreTile, Tile: op.Tile, Dst: s.buf, DstOff: s.place(op.Tile), Bytes: op.Bytes})
	op.Kind, op.Src, op.SrcOff = program.Put, s.buf, s.place(op.Tile)
	p.Add(op)
}

// put and get record a transfer between memories by what carries the call; to or from
// the own rank it is a local copy through the Unified Buffer.
func (c *Call) put(p *program.Program, op program.Op) {
	op.Kind, op.Transport = program.Put, c.carrier()
	p.Add(op)
}

func (c *Call) get(p *program.Program, op program.Op) {
	op.Kind, op.Transport = program.Get, c.carrier()
	p.Add(op)
}

// carried adds to out what n ops of a kind (Put, Get, RemoteLoad, RemoteStore) with
// peers count, each of bytes, but for the bytes and for the stages of a put or get by
// MTE. Not by MTE, a remote load is a get and a remote store a put.
func (c *Call) carried(out *result.Counters, kind program.Kind, n, bytes int64) {
	c.carriedRows(out, kind, n, 1, bytes)
}

// carriedRows is carried for ops that move rectangles of rows that do not follow one
// another: a request is one range.
func (c *Call) carriedRows(out *result.Counters, kind program.Kind, n, rows, width int64) {
	t := c.carrier()
	switch {
	case kind == program.RemoteLoad && t == program.MTE:
		out[result.RemoteLoads] += n
	case kind == program.RemoteStore && t == program.MTE:
		out[result.RemoteStores] += n
	case kind == program.Get || kind == program.RemoteLoad:
		out[result.Gets] += n
	default:
		out[result.Puts] += n
	}
	if width <= 0 || rows <= 0 {
		return
	}
	switch t {
	case program.URMA:
		sqes := rows * ceil(width, maxWQE)
		bells := ceil(sqes, int64(c.batch()))
		c.requests(out, n, sqes, bells)
		out[result.SGEs] += n * sqes
		out[result.WQEBBs] += n * sqes // one SGE fits in one
		out[result.Sends] += n
	case program.SDMA:
		sqes := rows * ceil(width, c.sdmaBlock())
		c.requests(out, n, sqes, ceil(sqes, sdmaBatch))
	}
}

// requests adds n times so many SQEs of 64 bytes and doorbells, each of which is
// followed by one completion.
func (c *Call) requests(out *result.Counters, n, sqes, bells int64) {
	out[result.SQEs] += n * sqes
	out[result.DescriptorBytes] += n * sqes * 64
	out[result.Doorbells] += n * bells
	out[result.CQEs] += n * bells
}

// sdmaBatch is how many SQEs go with one doorbell of the SDMA: as many as the ring holds
// (hardware parameters 1.6).
const sdmaBatch = 2048

// sdmaBlock is the bytes that one SQE of the SDMA moves at most (hardware parameters 1.6).
func (c *Call) sdmaBlock() int64 {
	if c.Block > 0 {
		return c.Block
	}
	return 1 << 20
}

// batch is how many SQEs of one WQEBB go with one doorbell.
func (c *Call) batch() int {
	n := c.Segment
	if n == 0 {
		n = 64
	}
	if c.Depth > 0 {
		n = min(n, c.Depth)
	}
	return n
}

// putOwnedFormula adds what moving the rows of an index to one peer without a queue
// counts: by MTE a put of each interval of consecutive rows, by SDMA SQEs.
func (c *Call) putOwnedFormula(out *result.Counters, index []int32) {
	var sqes int64
	for j := 0; j < len(index); {
		run := 1
		for j+run < len(index) && index[j+run] == index[j]+int32(run) {
			run++
		}
		n := int64(run) * c.Row()
		if j += run; c.carrier() == program.MTE {
			out[result.Puts]++
			out[result.PutStages] += ceil(n, stageCap)
		} else {
			sqes += ceil(n, c.sdmaBlock())
		}
	}
	c.requests(out, 1, sqes, ceil(sqes, sdmaBatch))
}
