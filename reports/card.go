package reports

import (
	"fmt"
	"io"

	"pldperf/hw/result"
	"pldperf/reports/document"
)

// Unknown is the value of a counter in Card.Formula that no formula predicts.
const Unknown = document.Unknown

// Card is all that the cost card of one run shows: a run as its document has it.
type Card document.Run

// The parts of a card.
type (
	Bound      = document.Bound
	BoundPart  = document.BoundPart
	ParamCount = document.ParamCount
)

// Write writes the card. A card that lacks its result, or whose lists do not fit
// the result's ranks, is an error.
func (c *Card) Write(w io.Writer, f Format, o Options) error { return write(w, f, o, c) }

// ReadCard reads what Write wrote as JSON; the card writes the same again.
func ReadCard(r io.Reader) (*Card, error) {
	d, err := document.Read(r)
	if err != nil {
		return nil, err
	}
	if d.Run == nil {
		return nil, fmt.Errorf("this is %s and no run", d.Kind.One())
	}
	return (*Card)(d.Run), nil
}

func (c *Card) check() error { return (*document.Run)(c).Check() }

// Document returns the card as a document, which program has written.
func (c *Card) Document(program string) *document.Document {
	m, p := Measure(c), NewPoint(nil, c.Size, c)
	return &document.Document{Head: document.NewHead(document.KindRun, program), Summary: &p, Metrics: &m, Run: (*document.Run)(c)}
}

func (c *Card) document(program string) writable { return c.Document(program) }

// predicted returns the formula's value over all ranks; false when there is none.
func (c *Card) predicted(k result.Counter) (sum int64, ok bool) {
	for i := range c.Formula {
		if c.Formula[i][k] == Unknown {
			return 0, false
		}
		sum += c.Formula[i][k]
	}
	return sum, len(c.Formula) > 0
}

// formulaText returns how the counter is predicted.
func (c *Card) formulaText(k result.Counter) string {
	for _, f := range c.Formulas {
		if f.Key == k.String() {
			return f.Value
		}
	}
	return ""
}
