package ridge

import (
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// LeftOut holds, for each row, the error and the variance of the prediction by the regression on the
// other rows.
type LeftOut struct {
	// Residuals has one row for each row of targets. It holds a row's target minus the prediction of
	// the regression that was fitted without this row.
	Residuals linalg.Matrix[float64]
	// Variances holds 1 / G_ii for each row, in the unit of alpha. For a Gaussian process, whose
	// noise is alpha, it is the variance of a measurement at row i, predicted from the other rows. It
	// is 0 for rows that are left out because of their weight.
	Variances []float64
}

// LeaveOneOut predicts each row by the ridge regression on all other rows, at the price of about two
// fits: it factors one matrix and computes the diagonal of its inverse. With G = (K + alpha I)^-1, the
// residual of row i is [G y]_i / G_ii, and the variance is 1 / G_ii (Golub, Heath and Wahba 1979;
// Rasmussen and Williams 2006, equations 5.10 to 5.12). Each row of targets has n finite values.
//
// weights is as in [FitWeighted], and G is then (K + alpha W^-1)^-1. A row whose weight is 0 or less
// never trains, and is predicted by the regression on all rows with weights above 0.
//
// The residuals are linear in the targets. A caller that takes an offset m_i off the targets before
// it fits without row i, such as the mean of the other rows, gets the residual of row i as the
// residual for the targets minus m_i times the residual for targets that are all 1.
func LeaveOneOut(src kernel.Source, targets linalg.Matrix[float64], weights []float64, alpha float64, interrupt func() error) (*LeftOut, error) {
	if err := checkAlpha(alpha); err != nil {
		return nil, err
	}
	n := src.Len()
	if weights == nil {
		weights = ones(n)
	}
	var w weighted
	for t := range targets.Rows {
		var err error
		if w, err = leaveOut(src, targets.Row(t), weights); err != nil {
			return nil, err
		}
	}
	l, _, err := factored(w, 1, alpha, interrupt)
	if err != nil {
		return nil, err
	}
	diagonal, err := linalg.InverseDiagonal(l, interrupt)
	if err != nil {
		return nil, unfactored(err, alpha)
	}
	dual := w.dual(l, targets)
	out := &LeftOut{Residuals: linalg.New[float64](targets.Rows, n), Variances: make([]float64, n)}
	for i, row := range w.rows {
		g := w.roots[i] * w.roots[i] * diagonal[i]
		out.Variances[row] = 1 / g
		for t := range targets.Rows {
			out.Residuals.Row(t)[row] = dual.Row(t)[i] / g
		}
	}
	w.predictOthers(src, targets, dual, out.Residuals)
	for t := range targets.Rows {
		if err := checkFinite(out.Residuals.Row(t)); err != nil {
			return nil, err
		}
	}
	return out, checkFinite(out.Variances)
}

// dual returns the coefficients of the rows with weights for each row of targets.
func (w weighted) dual(l, targets linalg.Matrix[float64]) linalg.Matrix[float64] {
	dual := linalg.New[float64](targets.Rows, len(w.rows))
	multiply := func() {
		for t := range dual.Rows {
			for i, r := range w.roots {
				dual.Row(t)[i] *= r
			}
		}
	}
	for t := range targets.Rows {
		copy(dual.Row(t), linalg.At(targets.Row(t), w.rows))
	}
	multiply()
	linalg.SolveCholesky(l, dual)
	multiply()
	return dual
}

// predictOthers sets the residuals of the rows without a weight above 0.
func (w weighted) predictOthers(src kernel.Source, targets, dual, residuals linalg.Matrix[float64]) {
	trains, others := make([]bool, src.Len()), []int(nil)
	for _, row := range w.rows {
		trains[row] = true
	}
	for i, is := range trains {
		if !is {
			others = append(others, i)
		}
	}
	kernel.Blocks(src, others, w.rows, func(lo int, cross linalg.Matrix[float64]) {
		predicted := make([]float64, cross.Rows)
		for t := range targets.Rows {
			linalg.MulVec(predicted, cross, dual.Row(t))
			for k, v := range predicted {
				row := others[lo+k]
				residuals.Row(t)[row] = targets.Row(t)[row] - v
			}
		}
	})
}

func ones(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = 1
	}
	return list
}
