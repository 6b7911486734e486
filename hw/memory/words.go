package memory

// Word returns INT32 i of a control buffer.
func (s *Space) Word(rank int, id ID, i int) int32 {
	return s.touchWords(rank, id)[i]
}

// SetWord stores v in INT32 i of a control buffer.
func (s *Space) SetWord(rank int, id ID, i int, v int32) {
	s.touchWords(rank, id)[i] = v
}

// AddWord adds v to INT32 i of a control buffer and returns the sum.
func (s *Space) AddWord(rank int, id ID, i int, v int32) int32 {
	w := s.touchWords(rank, id)
	w[i] += v
	return w[i]
}

// Words returns all words of a rank's control buffer; the caller may only read.
func (s *Space) Words(rank int, id ID) []int32 { return s.touchWords(rank, id) }

// Row returns the written part of row `row` of a control buffer that has a Table,
// without making the whole buffer: index rows are generated when read.
func (s *Space) Row(rank int, id ID, row int) []int32 { return s.inst[id][rank].table.Row(rank, row) }

// touchWords makes the words of a control buffer when they are first touched. Of a
// table they take row 0, which is all of it: counts and signals are read and
// written by the word, an index by the row.
func (s *Space) touchWords(rank int, id ID) []int32 {
	in := &s.inst[id][rank]
	if in.words == nil {
		in.words = make([]int32, s.bufs[id].Size/4)
		if in.table != nil {
			copy(in.words, in.table.Row(rank, 0))
		}
	}
	return in.words
}
