package collectives_test

import "pldperf/collectives"

// fewerWaits are algorithms in which one wait covers several notifies, or in which
// nobody but the scheduler waits.
var fewerWaits = map[string]bool{
	"barrier/shared": true, "barrier/root": true, "notify/self": true, "wait/ge": true, "wait/eq": true, "defer_wait/task": true, "allgather/defer": true,
}

// trustsNobody are algorithms that a cell which starts at 1 does not lead to trust data:
// they only hang, or move none.
var trustsNobody = map[string]bool{"notify/ring": true, "notify/set": true, "notify/self": true, "wait/ge": true, "wait/eq": true}

// noPayload are operations that only signal, and inputs what the others call the buffer
// that their producer writes, where it is not "input".
var (
	noPayload = map[string]bool{"notify": true, "wait": true}
	inputs    = map[string]string{"put": "src"}
)

func init() {
	for _, op := range []string{"put", "get"} {
		fits[op] = func(c *collectives.Call) {
			c.Rows = 2 + c.Ranks%3
			c.Atomic = op == "put" && c.Ranks == 3
			if c.Ranks > 2 {
				c.ChunkRows, c.ChunkCols, c.Pipeline = 2, 16, c.Ranks == 4
			}
		}
	}
	for _, op := range []string{"remote_load", "remote_store", "defer_wait"} {
		fits[op] = func(c *collectives.Call) {
			c.Size = max(c.Size, 16)
			if c.Form == "ring" && c.Ranks > 2 {
				c.Atomic, c.ChunkCols = op == "remote_store" && c.Ranks == 3, 16
			}
		}
	}
	fits["broadcast"] = func(c *collectives.Call) {
		c.Root = max(c.Ranks/3, 1)
		if c.Form == "hand" {
			c.Size = max(c.Size, 8)
			c.ChunkCols = 64
		}
	}
	fits["allgather"] = func(c *collectives.Call) {
		switch c.Form {
		case "hand":
			c.Size = max(c.Size, 8)
			c.ChunkCols = 64
		case "runtime_width":
			c.Rows = c.Ranks
		case "incore":
			c.ChunkCols = 100
		}
	}
	fits["barrier"] = func(c *collectives.Call) {
		c.Size, c.Root = max(c.Size, 8), 1
		if c.Form == "epoch" || c.Form == "incore" {
			c.Epochs = 1 + c.Ranks%3
		}
	}
}
