package routing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAMatrixIsReadWithCommentsHeadersAndLabels(t *testing.T) {
	want := [][]int64{{1, 2}, {3, 4}}
	for name, text := range map[string]string{
		"bare":             "1,2\n3,4\n",
		"no last newline":  "1,2\n3,4",
		"comments":         "# source: a run\n1,2\n# more\n3,4\n",
		"blanks":           " 1 , 2\n\n3,  4  \n",
		"windows":          "\ufeff1,2\r\n3,4\r\n",
		"header":           "r0,r1\n1,2\n3,4\n",
		"header, labels":   "src,r0,r1\nr0,1,2\nr1,3,4\n",
		"numbered, labels": ",0,1\n0,1,2\n1,3,4\n",
		"quoted":           "\"1\",\"2\"\n3,4\n",
	} {
		m, err := ParseMatrix("m.csv", []byte(text), "rows", "", 0)
		require.NoError(t, err, name)
		assert.Equal(t, want, m, name)
	}
}

func TestABadMatrixSaysWhereAndWhat(t *testing.T) {
	for _, c := range []struct{ text, unit, want string }{
		{"", "", "m.csv:1:1: no numbers"},
		{"a,b\n", "", "m.csv:1:1: no numbers"},
		{"1,2\n3,-4\n", "", `m.csv:2:3: "-4" is not a whole number from 0`},
		{"1,2x\n3,4\n", "", `m.csv:1:3: "2x" is not a whole number from 0`},
		{"1,2\n3,\n", "", `m.csv:2:3: "" is not a whole number from 0`},
		{"1,2.5\n3,4\n", "", `m.csv:1:3: "2.5" is not a whole number from 0`},
		{"1,2\n3,99999999999999999999\n", "", "m.csv:2:3: 99999999999999999999 is above the limit"},
		{"1,2\n3\n", "", "m.csv:2:1: 1 destinations for 2 sources; a matrix must be square"},
		{"# c\n1,2,3\n", "", "m.csv:2:1: 3 destinations for 1 sources"},
		{"1,\"2\n", "", "m.csv:1:6: extraneous or missing \" in quoted-field"},
		{"1024,0\n0,1000\n", "bytes", "m.csv:2:3: 1000 bytes are not whole rows of 1024"},
	} {
		_, err := ParseMatrix("m.csv", []byte(c.text), c.unit, "", 1024)
		assert.ErrorContains(t, err, c.want, "%q", c.text)
	}
	_, err := ParseMatrix("m.csv", []byte("1"), "bytes", "", 0)
	assert.ErrorContains(t, err, "rows of at least 1 byte")
}

func TestAllFaultsOfAMatrixAreReportedUpToALimit(t *testing.T) {
	_, err := ParseMatrix("m.csv", []byte("-1,1\n2,-2\n"), "", "", 0)
	assert.ErrorContains(t, err, "m.csv:1:1")
	assert.ErrorContains(t, err, "m.csv:2:3")
	_, err = ParseMatrix("m.csv", []byte("0"+strings.Repeat(",-1", 99)), "", "", 0)
	assert.ErrorContains(t, err, "m.csv: 80 more")
}

func TestBytesBecomeWholeRows(t *testing.T) {
	m, err := ParseMatrix("m.csv", []byte("0,1024\n4096,2048\n"), "bytes", "", 1024)
	require.NoError(t, err)
	assert.Equal(t, [][]int64{{0, 1}, {4, 2}}, m)
	m, err = ParseMatrix("m.csv", []byte("0,1\n1024,1025\n"), "bytes", "up", 1024)
	require.NoError(t, err)
	assert.Equal(t, [][]int64{{0, 1}, {1, 2}}, m)
}

func TestAMatrixFileMakesARouting(t *testing.T) {
	files := func(name string) ([]byte, error) { return []byte("2048,1024\n0,3072\n"), nil }
	r, err := New(Spec{Kind: "matrix", CSV: "m.csv", Unit: "bytes"}, 2, 1024, files)
	require.NoError(t, err)
	counts, index := contents(r)
	assert.Equal(t, [][]int64{{2, 1}, {0, 3}}, counts)
	assert.Equal(t, [][][]int32{{{0, 1}, {2}}, {{}, {0, 1, 2}}}, index)
	assert.Equal(t, 3, r.Capacity())
	_, err = New(Spec{Kind: "matrix", CSV: "m.csv"}, 3, 1024, files)
	assert.ErrorContains(t, err, "csv: m.csv: a matrix of 2 ranks for 3 ranks")
	_, err = New(Spec{Kind: "matrix", CSV: "m.csv"}, 2, 1024, measured)
	assert.ErrorContains(t, err, "csv: no file m.csv")
}

func FuzzParseMatrix(f *testing.F) {
	for _, s := range []string{"1,2\n3,4\n", "src,a\n0,7\n", "# c\n\"1\"", ",\n,", "1e9", "\ufeff0", "a\n1\n", "1,2\n3"} {
		f.Add([]byte(s), true, int64(7))
	}
	f.Fuzz(func(t *testing.T, data []byte, bytes bool, rowBytes int64) {
		unit := "rows"
		if bytes {
			unit = "bytes"
		}
		m, err := ParseMatrix("f.csv", data, unit, "up", rowBytes)
		if err != nil {
			require.Nil(t, m)
			require.ErrorContains(t, err, "f.csv:")
			return
		}
		var text strings.Builder
		for _, row := range m {
			require.Len(t, row, len(m))
			for i, n := range row {
				require.True(t, n >= 0 && n <= MaxRows, "%d rows", n)
				fmt.Fprintf(&text, "%s%d", map[bool]string{true: "", false: ","}[i == 0], n)
			}
			text.WriteString("\n")
		}
		again, err := ParseMatrix("f.csv", []byte(text.String()), "rows", "", 0)
		require.NoError(t, err)
		require.Equal(t, m, again, "what is written is read back")
	})
}

func FuzzParseShapesAndQuantiles(f *testing.F) {
	f.Add([]byte("quantile,hotness_over_mean\n0,1\n1,2\n"))
	f.Add([]byte("model,hidden,routed_experts,top_k,shared_experts,routing,fp8_dispatch_bytes_per_msg,bf16_bytes_per_msg\nA/B,1,2,,,n_group 4,5,6\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if table, err := parseQuantiles("f.csv", data); err == nil {
			for i := range 101 {
				require.True(t, valueAt(table, float64(i)/100) >= 0)
			}
		}
		if shapes, err := ParseShapes("f.csv", data); err == nil {
			for _, n := range shapes.Names() {
				_, err := shapes.Model(n)
				require.True(t, err == nil || strings.Contains(err.Error(), "leaves out"), "%v", err)
			}
		}
	})
}
