package mercer

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/linalg"
)

// TableRows returns the rows of a table, such as X of a [dataset.Set], for [Fit]. It copies them.
func TableRows(t dataset.Table) [][]float64 { return MatrixRows(dataset.RowsOf(t)) }

// MatrixRows returns the rows of a matrix for [Fit]. It copies them.
func MatrixRows(m linalg.Rows) [][]float64 {
	n, width := m.Shape()
	cells, rows := make([]float64, n*width), make([][]float64, n)
	for i := range rows {
		rows[i] = cells[i*width : (i+1)*width : (i+1)*width]
		m.ReadRow(i, rows[i])
	}
	return rows
}

// Matrix returns rows as a matrix, for packages such as learn/tune. It copies them. It refuses an empty
// list, rows of different widths or without numbers, and numbers that are not finite. [dataset.NewDense]
// makes a table of the matrix.
func Matrix(rows [][]float64) (linalg.Matrix[float64], error) {
	if len(rows) == 0 {
		return linalg.Matrix[float64]{}, errors.New("mercer: there are no rows; give at least one")
	}
	return matrix(rows, len(rows[0]))
}

// matrix copies rows into a matrix. Every row must have the given width. It refuses rows of another
// width and numbers that are not finite.
func matrix(rows [][]float64, width int) (linalg.Matrix[float64], error) {
	x := linalg.New[float64](len(rows), width)
	for i, row := range rows {
		if len(row) != width || width == 0 {
			return x, fmt.Errorf("mercer: row %d has %d numbers; it must have %d", i, len(row), max(width, 1))
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return x, fmt.Errorf("mercer: row %d holds %v in column %d; write a finite number there, or leave the row out", i, v, j)
			}
		}
		copy(x.Row(i), row)
	}
	return x, nil
}
