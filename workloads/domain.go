package workloads

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"pldperf/collectives"
	"pldperf/configs"
	"pldperf/engine"
	"pldperf/hw"
	"pldperf/hw/program"
	"pldperf/hw/result"
)

// Shape is what of a run decides whether there are measurements near it.
type Shape struct {
	Family   string       `json:"family"`         // of the machine
	Fabric   string       `json:"fabric"`         // its kind
	Port     engine.Rate  `json:"port"`           // raw rate of a port; 0 where the fabric has none
	Carriers []string     `json:"carriers"`       // what carries payload between ranks: urma_write ...; without payload the operation
	Ranks    int          `json:"ranks"`          //
	Blocks   int          `json:"blocks"`         // that one call launches on a rank, at most
	PerPeer  engine.Bytes `json:"bytes_per_peer"` // that the busiest rank exchanges with each of its peers in a call
}

// carriers are the parts of a machine that carry payload between ranks, in words.
var carriers = []struct{ part, words string }{
	{"urma_write", "URMA writes"}, {"urma_read", "URMA reads"}, {"remote_mte", "remote MTE"}, {"sdma", "SDMA"},
}

// launching is the carrier of a domain that says how many blocks have been launched.
const launching = "launch"

// shape derives a run's shape from its programs and its counters.
func (w *Workload) shape(job *program.Job, res *result.Result) Shape {
	m := &w.Config.Machine
	s := Shape{Family: familyOf(&m.Spec), Fabric: m.Fabric.Kind, Ranks: job.Ranks}
	switch s.Fabric {
	case "mesh":
		s.Port = m.Fabric.Mesh.Port
	case "clos":
		s.Port = m.Fabric.Clos.Port
	}
	var busiest int64
	for i := range res.Ranks {
		k := &res.Ranks[i].Counters
		busiest = max(busiest, k[result.BytesSent], k[result.BytesReceived])
	}
	calls := 0
	for _, c := range res.Calls {
		if c.Timed && c.Op != "compute" && c.Op != "read_back" {
			calls++
		}
	}
	for i := range job.Tasks {
		s.Blocks = max(s.Blocks, job.Tasks[i].Blocks, job.Tasks[i].Grid)
	}
	if busiest > 0 && calls > 0 {
		s.PerPeer = engine.Bytes(busiest / int64(calls*max(peersOf(job), 1)))
		used := hw.Uses(job)
		for _, c := range carriers {
			if used[c.part] {
				s.Carriers = append(s.Carriers, c.part)
			}
		}
		return s
	}
	for _, it := range w.items {
		if it.Call != nil && !slices.Contains(s.Carriers, nameOf(it.Call.Op, it.Call.Form)) {
			s.Carriers = append(s.Carriers, nameOf(it.Call.Op, it.Call.Form))
		}
	}
	return s
}

// familyOf is whose measurements stand for a machine; one that names no family is alone.
func familyOf(m *hw.Spec) string { return cmp.Or(m.Family, m.Name, m.Platform) }

// nameOf is an operation without payload, and of benchmarks the benchmark.
func nameOf(op, form string) string {
	if op == "micro" {
		return form
	}
	return op
}

// peersOf returns with how many others the first block of rank 0 exchanges payload in one
// of the tasks, at most; all others where blocks share them or memory decides.
func peersOf(job *program.Job) (most int) {
	for i := range job.Tasks {
		t := &job.Tasks[i]
		if t.Program == nil || !t.Timed {
			continue
		}
		p := peers{ranks: job.Ranks, seen: map[int64]bool{0: true}, left: maxLooks}
		p.walk(t.Program.Ops)
		if p.all {
			return job.Ranks - 1
		}
		most = max(most, len(p.seen)-1)
	}
	return most
}

// maxLooks bounds the ops that are looked at for peers.
const maxLooks = 100_000

// peers are the ranks that rank 0 exchanges payload with, itself among them.
type peers struct {
	ranks, left int
	here        program.Here
	seen        map[int64]bool
	all         bool
}

