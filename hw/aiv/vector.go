package aiv

import (
	"pldperf/engine"
	"pldperf/hw/program"
)

// VectorSpec is the vector unit: an operation on a tile takes Start, and Loop for each
// iteration over Width bytes (formula F4 of the hardware parameters).
type VectorSpec struct {
	Kind    string       `yaml:"kind" when:"@add|mul|compare" enum:"real,ideal" help:"ideal: combining tiles takes no time"`
	Width   engine.Bytes `yaml:"width" when:"kind!=ideal @add|mul|compare" help:"bytes of an iteration"`
	Add     VectorOp     `yaml:"add" when:"kind!=ideal @add" help:"sums"`
	Mul     VectorOp     `yaml:"mul" when:"kind!=ideal @mul" help:"products"`
	Compare VectorOp     `yaml:"compare" when:"kind!=ideal @compare" help:"maxima and minima"`
}

// VectorOp is the cost of one kind of operation in AIV cycles; 100 % is one cycle.
type VectorOp struct {
	Loop  engine.Fraction `yaml:"loop" help:"cycles for each iteration; 100 % is one"`
	Start engine.Cycles   `yaml:"start" help:"cycles before the first iteration and after the last"`
}

// Time returns how long it takes to combine n bytes. Sums are additions, products
// multiplications, Max and Min comparisons.
func (v *VectorSpec) Time(r program.Reduce, n int64, clock engine.Hertz) engine.Duration {
	if v.Kind == "ideal" || n == 0 {
		return 0
	}
	op := &v.Add
	switch r {
	case program.Prod:
		op = &v.Mul
	case program.Max, program.Min:
		op = &v.Compare
	}
	loops := (n + int64(v.Width) - 1) / int64(v.Width)
	return clock.Span(op.Start) + clock.Span(engine.Cycles(loops)).Scale(op.Loop)
}
