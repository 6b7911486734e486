package hazard

import "slices"

// A lane is one component of the clocks. An AIV does what it does in program order in
// one lane; what works for it beside that order has a lane for each sort of work, whose
// count is the last piece of work that the AIV knows to be over:
//
//	main    the block's ops                     known in order
//	stores  remote stores                       known at a fence
//	ring    rows in the stage ring              known at a drain
//	nic     what the NIC reads and writes       known at the CQE
//
// A lane outlives its AIV: it is given to a later one that starts after all that was
// done in it. So repeated calls use the same lanes, clocks do not grow, and no order
// appears that is not there.
type lane struct {
	count  uint32 // the last that any owner has used
	owners []owner
}

// owner is who has a lane from a count on.
type owner struct {
	from uint32
	who  int32
}

// sort of work.
const (
	main = iota
	stores
	ring
	nic
	sorts
)

// none is a lane that is not there.
const none = ^uint32(0)

// slot are the lanes of one AIV.
type slot struct{ lane [sorts]uint32 }

// lanes are those of all ranks, and which slots of each rank have no owner.
type lanes struct {
	all  []lane
	free [][]slot // by rank
}

// take returns a slot for somebody who knows what c knows: one of the rank's that c
// has overtaken, or a new one.
func (l *lanes) take(rank int, c clock) slot {
	free := l.free[rank]
	for i := range free {
		if s := free[i]; l.over(&s, c) {
			l.free[rank] = slices.Delete(free, i, i+1)
			return s
		}
	}
	return slot{lane: [sorts]uint32{none, none, none, none}}
}

// over reports whether all that was done in a slot's lanes is known to c.
func (l *lanes) over(s *slot, c clock) bool {
	for _, i := range s.lane {
		if i != none && c.at(i) < l.all[i].count {
			return false
		}
	}
	return true
}

// give returns a slot whose owner has ended.
func (l *lanes) give(rank int, s slot) { l.free[rank] = append(l.free[rank], s) }

// own makes who the owner of a slot's lane, which is made if need be, from the next
// count on.
func (l *lanes) own(s *slot, sort int, who int32) uint32 {
	if s.lane[sort] == none {
		s.lane[sort] = uint32(len(l.all))
		l.all = append(l.all, lane{})
	}
	x := &l.all[s.lane[sort]]
	x.owners = append(x.owners, owner{x.count + 1, who})
	return s.lane[sort]
}

// who returns the owner of a lane at a count.
func (l *lanes) who(lane, count uint32) int32 {
	owners := l.all[lane].owners
	i, found := slices.BinarySearchFunc(owners, count, func(o owner, n uint32) int { return int(int64(o.from) - int64(n)) })
	if !found {
		i--
	}
	return owners[i].who
}
