package urma

import (
	"encoding/binary"
	"fmt"
)

// Sizes of the descriptors (S-63 ... S-65; semantics 7.4; pto-isa URMA headers).
const (
	WQEBB    = 64 // basic block of a send queue: depth, head and tail count these
	SQEBBs   = 4  // WQEBBs of an SQE at most, and of every one of the indexed collective
	SQESize  = SQEBBs * WQEBB
	SQEHead  = 48
	SGESize  = 16
	CQESize  = 64
	MaxSGEs  = 12
	MaxReads = 6         // SGEs of a READ (UMDK; hardware parameters 1.4)
	MaxBytes = 256 << 20 // of one SQE (hardware parameters 1.4)
)

// Opcodes (pto-isa).
const (
	OpWrite = 0x03
	OpRead  = 0x06
	OpFAA   = 0x0b
	OpNOP   = 0x11
)

// Flag bits of an SQE (semantics 7.4): placement order 0-1, then one bit each.
const (
	Relaxed         = 0x01
	Strong          = 0x02
	CompletionOrder = 0x04
	FlagFence       = 0x08
	Solicited       = 0x10
	CompletionOn    = 0x20
	// LastWrite is the flags of the last WRITE of a send: strong, fence, CQE (S-68).
	LastWrite = Strong | FlagFence | CompletionOn
	flagBits  = 0x3f
)

// reserved is the first byte of the header without a meaning.
const reserved = 28

// ownerBit marks, in byte 3 of a header and of a NOP, on which lap of the ring it was
// written.
const ownerBit = 0x80

// Status of a CQE.
const (
	StatusOK      = 0
	StatusAccess  = 2 // an address that no buffer holds
	StatusTimeout = 4 // the peer never acknowledged
)

// SGE names one contiguous local range. Tokens are carried, never checked: all memory
// of a rank is one registration, whose token is 0.
//
//	0        4        8                16
//	| len    | token  | address        |
type SGE struct {
	Len   uint32
	Token uint32
	Addr  uint64
}

// SQE is one work request as it lies in the ring: a header and its SGEs, and, unless
// it is Packed, NOP WQEBBs behind them, so that it has four WQEBBs in all: the rule of
// the indexed collective (S-65). Numbers are little-endian.
//
//	0      1      2      3            4         8         12           16               24
//	| op   | flags| SGEs | owner, BBs | WQE seq | length  | remote tok.| remote address |
//	24             28                                                                  48
//	| remote jetty | reserved, zero                                                    |
//	48        64 ...
//	| SGE 0   | SGE 1 ...  12 of them end at byte 240 of 256
//
//	byte 1   | 7 6 zero | 5 CQE | 4 solicited | 3 fence | 2 completion order | 1 0 place order |
//	byte 3   | 7 owner | 6..0 WQEBBs: 4; when packed those used; 1 in a NOP |
//	a NOP    | 0x11 | 0 | 0 | owner, 1 | 60 bytes of zero |
//
// The opcodes, the flag bits, the sizes, the rule of the owner bit and the presence
// of these fields are public; where in the header they lie, and what a NOP holds
// besides its opcode, is this model's own (docs/DEVIATIONS.md).
type SQE struct {
	Op          uint8
	Flags       uint8
	Owner       bool
	Packed      bool   // no NOPs: as many WQEBBs as it uses
	Seq         uint32 // of its first WQEBB
	Length      uint32 // of all SGEs together
	RemoteToken uint32
	Remote      uint64
	Jetty       uint32 // of the peer
	SGEs        []SGE
}

// Used returns the WQEBBs that m SGEs fill: 48 bytes and 16 for each, in units of 64.
func Used(m int) int { return (SQEHead + SGESize*m + WQEBB - 1) / WQEBB }

// BBs returns the WQEBBs of an SQE of m SGEs.
func BBs(m int, packed bool) int {
	if packed {
		return Used(m)
	}
	return SQEBBs
}

// Encode writes q to its WQEBBs in b, the unused ones as NOPs, and returns how many it
// has. It panics on more than MaxSGEs SGEs.
func (q *SQE) Encode(b []byte) (bbs int) {
	if len(q.SGEs) > MaxSGEs {
		panic(fmt.Sprintf("urma: an SQE of %d SGEs", len(q.SGEs)))
	}
	bbs = BBs(len(q.SGEs), q.Packed)
	b = b[:bbs*WQEBB]
	clear(b)
	own := byte(0)
	if q.Owner {
		own = ownerBit
	}
	le := binary.LittleEndian
	b[0], b[1], b[2], b[3] = q.Op, q.Flags, byte(len(q.SGEs)), own|byte(bbs)
	le.PutUint32(b[4:], q.Seq)
	le.PutUint32(b[8:], q.Length)
	le.PutUint32(b[12:], q.RemoteToken)
	le.PutUint64(b[16:], q.Remote)
	le.PutUint32(b[24:], q.Jetty)
	for i, s := range q.SGEs {
		at := b[SQEHead+SGESize*i:][:SGESize]
		le.PutUint32(at, s.Len)
		le.PutUint32(at[4:], s.Token)
		le.PutUint64(at[8:], s.Addr)
	}
	for i := Used(len(q.SGEs)); i < bbs; i++ {
		nop := b[i*WQEBB:]
		nop[0], nop[3] = OpNOP, own|1
	}
	return bbs
}

