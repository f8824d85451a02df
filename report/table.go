package report

import "fmt"

// Table has rows of texts under a header. The first text of a row is the row's name.
type Table struct {
	Title  string
	Header []string
	Rows   [][]string
}

// validate returns an error if a row has more or fewer texts than the header.
func (t *Table) validate() error {
	for i, r := range t.Rows {
		if len(r) != len(t.Header) {
			return fmt.Errorf("report: row %d of table %q has %d texts for %d columns; the numbers must be equal", i+1, t.Title, len(r), len(t.Header))
		}
	}
	return nil
}

// Matrix is a confusion matrix. Counts[i][j] is the number of rows of class i that were predicted
// as class j.
type Matrix struct {
	Classes []string
	Counts  [][]int
}

// validate returns an error if the matrix is not square.
func (m *Matrix) validate() error {
	square := len(m.Counts) == len(m.Classes)
	for _, row := range m.Counts {
		square = square && len(row) == len(m.Classes)
	}
	if !square {
		return fmt.Errorf("report: the confusion matrix of %d classes is not square", len(m.Classes))
	}
	return nil
}

// grid is a table whose cells also store the name of their column. On a narrow screen the page
// shows this name beside the cell.
type grid struct {
	Header []string
	Rows   []gridRow
	Top    bool // marks the first table of the page; a narrow screen shows only its first four columns
}

// Many reports whether the table has too many columns for a narrow screen.
func (g grid) Many() bool { return len(g.Header) > 4 && !g.Top }

type gridRow struct {
	Class string
	Cells []gridCell
}

type gridCell struct{ Label, Text string }

// gridOf converts a table to a grid. The argument classes has the CSS class of each row; nil means no
// classes.
func gridOf(header []string, rows [][]string, classes []string) grid {
	g := grid{Header: header}
	for i, texts := range rows {
		row := gridRow{}
		if classes != nil {
			row.Class = classes[i]
		}
		for k, text := range texts {
			row.Cells = append(row.Cells, gridCell{header[k], text})
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// shade is a cell of a drawn confusion matrix.
type shade struct {
	Count   int
	Percent float64 // intensity of the colour, which is 60 times the cell's share of its row
	Right   bool
}

// shades returns the cells of the drawn matrix.
func (m *Matrix) shades() [][]shade {
	out := make([][]shade, len(m.Counts))
	for i, row := range m.Counts {
		sum := 0
		for _, n := range row {
			sum += n
		}
		for j, n := range row {
			out[i] = append(out[i], shade{n, round1(60 * fraction(float64(n), float64(sum))), i == j})
		}
	}
	return out
}
