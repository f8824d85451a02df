package dataset

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// mostDistant is the largest allowed magnitude of an unscaled column's mean, in standard deviations
// of the column. At this distance, an RBF kernel computed from inner products has a relative error of
// about 3e-6 with float64 rows. With float32 rows, which okra sends by default, the error is about
// 2e-2, so that two digits are right. At ten times the distance the errors are 2e-4 and 2e-1, which
// is noise (TestTheKernelsErrorFarFromZero).
const mostDistant = 1e5

// CheckSpread returns an error that names the first column whose numbers are far from zero in
// comparison with their spread, such as time stamps of one minute. Kernels of unscaled rows lose
// the differences of such numbers. A column that is constant but for rounding passes.
func (s *Set) CheckSpread() error {
	n := s.X.Rows()
	mean, squares := s.moments()
	for col, m := range mean {
		if err := s.CheckSpreadOf(col, m, math.Sqrt(squares[col]/float64(n)), n); err != nil {
			return err
		}
	}
	return nil
}

// CheckSpreadOf is like [Set.CheckSpread] for one column, whose mean and standard deviation over n
// rows are known. The set's rows are not read.
func (s *Set) CheckSpreadOf(col int, m, deviation float64, n int) error {
	if deviation > linalg.RoundingDeviation(n, m) && math.Abs(m) > mostDistant*deviation {
		return fmt.Errorf("%s: column %s has the mean %.4g and the standard deviation %.2g, so products of rows lose the differences of its numbers; use \"scale: standard\" or \"scale: minmax\", or subtract a constant from the column", s.Name, s.columnName(col), m, deviation)
	}
	return nil
}

// moments returns the mean of each column and the sum of squared deviations from it, over the cells
// that are not gaps. A cell that is not stored is 0.
func (s *Set) moments() (mean, squares []float64) {
	n, f := s.X.Rows(), s.X.Cols()
	mean, squares = make([]float64, f), make([]float64, f)
	missing, zeros := make([]float64, f), make([]float64, f)
	for col := range zeros {
		zeros[col] = float64(n)
	}
	for i := range n {
		s.X.Each(i, func(col int, v float64) {
			if zeros[col]--; math.IsNaN(v) {
				missing[col]++
				return
			}
			mean[col] += v
		})
	}
	for col := range mean {
		mean[col] /= math.Max(1, float64(n)-missing[col])
		squares[col] = zeros[col] * mean[col] * mean[col]
	}
	for i := range n {
		s.X.Each(i, func(col int, v float64) {
			if !math.IsNaN(v) {
				squares[col] += (v - mean[col]) * (v - mean[col])
			}
		})
	}
	return mean, squares
}
