package plots

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Frame is what stands around a picture. Lines that are too long are cut with an
// ellipsis rather than run off the edge.
type Frame struct {
	Title    string // "" is a title that says what is drawn
	Subtitle string // machine, operation, fixed inputs
	Footnote string // digest, seed
	Chinese  *Font  // words in Chinese with this font; nil is English
}

// entry is one line of the legend, which stands to the right of the plot and so
// never covers data.
type entry struct {
	name  string
	thumb []plot.Thumbnailer
}

// The layout, in points.
const (
	margin     = 18
	legendMost = 220 // width of the legend's words at most
	thumbWidth = 26
)

// wider is how much wider the letters may be with which a viewer shows an SVG.
const wider = 1.18

// picture puts title, subtitle, footnote and legend around what body draws.
func (f *Frame) picture(title string, legend []entry, body func(draw.Canvas)) *Picture {
	frame := *f
	if frame.Title == "" {
		frame.Title = frame.tr(title)
	}
	return &Picture{func(c draw.Canvas) {
		c = draw.Crop(c, margin, -margin, margin, -margin)
		c = frame.head(c)
		c = frame.foot(c)
		body(frame.legend(c, legend))
	}}
}

// line writes a line of text with its top at the top of c and returns what is left.
func line(c draw.Canvas, s text.Style, txt string, gap float64) draw.Canvas {
	if txt == "" {
		return c
	}
	s.YAlign = draw.YTop
	c.FillText(s, vg.Point{X: c.Min.X, Y: c.Max.Y}, cut(s, txt, (c.Max.X-c.Min.X)/wider))
	c.Max.Y -= s.Font.Size + vg.Points(gap)
	return c
}

func (f *Frame) head(c draw.Canvas) draw.Canvas {
	c = line(c, f.style(titleSize, ink, true), f.Title, 6)
	c = line(c, f.style(subtitleSize, muted, false), f.Subtitle, 4)
	c.Max.Y -= vg.Points(10)
	return c
}

func (f *Frame) foot(c draw.Canvas) draw.Canvas {
	if f.Footnote == "" {
		return c
	}
	s := f.style(footSize, muted, false)
	s.YAlign = draw.YBottom
	c.FillText(s, vg.Point{X: c.Min.X, Y: c.Min.Y + s.FontExtents().Descent}, cut(s, f.Footnote, (c.Max.X-c.Min.X)/wider))
	c.Min.Y += s.Font.Size + vg.Points(10)
	return c
}

// legend draws the entries in a column at the right, from the top down, and returns
// the place to its left. Entries that do not fit are counted.
func (f *Frame) legend(c draw.Canvas, entries []entry) draw.Canvas {
	if len(entries) == 0 {
		c.Max.X -= vg.Points(12)
		return c
	}
	s := f.style(legendSize, ink, false)
	s.YAlign = draw.YCenter
	step := s.Font.Size * 1.6
	if most := int((c.Max.Y - c.Min.Y) / step); len(entries) > most {
		rest := f.tr("and %d more", len(entries)-most+1)
		entries = append(entries[:most-1:most-1], entry{name: rest})
	}
	width := vg.Length(0)
	for _, e := range entries {
		width = max(width, s.Width(e.name))
	}
	width = min(width, legendMost)
	left := c.Max.X - width*wider - thumbWidth - vg.Points(8)
	y := c.Max.Y - step/2
	for _, e := range entries {
		thumb := c
		thumb.Min = vg.Point{X: left, Y: y - s.Font.Size*0.45}
		thumb.Max = vg.Point{X: left + thumbWidth, Y: y + s.Font.Size*0.45}
		for _, t := range e.thumb {
			t.Thumbnail(&thumb)
		}
		c.FillText(s, vg.Point{X: left + thumbWidth + vg.Points(8), Y: y}, cut(s, e.name, width))
		y -= step
	}
	c.Max.X = left - vg.Points(20)
	return c
}

// cut shortens txt to a width.
func cut(s text.Style, txt string, width vg.Length) string {
	if s.Width(txt) <= width+vg.Points(0.01) {
		return txt
	}
	runes := []rune(txt)
	for n := len(runes) - 1; n > 0; n-- {
		if short := string(runes[:n]) + "..."; s.Width(short) <= width {
			return short
		}
	}
	return ""
}
