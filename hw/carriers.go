package hw

import "pldperf/hw/program"

// carriers reports ops whose payload the named transport cannot carry: what is not there,
// what cannot reach the Unified Buffer, and what cannot add.
func (p *problems) carriers(spec *Spec, t *program.Task) {
	if t.Program == nil {
		return
	}
	seen := map[string]bool{}
	bad := func(format string, args ...any) {
		n := len(*p)
		p.add("%s: "+format, append([]any{t.Name}, args...)...)
		if text := (*p)[n].Error(); seen[text] {
			*p = (*p)[:n]
		} else {
			seen[text] = true
		}
	}
	for i := range t.Program.Ops {
		o := &t.Program.Ops[i]
		switch {
		case o.Transport == program.MTE:
		case o.Transport == program.URMA && (spec.Platform == "a2a3" || spec.URMA.Depth == 0):
			bad("%s by urma: the AIVs of %s have no URMA queues", o.Kind, spec.Name)
		case o.Transport == program.SDMA && spec.SDMA.Channels == 0:
			bad("%s by sdma: %s has no SDMA channels", o.Kind, spec.Name)
		case o.Kind == program.RemoteLoad || o.Kind == program.RemoteStore:
			bad("%s by %s: it cannot reach the Unified Buffer; go through memory with get and load, or store and put", o.Kind, o.Transport)
		case o.Atomic:
			bad("%s by %s: it overwrites and cannot add to what is there", o.Kind, o.Transport)
		}
	}
}
