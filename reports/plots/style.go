package plots

import (
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The sizes of letters. A point is 4/3 of a pixel.
const (
	titleSize    = 18
	subtitleSize = 13
	labelSize    = 14
	tickSize     = 12
	legendSize   = 12
	footSize     = 10
)

var (
	ink   = color.RGBA{0x22, 0x22, 0x22, 0xff}
	muted = color.RGBA{0x55, 0x55, 0x55, 0xff}
	faint = color.RGBA{0xdd, 0xdd, 0xdd, 0xff}
)

// okabeIto are colours that people with any kind of colour vision tell apart
// (Okabe and Ito 2008), without the yellow that is too light for lines.
var okabeIto = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	{0x00, 0x9e, 0x73, 0xff}, // green
	{0xcc, 0x79, 0xa7, 0xff}, // purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0x22, 0x22, 0x22, 0xff}, // black
}

// more are colours for names beyond these, of the same kind (Tol 2021): told apart by
// the mark as well.
var more = []color.RGBA{
	{0x88, 0x22, 0x55, 0xff}, // wine
	{0x99, 0x99, 0x33, 0xff}, // olive
	{0x44, 0xaa, 0x99, 0xff}, // teal
	{0x8c, 0x8c, 0x8c, 0xff}, // grey
}

// nameColor returns the colour of series i of n that have names and no order.
func nameColor(i, n int) color.RGBA {
	if n > len(okabeIto) && n <= len(okabeIto)+len(more) && i >= len(okabeIto) {
		return more[i-len(okabeIto)]
	} else if n <= len(okabeIto)+len(more) {
		return okabeIto[i]
	}
	return seriesColor(i, n)
}

// viridis are anchors of a scale from dark to light that grows evenly in brightness
// for all kinds of colour vision, so that the order of many series can be read from
// it (van der Walt and Smith 2015). Its last, yellow, is too light for lines.
var viridis = []color.RGBA{
	{0x44, 0x01, 0x54, 0xff}, {0x48, 0x28, 0x78, 0xff}, {0x3e, 0x49, 0x89, 0xff}, {0x31, 0x68, 0x8e, 0xff}, {0x26, 0x82, 0x8e, 0xff},
	{0x1f, 0x9e, 0x89, 0xff}, {0x35, 0xb7, 0x79, 0xff}, {0x6e, 0xce, 0x58, 0xff}, {0xb5, 0xde, 0x2b, 0xff},
}

// along returns the colour at f in [0,1] of a scale.
func along(scale []color.RGBA, f float64) color.RGBA {
	at := f * float64(len(scale)-1)
	i := min(int(at), len(scale)-2)
	mix := func(a, b uint8) uint8 { return uint8(float64(a) + (at-float64(i))*(float64(b)-float64(a)) + 0.5) }
	a, b := scale[i], scale[i+1]
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}

// seriesColor returns the colour of series i of n.
func seriesColor(i, n int) color.RGBA {
	if n <= len(okabeIto) {
		return okabeIto[i]
	}
	return along(viridis, float64(i)/float64(n-1))
}

// seriesGlyph returns the mark of series i, a second way to tell series apart.
func seriesGlyph(i int) draw.GlyphDrawer {
	glyphs := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}}
	return glyphs[i%len(glyphs)]
}

// latin holds the fonts of pictures without Chinese.
var latin = text.Plain{Fonts: font.NewCache(liberation.Collection())}

// style returns the look of some text.
func (f *Frame) style(size float64, c color.Color, bold bool) text.Style {
	s := text.Style{Color: c, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}, Handler: latin}
	if bold {
		s.Font.Weight = xfont.WeightBold
	}
	if f.Chinese != nil {
		s.Handler = mixed{latin, f.Chinese.face}
	}
	return s
}

// plot returns an empty plot in the house style.
func (f *Frame) plot() *plot.Plot {
	p := plot.New()
	p.TextHandler = f.style(tickSize, ink, false).Handler
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		keep := a.Label.TextStyle
		a.Label.TextStyle = f.style(labelSize, ink, false)
		a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign = keep.XAlign, keep.YAlign
		a.Label.Padding = vg.Points(6)
		keep = a.Tick.Label
		a.Tick.Label = f.style(tickSize, ink, false)
		a.Tick.Label.XAlign, a.Tick.Label.YAlign = keep.XAlign, keep.YAlign
		a.Tick.Length = vg.Points(5)
		a.Color, a.Tick.Color = muted, muted
		a.Padding = 0
	}
	return p
}

// gridPlot is plot with lines at the marks of the axes, for bars only across.
func (f *Frame) gridPlot(bars bool) *plot.Plot {
	p := f.plot()
	grid := &plotter.Grid{Horizontal: draw.LineStyle{Color: faint, Width: vg.Points(0.6)}}
	if !bars {
		grid.Vertical = grid.Horizontal
	}
	p.Add(grid)
	return p
}

func dashed(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(1.4), Dashes: []vg.Length{vg.Points(6), vg.Points(4)}}
}
