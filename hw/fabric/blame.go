package fabric

import (
	"pldperf/engine"
	"pldperf/hw/cause"
)

// turns are the turns of a quantum at the two links of its sender.
type turns struct {
	flow      Flow
	cap, port passage
	goesOn    bool // it follows its flow's last quantum, which is on these links
	told      engine.Point
}

// sent tells the record why a quantum has got through the sender's links, and that last is what comes behind them.
func (n *network) sent(t *turns, last cause.Kind) {
	if !n.eng.Recording() {
		return
	}
	if t.told == (engine.Point{}) {
		n.wait(t, &t.cap, n.eng.Now())
		n.wait(t, &t.port, t.cap.begin)
		t.told = n.eng.Sofar()
	}
	n.eng.From(t.told)
	n.eng.Because(last.Why(int(t.flow), 0))
}

// wait tells the record who held a link of the sender from now until p.
func (n *network) wait(t *turns, p *passage, now engine.Time) {
	if p.begin <= now {
		return
	}
	if t.goesOn {
		n.eng.Through(min(p.begin, now.Add(p.full)), cause.Egress.Why(int(t.flow), 0))
	}
	n.waited(t.flow, p, cause.EgressQ)
}

// waited tells the record who held a link until p, the turn of a quantum of f.
func (n *network) waited(f Flow, p *passage, queued cause.Kind) {
	if p.holder == f {
		queued-- // its own quantum
	}
	n.eng.Through(p.begin, queued.Why(int(f), int(p.holder)))
}

// landed tells the record why the last byte of a message of f is there behind its turns at the receiver's links.
func (n *network) landed(f Flow, cap, port *passage) {
	if n.eng.Recording() {
		n.waited(f, cap, cause.IngressQ)
		n.waited(f, port, cause.IngressQ)
		n.eng.Because(cause.Ingress.Why(int(f), 0))
	}
}
