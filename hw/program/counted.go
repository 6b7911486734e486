package program

import "fmt"

// Counted are the operands of ReadCount: where the rows of a destination are counted,
// and how many blocks share them.
type Counted struct {
	Counts   Buf
	Word     Expr // of Counts: the destination, or at a consumer the source
	Row      int64
	Capacity int  // C: what is above counts as C
	Negative bool // a count below zero stays (v0), rather than being none
	Lanes    int  // blocks that share the rows of one destination; 0 is 1
	Lane     Expr // which of them the block is
	Append   bool // the share begins behind the one read before: a prefix sum
	Stale    bool // the word comes from a cache line that nobody has invalidated: it is 0
}

// laneAlign is the alignment of the borders between lanes (semantics 5.7).
const laneAlign = 32

// Clamp keeps a count as the kernel does.
func (c *Counted) Clamp(n int64) int64 {
	n = min(n, int64(c.Capacity))
	if c.Negative {
		return n
	}
	return max(n, 0)
}

// Share returns the first byte and the bytes of a lane's share of n rows. Borders
// between lanes are aligned to 32 bytes; a lane can be left with nothing.
func (c *Counted) Share(lane int, n int64) (first, bytes int64) {
	all, lanes := max(n, 0)*c.Row, int64(max(c.Lanes, 1))
	border := func(k int64) int64 {
		if k == lanes {
			return all
		}
		return k * all / lanes / laneAlign * laneAlign
	}
	first = border(int64(lane))
	return first, border(int64(lane)+1) - first
}

func (o *Op) countOperands(rank, block int, bufs []Buffer) string {
	c := o.Counted
	text := fmt.Sprintf("n <- %s[%s] kept in [0,%d]", bufs[c.Counts].Name, c.Word.Show(rank, block), c.Capacity)
	if c.Negative {
		text = fmt.Sprintf("n <- min(%s[%s], %d)", bufs[c.Counts].Name, c.Word.Show(rank, block), c.Capacity)
	}
	if c.Append {
		text += ", lo <- lo+share"
	}
	if c.Stale {
		text += ", from a stale cache line"
	}
	if c.Lanes > 1 {
		return text + fmt.Sprintf("; lo, share <- bytes of lane %s of %d, %d B a row", c.Lane.Show(rank, block), c.Lanes, c.Row)
	}
	return text + fmt.Sprintf("; share <- %d*n B", c.Row)
}