func (p *peers) walk(ops []program.Op) {
	for i := 0; i < len(ops) && !p.all; i++ {
		if p.left--; p.left < 0 {
			p.all = true
		}
		switch o := &ops[i]; o.Kind {
		case program.Loop:
			body := ops[i+1 : i+1+o.Skip]
			for k := range min(o.Count.At(&p.here), int64(p.ranks)) {
				p.here.Loop[o.Depth] = k
				p.walk(body)
			}
			p.here.Loop[o.Depth] = 0
			i += o.Skip
		case program.SendOwned, program.PutOwned:
			p.all = true
		case program.Put, program.Get, program.RemoteLoad, program.RemoteStore, program.Submit:
			p.all = p.all || o.Peer.B != 0
			p.seen[o.Peer.At(&p.here)] = true
		}
	}
}

// Domain is what the rows of a case have been measured with: where what is fitted to
// them is known.
type Domain struct {
	File, Case     string
	Family, Fabric string
	Port           engine.Rate
	Carrier        string
	Ranks, Blocks  [2]int
	PerPeer        [2]engine.Bytes
	Rows           int
}

// NewDomains returns what the rows of one case cover, one for each of their carriers.
func NewDomains(file, name string, rows []Shape) (out []Domain) {
	for _, s := range rows {
		for _, c := range s.Carriers {
			one := Domain{file, name, s.Family, s.Fabric, s.Port, c, [2]int{s.Ranks, s.Ranks}, [2]int{s.Blocks, s.Blocks}, [2]engine.Bytes{s.PerPeer, s.PerPeer}, 1}
			i := slices.IndexFunc(out, func(d Domain) bool { return d.key() == one.key() })
			if i < 0 {
				out = append(out, one)
				continue
			}
			out[i].join(&one)
			out[i].Rows++
		}
	}
	return out
}

func (d *Domain) key() string { return fmt.Sprint(d.Family, d.Fabric, d.Port, d.Carrier) }

// join widens d to what o covers, too: between two measurements a formula interpolates.
func (d *Domain) join(o *Domain) {
	d.Ranks = [2]int{min(d.Ranks[0], o.Ranks[0]), max(d.Ranks[1], o.Ranks[1])}
	d.Blocks = [2]int{min(d.Blocks[0], o.Blocks[0]), max(d.Blocks[1], o.Blocks[1])}
	d.PerPeer = [2]engine.Bytes{min(d.PerPeer[0], o.PerPeer[0]), max(d.PerPeer[1], o.PerPeer[1])}
}

var domainHead = []string{"file", "case", "family", "fabric", "port", "carrier", "ranks_low", "ranks_high", "bytes_per_peer_low", "bytes_per_peer_high", "blocks_low", "blocks_high", "rows"}

// FormatDomains writes domains as CSV.
func FormatDomains(all []Domain) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(domainHead)
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	for _, d := range all {
		w.Write([]string{d.File, d.Case, d.Family, d.Fabric, d.Port.String(), d.Carrier, strconv.Itoa(d.Ranks[0]), strconv.Itoa(d.Ranks[1]),
			n(int64(d.PerPeer[0])), n(int64(d.PerPeer[1])), strconv.Itoa(d.Blocks[0]), strconv.Itoa(d.Blocks[1]), strconv.Itoa(d.Rows)})
	}
	w.Flush()
	return b.Bytes()
}

// ParseDomains reads what FormatDomains has written.
func ParseDomains(data []byte) (out []Domain, err error) {
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !slices.Equal(rows[0], domainHead) {
		return nil, fmt.Errorf("want the columns %s", strings.Join(domainHead, ","))
	}
	for _, r := range rows[1:] {
		d := Domain{File: r[0], Case: r[1], Family: r[2], Fabric: r[3], Carrier: r[5]}
		if err := d.Port.UnmarshalText([]byte(r[4])); err != nil {
			return nil, err
		}
		var v [7]int64
		for i := range v {
			if v[i], err = strconv.ParseInt(r[6+i], 10, 64); err != nil {
				return nil, err
			}
		}
		d.Ranks, d.Blocks = [2]int{int(v[0]), int(v[1])}, [2]int{int(v[4]), int(v[5])}
		d.PerPeer, d.Rows = [2]engine.Bytes{engine.Bytes(v[2]), engine.Bytes(v[3])}, int(v[6])
		out = append(out, d)
	}
	return out, nil
}

// domains are those of the shipped cases.
var domains = sync.OnceValue(func() []Domain {
	all, err := ParseDomains(configs.FitDomain)
	if err != nil {
		panic("workloads: configs/fit/domain.csv: " + err.Error())
	}
	return all
})

