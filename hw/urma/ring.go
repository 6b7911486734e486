package urma

// pageSQEs is how many SQEs a page of ring memory holds: one, since a large machine has a
// queue for each pair of ranks, and most of them hold one SQE at a time.
const pageSQEs = 1

// page is a piece of simulated ring memory.
type page [pageSQEs * SQESize]byte

// ring is the memory of a queue that is not at rest: the pages of the SQ from tail to
// head, and the CQEs from the CQ's tail to its head. What lies outside reads as the
// last lap left it: its owner bits are wrong. A NIC recycles rings and pages.
type ring struct {
	first uint64 // number of pages[0]
	pages []*page
	cq    []byte
}

// pageBBs is how many WQEBBs a page of ring memory holds.
const pageBBs = pageSQEs * SQEBBs

// slot returns the ring memory from a WQEBB between tail and head, or at the head, to
// the end of its page.
func (q *Queue) slot(seq uint64) []byte {
	n := seq / pageBBs
	if q.ring == nil {
		q.ring = q.nic.takeRing()
		q.ring.first = n
	}
	r := q.ring
	for n-r.first >= uint64(len(r.pages)) {
		r.pages = append(r.pages, q.nic.takePage())
	}
	return r.pages[n-r.first][seq%pageBBs*WQEBB:]
}

// write puts the WQEBBs in b at the head of the ring.
func (q *Queue) write(b []byte) {
	for at := q.head; len(b) > 0; at++ {
		b = b[copy(q.slot(at)[:WQEBB], b):]
	}
}

// read returns the WQEBBs of the SQE at seq. They lie in the ring, or in the NIC's
// buffer when they are on two pages.
func (q *Queue) read(seq uint64) []byte {
	b, n := q.slot(seq), q.bbs(seq)*WQEBB
	if n <= len(b) {
		return b[:n]
	}
	k := copy(q.nic.wqe[:], b)
	copy(q.nic.wqe[k:n], q.slot(seq+uint64(k/WQEBB)))
	return q.nic.wqe[:n]
}

// bbs returns how many WQEBBs the SQE at seq has.
func (q *Queue) bbs(seq uint64) int { return int(q.slot(seq)[3] &^ ownerBit) }

// retire moves the tail and gives back the pages behind it.
func (q *Queue) retire(tail uint64) {
	r, n := q.ring, q.nic
	q.tail = tail
	q.watch.depth(q)
	k := len(r.pages)
	if tail != q.head {
		k = int(tail/pageBBs - r.first)
	}
	n.pages = append(n.pages, r.pages[:k]...)
	r.pages = r.pages[:copy(r.pages, r.pages[k:])]
	r.first += uint64(k)
	if tail == q.head {
		n.rings = append(n.rings, r)
		q.ring = nil
	}
}

func (n *NIC) takeRing() *ring {
	if k := len(n.rings); k > 0 {
		r := n.rings[k-1]
		n.rings = n.rings[:k-1]
		return r
	}
	return new(ring)
}

func (n *NIC) takePage() *page {
	if k := len(n.pages); k > 0 {
		p := n.pages[k-1]
		n.pages = n.pages[:k-1]
		return p
	}
	return new(page)
}
