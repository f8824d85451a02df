package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// tableOf prints rows under a header, numbers flush right. It has no lines and
// no colours, so that it reads the same on a terminal and in a pipe.
type tableOf struct {
	header []string
	rows   [][]any
}

func (t *tableOf) add(cells ...any) { t.rows = append(t.rows, cells) }

func (t *tableOf) print(w io.Writer) error {
	out := table.NewWriter()
	out.SetStyle(plainStyle())
	out.SuppressTrailingSpaces()
	head := make(table.Row, len(t.header))
	var columns []table.ColumnConfig
	for i, h := range t.header {
		head[i] = h
		if t.numeric(i) {
			columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	out.SetColumnConfigs(columns)
	out.AppendHeader(head)
	for _, r := range t.rows {
		out.AppendRow(r)
	}
	_, err := fmt.Fprintln(w, out.Render())
	return err
}

// numeric reports whether column i holds numbers, or nothing.
func (t *tableOf) numeric(i int) bool {
	for _, r := range t.rows {
		if s, ok := r[i].(string); ok && s != "" && (s[0] < '0' || s[0] > '9') && s[0] != '-' {
			return false
		}
	}
	return true
}

func plainStyle() table.Style {
	s := table.StyleDefault
	s.Options = table.OptionsNoBordersAndSeparators
	s.Format.Header = text.FormatDefault
	s.Box.PaddingLeft, s.Box.PaddingRight = "", "  "
	return s
}

// paragraph breaks running text into lines for a terminal.
func paragraph(s string) string {
	lines := strings.Split(text.WrapSoft(s, 80), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}
