package program

import "pldperf/engine"

// Buf is the number of a buffer in a Job.
type Buf int32

// Kind is what an op does.
type Kind uint8

// The ops. Scalar signals are the pl primitives TNOTIFY and TWAIT; the SIMT forms
// are the global atomics of the indexed collective (S-84). A tile is a place in the
// Unified Buffer of the block that executes the op.
const (
	// Put moves Bytes from Src+SrcOff to Dst+DstOff of Peer through the Unified
	// Buffer, in stages of Chunk bytes, and drains (TPUT, semantics 3.3). With Rect
	// it moves a rectangle, with Atomic it adds to what is there, with Pipeline the
	// load of a stage overlaps the store of the one before. A put to the own rank is
	// a local copy. Transport says what carries it to a peer.
	Put Kind = iota
	// Get is Put in the other direction: from Src+SrcOff of Peer to the own
	// Dst+DstOff (TGET).
	Get
	// CopyTile loads Bytes from Src+SrcOff into the Unified Buffer and stores them
	// at Dst+DstOff of the own rank (pl.load, pl.store).
	CopyTile
	// LoadTile loads Bytes from the own Src+SrcOff into Tile (pl.load). No bytes are
	// no tile.
	LoadTile
	// StoreTile stores Bytes of Tile at the own Dst+DstOff (pl.store).
	StoreTile
	// RemoteLoad loads Bytes from Src+SrcOff of Peer into Tile (tile.remote_load). From
	// the own rank it is LoadTile.
	RemoteLoad
	// RemoteStore stores Bytes of Tile at Dst+DstOff of Peer, with Atomic adding them,
	// and does not wait until they are there: a Fence does (remote_store).
	RemoteStore
	// Combine sets Tile to Reduce(Tile, Other), element by element of DType, over the
	// first Bytes of both.
	Combine
	// Convert sets Tile to Other, whose first Bytes are elements of DType, as elements of Into.
	Convert
	// Notify adds or sets Value in cell Cell of Peer, which may be the own rank.
	Notify
	// Wait waits until the own cell Cell is at least Value, or with Eq equal to it.
	Wait
	// NotifyPeers adds or sets Value in the cell of the own rank in group Col at every
	// other rank.
	NotifyPeers
	// WaitPeers waits until the own cell of s in group Col is at least Value, or with
	// Eq equal to it, for every other rank s.
	WaitPeers
	// AddPeers adds (or with Set sets) Value to the own cell of s in group Col for every
	// other rank s: the self-clearing epilogue (S-23).
	AddPeers
	// PullCounts reads send_counts[rank] of each source s with s mod Blocks = block,
	// checks it and publishes it in recv_counts[s] (S-43, S-86).
	PullCounts
	// ReadCount reads the number of rows that a destination gets and keeps it, with the
	// block's share of those rows, for the operands of later ops (all_to_all_v).
	ReadCount
	// CheckCounts reads and checks the own counts that the block uses and asserts
	// the capacity of every owned queue before anything is submitted (S-60, S-66).
	CheckCounts
	// SendOwned builds and submits the sends to the owned destinations, segment by
	// segment (S-63 ... S-72).
	SendOwned
	// PutOwned moves the rows to the owned destinations without a queue: by MTE a put
	// of each interval of consecutive rows, in stages of Chunk bytes, by SDMA an SQE each.
	PutOwned
	// CopyRows moves the block's share of the self rows through the stage ring (S-73 ... S-77).
	CopyRows
	// DrainRows waits for the stage ring's last store, where CopyRows did not.
	DrainRows
	// PollOwned waits for the final CQE of every owned non-empty send (S-69).
	PollOwned
	// Fence waits until the block's remote stores are there and orders everything
	// before it for all ranks.
	Fence
	// PipeBarrier waits for all pipes of the core (PIPE_ALL).
	PipeBarrier
	// Loop executes the Skip ops behind it Count times, in which loop Depth counts up
	// from 0. Program.Loop records it.
	Loop
	// Spend keeps the scalar unit busy for Value picoseconds: what an API does in software.
	Spend
	// Submit has one lane write WQEs to Peer, each of Bytes from Src+SrcOff to Dst+DstOff
	// and on, and rings the doorbell; it waits for nothing. Each asks for a CQE.
	Submit
	// Flush waits for the CQEs of what was submitted to Peer by an op of the same operands.
	Flush
	// Stream takes a matrix of the own rank through the Unified Buffer, tile by tile.
	Stream
	// Storm has SIMT lanes add 1 to words of Signal of the own rank, each lane to one.
	Storm
	// SyncBlocks waits until all blocks of the rank are there: each stores a flag of its
	// own and reads those of all.
	SyncBlocks
	// Return ends the program early, with Note as the reason.
	Return
	numKinds
)