// Outside is one way in which a run lies beyond what was measured.
type Outside struct {
	What  string `json:"what"`            // bytes a peer, ranks, a parameter's path ...
	Value string `json:"value,omitempty"` // of the run
	Known string `json:"known"`           // what is: "measured: 2 to 8, URMA writes"
}

// beyond is how far past an end still counts as measured: a message is cut to whole rows.
const beyond = 0.05

// outside lists how a shape lies beyond what was measured; none when it does not.
func (s *Shape) outside(all []Domain) (out []Outside) {
	for _, c := range s.Carriers {
		out = append(out, s.beyondCarrier(all, c)...)
	}
	if l, ok := hull(all, func(d *Domain) bool { return d.Carrier == launching && d.Family == s.Family }); ok && s.Blocks > l.Blocks[1] {
		out = append(out, Outside{"blocks of a launch", strconv.Itoa(s.Blocks), fmt.Sprintf("measured: %d to %d", l.Blocks[0], l.Blocks[1])})
	}
	return out
}

func (s *Shape) beyondCarrier(all []Domain, carrier string) (out []Outside) {
	words := carrier
	for _, c := range carriers {
		if c.part == carrier {
			words = c.words
		}
	}
	own := func(d *Domain) bool { return d.Carrier == carrier && d.Family == s.Family }
	if _, ok := hull(all, own); !ok {
		return []Outside{{words, "on " + s.Family, "no case measures it"}}
	}
	if _, err := collectives.Lookup("micro", carrier); err == nil { // within one card: the other ranks are idle
		return nil
	}
	fabric := func(d *Domain) bool { return own(d) && d.Fabric == s.Fabric }
	if _, ok := hull(all, fabric); !ok {
		return []Outside{{words, "over " + s.Fabric, "measured: over " + kindsOf(all, own, func(d *Domain) string { return d.Fabric })}}
	}
	same := func(d *Domain) bool { return fabric(d) && d.Port == s.Port }
	d, ok := hull(all, same)
	if !ok {
		return []Outside{{"rate of a port", s.Port.String(), "measured: " + kindsOf(all, fabric, func(d *Domain) string { return d.Port.String() }) + ", " + words}}
	}
	if b := float64(s.PerPeer); b > 0 && (b < float64(d.PerPeer[0])*(1-beyond) || b > float64(d.PerPeer[1])*(1+beyond)) {
		out = append(out, Outside{"bytes a peer", about(s.PerPeer), fmt.Sprintf("measured: %s to %s, %s", about(d.PerPeer[0]), about(d.PerPeer[1]), words)})
	}
	if s.Ranks < d.Ranks[0] || s.Ranks > d.Ranks[1] {
		known := fmt.Sprintf("measured: %d to %d, %s", d.Ranks[0], d.Ranks[1], words)
		if d.Ranks[0] == d.Ranks[1] {
			known = fmt.Sprintf("measured: %d, %s", d.Ranks[0], words)
		}
		out = append(out, Outside{"ranks", strconv.Itoa(s.Ranks), known})
	}
	return out
}

// hull joins the domains that are meant; false when there are none.
func hull(all []Domain, meant func(*Domain) bool) (out Domain, ok bool) {
	for i := range all {
		switch d := &all[i]; {
		case !meant(d):
		case !ok:
			out, ok = *d, true
		default:
			out.join(d)
		}
	}
	return out, ok
}

// kindsOf lists what differs among the domains that are meant.
func kindsOf(all []Domain, meant func(*Domain) bool, of func(*Domain) string) string {
	seen := map[string]bool{}
	for i := range all {
		if meant(&all[i]) {
			seen[of(&all[i])] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), ", ")
}

