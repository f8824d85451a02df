package scale

import "github.com/mercer-fl/mercer/linalg"

// Sparse returns rows, n x f, scaled, of which the same entries are stored: 8 bytes for each
// beside the rows. It returns false where the scaling moves zeros, so that every entry would
// have to be stored. It panics if the scaling has not f columns.
func (s Scaling) Sparse(rows linalg.SparseRows) (linalg.Rows, bool) {
	if f := rows.Cols(); len(s.Offset) != f || len(s.Factor) != f {
		panic("scale: the scaling and the rows differ in columns")
	}
	for j, offset := range s.Offset {
		if offset*s.Factor[j] != 0 {
			return nil, false
		}
	}
	out := &stretched{SparseRows: rows, start: make([]int, 1, rows.Rows()+1)}
	for i := range rows.Rows() {
		cols, values := rows.Entries(i)
		for k, j := range cols {
			out.values = append(out.values, (values[k]-s.Offset[j])*s.Factor[j])
		}
		out.start = append(out.start, len(out.values))
	}
	return out, true
}

// stretched are sparse rows with other values.
type stretched struct {
	linalg.SparseRows
	start  []int // of each row, and the end
	values []float64
}

// Entries returns the columns and the scaled values of row i.
func (s *stretched) Entries(i int) ([]int32, []float64) {
	cols, _ := s.SparseRows.Entries(i)
	return cols, s.values[s.start[i]:s.start[i+1]]
}

// Shape returns the number of rows and of columns.
func (s *stretched) Shape() (rows, cols int) { return s.Rows(), s.Cols() }

// ReadRow writes row i to dst, of length cols.
func (s *stretched) ReadRow(i int, dst []float64) {
	clear(dst)
	cols, values := s.Entries(i)
	for k, j := range cols {
		dst[j] = values[k]
	}
}
