package moments

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/privacy"
)

// SolveNoisy returns the regressions (A + alpha I)^-1 B of sums to which members have added the noise of r.
// It takes alpha, which is public, from the noise ([privacy.Ridge.Alpha]), and nothing from the sums: no
// eigenvalue and no score. The Alpha of the solution is alpha in the unit of [Solve]: see [NoisyAlpha].
//
// Noise can make A indefinite, with negative eigenvalues as large as the noise. Alpha is larger than these,
// so that all eigenvalues of A + alpha I are at least a tenth of alpha, except with the probability
// [privacy.NormFailure]. If an eigenvalue of A + alpha I is not positive, SolveNoisy returns an error. The noise
// must not be drawn again then, because that would be another release of the same rows.
func SolveNoisy(s *Sums, r privacy.Ridge) (Solution, error) {
	features, targets := s.Outer.Rows, s.Cross.Rows
	if features != r.Shape.Features || targets != r.Shape.Targets {
		return Solution{}, fmt.Errorf("moments: the sums have %d features and %d targets, their noise is for %d and %d; use the noise of these sums", features, targets, r.Shape.Features, r.Shape.Targets)
	}
	return Solve(s, NoisyAlpha(r))
}

// NoisyAlpha returns the alpha of [SolveNoisy] in the unit of [Solve], which multiplies it by M/2.
func NoisyAlpha(r privacy.Ridge) float64 {
	return float64(r.Alpha()) / (One * One) / (float64(r.Shape.Features) / 2)
}

// UnitClasses holds regression targets for classes. The targets of a row have the Euclidean length 1. Two
// classes share one target, -1 for the first and 1 for the second. Of three or more classes each has a target,
// 1 for its rows and 0 for other rows.
type UnitClasses struct {
	Codes []int // class codes of the rows, from 0 to Count-1
	Count int   // at least 2
}

// Shape returns the number of rows and of targets.
func (c UnitClasses) Shape() (rows, targets int) {
	if c.Count == 2 {
		return len(c.Codes), 1
	}
	return len(c.Codes), c.Count
}

// Columns sets dst to the targets of consecutive rows.
func (c UnitClasses) Columns(dst linalg.Matrix[float64], first int) {
	for k := range dst.Rows {
		row := dst.Row(k)
		for i := range row {
			switch code := c.Codes[first+i]; {
			case c.Count == 2:
				row[i] = float64(2*code - 1)
			case code == k:
				row[i] = 1
			default:
				row[i] = 0
			}
		}
	}
}

// Outputs converts the regressions of these targets to a solution with one output for each class.
func (c UnitClasses) Outputs(s Solution) Solution {
	if c.Count != 2 {
		return s
	}
	both := linalg.New[float64](2, s.Weights.Cols)
	for k, v := range s.Weights.Row(0) {
		both.Row(0)[k], both.Row(1)[k] = -v, v
	}
	return Solution{Alpha: s.Alpha, Weights: both, Offset: []float64{-s.Offset[0], s.Offset[0]}}
}

// UnitNumbers holds the numbers to predict as the one target of each row, scaled from Range to [-1, 1]. A
// number outside the range has the target of the nearest end, without an error, because an error would reveal
// something about a row.
type UnitNumbers struct {
	Values []float64
	Range  Range
}

// Shape returns the number of rows, and 1 as the number of targets.
func (n UnitNumbers) Shape() (rows, targets int) { return len(n.Values), 1 }

// Columns sets dst to the scaled numbers of consecutive rows.
func (n UnitNumbers) Columns(dst linalg.Matrix[float64], first int) {
	for i := range dst.Cols {
		dst.Row(0)[i] = n.Range.cut(n.Values[first+i])
	}
}

// Outputs converts the regression of these targets to the unit of the numbers. Outputs are shrunk towards the
// middle of the range: the mean of the numbers would be one more release.
func (n UnitNumbers) Outputs(s Solution) Solution {
	w := linalg.New[float64](1, s.Weights.Cols)
	for k, v := range s.Weights.Row(0) {
		w.Row(0)[k] = n.Range.half() * v
	}
	return Solution{Alpha: s.Alpha, Weights: w, Offset: []float64{n.Range.middle() + n.Range.half()*s.Offset[0]}}
}