// about prints bytes to two digits or so, in the unit that people use.
func about(n engine.Bytes) string {
	v, unit := float64(n), 0
	names := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for ; v >= 1000 && unit < len(names)-1; unit++ { // 1,000 KiB are 0.98 MiB
		v /= 1024
	}
	if v >= 10 {
		v = math.Round(v)
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + " " + names[unit]
}

// oversize is how a run has more ranks than what its machine stands for.
func (w *Workload) oversize() []Outside {
	m := &w.Config.Machine
	if most := m.Fabric.MaxRanks(); most > 0 && w.Config.Ranks > most {
		return []Outside{{"ranks", strconv.Itoa(w.Config.Ranks), fmt.Sprintf("%s has up to %d", m.Name, most)}}
	}
	return nil
}

// Oversize says, where the ranks are, that they are more than what the machine stands for,
// and who says so; none where they are not. The run is possible: it is as if there were
// such a machine.
func (w *Workload) Oversize() configs.Problems {
	if len(w.oversize()) == 0 {
		return nil
	}
	m := &w.Config.Machine
	path := "fabric." + m.Fabric.Kind + ".max_ranks"
	source := ""
	if p := w.Doc.Params("machine." + path); len(p) == 1 && p[0].Source != "" {
		source = ": " + p[0].Source
	}
	return w.Doc.At("ranks").Fault("%d ranks, but %s stands for up to %d (%s%s)", w.Config.Ranks, m.Name, m.Fabric.MaxRanks(), path, source)
}

// Calibrated is the range over which calibrate looks for a parameter.
type Calibrated struct {
	Family    string // of the machines whose rows it was fitted to
	Path      string // of the workload
	Low, High string
}

var rangeHead = []string{"family", "path", "low", "high"}

// MergeRanges returns one range a family and path, sorted: from the least low to the
// largest high.
func MergeRanges(all []Calibrated) (out []Calibrated) {
	for _, c := range all {
		i := slices.IndexFunc(out, func(o Calibrated) bool { return o.Family == c.Family && o.Path == c.Path })
		if i < 0 {
			out = append(out, c)
			continue
		}
		if off(c.Low, out[i].Low, out[i].High) {
			out[i].Low = atLeast(c.Low, out[i].Low)
		}
		if off(c.High, out[i].Low, out[i].High) {
			out[i].High = atMost(c.High, out[i].High)
		}
	}
	slices.SortFunc(out, func(a, b Calibrated) int {
		return cmp.Or(strings.Compare(a.Family, b.Family), strings.Compare(a.Path, b.Path))
	})
	return out
}

func atLeast(a, b string) string {
	x, _ := engine.ReadQuantity(a)
	if y, _ := engine.ReadQuantity(b); x < y {
		return a
	}
	return b
}

func atMost(a, b string) string {
	if atLeast(a, b) == a {
		return b
	}
	return a
}

// FormatRanges writes ranges as CSV.
func FormatRanges(all []Calibrated) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(rangeHead)
	for _, c := range all {
		w.Write([]string{c.Family, c.Path, c.Low, c.High})
	}
	w.Flush()
	return b.Bytes()
}

// ParseRanges reads what FormatRanges has written.
func ParseRanges(data []byte) (out []Calibrated, err error) {
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !slices.Equal(rows[0], rangeHead) {
		return nil, fmt.Errorf("want the columns %s", strings.Join(rangeHead, ","))
	}
	for _, r := range rows[1:] {
		out = append(out, Calibrated{r[0], r[1], r[2], r[3]})
	}
	return out, nil
}

// calibrated are the ranges of the shipped cases.
var calibrated = sync.OnceValue(func() []Calibrated {
	all, err := ParseRanges(configs.FitRanges)
	if err != nil {
		panic("workloads: configs/fit/ranges.csv: " + err.Error())
	}
	return all
})

// strange lists the user's own values of parameters that lie outside the preset's band
// or, of one without a band, outside the range that was calibrated over.
func (w *Workload) strange() (out []Outside) {
	family := familyOf(&w.Config.Machine.Spec)
	preset, err := Machine(w.Config.Machine.Preset)
	for _, p := range w.Doc.Params() {
		machine, ok := strings.CutPrefix(p.Path, "machine.")
		if p.Kind != configs.User {
			continue
		}
		if ok && err == nil {
			if was := preset.Params(machine); len(was) == 1 && was[0].Low != "" {
				if off(p.Value, was[0].Low, was[0].High) {
					out = append(out, Outside{machine, p.Value, fmt.Sprintf("band: %s to %s", was[0].Low, was[0].High)})
				}
				continue
			}
		}
		for _, c := range calibrated() {
			if c.Family == family && c.Path == p.Path && off(p.Value, c.Low, c.High) {
				out = append(out, Outside{strings.TrimPrefix(p.Path, "machine."), p.Value, fmt.Sprintf("calibrated: %s to %s", c.Low, c.High)})
			}
		}
	}
	return out
}

// off reports whether a value is of the kind of the ends and not between them.
func off(value, low, high string) bool {
	v, kind := engine.ReadQuantity(value)
	lo, a := engine.ReadQuantity(low)
	hi, b := engine.ReadQuantity(high)
	return kind != nil && kind == a && kind == b && (v < lo || v > hi)
}
