package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"pldperf/engine"
	"pldperf/hw/result"
	"pldperf/reports"
)

var folder = flag.String("pictures", "", "write the pictures to this folder, to look at them")

// fakes are the points of all pictures: 3 numbers of ranks over sizes, and over
// core_num; one of them did not end ok.
func fakes() (bySize, byCores []reports.Point) {
	for _, ranks := range []int{2, 4, 8} {
		sizes(func(s engine.Bytes) { bySize = append(bySize, fake(ranks, 16, s)) })
		for _, cores := range []int{1, 2, 4, 8, 16, 32, 64} {
			byCores = append(byCores, fake(ranks, cores, 64<<10))
		}
	}
	byCores[2].Status, byCores[2].Problem = result.Aborted, "ABORTED"
	return bySize, byCores
}

func fakeMatrix(ranks int) [][]int64 {
	m := make([][]int64, ranks)
	for s := range m {
		m[s] = make([]int64, ranks)
		for d := range m[s] {
			m[s][d] = int64((s*37+d*91)%53) * 20
		}
		m[s][3%ranks] += 900
	}
	return m
}

// pictures draws each kind of picture and says which words it must show.
func pictures(t *testing.T) map[string]struct {
	*Picture
	words []string
} {
	bySize, byCores := fakes()
	out := map[string]struct {
		*Picture
		words []string
	}{}
	add := func(name string, words ...string) func(*Picture, error) {
		return func(p *Picture, err error) {
			t.Helper()
			require.NoError(t, err, name)
			out[name] = struct {
				*Picture
				words []string
			}{p, append(words, "digest of results 0123456789abcdef", "indexed_all_to_all_v on Ascend 950DT")}
		}
	}
	add("bandwidth", "Bandwidth against message size", "1 KiB", "64 KiB", "1 MiB", "busbw (GB/s)", "ranks 8", "egress cap of a rank 352 GB/s", "port 53.1 GB/s")(
		Bandwidth(fakeFrame(), Busbw, Split(above(bySize, 1024), "size"), roofs))
	add("close roofs", "port 53.1 GB/s", "link 56 GB/s")(
		Bandwidth(fakeFrame(), Busbw, Split(above(bySize, 1024), "size"), append([]Roof{{"link", 56_000_000_000}}, roofs...)))
	add("time", "Time against message size", "time (us)", "ranks 2", "lower bound", "16 MiB")(Time(fakeFrame(), Split(bySize, "size")))
	add("core_num", "Time against core_num", "core_num (AIVs a rank)", "take 2", "take 4", "take 8", "recommended")(CoreNum(fakeFrame(), "core_num", byCores, reports.TwoPercent))
	add("core_num over sizes", "take 64", "call.message")(CoreNum(fakeFrame(), "core_num", crowded(), reports.TwoPercent))
	add("reasons", "Time by reason against core_num", "cqe_wait", "doorbell", "others (", "time of the slowest block (us)", "ranks 4")(Reasons(fakeFrame(), "core_num", byCores))
	add("wqebb", "WQEBB use against core_num", "NOP", "used", "queue depth 32,768", "WQEBBs written", "fullest queue (WQEBB)")(WQEBB(fakeFrame(), "core_num", byCores))
	add("traffic", "Traffic between ranks: busiest source", "source rank", "destination rank", "rows", "1900")(Traffic(fakeFrame(), fakeMatrix(8), "rows"))
	add("traffic of many ranks", "192", "rows")(Traffic(fakeFrame(), fakeMatrix(200), "rows"))
	var many []reports.Point
	for cores := 1; cores <= 40; cores++ {
		sizes(func(s engine.Bytes) { many = append(many, fake(8, cores, s)) })
	}
	add("many series", "and 16 more")(Bandwidth(fakeFrame(), Algbw, Split(many, "size"), nil))
	add("one point", "simulated", "lower bound")(Time(fakeFrame(), Split(bySize[3:4], "size")))
	add("one bar", "simt")(Reasons(fakeFrame(), "core_num", []reports.Point{onlySIMT()}))
	return out
}

func above(points []reports.Point, least engine.Bytes) (out []reports.Point) {
	for _, p := range points {
		if p.Size >= least {
			out = append(out, p)
		}
	}
	return out
}

