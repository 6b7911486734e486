package collectives_test

import "pldperf/collectives"

// alone are benchmarks without anything that a programmer of a collective can get wrong:
// nobody waits for a peer, and the blocks have their shares.
var alone = map[string]bool{
	"micro/local_load": true, "micro/local_add": true, "micro/atomic_storm": true, "micro/core_barrier": true, "micro/mte_push": true,
}

func init() {
	fits["micro"] = func(c *collectives.Call) {
		c.DType = "INT8"
		c.Traffic = []collectives.Traffic{rows(c.Ranks, 40, 40, func(s, d int) int { return (s + 2*d) % 4 })}
		c.WQEs, c.WQESGEs, c.Commit, c.Grid, c.Shared = 0, 0, "", 0, 0
		c.Rows, c.ChunkRows, c.ChunkCols, c.Passes, c.Slices, c.Ops, c.Targets = 0, 0, 0, 0, 0, 0, 0
		switch c.Form {
		case "wqe_issue":
			c.WQEs, c.Commit = 3, "last"
		case "atomic_storm":
			c.Ops, c.Targets = 50, 7
		case "local_load", "local_add":
			c.Rows, c.Size, c.ChunkRows, c.ChunkCols = 9, max(c.Size, 32), 2, 40
		case "mte_get", "mte_load", "mte_own", "mte_push", "mte_rows":
			c.Size, c.Rows, c.ChunkCols = max(c.Size, 32), 9, 40
		case "rdma_write":
			c.WQEs = 4
		case "hcomm_get":
			c.WQEs, c.FlushEach = 5, 2
		case "ep_dispatch", "ep_combine":
			c.Shared = 1
		case "launch":
			c.Grid = 100
		}
	}
	for _, form := range []string{"launch", "local_load", "atomic_storm", "core_barrier"} {
		noPayload["micro/"+form] = true
	}
	inputs["micro/hcomm_get"], inputs["micro/sdma_get"] = "shared", "shared"
	inputs["micro/mte_get"], inputs["micro/mte_load"], inputs["micro/mte_own"] = "shared", "shared", "shared"
	for _, a := range collectives.All() {
		if a.Op == "micro" {
			trustsNobody[a.Name()] = !a.Columns // there are no signals
			fewerWaits[a.Name()] = a.Columns    // AIVs of a rank meet on one cell
		}
	}
}