var kindNames = [numKinds]string{
	"put", "get", "copy", "load", "store", "remote_load", "remote_store", "combine", "convert", "notify", "wait",
	"notify_peers", "wait_peers", "add_peers", "pull_counts", "read_count", "check_counts",
	"send_owned", "put_owned", "copy_rows", "drain_rows", "poll_owned", "fence", "pipe_barrier", "loop", "spend", "submit", "flush", "stream", "storm", "sync_blocks", "return",
}

// String returns the op's name as `pldperf ir` prints it.
func (k Kind) String() string { return kindNames[k] }

// Op is one step of a program. Which fields mean something depends on Kind.
type Op struct {
	Kind           Kind
	Phase          string // of the collective, for people
	Dst, Src       Buf
	DstOff, SrcOff Expr // bytes
	Peer           Expr
	Bytes          Expr  // none: the op moves nothing and takes no time
	Used           *Expr // of Bytes that are read, the first that anybody looks at; nil: all
	Chunk          int64 // bytes of a stage; 0 is all
	Rect           *Rect // instead of Bytes and Chunk
	Pipeline       bool  // two stages
	Atomic         bool  // add rather than overwrite
	Barriers       int   // PIPE_ALLs behind each piece (Put)
	Transport      Transport
	Tile, Other    uint8 // of the Unified Buffer, below MaxTiles
	Reduce         Reduce
	DType          DType
	Into           DType // Convert
	Signal         Buf
	Cell           Expr  // Notify, Wait: number of the cell in the signal
	Col            Expr  // group of cells, one of each source: a column, or with ByRow a row
	Stride         int64 // columns of the signal: S, or with ByRow of a [rows,P] signal P
	ByRow          bool  // the signal is [rows,P] and Col a row, rather than [P,S] and a column
	Value          Expr
	Set            bool // Set rather than AtomicAdd
	Eq             bool // wait for the very value rather than at least it
	SIMT           bool // SIMT atomics with back-off rather than scalar TNOTIFY and TWAIT
	NoDrain        bool // CopyRows leaves its last stores in flight
	Rows           *Rows
	Counted        *Counted
	WQEs           *WQEs // Submit, Flush
	Tiles          *Tiles
	Atomics        *Atomics
	Count          Expr // Loop
	Skip           int
	Depth          int
	Note           string
}

// WQEs says how a Submit writes its requests.
type WQEs struct {
	N    int             // one after another; they move adjacent ranges
	SGEs int             // equal parts in which each names its bytes
	Bell int             // WQEs a doorbell; 0 is all
	Read bool            // from Src+SrcOff of Peer to the own Dst+DstOff, by READs
	Each engine.Duration // what an API spends on each in software, on top
}

// Bells returns how many WQEs a doorbell publishes.
func (w *WQEs) Bells() int {
	if w.Bell == 0 {
		return w.N
	}
	return w.Bell
}

// MaxTiles is how many tiles of the Unified Buffer a program can name.
const MaxTiles = 4

// Cell returns the number of the cell of a source in group col of the op's signal.
func (o *Op) CellOf(source, col int64) int64 {
	if o.ByRow {
		return col*o.Stride + source
	}
	return source*o.Stride + col
}

// Rect is a rectangle of Rows rows of Width bytes, whose rows start SrcPitch and
// DstPitch bytes apart. It is moved in pieces of at most ChunkRows rows by ChunkWidth
// bytes; 0 is all of them (semantics 3.3, rules 1, 4 and 8).
type Rect struct {
	Rows, Width, SrcPitch, DstPitch int64
	ChunkRows, ChunkWidth           int64
}

// Pieces returns how many trips through the Unified Buffer the rectangle takes.
func (r *Rect) Pieces() int64 {
	rows, width := r.chunk()
	return (r.Rows + rows - 1) / rows * ((r.Width + width - 1) / width)
}

// chunk returns the rows and bytes of a full piece: what is too large is clamped.
func (r *Rect) chunk() (rows, width int64) {
	rows, width = r.Rows, r.Width
	if r.ChunkRows > 0 {
		rows = min(rows, r.ChunkRows)
	}
	if r.ChunkWidth > 0 {
		width = min(width, r.ChunkWidth)
	}
	return rows, width
}

// Piece returns piece i, in row-major order of pieces: its place and its size.
func (r *Rect) Piece(i int64) (row, col, rows, width int64) {
	cr, cw := r.chunk()
	across := (r.Width + cw - 1) / cw
	row, col = i/across*cr, i%across*cw
	return row, col, min(cr, r.Rows-row), min(cw, r.Width-col)
}

// Transport is the mechanism that carries payload to or from a peer.
type Transport uint8

// The transports.
const (
	MTE  Transport = iota // remote MTE: through the Unified Buffer (TPUT, TGET, remote_load, remote_store)
	URMA                  // a WQE in the send queue to the peer: memory to memory by the NIC engine
	SDMA                  // an SQE of the system DMA: memory to memory
	numTransports
)

var transports = [numTransports]string{"mte", "urma", "sdma"}

// String returns the transport's name.
func (t Transport) String() string { return transports[t] }
