package hw

import "pldperf/hw/program"

// A Part is something that programs may make use of. Its name stands behind an @ in the
// `when` tag of the parameters that nothing else reads: `when:"@urma"`.
type Part struct {
	Name string
	Doc  string // who uses it, after "read by": "calls whose payload goes by URMA"
	uses func(*program.Op) bool
}

// Parts returns all parts, in the order of a machine's keys.
func Parts() []Part { return parts }

var parts = []Part{
	{"dead_link", "calls over a link that a fault cuts", func(*program.Op) bool { return false }},
	{"deferred", "calls that wait without a core: the second and later tasks of a HOST form or chain", func(*program.Op) bool { return false }},
	{"counts", "calls that read row counts from memory", kinds(program.PullCounts, program.CheckCounts, program.ReadCount)},
	{"published", "calls that publish received counts", kinds(program.PullCounts)},
	{"intervals", "calls that move rows of an index without a queue, also to the own rank", kinds(program.CopyRows, program.PutOwned)},
	{"simt", "calls whose AIVs enter SIMT regions", func(o *program.Op) bool {
		return o.SIMT || byURMA(o) || o.Kind == program.Storm
	}},
	{"simt_notify", "calls that notify by SIMT atomics", func(o *program.Op) bool { return o.SIMT && changes(o) }},
	{"simt_wait", "calls that poll signals by SIMT lanes", func(o *program.Op) bool { return o.SIMT && o.Waits() }},
	{"notify", "calls that notify by scalar TNOTIFY", func(o *program.Op) bool { return !o.SIMT && changes(o) }},
	{"wait", "calls that poll by scalar TWAIT", func(o *program.Op) bool {
		return !o.SIMT && o.Waits() || byURMA(o) && !kinds(program.SendOwned, program.PollOwned)(o)
	}},
	{"signal", "calls that notify", func(o *program.Op) bool { return changes(o) || o.Kind == program.Storm }},
	{"storm", "calls whose SIMT lanes add to words of the own memory", kinds(program.Storm)},
	{"cores", "calls whose blocks wait for each other", kinds(program.SyncBlocks)},
	{"own_signal", "calls that add to cells of the own rank", kinds(program.AddPeers, program.Notify, program.Storm)},
	{"polls", "calls that poll a cell which others change", (*program.Op).Waits},
	{"peer", "calls that reach another rank without a queue: notify, counts, remote MTE", func(o *program.Op) bool {
		return changes(o) || byMTE(o) || kinds(program.PullCounts, program.ReadCount)(o)
	}},
	{"remote_mte", "calls whose payload goes by remote MTE", byMTE},
	{"remote_store", "calls that store tiles at peers", func(o *program.Op) bool {
		return byMTE(o) && (o.Kind == program.RemoteStore || o.Kind == program.Stream)
	}},
	{"add", "calls that add tiles", combines(program.Sum)},
	{"mul", "calls that multiply tiles", combines(program.Prod)},
	{"compare", "calls that take the larger or smaller of tiles", combines(program.Max, program.Min)},
	{"fence", "calls with a fence", kinds(program.Fence)},
	{"pipe_barrier", "calls with a PIPE_ALL", func(o *program.Op) bool { return kinds(program.PipeBarrier, program.SyncBlocks)(o) || o.Barriers > 0 }},
	{"tiles", "calls that move data through the Unified Buffer", tiles},
	{"stores", "calls that store to the own memory from the Unified Buffer", func(o *program.Op) bool {
		return tiles(o) && !kinds(program.LoadTile, program.RemoteLoad)(o) && (o.Kind != program.Stream || o.Tiles.Store)
	}},
	{"ring", "calls that copy rows of the own rank through the stage ring", kinds(program.CopyRows)},
	{"urma", "calls whose payload goes by URMA", byURMA},
	{"urma_rows", "calls that send the rows of an index by URMA", kinds(program.SendOwned)},
	{"urma_batch", "calls that write several SQEs for one doorbell", func(o *program.Op) bool { return byURMA(o) && o.Kind != program.Flush }},
	{"urma_sges", "calls whose SQEs have several SGEs", func(o *program.Op) bool {
		return o.Kind == program.SendOwned || o.WQEs != nil && o.WQEs.SGEs > 1
	}},
	{"urma_write", "calls that write by URMA", func(o *program.Op) bool { return byURMA(o) && !reads(o) }},
	{"urma_read", "calls that read by URMA", func(o *program.Op) bool { return byURMA(o) && reads(o) }},
	{"sdma", "calls whose payload goes by SDMA", func(o *program.Op) bool { return o.Transport == program.SDMA }},
}

// kinds returns whether an op is of one of these.
func kinds(k ...program.Kind) func(*program.Op) bool {
	return func(o *program.Op) bool {
		for _, x := range k {
			if o.Kind == x {
				return true
			}
		}
		return false
	}
}

func combines(r ...program.Reduce) func(*program.Op) bool {
	return func(o *program.Op) bool {
		for _, x := range r {
			if o.Reduce == x {
				return o.Kind == program.Combine || o.Kind == program.Stream && o.Tiles.Work
			}
		}
		return false
	}
}

// changes reports whether the op changes signal cells.
func changes(o *program.Op) bool { return o.Notifies() || o.Clears() }

func byURMA(o *program.Op) bool {
	return o.Transport == program.URMA || kinds(program.SendOwned, program.PollOwned, program.Submit, program.Flush)(o)
}

func reads(o *program.Op) bool { return o.Kind == program.Get || o.WQEs != nil && o.WQEs.Read }

func byMTE(o *program.Op) bool {
	return o.Transport == program.MTE && (kinds(program.Put, program.Get, program.RemoteLoad, program.RemoteStore, program.PutOwned)(o) || o.Kind == program.Stream && o.Tiles.Spread > 0)
}

// tiles reports whether the op loads into the Unified Buffer or stores from it. A put or
// get by a queue to the own rank is a local copy.
func tiles(o *program.Op) bool {
	return byMTE(o) || kinds(program.Put, program.Get, program.CopyTile, program.LoadTile, program.StoreTile, program.CopyRows, program.PutOwned, program.Stream, program.SyncBlocks)(o)
}

// Uses returns the names of the parts that a job's programs can make use of: it looks at
// their ops and not at the data, so that a part is in it which no row happens to need.
func Uses(job *program.Job) map[string]bool {
	out := map[string]bool{}
	for _, f := range job.Faults {
		out[f.Kind] = true
	}
	for i := range job.Tasks {
		t := &job.Tasks[i]
		if len(t.Until) > 0 {
			out["deferred"] = true
		}
		if t.Program == nil {
			continue
		}
		for k := range t.Program.Ops {
			for _, p := range parts {
				if p.uses(&t.Program.Ops[k]) {
					out[p.Name] = true
				}
			}
		}
	}
	return out
}
