// Package plots draws the pictures of reports: bandwidth and time against message
// size, a recommended core_num, time by reason, WQEBB use and the traffic matrix.
// Each function takes plain points and returns a Picture, which is written as a PNG
// of 1200 x 800 pixels or as an SVG of the same shape. The same points give the same
// bytes. What a logarithmic axis cannot show, zero and below, is left out, and a
// picture with nothing left to show is an error rather than an empty frame.
package plots

import (
	"bytes"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Width and Height are the size of a PNG in pixels.
const (
	Width  = 1200
	Height = 800
	dpi    = 96
)

// Picture is drawn and ready to be written, any number of times.
type Picture struct{ paint func(draw.Canvas) }

func size() (w, h vg.Length) { return Width * vg.Inch / dpi, Height * vg.Inch / dpi }

// PNG writes the picture with Width x Height pixels.
func (p *Picture) PNG(w io.Writer) error {
	width, height := size()
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
	p.paint(draw.New(c))
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// SVG writes the picture as scalable graphics, with its words as text. Liberation
// Sans is not embedded, so room is left for fonts with wider letters.
func (p *Picture) SVG(w io.Writer) error {
	c := vgsvg.New(size())
	p.paint(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(forViewers.replace(b.Bytes()))
	return err
}

// forViewers mends what vgsvg writes so that viewers other than its author's show it:
// other sans fonts where Liberation is not installed, the true type of images, and
// images that fill their place.
var forViewers = replacements{
	{"font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;"},
	{"data:image/jpg;base64", "data:image/png;base64"},
	{"<image ", `<image preserveAspectRatio="none" `},
}

type replacements [][2]string

func (r replacements) replace(b []byte) []byte {
	for _, pair := range r {
		b = bytes.ReplaceAll(b, []byte(pair[0]), []byte(pair[1]))
	}
	return b
}
