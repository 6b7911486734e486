package result

import "pldperf/engine"

// Path is what the elapsed time of a run was spent on: a chain of events from the first
// launch to the last block's end, each of which had to wait for the one before it. Its
// parts add up to the elapsed time to the picosecond.
type Path struct {
	Total   engine.Duration `json:"total_ps"`
	Parts   []PathPart      `json:"parts"`
	Steps   []PathStep      `json:"steps,omitempty"`         // the last ones, if there are too many
	Omitted int64           `json:"steps_omitted,omitempty"` // earlier parts that are not listed
	Note    string          `json:"note,omitempty"`          // why there is none
}

// PathPart is the time that a path spends on one cause.
type PathPart struct {
	Cause string          `json:"cause"`
	Group string          `json:"group"` // part of the machine
	Time  engine.Duration `json:"time_ps"`
	Count int64           `json:"count"`
	What  string          `json:"what"` // for people
}

// PathStep is a part of a path in its place.
type PathStep struct {
	Cause  string          `json:"cause"`
	Rank   int             `json:"rank"`           // -1: none
	Block  int             `json:"block"`          // -1: not a block's
	Peer   int             `json:"peer"`           // -1: none
	Task   string          `json:"task,omitempty"` // of a block's
	Op     string          `json:"op,omitempty"`
	Phase  string          `json:"phase,omitempty"`
	From   engine.Time     `json:"from_ps"`
	To     engine.Time     `json:"to_ps"`
	Queued engine.Duration `json:"queued_ps,omitempty"` // part of it in which others held what is needed
	Holder *Pair           `json:"holder,omitempty"`    // the last of them
}

// Pair is the traffic from a rank to a peer.
type Pair struct {
	Rank int `json:"rank"`
	Peer int `json:"peer"`
}

// Joins makes a step a part of the next one, which begins where it ends, and reports
// whether it can: the two are of one place and cause.
func (s *PathStep) Joins(next *PathStep) bool {
	if next.From != s.To || next.Cause != s.Cause || next.Rank != s.Rank || next.Block != s.Block || next.Peer != s.Peer ||
		next.Task != s.Task || next.Op != s.Op || next.Phase != s.Phase {
		return false
	}
	next.From, next.Queued = s.From, next.Queued+s.Queued
	if next.Holder == nil {
		next.Holder = s.Holder
	}
	return true
}
