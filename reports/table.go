package reports

import (
	"bytes"
	"io"
	"strings"
	"unicode"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// page is what people read, as text or as markdown: a title, lines, tables, lines.
type page struct {
	title  string
	lead   []string
	tables []table
	tail   []string
}

// table is one section of a page. Columns whose heading begins with '>' hold
// numbers and stand right; those with '~' hold prose and share what width is left.
type table struct {
	title string
	head  []string
	rows  [][]string
	notes []string // below the table
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// note adds a line below a table, unless it says nothing.
func (t *table) note(text string) {
	if text != "" {
		t.notes = append(t.notes, text)
	}
}

func (p *page) table(title string, head ...string) *table {
	p.tables = append(p.tables, table{title: title, head: head})
	return &p.tables[len(p.tables)-1]
}

const columnGap = 2

// text writes p for a terminal of so many columns.
func (p *page) text(w io.Writer, width int) error {
	var b bytes.Buffer
	paragraph := func(lines []string) {
		for _, l := range lines {
			b.WriteString(hang(l, width) + "\n")
		}
	}
	paragraph(append([]string{p.title}, p.lead...))
	for i := range p.tables {
		t := &p.tables[i]
		b.WriteByte('\n')
		if t.title != "" {
			b.WriteString(hang(t.title, width) + "\n")
		}
		if err := t.text(&b, width); err != nil {
			return err
		}
		paragraph(t.notes)
	}
	if len(p.tail) > 0 {
		b.WriteByte('\n')
		paragraph(p.tail)
	}
	_, err := w.Write(trimLines(b.Bytes()))
	return err
}

// markdown writes p as GitHub-flavoured markdown.
func (p *page) markdown(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString("# " + inline(p.title) + "\n")
	for _, l := range p.lead {
		b.WriteString("\n" + inline(l) + "\n")
	}
	for i := range p.tables {
		t := &p.tables[i]
		b.WriteString("\n")
		if t.title != "" {
			b.WriteString("## " + inline(t.title) + "\n\n")
		}
		if err := t.markdown(&b); err != nil {
			return err
		}
		for _, n := range t.notes {
			b.WriteString("\n" + inline(n) + "\n")
		}
	}
	for _, l := range p.tail {
		b.WriteString("\n" + inline(l) + "\n")
	}
	_, err := w.Write(trimLines(b.Bytes()))
	return err
}

func (t *table) text(w io.Writer, width int) error {
	if len(t.rows) == 0 {
		return nil
	}
	head, align := t.columns()
	rows := make([][]string, len(t.rows))
	for i, r := range t.rows {
		rows[i] = make([]string, len(head))
		for j := range r {
			rows[i][j] = clean(r[j])
		}
	}
	room := t.room(head, rows, width)
	for _, r := range rows {
		for j := range r {
			if strings.HasPrefix(t.head[j], "~") {
				r[j] = strings.Join(wrap(r[j], room), "\n")
			}
		}
	}
	rule := tw.NewSymbolCustom("rule").WithRow("-").WithCenter("-").WithColumn(" ")
	off := tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.On}
	return render(w, head, rows, align,
		tablewriter.WithPadding(tw.Padding{Right: strings.Repeat(" ", columnGap), Overwrite: true}),
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone, Symbols: rule,
			Settings: tw.Settings{Lines: off, Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off}},
		})))
}

func (t *table) markdown(w io.Writer) error {
	if len(t.rows) == 0 {
		return nil
	}
	head, align := t.columns()
	for j := range head {
		head[j] = cell(head[j])
	}
	rows := make([][]string, len(t.rows))
	for i, r := range t.rows {
		rows[i] = make([]string, len(head))
		for j := range r {
			rows[i][j] = cell(r[j])
		}
	}
	return render(w, head, rows, align, tablewriter.WithRenderer(renderer.NewMarkdown()))
}

// columns splits the marks from the headings.
func (t *table) columns() (head []string, align tw.Alignment) {
	for _, h := range t.head {
		a := tw.AlignLeft
		if strings.HasPrefix(h, ">") {
			a = tw.AlignRight
		}
		head, align = append(head, strings.TrimLeft(h, ">~")), append(align, a)
	}
	return head, align
}

// room returns the width of each prose column.
func (t *table) room(head []string, rows [][]string, width int) int {
	const least = 18
	prose := 0
	for j, h := range t.head {
		if strings.HasPrefix(h, "~") {
			prose++
			width -= columnGap
			continue
		}
		widest := twwidth.Width(head[j])
		for _, r := range rows {
			widest = max(widest, twwidth.Width(r[j]))
		}
		width -= widest + columnGap
	}
	return max(least, width/max(prose, 1))
}

func render(w io.Writer, head []string, rows [][]string, align tw.Alignment, opts ...tablewriter.Option) error {
	t := tablewriter.NewTable(w, append(opts,
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithHeaderAutoWrap(tw.WrapNone), tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimSpace(tw.Off), tablewriter.WithAlignment(align),
		tablewriter.WithEastAsian(tw.Off), // or the locale would decide the width of ambiguous signs
	)...)
	t.Header(head)
	if err := t.Bulk(rows); err != nil {
		return err
	}
	return t.Render()
}

// wrap breaks s at spaces, and words that are too long anywhere.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && twwidth.Width(line)+1+twwidth.Width(word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		line = word
		for twwidth.Width(line) > width {
			cut := fits(line, width)
			lines, line = append(lines, line[:cut]), line[cut:]
		}
	}
	return append(lines, line)
}

// fits returns how many bytes of s, at least one rune, are no wider than width.
func fits(s string, width int) int {
	end := len(s)
	for i := range s {
		if i > 0 && twwidth.Width(s[:i]) > width {
			break
		}
		end = i
	}
	if end == 0 {
		for i := range s {
			if i > 0 {
				return i
			}
		}
		return len(s)
	}
	return end
}

// hang wraps a line and indents what follows its first part.
func hang(s string, width int) string { return strings.Join(wrap(clean(s), width-2), "\n  ") }

// clean puts a space for whatever would break a line or drive a terminal.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

var markdownSigns = strings.NewReplacer(
	`\`, `\\`, `|`, `\|`, `*`, `\*`, "`", "\\`", `~`, `\~`, `<`, `&lt;`, `](`, `]\(`,
	` _`, ` \_`, `_ `, `\_ `, // within a word it is no markup
)

// inline escapes what markdown would take for markup; tablewriter does not. It
// leaves alone what only looks like it, so that the source stays legible.
func inline(s string) string {
	s = cell(s)
	if strings.IndexAny(s, "#>+-_") == 0 {
		s = `\` + s
	}
	return s
}

// cell is inline within a table, where a line cannot begin a list or a heading.
func cell(s string) string { return markdownSigns.Replace(clean(s)) }

// trimLines drops spaces at the ends of lines.
func trimLines(b []byte) []byte {
	lines := bytes.Split(b, []byte("\n"))
	for i := range lines {
		lines[i] = bytes.TrimRight(lines[i], " ")
	}
	return bytes.Join(lines, []byte("\n"))
}
