// Package sdma models the system DMA of a rank: channels with a ring of 64-byte SQEs,
// each of which moves one range between the rank's memory and a peer's. An AIV writes
// SQEs, rings the channel's doorbell and polls its completion record; the channel starts
// up, then moves one SQE after another at its rate, which the fabric carries:
//
//	issue | start-up | n / rate ... ~> there [ ~> ack ] | poll
//
// What was measured is the whole of a lone transfer: a fixed time and a rate. The model
// adds the fabric's way there and back itself, so the start-up is what is left of the
// fixed time.
package sdma

import "pldperf/engine"

// Spec describes the system DMA of a rank.
type Spec struct {
	Kind     string          `yaml:"kind" when:"@sdma" enum:"real,ideal" help:"ideal: only the fabric and the memory cost"`
	Channels int             `yaml:"channels" when:"@sdma" min:"1" max:"1024" help:"that work at once; AIV b uses channel b mod channels"`
	Depth    int             `yaml:"depth" when:"@sdma" min:"1" max:"65536" help:"SQEs of a channel's ring"`
	Block    engine.Bytes    `yaml:"block" when:"@sdma" help:"payload of an SQE at most"`
	Least    engine.Bytes    `yaml:"least" when:"kind!=ideal @sdma" help:"a shorter range takes the time of this"`
	Rate     engine.Rate     `yaml:"rate" when:"kind!=ideal @sdma" help:"one channel"`
	Fixed    engine.Duration `yaml:"fixed" when:"kind!=ideal @sdma" help:"issue to completion seen of a transfer without payload, the fabric's way there and back included"`
	Issue    engine.Duration `yaml:"issue" when:"kind!=ideal @sdma" help:"part of fixed: the AIV writes an SQE and rings the doorbell"`
	SQE      engine.Duration `yaml:"sqe" when:"kind!=ideal @sdma" help:"the AIV writes each further SQE of a doorbell"`
	Poll     engine.Duration `yaml:"poll" when:"kind!=ideal @sdma" help:"part of fixed: the poll that sees the completion record"`
}

// SQESize is the bytes of an SQE (pto-isa sdma_types).
const SQESize = 64

// Check reports what no tag shows. A spec without channels is that of a machine whose
// AIVs have no SDMA.
func (s *Spec) Check(report func(path, format string, args ...any)) {
	if s.Channels == 0 {
		return
	}
	if s.Block <= 0 {
		report("block", "must be positive")
	}
	if s.Rate <= 0 {
		report("rate", "must be positive")
	}
	for _, f := range []struct {
		path string
		d    engine.Duration
	}{{"fixed", s.Fixed}, {"issue", s.Issue}, {"sqe", s.SQE}, {"poll", s.Poll}} {
		if f.d < 0 {
			report(f.path, "%v is negative", f.d)
		}
	}
	if s.Kind != "ideal" && s.Issue+s.Poll > s.Fixed {
		report("fixed", "%v is less than its parts issue, %v, and poll, %v", s.Fixed, s.Issue, s.Poll)
	}
}

// normal returns s as the models use it: the ideal twin has no times.
func (s Spec) normal() Spec {
	if s.Kind == "ideal" {
		s.Rate, s.Least, s.Fixed, s.Issue, s.SQE, s.Poll = engine.Unlimited, 0, 0, 0, 0, 0
	}
	return s
}

// IssueSpan returns how long an AIV writes so many SQEs and rings their doorbell.
func (s *Spec) IssueSpan(sqes int) engine.Duration {
	n := s.normal()
	return n.Issue + engine.Duration(sqes-1)*n.SQE
}

// PollTime returns how long the poll takes that sees a completion record.
func (s *Spec) PollTime() engine.Duration { return s.normal().Poll }