// Decode reads the SQE at the start of b; its SGEs use the storage of q's. Anything
// that Encode cannot have written is an error.
func (q *SQE) Decode(b []byte) error {
	if len(b) < WQEBB {
		return fmt.Errorf("urma: %d bytes are no SQE", len(b))
	}
	le := binary.LittleEndian
	m, bbs := int(b[2]), int(b[3]&^ownerBit)
	*q = SQE{
		Op: b[0], Flags: b[1], Owner: b[3]&ownerBit != 0, Seq: le.Uint32(b[4:]), Length: le.Uint32(b[8:]),
		RemoteToken: le.Uint32(b[12:]), Remote: le.Uint64(b[16:]), Jetty: le.Uint32(b[24:]),
		SGEs: q.SGEs[:0],
	}
	switch {
	case q.Op != OpWrite && q.Op != OpRead && q.Op != OpFAA:
		return fmt.Errorf("urma: opcode %#x", q.Op)
	case q.Flags&^flagBits != 0 || q.Flags&(Relaxed|Strong) == Relaxed|Strong:
		return fmt.Errorf("urma: flags %#x", q.Flags)
	case m < 1 || m > MaxSGEs: // 13 would fit; the collective fixes 12 (S-64)
		return fmt.Errorf("urma: %d SGEs, must be 1 to %d", m, MaxSGEs)
	case q.Op == OpRead && m > MaxReads:
		return fmt.Errorf("urma: a READ of %d SGEs, at most %d", m, MaxReads)
	case bbs != SQEBBs && bbs != Used(m):
		return fmt.Errorf("urma: an SQE of %d SGEs in %d WQEBBs, must be %d or %d", m, bbs, Used(m), SQEBBs)
	case len(b) < bbs*WQEBB:
		return fmt.Errorf("urma: %d bytes are no SQE of %d WQEBBs", len(b), bbs)
	}
	q.Packed = bbs != SQEBBs
	return q.decodeSGEs(b[:bbs*WQEBB], m)
}

func (q *SQE) decodeSGEs(b []byte, m int) error {
	le := binary.LittleEndian
	var sum uint64
	for i := range m {
		at := b[SQEHead+SGESize*i:]
		s := SGE{le.Uint32(at), le.Uint32(at[4:]), le.Uint64(at[8:])}
		sum += uint64(s.Len)
		q.SGEs = append(q.SGEs, s)
	}
	if sum != uint64(q.Length) {
		return fmt.Errorf("urma: the SGEs hold %d bytes, the header says %d", sum, q.Length)
	}
	return checkTail(b, m)
}

// checkTail refuses reserved bytes that are not zero and a tail that is not NOPs.
func checkTail(b []byte, m int) error {
	for i, v := range b[reserved:SQEHead] {
		if v != 0 {
			return fmt.Errorf("urma: reserved byte %d is %#x", reserved+i, v)
		}
	}
	own := b[3] & ownerBit
	for i := SQEHead + SGESize*m; i < len(b); i++ {
		want := byte(0)
		if i >= Used(m)*WQEBB {
			switch i % WQEBB {
			case 0:
				want = OpNOP
			case 3:
				want = own | 1
			}
		}
		if b[i] != want {
			return fmt.Errorf("urma: byte %d behind the SGEs is %#x, must be %#x", i, b[i], want)
		}
	}
	return nil
}

// CQE is a completion as it lies in the completion ring. Its size, owner bit, status
// and substatus are public; the order of its fields is this model's own.
//
//	0       1        2           3        4           8          12            64
//	| owner | status | substatus | opcode | WQE seq   | bytes    | zero        |
type CQE struct {
	Owner     bool
	Status    uint8
	Substatus uint8
	Op        uint8
	Seq       uint32 // of the SQE's first WQEBB
	Bytes     uint32
}

// Encode writes c to the 64 bytes of b.
func (c *CQE) Encode(b []byte) {
	b = b[:CQESize]
	clear(b)
	if c.Owner {
		b[0] = 1
	}
	b[1], b[2], b[3] = c.Status, c.Substatus, c.Op
	binary.LittleEndian.PutUint32(b[4:], c.Seq)
	binary.LittleEndian.PutUint32(b[8:], c.Bytes)
}

// Decode reads the CQE in b. Anything that Encode cannot have written is an error.
func (c *CQE) Decode(b []byte) error {
	switch {
	case len(b) < CQESize:
		return fmt.Errorf("urma: %d bytes are no CQE", len(b))
	case b[0] > 1:
		return fmt.Errorf("urma: owner byte of a CQE is %#x", b[0])
	}
	*c = CQE{
		Owner: b[0] == 1, Status: b[1], Substatus: b[2], Op: b[3],
		Seq: binary.LittleEndian.Uint32(b[4:]), Bytes: binary.LittleEndian.Uint32(b[8:]),
	}
	for i, v := range b[12:CQESize] {
		if v != 0 {
			return fmt.Errorf("urma: reserved byte %d of a CQE is %#x", 12+i, v)
		}
	}
	return nil
}