// crowded are curves that lie close together and recommend the same or nearly so.
func crowded() (out []reports.Point) {
	for i, base := range []engine.Duration{14_000_000, 14_100_000, 15_000_000, 20_000_000, 60_000_000, 350_000_000} {
		for j, cores := range []string{"1", "4", "32", "64"} {
			p := onlySIMT()
			p.Axes = []reports.KV{{Key: "call.message", Value: fmt.Sprint(i)}, {Key: "core_num", Value: cores}}
			p.Elapsed = base + base*engine.Duration(3-j)/8
			if i == 1 && j == 2 {
				p.Elapsed = base
			}
			out = append(out, p)
		}
	}
	return out
}

func onlySIMT() reports.Point {
	p := reports.Point{Status: result.OK, Axes: []reports.KV{{Key: "core_num", Value: "1"}}, Elapsed: engine.Microsecond}
	p.Reasons[result.SIMTBuild] = engine.Microsecond
	return p
}

func TestPicturesAreDrawnInBothForms(t *testing.T) {
	for name, p := range pictures(t) {
		t.Run(name, func(t *testing.T) {
			var raster, vector, again bytes.Buffer
			require.NoError(t, p.PNG(&raster))
			require.NoError(t, p.SVG(&vector))
			require.NoError(t, p.SVG(&again))
			save(t, name, raster.Bytes(), vector.Bytes())
			assert.True(t, bytes.Equal(vector.Bytes(), again.Bytes()), "the same picture twice")
			img, err := png.Decode(&raster)
			require.NoError(t, err)
			assert.Equal(t, image.Rect(0, 0, 1200, 800), img.Bounds())
			assert.Greater(t, colours(img), 8, "something is drawn")
			checkSVG(t, vector.String(), p.words)
		})
	}
}

func save(t *testing.T, name string, raster, vector []byte) {
	if *folder == "" {
		return
	}
	base := filepath.Join(*folder, strings.ReplaceAll(name, " ", "-"))
	require.NoError(t, os.WriteFile(base+".png", raster, 0o644))
	require.NoError(t, os.WriteFile(base+".svg", vector, 0o644))
}

func colours(img image.Image) int {
	seen := map[color.Color]bool{}
	for y := 0; y < 800; y += 2 {
		for x := 0; x < 1200; x += 2 {
			seen[img.At(x, y)] = true
		}
	}
	return len(seen)
}

// images are what could hold any letters.
var images = regexp.MustCompile(`data:image/png;base64,[^"]*`)

func checkSVG(t *testing.T, svg string, words []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	var text strings.Builder
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if c, ok := tok.(xml.CharData); ok {
			text.Write(c)
		}
	}
	for _, w := range words {
		assert.True(t, strings.Contains(text.String(), w), "the picture shows %q", w)
	}
	svg = images.ReplaceAllString(svg, "")
	for _, bad := range []string{"NaN", "Inf", "image/jpg"} { // viewers believe the type that they read
		assert.False(t, strings.Contains(svg, bad), "%s in the picture", bad)
	}
	assert.True(t, strings.Contains(svg, `width="900pt" height="600pt"`), "1200 x 800 CSS pixels")
}

// spy is a canvas that notes where words and lines end up.
type spy struct {
	t     *testing.T
	at    []matrix
	words []box
	dash  []vg.Length
}

type matrix [6]float64 // x' = a x + b y + c, y' = d x + e y + f

func (m matrix) apply(p vg.Point) vg.Point {
	x, y := float64(p.X), float64(p.Y)
	return vg.Point{X: vg.Length(m[0]*x + m[1]*y + m[2]), Y: vg.Length(m[3]*x + m[4]*y + m[5])}
}

func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[3], m[0]*n[1] + m[1]*n[4], m[0]*n[2] + m[1]*n[5] + m[2],
		m[3]*n[0] + m[4]*n[3], m[3]*n[1] + m[4]*n[4], m[3]*n[2] + m[4]*n[5] + m[5],
	}
}

type box struct {
	text           string
	x0, y0, x1, y1 vg.Length
}

