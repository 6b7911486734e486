package collectives_test

import "pldperf/collectives"

// fewerWaits are algorithms in which one wait covers several notifies, or in which
// nobody but the scheduler waits.
var fewerWaits = map[string]bool{
	"barrier/shared": true, "barrier/root": true, "notify/self": true, "wait/ge": true, "wait/eq": true, "defer_wait/task": true, "allgather/defer": true,
}

// trustsNobody are algorithms that a cell which starts at 1 does not lead to trust data:
// they only hang, or move none.
var trustsNobody = map[string]bool{"notify/set": true, "notify/self": true, "wait/ge": true, "wait/eq": true, "barrier/root": true}

func init() {
	fits["barrier"] = func(c *collectives.Call) {
		c.Size = max(c.Size, 8)
		if c.Form == "epoch" || c.Form == "incore" {
			c.Epochs = 1 + c.Ranks%3
		}
	}
}
