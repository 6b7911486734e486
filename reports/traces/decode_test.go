package traces_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// tb is a test, or a run of a property.
type tb interface {
	require.TestingT
	Helper()
}

// event is what both formats say of something: in whole nanoseconds.
type event struct {
	Kind  string // begin, end, span, count, instant, leave, arrive
	Track string // process and track
	Name  string
	At    int64
	Dur   int64
	Value int64
	Args  map[string]any
}

// chromeEvents reads a Chrome trace with the standard decoder.
func chromeEvents(t tb, text []byte) (events []event, about map[string]string) {
	t.Helper()
	var file struct {
		TraceEvents []struct {
			Ph, Name string
			Pid, Tid int64
			Ts, Dur  float64
			ID       int64
			Args     map[string]any
		}
		OtherData map[string]string
	}
	require.NoError(t, json.Unmarshal(text, &file))
	ns := func(us float64) int64 { return int64(math.Round(us * 1000)) }
	processes, threads := map[int64]string{}, map[[2]int64]string{}
	for _, e := range file.TraceEvents {
		x := event{Name: e.Name, At: ns(e.Ts), Dur: ns(e.Dur), Args: e.Args}
		x.Track = processes[e.Pid] + ": " + threads[[2]int64{e.Pid, e.Tid}]
		switch e.Ph {
		case "M":
			switch e.Name {
			case "process_name":
				processes[e.Pid] = e.Args["name"].(string)
			case "thread_name":
				threads[[2]int64{e.Pid, e.Tid}] = e.Args["name"].(string)
			}
			continue
		case "B":
			x.Kind = "begin"
		case "E":
			x.Kind = "end"
		case "X":
			x.Kind = "span"
		case "i":
			x.Kind = "instant"
		case "C":
			x.Kind, x.Track, x.Args = "count", processes[e.Pid]+": "+e.Name, nil
			x.Name = ""
			require.Len(t, e.Args, 1)
			for unit, v := range e.Args {
				x.Track += " in " + unit
				x.Value = int64(v.(float64))
			}
		case "s", "f":
			x.Kind, x.Value = map[string]string{"s": "leave", "f": "arrive"}[e.Ph], e.ID
		default:
			require.Fail(t, "unknown phase "+e.Ph)
		}
		events = append(events, x)
	}
	return events, file.OtherData
}

// fields reads a protobuf message: its fields by number, in order.
func fields(t tb, b []byte) map[protowire.Number][]any {
	t.Helper()
	out := map[protowire.Number][]any{}
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		require.NoError(t, protowire.ParseError(n))
		b = b[n:]
		var v any
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			v, n = protowire.ConsumeBytes(b)
		default:
			require.Fail(t, "unexpected wire type", "%v of field %d", kind, num)
		}
		require.NoError(t, protowire.ParseError(n))
		out[num] = append(out[num], v)
		b = b[n:]
	}
	return out
}

type message map[protowire.Number][]any

func (m message) number(f protowire.Number) int64 {
	if len(m[f]) == 0 {
		return 0
	}
	return int64(m[f][0].(uint64))
}

func (m message) text(f protowire.Number) string {
	if len(m[f]) == 0 {
		return ""
	}
	return string(m[f][0].([]byte))
}

// perfettoEvents reads a Perfetto trace as its schema says, with field numbers written here
// once more.
func perfettoEvents(t tb, raw []byte) (events []event, about map[string]string) {
	t.Helper()
	sub := func(b any) message { return fields(t, b.([]byte)) }
	var names [3]map[int64]string
	tracks := map[int64]string{}
	var opened []event
	about = map[string]string{}
	for i, p := range fields(t, raw)[1] {
		packet := sub(p)
		require.EqualValues(t, 1, packet.number(10), "one sequence")
		if i == 0 {
			require.EqualValues(t, 3, packet.number(13), "the first clears what is interned")
			names = [3]map[int64]string{{}, {}, {}}
		}
		for _, in := range packet[12] {
			for k, f := range []protowire.Number{2, 3, 29} {
				for _, entry := range sub(in)[f] {
					e := sub(entry)
					names[k][e.number(1)] = e.text(2)
				}
			}
		}
		if len(packet[60]) > 0 {
			d := sub(packet[60][0])
			name := d.text(2)
			if len(d[3]) > 0 {
				require.Positive(t, sub(d[3][0]).number(1), "the pid")
				name = sub(d[3][0]).text(6) + ":"
			}
			if up := d.number(5); up != 0 {
				require.Contains(t, tracks, up)
				name = tracks[up] + " " + name
			}
			if len(d[8]) > 0 {
				name += " in " + sub(d[8][0]).text(6)
			}
			require.NotContains(t, tracks, d.number(1), "numbers are unique")
			tracks[d.number(1)] = name
			continue
		}
		e := sub(packet[11][0])
		require.Contains(t, tracks, e.number(11))
		x := event{Track: tracks[e.number(11)], At: packet.number(8), Args: map[string]any{}}
		if id := e.number(10); id != 0 {
			x.Name = names[0][id]
			require.NotEmpty(t, x.Name)
		}
		for _, a := range e[4] {
			m := sub(a)
			key := names[1][m.number(1)]
			require.NotEmpty(t, key)
			switch {
			case len(m[4]) > 0:
				x.Args[key] = float64(m.number(4))
			case len(m[17]) > 0:
				x.Args[key] = names[2][m.number(17)]
			default:
				about[key] = m.text(6)
			}
		}
		switch e.number(9) {
		case 1:
			x.Kind = "begin"
			opened = append(opened, x)
			continue
		case 2: // spans begin and end in a row
			if n := len(opened); n > 0 && opened[n-1].Track == x.Track {
				end := x.At
				x, opened = opened[n-1], opened[:n-1]
				x.Kind, x.Dur = "span", end-x.At
			} else {
				x.Kind = "end"
			}
		case 3:
			x.Kind = "instant"
			for k, f := range []protowire.Number{47, 48} {
				if len(e[f]) > 0 {
					x.Kind, x.Value = []string{"leave", "arrive"}[k], e.number(f)
				}
			}
		case 4:
			x.Kind, x.Value = "count", e.number(30)
		}
		for _, o := range opened {
			o.Args = nil
			events = append(events, o)
		}
		opened = nil
		events = append(events, x)
	}
	return events, about
}

// plain is an event as a line.
func (e event) String() string {
	s := fmt.Sprintf("%-7s %s | %s %d", e.Kind, e.Track, e.Name, e.At)
	if e.Kind == "span" {
		s += fmt.Sprintf("+%d", e.Dur)
	}
	if e.Value != 0 {
		s += fmt.Sprintf(" = %d", e.Value)
	}
	var keys []string
	for k := range e.Args {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		s += fmt.Sprintf(" %s=%v", k, e.Args[k])
	}
	return s
}

func lines(events []event) (out []string) {
	for _, e := range events {
		out = append(out, e.String())
	}
	return out
}
