package program

import "pldperf/engine"

// Tiles says how a Stream takes a matrix through the Unified Buffer. The block's matrix
// begins at Src+SrcOff; its rows are Width bytes, Pitch bytes apart. Stored, a tile goes to
// the same place behind Dst+DstOff.
//
//	load x0 (y0) | load x1 (y1) ...
//	               work on 0    | work on 1 ...
//	                              store 0      | store 1 ...
type Tiles struct {
	Rows         Expr  // of the block's matrix
	Width, Pitch int64 // of a row
	TileRows     int64
	TileWidth    int64
	Slices       int64 // parts of the rows that are taken in all passes before the next; 0 is 1
	Passes       int64 // 0 is 1
	Depth        int64 // tiles of each buffer; 0: nothing waits for a buffer
	Two          bool  // a second operand, from the same place behind Other+SrcOff
	Other        Buf
	Work         bool            // the vector unit combines both by Reduce, of DType; only its time
	Each         engine.Duration // what the kernel's scalar unit does for a tile, before that
	Store        bool            // the first operand is stored
	Spread       int             // of so many ranks: tile i goes to rank (own+1+i) mod Spread; 0: to the own
}

// Slice returns how many rows a slice has of so many: whole tiles.
func (t *Tiles) Slice(rows int64) int64 {
	slices, tiles := max(t.Slices, 1), (rows+t.TileRows-1)/t.TileRows
	return (tiles + slices - 1) / slices * t.TileRows
}

// Atomics says how the lanes of a Storm add: lane i of block b, which are as many as
// Ops, to word (b*Ops + i) mod Targets, whose words are Stride bytes apart.
type Atomics struct {
	Ops, Targets, Stride int64
	Returns              bool // the old value comes back
}
