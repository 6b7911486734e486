package traces

import (
	"encoding/json"
	"strconv"

	"pldperf/engine"
	"pldperf/hw/timeline"
)

// chrome writes the JSON object form of the Trace Event Format: complete events ("X") for
// spans, "B" and "E" around them, "C" for counters, "i" for instants, "s" and "f" for arrows
// and "M" for names. Times are microseconds.
type chrome struct {
	b      []byte
	quoted map[string]string
	tracks []chromeTrack
	pids   map[int64]bool
	any    bool
}

type chromeTrack struct {
	pid   int64
	name  string // of a counter, quoted
	value string // its unit, quoted
}

func newChrome() *chrome {
	c := &chrome{quoted: map[string]string{}, pids: map[int64]bool{}}
	c.b = append(c.b, `{"displayTimeUnit":"ns","traceEvents":[`...)
	return c
}

func (c *chrome) buffer() *[]byte { return &c.b }

// text returns s as JSON; few texts occur, and often.
func (c *chrome) text(s string) string {
	q, ok := c.quoted[s]
	if !ok {
		raw, err := json.Marshal(s)
		if err != nil {
			panic(err) // a string has no error
		}
		q = string(raw)
		c.quoted[s] = q
	}
	return q
}

// event begins an event up to its process.
func (c *chrome) event(ph byte, pid int64) {
	if c.any {
		c.b = append(c.b, ',')
	}
	c.any = true
	c.b = append(c.b, '\n', '{', '"', 'p', 'h', '"', ':', '"', ph, '"')
	c.number("pid", pid)
}

func (c *chrome) number(key string, v int64) {
	c.key(key)
	c.b = strconv.AppendInt(c.b, v, 10)
}

func (c *chrome) key(key string) {
	if n := len(c.b); c.b[n-1] != '{' {
		c.b = append(c.b, ',')
	}
	c.b = append(c.b, '"')
	c.b = append(c.b, key...)
	c.b = append(c.b, '"', ':')
}

func (c *chrome) string(key, v string) {
	c.key(key)
	c.b = append(c.b, c.text(v)...)
}

// micros writes whole nanoseconds as microseconds.
func (c *chrome) micros(key string, ns int64) {
	c.key(key)
	c.b = strconv.AppendInt(c.b, ns/1000, 10)
	f := ns % 1000
	c.b = append(c.b, '.', byte('0'+f/100), byte('0'+f/10%10), byte('0'+f%10))
}

// nanos is the instant in whole nanoseconds, rounded down.
func nanos(t engine.Time) int64 { return int64(t) / int64(engine.Nanosecond) }

func (c *chrome) meta(pid int64, tid timeline.Track, what, key string, value string) {
	c.event('M', pid)
	if tid != 0 {
		c.number("tid", int64(tid))
	}
	c.string("name", what)
	c.b = append(c.b, `,"args":{`...)
	c.key(key)
	c.b = append(c.b, value...)
	c.b = append(c.b, '}', '}')
}

func (c *chrome) open(t timeline.Track, p *timeline.Place) {
	for int(t) >= len(c.tracks) {
		c.tracks = append(c.tracks, chromeTrack{})
	}
	id := pid(p.Rank)
	c.tracks[t] = chromeTrack{id, c.text(label(p)), c.text(p.Unit)}
	if !c.pids[id] {
		c.pids[id] = true
		c.meta(id, 0, "process_name", "name", c.text(process(p.Rank)))
		c.meta(id, 0, "process_sort_index", "sort_index", strconv.FormatInt(id, 10))
	}
	if !p.Kind.Counter() {
		group, own := order(p)
		c.meta(id, t, "thread_name", "name", c.tracks[t].name)
		c.meta(id, t, "thread_sort_index", "sort_index", strconv.FormatInt(group*1000+own, 10))
	}
}

// on begins an event on a track.
func (c *chrome) on(ph byte, t timeline.Track, at engine.Time) {
	c.event(ph, c.tracks[t].pid)
	c.number("tid", int64(t))
	c.micros("ts", nanos(at))
}

func (c *chrome) begin(t timeline.Track, at engine.Time, name string) {
	c.on('B', t, at)
	c.string("name", name)
	c.b = append(c.b, '}')
}

func (c *chrome) end(t timeline.Track, at engine.Time) {
	c.on('E', t, at)
	c.b = append(c.b, '}')
}

func (c *chrome) span(t timeline.Track, s *timeline.Span) {
	c.on('X', t, s.Begin)
	c.micros("dur", nanos(s.End)-nanos(s.Begin))
	c.string("name", s.Name)
	c.b = append(c.b, `,"args":{`...)
	each(s, c.number, c.string)
	c.b = append(c.b, '}', '}')
}

func (c *chrome) path(t timeline.Track, s *timeline.Span, holder string) {
	c.span(t, s)
	if holder != "" {
		c.b = c.b[:len(c.b)-2] // before the two ends
		c.string("holder", holder)
		c.b = append(c.b, '}', '}')
	}
}

func (c *chrome) count(t timeline.Track, at engine.Time, value int64) {
	x := &c.tracks[t]
	c.event('C', x.pid)
	c.micros("ts", nanos(at))
	c.b = append(c.b, `,"name":`...)
	c.b = append(c.b, x.name...)
	c.b = append(c.b, `,"args":{`...)
	c.b = append(c.b, x.value...)
	c.b = append(c.b, ':')
	c.b = strconv.AppendInt(c.b, value, 10)
	c.b = append(c.b, '}', '}')
}

func (c *chrome) instant(t timeline.Track, at engine.Time, name string) {
	c.on('i', t, at)
	c.string("name", name)
	c.string("s", "t")
	c.b = append(c.b, '}')
}

func (c *chrome) arrow(n int64, from, to *Stop) {
	c.on('s', from.track, from.leave())
	c.number("id", n)
	c.string("cat", "path")
	c.string("name", pathName)
	c.b = append(c.b, '}')
	c.on('f', to.track, to.Begin)
	c.number("id", n)
	c.string("cat", "path")
	c.string("name", pathName)
	c.string("bp", "e")
	c.b = append(c.b, '}')
}

func (c *chrome) close(about []Fact) {
	c.b = append(c.b, "\n],\"otherData\":{"...)
	for _, f := range about {
		c.string(f.Key, f.Value)
	}
	c.b = append(c.b, "}}\n"...)
}

// each calls number or text for what is known of a span.
func each(s *timeline.Span, number func(key string, v int64), text func(key, v string)) {
	if s.Op != "" {
		text("op", s.Op)
		if s.PC >= 0 {
			number("pc", int64(s.PC))
		}
	}
	if s.Call == nil && s.Phase != "" {
		text("of", s.Phase)
	}
	if s.Peer >= 0 {
		number("peer", int64(s.Peer))
	}
	if h := Holder(s); h != "" {
		text("holder", h)
	}
	if s.Bytes > 0 {
		number("bytes", s.Bytes)
	}
	if s.Seq >= 0 {
		number("sqe", s.Seq)
		number("sges", int64(s.SGEs))
	}
}
