package symptoms

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"pldperf/collectives"
	"pldperf/hw/arith"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// value names the row of a result of arithmetic that is wrong, by what has been
// combined instead of what every rank gives.
func (s *suspect) value(x scene, m *result.Mismatch) {
	if s.selfish(x) {
		return
	}
	v, ok := s.sumOf(x, m)
	if !ok {
		s.early(x, at(m)+" is wrong")
		return
	}
	own := uint64(1) << m.Rank
	switch all := uint64(1)<<s.job.Ranks - 1; {
	case v.twice() >= 0:
		s.say("F22", "%s is the result of all ranks with the part of rank %d in it twice", at(m), v.twice())
	case s.elsewhere(&v, x, m):
	case v.doubled(x) >= 0:
		s.say("F15", "%s is what rank %d gives, twice", at(m), v.doubled(x))
	case x.family() == "reduce_scatter" && v.is(v.combined(all&^own, v.at)):
		s.say("F39", "%s is the result of the other ranks, without the part of rank %d", at(m), m.Rank)
	case x.family() == "two_phase" && !s.gathers(x):
		s.say("F27", "%s%s; nobody reads what the other ranks have reduced", at(m), v.lacks())
	default:
		s.early(x, at(m)+v.lacks())
	}
}

// sum is a wrong result of a reduction with what it should have been made of.
type sum struct {
	ranks   int
	t       program.DType
	op      program.Reduce
	fill    program.Content // of the ranks' parts
	version uint32
	at      int64 // where in them
	got     []byte
}

// sumOf finds the parts of a wrong result: the content of the input that the call has,
// or of the window that it reduces in place.
func (s *suspect) sumOf(x scene, m *result.Mismatch) (v sum, ok bool) {
	e := int64(collectives.ElemSize(x.call.DType))
	if len(m.GotBytes) == 0 || e == 0 || x.task == nil {
		return v, false
	}
	op, _ := program.ParseReduce(cmp.Or(x.call.Reduce, "Sum")) // an unknown one has been refused
	v = sum{ranks: s.job.Ranks, t: x.call.Elem(), op: op, at: m.Off}
	skip := (e - m.Off%e) % e // the first byte that differs is not always the first of an element
	v.at += skip
	v.got = m.GotBytes[min(skip, int64(len(m.GotBytes))):]
	v.got = v.got[:int64(len(v.got))/e*e]
	for _, operand := range []string{"input", "target"} {
		for i := range s.job.Buffers {
			b := &s.job.Buffers[i]
			if role(b.Name) == operand && strings.HasPrefix(b.Name, x.name) && b.Fill != nil && v.fill == nil {
				v.fill, v.version = b.Fill, s.versionOf(program.Buf(i), x.task)
			}
		}
	}
	if x.call.Op == "reduce_scatter" && role(m.Buffer) == "output" { // a row, of which the parts lie in row my_rank
		v.at += int64(m.Rank) * x.call.Chunk()
	}
	return v, v.fill != nil && len(v.got) > 0 && v.ranks < 64
}

// versionOf is how often a buffer has been written anew when a task begins.
func (s *suspect) versionOf(b program.Buf, t *program.Task) (n uint32) {
	for i := range s.job.Tasks {
		for _, w := range s.job.Tasks[i].Before {
			if w.Buf == b {
				n++
			}
		}
		if &s.job.Tasks[i] == t {
			break
		}
	}
	return n
}

// combined is the result of the parts of a set of ranks at an offset, and of those of
// more ranks again. No rank at all gives zeros.
func (v *sum) combined(set uint64, at int64, more ...int) []byte {
	out, next := make([]byte, len(v.got)), make([]byte, len(v.got))
	first := true
	add := func(rank int) {
		v.fill.Generate(next, rank, v.version, at)
		if first {
			copy(out, next)
		} else {
			arith.Combine(out, next, v.op, v.t)
		}
		first = false
	}
	for ; set != 0; set &= set - 1 {
		add(bits.TrailingZeros64(set))
	}
	for _, r := range more {
		add(r)
	}
	return out
}

// twice is the rank whose part is in what was found twice, -1 if there is none.
func (v *sum) twice() int {
	for r := range v.ranks {
		if v.is(v.combined(1<<v.ranks-1, v.at, r)) {
			return r
		}
	}
	return -1
}

// doubled is the rank whose part, doubled, was stored at the wrong peer; -1 if there is none.
func (v *sum) doubled(x scene) int {
	for r := 0; r < v.ranks && x.family() == "remote_store"; r++ {
		if v.is(v.combined(1<<r, v.at, r)) {
			return r
		}
	}
	return -1
}

// is reports whether a result is what was found, but for the order of combination: to
// some units in the last place of the largest that is added.
func (v *sum) is(want []byte) bool {
	close := map[program.DType]float64{program.FP32: 1e-6, program.FP16: 4e-3, program.BF16: 3e-2}[v.t]
	for i := range len(v.got) / int(v.t.Size()) {
		a, b := arith.Value(v.got, i, v.t), arith.Value(want, i, v.t)
		if !(math.Abs(a-b) <= close*max(math.Abs(a), math.Abs(b), v.scale(i))) { // NaN is not close
			return false
		}
	}
	return true
}

// scale is the magnitude of the parts of a sum, of which little can be left.
func (v *sum) scale(i int) (m float64) {
	if v.op != program.Sum {
		return 0
	}
	part := make([]byte, len(v.got))
	for r := range v.ranks {
		v.fill.Generate(part, r, v.version, v.at)
		m = max(m, math.Abs(arith.Value(part, i, v.t)))
	}
	return m
}

// mostRanks bounds the subsets of ranks that are tried.
const mostRanks = 10

// lacks says which ranks' parts are missing from what was found, or what it is else.
func (v *sum) lacks() string {
	if v.is(make([]byte, len(v.got))) {
		return " is zero"
	}
	for set := uint64(1); v.ranks <= mostRanks && set < 1<<v.ranks-1; set++ {
		if !v.is(v.combined(set, v.at)) {
			continue
		}
		var missing []string
		for r := range v.ranks {
			if set>>r&1 == 0 {
				missing = append(missing, fmt.Sprint(r))
			}
		}
		return " lacks the part of rank " + strings.Join(missing, ", ")
	}
	return " is no combination of what the ranks give"
}

// elsewhere says that what was found is the result of another place: of another chunk
// or segment, or of row 0 on every rank.
func (s *suspect) elsewhere(v *sum, x scene, m *result.Mismatch) bool {
	row := map[string]string{"reduce_scatter": "F40", "two_phase": "F26", "ring": "F29"}[x.family()]
	unit := x.call.Chunk() / int64(v.ranks)
	if x.call.Op == "reduce_scatter" {
		unit = x.call.Chunk()
	}
	for c := int64(0); c < int64(v.ranks) && row != "" && unit > 0; c++ {
		if place := c*unit + v.at%unit; place != v.at && v.is(v.combined(1<<v.ranks-1, place)) {
			s.say(row, "%s holds the result of chunk %d, not of chunk %d", at(m), c, v.at/unit)
			return true
		}
	}
	return false
}
