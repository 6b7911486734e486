package plots

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAgreementShowsFittedAndHeldOutRowsApart(t *testing.T) {
	rows := []Measured{{Measured: 10, Simulated: 11}, {Measured: 100, Simulated: 99, HeldOut: true}, {Measured: 0, Simulated: 5}}
	svg := func(rows []Measured) string {
		p, err := Agreement(Frame{Subtitle: "puts"}, rows)
		require.NoError(t, err)
		var b bytes.Buffer
		require.NoError(t, p.SVG(&b))
		return b.String()
	}
	text := svg(rows)
	for _, word := range []string{"measured (us)", "simulated (us)", "fitted", "held out", "equal"} {
		assert.Contains(t, text, ">"+word+"<")
	}
	assert.Equal(t, text, svg(rows), "the same rows give the same picture")
	assert.NotContains(t, svg(rows[:1]), ">held out<")
	_, err := Agreement(Frame{}, rows[2:])
	assert.ErrorIs(t, err, errNothing)
}
