package collectives

import (
	"pldperf/hw/program"
)

func (f ringForm) recordHand(p *Plan, c *Call, text *program.Program, rows int) {
	b := p.handed(c, c.Chunk(), c.Chunk(), rows*c.Ranks)
	s := p.scratch(c, c.circle().tile)
	b.stage(text, c.Chunk(), c.stageTile())
	if c.Form == "ring_hand" {
		f.handshakes(c, text, s, b)
	} else {
		f.barrierRounds(c, text, s, groups{signal: b.signal, stride: int64(c.Ranks), byRow: true}, b.data)
	}
	text.Phase("read_back").Add(copyTile(b.out, b.data, program.Expr{}, program.Expr{}, c.Chunk(), c.stageTile()))
	gold := p.golden(c, b.in)
	p.handedCalls(c, b, text, func(k int) program.Promise { return c.ringPromise(gold, b.out, p.version(k)) })
}

// handshakes records the rounds of ring_hand. Everybody tells the right neighbour when a
// segment is there, and nobody behind the last round.
func (ringForm) handshakes(c *Call, p *program.Program, s scratch, b handBuffers) {
	x := c.circle()
	p.Add(program.Op{Kind: program.Fence})
	p.Add(x.tell(b.signal, program.Const(0)))
	rounds := c.ringRounds()
	p.Phase(ringPhases[0]).Loop(program.Const(rounds), func() {
		x.handshake(p, s, b, false, -1)
		p.Add(program.Op{Kind: program.Fence})
		next := iteration(0, 1)
		if next.C = 1; c.Mistake == "rows_reused" {
			next = program.Expr{L: next.L, C: 1, Of: multiples(int(rounds), 1)}
		}
		p.Add(x.tell(b.signal, next))
	})
	p.Phase(ringPhases[1])
	if rounds > 1 {
		p.Loop(program.Const(rounds-1), func() {
			x.handshake(p, s, b, true, -1)
			next := x.ringRow(true)
			next.C++
			p.Add(program.Op{Kind: program.Fence})
			p.Add(x.tell(b.signal, next))
		})
	}
	x.handshake(p, s, b, true, rounds-1)
}

// tell notifies the right neighbour in the own cell of a row.
func (x circle) tell(signal program.Buf, row program.Expr) program.Op {
	to := peerAhead(x.Ranks, 1)
	if x.Mistake == "wrong_neighbour" {
		to = x.neighbour()
	}
	return program.Op{Kind: program.Notify, Signal: signal, Peer: to, Cell: x.cell(row, program.Own), Value: program.Const(1)}
}

// cell is that of a source in a row.
func (x circle) cell(row, source program.Expr) program.Expr {
	if row.Of != nil {
		row.Of = multiples(len(row.Of), int64(x.Ranks))
		return row.Plus(source)
	}
	return times(row, int64(x.Ranks)).Plus(source)
}

// handshake records a round that waits for the left neighbour.
func (x circle) handshake(p *program.Program, s scratch, b handBuffers, gather bool, last int64) {
	row := x.ringRow(gather)
	if last >= 0 {
		row.C, row.L[0] = row.C+last, 0
	}
	p.Add(program.Op{Kind: program.Wait, Signal: b.signal, Cell: x.cell(row, x.neighbour()), Value: program.Const(1)})
	inner := x
	if last >= 0 && x.tiles > 1 { // there is no loop around that over tiles
		p.Loop(program.Const(1), func() {
			p.Loop(program.Const(inner.tiles), func() { inner.move(p, s, b.data, gather, last) })
		})
		return
	}
	x.tileLoop(p, func() { x.move(p, s, b.data, gather, last) })
}
