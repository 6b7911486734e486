package plots

import (
	"math"
	"unicode"

	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// mixed is a text handler for words of two scripts: Chinese letters come from one
// font, which may have no others, and all else from the fonts of latin.
type mixed struct {
	text.Plain
	chinese *opentype.Font
}

// run is a piece of a line in one font.
type run struct {
	face font.Face
	text string
}

// runs splits a line where the script changes.
func (m mixed) runs(line string, fnt font.Font) (out []run) {
	latin := m.Fonts.Lookup(fnt, fnt.Size)
	chinese := font.Face{Font: font.Font{Typeface: "Chinese", Size: fnt.Size}, Face: m.chinese}
	start, was := 0, false
	for i, r := range line + "\x00" {
		is := r > unicode.MaxLatin1 && r != '…'
		if i > start && (i == len(line) || is != was) {
			face := latin
			if was {
				face = chinese
			}
			out = append(out, run{face, line[start:i]})
			start = i
		}
		was = is
		if i == len(line) {
			break
		}
	}
	return out
}

func (m mixed) width(line string, fnt font.Font) (w vg.Length) {
	for _, r := range m.runs(line, fnt) {
		w += r.face.Width(r.text)
	}
	return w
}

// Box implements text.Handler.
func (m mixed) Box(line string, fnt font.Font) (width, height, depth vg.Length) {
	_, height, depth = m.Plain.Box("", fnt)
	return m.width(line, fnt), height, depth
}

// Draw implements text.Handler as text.Plain does, but for the runs.
func (m mixed) Draw(c vg.Canvas, txt string, s text.Style, at vg.Point) {
	c.SetColor(s.Color)
	if s.Rotation != 0 {
		c.Push()
		defer c.Pop()
		c.Rotate(s.Rotation)
	}
	sin, cos := math.Sincos(s.Rotation)
	at.X, at.Y = at.Y*vg.Length(sin)+at.X*vg.Length(cos), at.Y*vg.Length(cos)-at.X*vg.Length(sin)
	lines := m.Lines(txt)
	at.Y += s.Height(txt)*vg.Length(s.YAlign) - m.Extents(s.Font).Ascent
	for i, line := range lines {
		x := at.X + vg.Length(s.XAlign)*m.width(line, s.Font)
		for _, r := range m.runs(line, s.Font) {
			c.FillString(r.face, vg.Point{X: x, Y: at.Y + vg.Length(len(lines)-i)*s.Font.Size}, r.text)
			x += r.face.Width(r.text)
		}
	}
}
