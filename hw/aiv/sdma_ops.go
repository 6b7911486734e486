package aiv

import (
	"pldperf/hw/program"
	"pldperf/hw/result"
	"pldperf/hw/sdma"
)

// Steps of a put or get by SDMA.
const (
	sdmaEnter   = iota
	sdmaIssue   // the next batch
	sdmaRung    // SQEs are written and the doorbell store is out
	sdmaVisible // the completion record can be seen
	sdmaSeen
)

// execSDMA has the scalar unit write SQEs into the block's channel, ring the doorbell and
// poll the completion record. A batch is what the ring holds.
func (c *Core) execSDMA(op *program.Op) bool {
	t, spec := &c.carried, c.env.SDMA
	for {
		switch c.step {
		case sdmaEnter:
			if !c.begin(op, int64(spec.Block)) {
				return false
			}
			c.step = sdmaIssue
		case sdmaIssue:
			if t.batch = int(min(int64(spec.Depth), t.total-t.next)); t.batch == 0 {
				return c.over()
			}
			c.step = sdmaRung
			if !c.spend(result.Doorbell, spec.IssueSpan(t.batch)) {
				return false
			}
		case sdmaRung:
			c.step = sdmaVisible
			c.turn(result.CQEWait)
			c.moves = t.moves(c.moves[:0])
			return c.ringSDMA()
		case sdmaVisible:
			c.step = sdmaSeen
			if !c.spend(result.CQEWait, spec.PollTime()) {
				return false
			}
		case sdmaSeen:
			c.count(result.CQEs, 1)
			t.next += int64(t.batch)
			c.step = sdmaIssue
		}
	}
}

// ringSDMA submits c.moves; the core is woken when the last of them has completed.
func (c *Core) ringSDMA() bool {
	channel := c.Task.Block % c.env.SDMA.Channels
	if err := c.env.DMAs[c.Task.Rank].Submit(channel, c.moves, c, evResume); err != nil {
		return c.violate("sdma_ring", int64(channel), int64(c.env.SDMA.Depth), "%v", err)
	}
	c.count(result.SQEs, int64(len(c.moves)))
	c.count(result.Doorbells, 1)
	c.count(result.DescriptorBytes, int64(len(c.moves))*sdma.SQESize)
	return false
}
