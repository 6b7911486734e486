package collectives

import (
	"cmp"
	"fmt"
	"slices"
)

// Experts is traffic that says which experts each token goes to. Traffic that does not is
// taken to send each of its rows to one of two experts of the destination.
type Experts interface {
	Traffic
	Experts() int           // E in all: expert e lives on rank floor(e*P/E)
	TopK() int              // of each token
	Chosen(src int) []int32 // TopK experts of each token of src, by token; not to be modified
}

// route is one (token, expert) pair.
type route struct {
	src, token, number int // of the source's routes, by token
	dst, expert        int // of the experts of the rank dst
	row                int // of the rows from src to dst, which a token's experts there share
	slot               int // among the routes from src to that expert
	pos                int // among the routes from all sources to that expert, by source
	back               int // among the routes from src to dst, by token
	at                 int // among all routes to dst: by expert, source and slot
}

// routes are those of one traffic.
type routes struct {
	local   int   // experts of the rank that has most
	base    []int // first expert of each rank
	from    [][]route
	to      [][]route
	most    int // routes of a source
	lane    int // routes from a source to an expert
	queue   int // routes from all sources to an expert
	arrived int // routes to a rank
}

// moeRoutes finds the routes of a traffic.
func moeRoutes(t Traffic) (*routes, error) {
	x := &routes{from: make([][]route, t.Ranks()), to: make([][]route, t.Ranks())}
	if e, ok := t.(Experts); ok && e.Experts() > 0 {
		x.chosen(e)
	} else if err := x.rows(t); err != nil {
		return nil, err
	}
	x.number()
	return x, nil
}

// chosen takes the experts that a router has drawn.
func (x *routes) chosen(t Experts) {
	ranks, experts := t.Ranks(), t.Experts()
	x.base = make([]int, ranks+1)
	for e := experts - 1; e >= 0; e-- {
		x.base[e*ranks/experts] = e
	}
	x.base[ranks] = experts
	for r := ranks - 1; r > 0; r-- { // a rank without experts
		if x.base[r] == 0 {
			x.base[r] = x.base[r+1]
		}
	}
	for r := range ranks {
		x.local = max(x.local, x.base[r+1]-x.base[r])
	}
	for s := range ranks {
		sent := make([]int, ranks) // rows to each rank
		for i, e := range t.Chosen(s) {
			token, dst := i/t.TopK(), int(e)*ranks/experts
			row := sent[dst]
			if k := slices.IndexFunc(x.from[s][len(x.from[s])-i%t.TopK():], func(o route) bool { return o.dst == dst }); k >= 0 {
				row = x.from[s][len(x.from[s])-i%t.TopK()+k].row
			} else {
				sent[dst]++
			}
			x.from[s] = append(x.from[s], route{src: s, token: token, dst: dst, expert: int(e) - x.base[dst], row: row})
		}
	}
}

// rows makes a route of each row.
func (x *routes) rows(t Traffic) error {
	x.local = 2
	for r := range t.Ranks() + 1 {
		x.base = append(x.base, x.local*r)
	}
	for s := range t.Ranks() {
		for d := range t.Ranks() {
			index := t.Index(s, d)
			if n := t.Count(s, d); n < 0 || n > t.Capacity() || len(index) < n {
				return fmt.Errorf("traffic: a count of %d from rank %d to rank %d: moe takes legal rows", n, s, d)
			}
			for j, token := range index[:t.Count(s, d)] {
				if token < 0 || int(token) >= t.Tokens() {
					return fmt.Errorf("traffic: row %d of rank %d: moe takes legal rows", token, s)
				}
				x.from[s] = append(x.from[s], route{src: s, token: int(token), dst: d, expert: int(token) % x.local, row: j})
			}
		}
		slices.SortStableFunc(x.from[s], func(a, b route) int { return cmp.Compare(a.token, b.token) })
	}
	return nil
}

// number gives routes their places.
func (x *routes) number() {
	for _, list := range x.from {
		x.most = max(x.most, len(list))
		slots, back := map[[2]int]int{}, make([]int, len(x.from))
		for i := range list {
			r := &list[i]
			key := [2]int{r.dst, r.expert}
			r.number, r.slot, r.back = i, slots[key], back[r.dst]
			slots[key]++
			back[r.dst]++
			x.lane = max(x.lane, r.slot+1)
			x.to[r.dst] = append(x.to[r.dst], *r)
		}
	}
	for _, list := range x.to {
		slices.SortFunc(list, func(a, b route) int {
			return cmp.Or(cmp.Compare(a.expert, b.expert), cmp.Compare(a.src, b.src), cmp.Compare(a.slot, b.slot))
		})
		x.arrived = max(x.arrived, len(list))
		pos, last := 0, -1
		for i := range list {
			r := &list[i]
			if r.expert != last {
				pos, last = 0, r.expert
			}
			r.pos, r.at = pos, i
			x.from[r.src][r.number].pos, x.from[r.src][r.number].at = pos, i
			pos++
			x.queue = max(x.queue, pos)
		}
	}
}

// backwards is the traffic of the way back: each route is a row from the rank of its
// expert, taken from the expert's results, which lie by expert, source and slot.
type backwards struct {
	x        *routes
	capacity int
	index    [][]int32 // [dst*ranks+src]
}

func newBackwards(x *routes) *backwards {
	b := &backwards{x: x, capacity: 1, index: make([][]int32, len(x.to)*len(x.to))}
	for s, list := range x.from {
		for i := range list {
			k := list[i].dst*len(x.to) + s
			b.index[k] = append(b.index[k], int32(list[i].at))
			b.capacity = max(b.capacity, len(b.index[k]))
		}
	}
	return b
}

// Ranks, Tokens, Capacity, Count and Index implement Traffic.
func (b *backwards) Ranks() int                 { return len(b.x.to) }
func (b *backwards) Tokens() int                { return max(b.x.arrived, 1) }
func (b *backwards) Capacity() int              { return b.capacity }
func (b *backwards) Count(src, dst int) int     { return len(b.index[src*len(b.x.to)+dst]) }
func (b *backwards) Index(src, dst int) []int32 { return b.index[src*len(b.x.to)+dst] }
