package scale

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
)

// columns holds two numbers for each column of a range. They are statistics or a scaling.
type columns struct{ first, second []float64 }

func (c columns) span(lo, hi int) columns { return columns{c.first[lo:hi], c.second[lo:hi]} }

// merge combines the statistics of two sets of rows, and stores the result in a. The sets have na
// and nb rows.
func merge(m Method, a columns, na int, b columns, nb int) {
	switch {
	case nb == 0:
	case na == 0:
		copy(a.first, b.first)
		copy(a.second, b.second)
	case m == MinMax:
		for j := range a.first {
			a.first[j] = min(a.first[j], b.first[j])
			a.second[j] = max(a.second[j], b.second[j])
		}
	default:
		mergeMoments(a, float64(na), b, float64(nb))
	}
}

// mergeMoments merges means and sums of squared deviations. It applies the updating formula of
// Chan, Golub and LeVeque, written for means instead of sums. M2 is the sum of squared deviations:
//
//	mean = mean_a + d n_b/n,  M2 = M2_a + M2_b + d² n_a n_b/n,  d = mean_b - mean_a,  n = n_a + n_b
func mergeMoments(a columns, na float64, b columns, nb float64) {
	share, both := nb/(na+nb), na*nb/(na+nb)
	for j := range a.first {
		d := b.first[j] - a.first[j]
		a.first[j] += float64(d * share)
		a.second[j] += b.second[j] + float64(float64(d*d)*both)
	}
}

// Scaling maps a column's value x to (x - Offset) * Factor. Offset and Factor have
// one number for each column.
type Scaling struct {
	Offset, Factor []float64
}

// Spread extends the scaling to a table with more columns. It applies s to the columns whose
// indices are in places and leaves the others unchanged.
func (s Scaling) Spread(places []int, columns int) Scaling {
	all := Scaling{Offset: make([]float64, columns), Factor: make([]float64, columns)}
	for k := range all.Factor {
		all.Factor[k] = 1
	}
	for i, k := range places {
		all.Offset[k], all.Factor[k] = s.Offset[i], s.Factor[i]
	}
	return all
}

// Rows returns a view of rows, n x f, that scales each row when it is read. It copies no row.
// It panics unless the scaling has f columns.
func (s Scaling) Rows(rows linalg.Rows) linalg.Rows {
	if _, f := rows.Shape(); len(s.Offset) != f || len(s.Factor) != f {
		panic("scale: the scaling and the rows differ in columns")
	}
	return scaled{rows, s}
}

type scaled struct {
	linalg.Rows
	scaling Scaling
}

func (s scaled) ReadRow(i int, dst []float64) {
	s.Rows.ReadRow(i, dst)
	s.scaling.scale(dst)
}

func (s Scaling) scale(row []float64) {
	for j := range row {
		row[j] = (row[j] - s.Offset[j]) * s.Factor[j]
	}
}

// scaling returns the scaling that follows from the statistics s of all rows. It overwrites the
// statistics.
func (s Statistics) scaling() Scaling {
	for j, b := range s.Second {
		spread, rounding := math.Sqrt(b/float64(s.Rows)), linalg.RoundingDeviation(s.Rows, s.First[j])
		if s.Method == MinMax {
			spread, rounding = b-s.First[j], linalg.RoundingRange(s.First[j], b)
		}
		s.Second[j] = reciprocal(spread, rounding)
	}
	return Scaling{Offset: s.First, Factor: s.Second}
}

// reciprocal returns 1/spread. It returns 0 for a column whose spread is at most the given
// rounding error, and for a column whose 1/spread would not be finite.
func reciprocal(spread, rounding float64) float64 {
	if f := 1 / spread; spread > rounding && !math.IsInf(f, 0) {
		return f
	}
	return 0
}

// fits reports whether c can be the scaling of data that include the rows summarised in s. The first
// column of c is column lo of s. For method minmax the tests of offset and factor are exact, because
// rounding keeps the order. For method standard, and without rows, every scaling fits.
func (s Statistics) fits(lo int, c columns) bool {
	if s.Method != MinMax || s.Rows == 0 {
		return true // with the other parties' rows, any mean and deviation is possible
	}
	for j, offset := range c.first {
		low, high := s.First[lo+j], s.Second[lo+j]
		factor := c.second[j]
		if low < offset || (high-offset)*factor > 1 {
			return false
		}
		// All parties' rows may have a larger magnitude, and so a larger rounding error, but by no
		// more than a few units in the last place.
		if factor == 0 && reciprocal(high-low, 2*linalg.RoundingRange(low, high)) != 0 {
			return false
		}
	}
	return true
}

// Pooled returns the scaling that one owner of all rows would compute.
func Pooled(rows linalg.Rows, method Method) (Scaling, error) {
	s, err := Summarize(rows, method)
	if err != nil {
		return Scaling{}, err
	}
	return s.scaling(), nil
}

// Cut decodes the scaling at the start of b and returns the bytes after it. The encoding holds
// the offsets and then the factors of the given number of columns.
func (s *Scaling) Cut(b []byte, columns int) (rest []byte, err error) {
	if columns < 0 || columns > len(b)/16 {
		return nil, fmt.Errorf("scale: the bytes do not hold the scaling of %d columns: %w", columns, wire.ErrShort)
	}
	r := wire.NewReader(b)
	s.Offset, s.Factor = make([]float64, columns), make([]float64, columns)
	r.Float64s(s.Offset)
	r.Float64s(s.Factor)
	return r.Rest(), nil
}

// Sparse returns a scaled copy of sparse rows, n x f, with the same stored entries. The copy
// takes 8 bytes for each entry besides the rows. It returns false if the scaling moves zeros,
// so that every entry would have to be stored. It panics unless the scaling has f columns.
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

// stretched holds sparse rows whose stored values are replaced by scaled values.
type stretched struct {
	linalg.SparseRows
	start  []int // start[i] is the index in values at which row i begins; the last entry is the end
	values []float64
}

// Entries returns the columns and the scaled values of row i.
func (s *stretched) Entries(i int) ([]int32, []float64) {
	cols, _ := s.SparseRows.Entries(i)
	return cols, s.values[s.start[i]:s.start[i+1]]
}

// Shape returns the number of rows and of columns.
func (s *stretched) Shape() (rows, cols int) { return s.Rows(), s.Cols() }

// ReadRow writes row i to dst, whose length is the number of columns.
func (s *stretched) ReadRow(i int, dst []float64) {
	clear(dst)
	cols, values := s.Entries(i)
	for k, j := range cols {
		dst[j] = values[k]
	}
}
