package aiv

import "pldperf/hw/program"

// execCarried moves payload by URMA or SDMA.
func (c *Core) execCarried(op *program.Op) bool { panic("aiv: no transport " + op.Transport.String()) }
