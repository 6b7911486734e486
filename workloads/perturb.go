package workloads

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math/rand/v2"

	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/memory"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// Perturb runs the workload as it is, and then n times with seeded skews and orders of
// what happens at one instant: a program whose data depends on neither leaves the same
// bytes and cells each time. The Outcome is that of the first run; its result says how
// the others ended.
//
// Ranks start within the time of the first run, so that one can be a whole call behind
// another, or all at once; each is up to twice as slow.
func (w *Workload) Perturb(n int, opt hw.Options) (*Outcome, error) {
	job, err := w.Job()
	if err != nil {
		return nil, err
	}
	first := ""
	out, err := w.Run(digesting(opt, job, &first))
	if err != nil {
		return nil, err
	}
	p := &result.Perturbed{Spread: max(out.Result.Elapsed, engine.Microsecond), Data: first}
	for seed := uint64(1); seed <= uint64(n); seed++ {
		run, err := w.perturbed(seed, p, opt)
		if err != nil {
			return nil, err
		}
		p.Runs = append(p.Runs, run)
	}
	out.Result.Perturbed = p
	out.Result.Notes = append(out.Result.Notes, p.String())
	return out, nil
}

// perturbed is one of the runs.
func (w *Workload) perturbed(seed uint64, p *result.Perturbed, opt hw.Options) (out result.PerturbedRun, err error) {
	job, err := w.Job()
	if err != nil {
		return out, err
	}
	out = result.PerturbedRun{Seed: seed}
	perturbSkew(job, seed, p.Spread)
	if opt.Payload == "" {
		opt.Payload = w.Config.Payload
	}
	opt.Ties, opt.Timeline = seed, nil // the timeline is that of the plain run
	res, err := hw.Run(w.Config.Machine.Spec, job, digesting(opt, job, &out.Data))
	if err != nil {
		return out, fmt.Errorf("perturbed run %d: %w", seed, err)
	}
	out.Status, out.Elapsed = res.Status, res.Elapsed
	out.Same = out.Data == p.Data
	return out, nil
}

// perturbSkew draws when ranks start and how slow they are, on top of what the workload
// says; every fourth seed leaves the starts alone, so that ties decide.
func perturbSkew(job *program.Job, seed uint64, spread engine.Duration) {
	r := rand.New(rand.NewPCG(seed, 0x70657274))
	offsets, slow := make([]engine.Duration, job.Ranks), make([]engine.Fraction, job.Ranks)
	copy(offsets, job.Offsets)
	copy(slow, job.Slow)
	for i := range offsets {
		slow[i] = max(slow[i], engine.One)
		if seed%4 == 0 {
			continue
		}
		offsets[i] += engine.Duration(r.Int64N(int64(spread) + 1))
		slow[i] += engine.Fraction(r.Int64N(int64(engine.One) + 1))
	}
	job.Offsets, job.Slow = offsets, slow
}

// digesting has a digest of the data taken at the end of a run.
func digesting(opt hw.Options, job *program.Job, into *string) hw.Options {
	inspect := opt.Inspect
	opt.Inspect = func(s *memory.Space) {
		*into = dataDigest(s, job)
		if inspect != nil {
			inspect(s)
		}
	}
	return opt
}

// dataDigest hashes what ranks hold in promised buffers and in signals.
func dataDigest(s *memory.Space, job *program.Job) string {
	wanted := make([]bool, len(job.Buffers))
	for b := range job.Buffers {
		wanted[b] = job.Buffers[b].Signal
	}
	for i := range job.Tasks {
		for _, p := range job.Tasks[i].Promises {
			wanted[p.Buf] = true
		}
	}
	h := sha256.New()
	for b := range job.Buffers {
		for r := 0; wanted[b] && r < job.Ranks; r++ {
			if job.Buffers[b].Words {
				put(h, s.Words(r, memory.ID(b)))
			} else {
				hashPayload(h, s, memory.Addr{Rank: r, Buf: memory.ID(b)})
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// hashChunk is the bytes of payload that are hashed at once.
const hashChunk = 64 << 10

// hashPayload hashes a rank's buffer: its bytes, or where each range of them comes from.
func hashPayload(h hash.Hash, s *memory.Space, a memory.Addr) {
	size := int64(s.Buffer(a.Buf).Size)
	var d memory.Data
	var run memory.Frag // that goes on in the next chunk
	for ; a.Off < size; a.Off += hashChunk {
		d.Reset()
		s.Capture(&d, a, min(hashChunk, size-a.Off))
		h.Write(d.Raw)
		for _, f := range d.Frags {
			f.Off += a.Off
			next := run.From
			next.Off += run.Len
			if run.Len > 0 && run.Off+run.Len == f.Off && next == f.From {
				run.Len += f.Len
				continue
			}
			hashFrag(h, &run)
			run = f
		}
	}
	hashFrag(h, &run)
}

func hashFrag(h hash.Hash, f *memory.Frag) {
	if f.Len > 0 {
		put(h, []int64{f.Off, f.Len, int64(f.From.Rank), int64(f.From.Buf), int64(f.From.Version), f.From.Off})
	}
}

func put(h hash.Hash, v any) {
	if err := binary.Write(h, binary.LittleEndian, v); err != nil {
		panic(err) // a hash takes everything
	}
}
