package urma

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"pldperf/engine"
)

// An SQE of 1 row takes a lane 1226 + 3*10 ns, one of 12 rows 1226 + 11*50 ns.
func TestLanesBuildInRounds(t *testing.T) {
	const full, single = 1226*ns + 11*50*ns, 1226*ns + 3*10*ns
	for _, tt := range []struct {
		name   string
		rows   int
		change func(*Spec)
		want   engine.Duration
	}{
		{"nothing", 0, nil, 0},
		{"one row", 1, nil, single},
		{"two rows: one SGE and one NOP more or less", 2, nil, 1226*ns + 50*ns + 2*10*ns},
		{"six rows", 6, nil, 1226*ns + 5*50*ns + 10*ns},
		{"twelve rows", 12, nil, full},
		{"a full SQE and a single row side by side", 13, nil, full},
		{"a segment", 768, nil, full},
		{"65 SQEs, the last of one row in a round of its own", 769, nil, full + single},
		{"65 SQEs, full", 780, nil, 2 * full},
		{"66 SQEs, the last of one row", 781, nil, 2 * full},
		{"a quarter of the lanes is real", 768, func(s *Spec) { s.Build.Efficiency = engine.One / 4 }, 4 * full},
		{"one lane", 25, func(s *Spec) { s.Build.Lanes = 1 }, 2*full + single},
		{"hardly a lane", 24, func(s *Spec) { s.Build.Efficiency = 1 }, 2 * full},
		{"NOPs dearer than rows: the short SQE is the slowest", 13, func(s *Spec) { s.Build.SGE, s.Build.NOP = 0, us }, 1226*ns + 3*us},
		{"SQEs of four rows", 9, func(s *Spec) { s.MaxSGEs, s.Build.Lanes = 4, 2 }, 1226*ns + 3*50*ns + 2*10*ns + single},
	} {
		s := a5()
		if tt.change != nil {
			tt.change(&s)
		}
		assert.Equal(t, tt.want, s.BuildSpan(tt.rows, 1.65e9), tt.name)
	}
}

// 64 SQEs are 16,384 B: 656 cycles at 25 B each, and 4,096 cycles at 4 B, which is
// longer than the lanes take.
func TestTheAIVMustStoreTheDescriptors(t *testing.T) {
	const clock = engine.Hertz(1e9)
	s := a5()
	s.Build.WQE, s.Build.SGE, s.Build.NOP = ns, 0, 0
	assert.Equal(t, 656*ns, s.BuildSpan(768, clock))
	assert.Equal(t, 11*ns, s.BuildSpan(1, clock), "256 B whatever the SQE holds")
	s = a5()
	s.Build.Store = 4
	assert.Equal(t, 4096*ns, s.BuildSpan(768, clock))
	assert.Equal(t, 1776*ns, s.BuildSpan(300, clock), "25 SQEs: 1,600 cycles are hidden")
}

func TestTheAIVPaysForDoorbellAndDrain(t *testing.T) {
	s := a5()
	assert.Equal(t, 906*ns, s.DoorbellIssue())
	assert.Equal(t, 430*ns, s.DrainTime())
}
