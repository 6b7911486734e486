// Package fabric models the Unified Bus between ranks. ("ub" is the Unified Buffer of an AIV in this project, never the
// bus.) A message belongs to a flow, an ordered stream from one rank to another, and is cut in quanta. Each quantum passes
// a chain of links, each of which carries one quantum at a time: the sender's cap and one of its ports, on some topologies
// the uplink of its group and the downlink of the other, and the receiver's cap and port. Quanta are cut through: a link
// passes the first byte on at once, so a free path costs one latency and one serialisation, at the narrowest link. A flow
// asks for its next quantum when the last one has been granted at both links of the sender, so flows that share a link
// take turns, a quantum each; the links of a receiver are booked when the first byte gets there, so that senders who
// collide queue in the order of arrival. Queues between links are unlimited: a full receiver does not hold up the
// sender's other flows. A topology (ideal, mesh, clos) says which links a flow passes; everything else is common.
package fabric

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"pldperf/engine"
	"pldperf/hw/timeline"
)

// A Flow is an ordered stream of messages from one rank to another: a URMA queue, or the remote MTE stream of an AIV.
// Messages of one flow leave and land in the order in which they were sent. Open makes one; the zero Flow is none.
type Flow uint32

// A Message is Bytes of payload from rank Src to rank Dst. Zero bytes are legal: they take their turn at each link and
// no time there, so the latency alone on a free fabric.
type Message struct {
	Src, Dst int
	Bytes    engine.Bytes
	Flow     Flow

	Landed    engine.Handler // woken when the last byte is at the destination; required
	LandedArg uint64
	Left      engine.Handler // if not nil, woken when the last byte has left the source
	LeftArg   uint64
}

// A Fabric carries messages between ranks, which are numbered from 0. A rank does not reach itself through it: naming a
// rank that is not there, the own rank as the peer, or a flow that is not open between the two is a bug of the caller,
// and the methods panic.
type Fabric interface {
	// Open makes a new flow from src to dst.
	Open(src, dst int) Flow
	// Ends returns the two ranks of a flow.
	Ends(f Flow) (src, dst int)
	// Send gives m to its flow, at the current time.
	Send(m Message)
	// Latency returns the time of the first byte from src to dst on a free fabric; it is 0 for a rank to itself.
	Latency(src, dst int) engine.Duration
	// Egress returns the payload rate that a rank cannot exceed towards all peers together.
	Egress(rank int) engine.Rate
	// Ingress returns the payload rate that a rank cannot exceed from all peers together.
	Ingress(rank int) engine.Rate
	// Pair returns the payload rate that all flows from src to dst together cannot exceed.
	Pair(src, dst int) engine.Rate
	// Resources returns what every link that carried something has carried, ordered by rank and by the way through the fabric.
	Resources() []Resource
	// Show makes the links appear in a timeline; call it before the first Open.
	Show(line *timeline.Recorder)
}

// A Resource is the account of one link.
type Resource struct {
	Name  string          // "egress cap", "port", "port out 3", "uplink of group 0" ...
	Rank  int             // whose it is; -1 if it is no rank's
	Peer  int             // the rank at its other end; -1 if there is no single one
	Rate  engine.Rate     // payload
	Bytes engine.Bytes    // payload carried
	Busy  engine.Duration // time that Bytes take at Rate, each quantum rounded up to a picosecond

	// Blocked is how long it carried nothing although it could have: what it was to carry next waited for the cap of the
	// rank. The rest of a run it was idle.
	Blocked engine.Duration
	Held    []Held // Blocked by whose traffic it was at the cap; only while there is a record of causes
}

// Held is how long traffic with one peer held a cap that a port waited for.
type Held struct {
	Peer int // to whom, at a sender; from whom, at a receiver
	Time engine.Duration
}

// model is a topology as the registry knows it.
type model struct {
	check func(s *Spec, report func(path, format string, args ...any))
	make  func(eng *engine.Engine, s *Spec, ranks int) (Fabric, error)
}

var models = map[string]model{}

// register makes a model known to New. A model's own file calls it in a package-level var, so that a new model is a new
// file (and a section of Spec).
func register(kind string, m model) string {
	if _, twice := models[kind]; twice {
		panic("fabric: " + kind + " is registered twice")
	}
	models[kind] = m
	return kind
}

// Kinds returns the names of all models, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(models)) }

// New makes the fabric that spec describes for so many ranks. An error names every field of the spec that is wrong, or
// says why the topology cannot hold the ranks.
func New(eng *engine.Engine, spec Spec, ranks int) (Fabric, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if ranks < 1 {
		return nil, fmt.Errorf("fabric: a machine of %d ranks", ranks)
	}
	return models[spec.Kind].make(eng, &spec, ranks)
}

// Validate returns what Check reports as joined errors, or nil.
func (s *Spec) Validate() error {
	var errs []error
	s.Check(func(path, format string, args ...any) {
		errs = append(errs, fmt.Errorf("fabric."+path+": "+format, args...))
	})
	return errors.Join(errs...)
}