func (s *spy) top() *matrix           { return &s.at[len(s.at)-1] }
func (s *spy) SetLineWidth(vg.Length) {}
func (s *spy) SetColor(color.Color)   {}
func (s *spy) Push()                  { s.at = append(s.at, *s.top()) }
func (s *spy) Pop()                   { s.at = s.at[:len(s.at)-1] }
func (s *spy) Translate(p vg.Point) {
	*s.top() = s.top().times(matrix{1, 0, float64(p.X), 0, 1, float64(p.Y)})
}
func (s *spy) Scale(x, y float64)                        { *s.top() = s.top().times(matrix{x, 0, 0, 0, y, 0}) }
func (s *spy) DrawImage(r vg.Rectangle, img image.Image) {}
func (s *spy) Fill(p vg.Path)                            { s.path(p) }
func (s *spy) Rotate(a float64) {
	sin, cos := math.Sincos(a)
	*s.top() = s.top().times(matrix{cos, -sin, 0, sin, cos, 0})
}
func (s *spy) SetLineDash(d []vg.Length, _ vg.Length) {
	s.dash = d
	for _, l := range d {
		assert.Positive(s.t, float64(l), "a dash of no length hangs gonum/plot")
	}
}

func (s *spy) Stroke(p vg.Path) { s.path(p) }

func (s *spy) path(p vg.Path) {
	for _, c := range p {
		at := s.top().apply(c.Pos)
		x, y := float64(at.X), float64(at.Y)
		assert.False(s.t, math.IsNaN(x) || math.IsNaN(y) || math.IsInf(x, 0) || math.IsInf(y, 0), "a line to nowhere")
	}
}

func (s *spy) FillString(f font.Face, p vg.Point, text string) {
	if text == "" {
		return
	}
	a := s.top().apply(p)
	b := s.top().apply(vg.Point{X: p.X + f.Width(text), Y: p.Y + f.Font.Size*0.7})
	s.words = append(s.words, box{text, min(a.X, b.X), min(a.Y, b.Y), max(a.X, b.X), max(a.Y, b.Y)})
}

func TestNoWordIsClippedOrWrittenOverAnother(t *testing.T) {
	w, h := size()
	for name, p := range pictures(t) {
		t.Run(name, func(t *testing.T) {
			s := &spy{t: t, at: []matrix{{1, 0, 0, 0, 1, 0}}}
			p.paint(draw.NewCanvas(s, w, h))
			require.NotEmpty(t, s.words)
			for i, a := range s.words {
				assert.True(t, a.x0 >= 0 && a.y0 >= 0 && a.x1 <= w && a.y1 <= h, "%q is clipped: %v", a.text, a)
				for _, b := range s.words[:i] {
					apart := a.x1 <= b.x0 || b.x1 <= a.x0 || a.y1 <= b.y0 || b.y1 <= a.y0
					assert.True(t, apart, "%q lies on %q", a.text, b.text)
				}
			}
		})
	}
}

func TestTitlesAndNamesThatAreTooLongAreCut(t *testing.T) {
	f := fakeFrame()
	f.Title, f.Footnote = strings.Repeat("long title ", 50), strings.Repeat("0123456789abcdef ", 50)
	bySize, _ := fakes()
	series := Split(bySize, "size")
	series[0].Name = strings.Repeat("a name that is long ", 20)
	p, err := Bandwidth(f, Wire, series, nil)
	require.NoError(t, err)
	w, h := size()
	s := &spy{t: t, at: []matrix{{1, 0, 0, 0, 1, 0}}}
	p.paint(draw.NewCanvas(s, w, h))
	cuts := 0
	for _, a := range s.words {
		assert.LessOrEqual(t, a.x1, w, a.text)
		if strings.HasSuffix(a.text, "...") {
			cuts++
		}
	}
	assert.Equal(t, 3, cuts)
}

func TestAPNGIsTheSameEachTime(t *testing.T) {
	p, err := Reasons(fakeFrame(), "core_num", []reports.Point{onlySIMT()})
	require.NoError(t, err)
	var first, again bytes.Buffer
	require.NoError(t, p.PNG(&first))
	require.NoError(t, p.PNG(&again))
	assert.True(t, bytes.Equal(first.Bytes(), again.Bytes()))
}
