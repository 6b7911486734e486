package routing

import "slices"

// New makes the routing that a spec describes for P ranks. rowBytes is the size of one row, which a matrix of bytes needs;
// files reads a CSV file that the spec names, or one of ShapesFile and HotnessFile. All faults of the spec come back
// joined, each a *FieldError with its path. Counts and indices that only the device can refuse are no fault.
func New(spec Spec, ranks int, rowBytes int64, files func(name string) ([]byte, error)) (*Routing, error) {
	p, err := prepare(spec, ranks, rowBytes, files)
	if err != nil {
		return nil, err
	}
	return p.build(ranks), nil
}

// Check finds the faults that New would find, without drawing a token.
func Check(spec Spec, ranks int, rowBytes int64, files func(name string) ([]byte, error)) error {
	_, err := prepare(spec, ranks, rowBytes, files)
	return err
}

// A plan is a spec with its model filled in and its files read, and no fault left.
type plan struct {
	Spec
	counts []int32    // of every pair, unless they are drawn or come with an index
	loads  []quantile // of an empirical skew
}

func prepare(spec Spec, ranks int, rowBytes int64, files func(string) ([]byte, error)) (*plan, error) {
	var p problems
	plan := &plan{Spec: spec}
	plan.fill(files, &p)
	plan.check(ranks, &p)
	if spec.Skew.Kind == "empirical" {
		plan.loads = readLoads(orElse(spec.Skew.Table, HotnessFile), files, &p)
	}
	var matrix [][]int64
	if spec.Kind == "matrix" && spec.CSV != "" {
		matrix = readMatrix(&spec, ranks, rowBytes, files, &p)
	}
	if len(p) > 0 {
		return nil, p.join()
	}
	switch {
	case spec.Kind == "uniform" || spec.Kind == "random":
		plan.counts = spec.pairCounts(ranks)
	case spec.Kind == "explicit" && spec.Index == nil:
		plan.counts = flat(spec.Counts)
	case spec.Kind == "matrix":
		plan.counts = flat(matrix)
	}
	plan.checkSize(ranks, &p)
	return plan, p.join()
}

// fill completes a spec from its model and with the defaults of its groups.
func (s *Spec) fill(files func(string) ([]byte, error), p *problems) {
	if s.Model != "" {
		shape, err := readModel(s.Model, files)
		if err != nil {
			p.add("model", "%w", err)
		}
		s.Experts, s.TopK = orElse(s.Experts, shape.Experts), orElse(s.TopK, shape.TopK)
		if s.NGroup == 0 {
			s.NGroup, s.TopkGroup = shape.NGroup, orElse(s.TopkGroup, shape.TopkGroup)
		}
	}
	if s.Kind == "moe_topk" {
		s.NGroup = orElse(s.NGroup, 1)
		s.TopkGroup = orElse(s.TopkGroup, s.NGroup)
	}
}

func readModel(name string, files func(string) ([]byte, error)) (Shape, error) {
	data, err := files(ShapesFile)
	if err != nil {
		return Shape{}, err
	}
	shapes, err := ParseShapes(ShapesFile, data)
	if err != nil {
		return Shape{}, err
	}
	return shapes.Model(name)
}

func readLoads(name string, files func(string) ([]byte, error), p *problems) []quantile {
	data, err := files(name)
	if err != nil {
		p.add("skew.table", "%w", err)
		return nil
	}
	table, err := parseQuantiles(name, data)
	if err != nil {
		p.add("skew.table", "%w", err)
	}
	return table
}

func readMatrix(s *Spec, ranks int, rowBytes int64, files func(string) ([]byte, error), p *problems) [][]int64 {
	data, err := files(s.CSV)
	if err != nil {
		p.add("csv", "%w", err)
		return nil
	}
	matrix, err := ParseMatrix(s.CSV, data, s.Unit, s.Round, rowBytes)
	if err != nil {
		p.add("csv", "%w", err)
	} else if len(matrix) != ranks {
		p.add("csv", "%s: a matrix of %d ranks for %d ranks", s.CSV, len(matrix), ranks)
	}
	return matrix
}

// flat lays the rows of a table, which have been checked to fit INT32, end to end.
func flat[T int | int64](table [][]T) []int32 {
	var list []int32
	for _, row := range table {
		for _, v := range row {
			list = append(list, int32(v))
		}
	}
	return list
}

// checkSize bounds what patterned will lay out.
func (p *plan) checkSize(ranks int, faults *problems) {
	if p.counts == nil {
		return
	}
	var all, most int64
	for k := 0; k < len(p.counts); k += ranks {
		sum := int64(0)
		for _, n := range p.counts[k : k+ranks] {
			if p.Capacity > 0 {
				n = min(n, int32(p.Capacity))
			}
			sum += int64(max(n, 0))
		}
		all, most = all+sum, max(most, sum)
	}
	if p.Pattern == "random" {
		most = all
	}
	if most = max(most, int64(p.Tokens)*int64(p.repeats())); most > MaxRows {
		faults.add("kind", "%s needs %d index rows, above the limit of %d", p.Kind, most, MaxRows)
	}
}

func (p *plan) build(ranks int) *Routing {
	switch {
	case p.counts != nil:
		return p.patterned(ranks, p.counts)
	case p.Kind == "explicit":
		return p.explicit(ranks)
	}
	items, k := ranks, 1
	if p.Kind == "moe_topk" {
		items, k = p.Experts, p.TopK
	}
	r := drawn(p.Seed, ranks, p.Tokens, k, p.sampler(items, k), homes(items, ranks))
	r.capacity = orElse(p.Capacity, max(1, int(slices.Max(r.counts))))
	if p.Kind == "skewed" {
		r.load, r.pairs = nil, 0 // destinations are no experts
	} else {
		r.topK, r.plan = k, p
	}
	r.lengths = r.counts
	if p.Capacity > 0 {
		r.lengths = slices.Clone(r.counts)
		for k, n := range r.lengths {
			r.lengths[k] = min(n, int32(p.Capacity))
		}
	}
	return r
}

// sampler draws k of the items for each token.
func (p *plan) sampler(items, k int) *sampler {
	s := newSampler(p.Skew.weights(p.Seed, items, k, p.loads))
	if p.NGroup > 1 && p.TopkGroup < p.NGroup {
		s.limit = newLimit(s.weight, p.NGroup, p.TopkGroup)
	}
	return s
}
