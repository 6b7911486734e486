package collectives_test

import "pldperf/collectives"

func init() {
	fits["micro"] = func(c *collectives.Call) {
		c.DType = "INT8"
		c.Traffic = []collectives.Traffic{rows(c.Ranks, 40, 40, func(s, d int) int { return (s + 2*d) % 4 })}
		c.WQEs, c.WQESGEs, c.Commit, c.Grid, c.Shared = 0, 0, "", 0, 0
		switch c.Form {
		case "wqe_issue":
			c.WQEs, c.Commit = 3, "last"
		case "hcomm_get":
			c.WQEs, c.FlushEach = 5, 2
		case "ep_dispatch", "ep_combine":
			c.Shared = 1
		case "launch":
			c.Grid = 100
		}
	}
	noPayload["micro/launch"] = true
	inputs["micro/hcomm_get"], inputs["micro/sdma_get"] = "shared", "shared"
	for _, a := range collectives.All() {
		if a.Op == "micro" {
			trustsNobody[a.Name()] = !a.Columns // there are no signals
			fewerWaits[a.Name()] = a.Columns    // AIVs of a rank meet on one cell
		}
	}
}
