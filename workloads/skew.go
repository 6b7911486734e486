package workloads

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"pldperf/engine"
	"pldperf/hw/program"
)

// offsets returns when each rank starts: as listed, plus a seeded random part.
func (c *Config) offsets() []engine.Duration {
	if len(c.Skew.Offsets) == 0 && c.Skew.Random == 0 {
		return nil
	}
	out := make([]engine.Duration, c.Ranks)
	copy(out, c.Skew.Offsets)
	if c.Skew.Random > 0 {
		r := rand.New(rand.NewPCG(c.Skew.Seed, 0x736b6577))
		for i := range out {
			out[i] += engine.Duration(r.Int64N(int64(c.Skew.Random) + 1))
		}
	}
	return out
}

// presetSignals gives signal cells the values that the workload asks for.
func (c *Config) presetSignals(job *program.Job) error {
	for _, s := range c.Signals {
		name := "signal"
		if s.Item != "" {
			name = s.Item + ".signal"
		}
		i := slices.IndexFunc(job.Buffers, func(b program.Buffer) bool { return b.Name == name })
		if i < 0 {
			return fmt.Errorf("signals: there is no %s", name)
		}
		b := &job.Buffers[i]
		columns := int(b.Size) / 4 / c.Ranks
		if s.Col >= columns {
			return fmt.Errorf("signals: column %d, but %s has columns 0 to %d", s.Col, name, columns-1)
		}
		t, ok := b.Table.(cells)
		if !ok {
			t = cells{}
			b.Table = t
		}
		words := t[s.Rank]
		if words == nil {
			words = make([]int32, int(b.Size)/4)
			t[s.Rank] = words
		}
		words[s.Row*columns+s.Col] = int32(s.Value)
	}
	return nil
}

// cells are the initial words of a signal, by rank; a rank that is not there has zeros.
type cells map[int][]int32

// Row implements program.Table.
func (c cells) Row(rank, _ int) []int32 { return c[rank] }

func keys(m map[string]bool) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
