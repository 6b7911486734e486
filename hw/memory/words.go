package memory

// Word returns INT32 i of a control buffer.
func (s *Space) Word(rank int, id ID, i int) int32 {
	in := &s.inst[id][rank]
	if in.words == nil && in.table != nil {
		s.materialise(rank, id)
	}
	return in.words[i]
}

// SetWord stores v in INT32 i of a control buffer.
func (s *Space) SetWord(rank int, id ID, i int, v int32) {
	s.Word(rank, id, i)
	s.inst[id][rank].words[i] = v
}

// AddWord adds v to INT32 i of a control buffer and returns the sum.
func (s *Space) AddWord(rank int, id ID, i int, v int32) int32 {
	n := s.Word(rank, id, i) + v
	s.inst[id][rank].words[i] = n
	return n
}

// Words returns all words of a rank's control buffer; the caller may only read.
func (s *Space) Words(rank int, id ID) []int32 {
	s.Word(rank, id, 0)
	return s.inst[id][rank].words
}

// Row returns the written part of row `row` of a control buffer that has a Table,
// without making the whole buffer (resolution: index rows are generated when read).
func (s *Space) Row(rank int, id ID, row int) []int32 { return s.inst[id][rank].table.Row(rank, row) }

// materialise turns a table of one row into words: counts are small and are read
// and written by the word.
func (s *Space) materialise(rank int, id ID) {
	in := &s.inst[id][rank]
	in.words = make([]int32, s.bufs[id].Size/4)
	copy(in.words, in.table.Row(rank, 0))
}
