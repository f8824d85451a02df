package ridge

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// FitWeighted is like [FitUntil], but row i counts weights[i] times: the squared error of the row is
// multiplied by its weight, as in scikit-learn's KernelRidge with sample_weight. Weight 2 is the same
// as two equal rows. Rows with weight 0 or less are left out, and their coefficient is 0. weights has
// one finite number for each row; nil means 1 each.
//
// With R = diag(sqrt(weights)), the coefficients are R (R K R + alpha I)^-1 R targets. Condition then
// belongs to R K R + alpha I.
func FitWeighted(src kernel.Source, targets, weights []float64, alpha float64, interrupt func() error) (*Model, error) {
	if weights == nil {
		return FitUntil(src, targets, alpha, interrupt)
	}
	w, err := leaveOut(src, targets, weights)
	if err != nil {
		return nil, err
	}
	if err := checkAlpha(alpha); err != nil {
		return nil, err
	}
	own := linalg.At(targets, w.rows)
	for i := range own {
		own[i] *= w.roots[i]
	}
	s, err := solve(w, own, 1, alpha, interrupt)
	if err != nil {
		return nil, err
	}
	m := &Model{Dual: make([]float64, src.Len()), Condition: s.condition}
	for i, row := range w.rows {
		m.Dual[row] = w.roots[i] * s.dual[i]
	}
	return m, checkFinite(m.Dual)
}

// errNoWeight reports rows that are all left out.
var errNoWeight = errors.New("ridge: no row has a weight above 0, so that there are no rows to learn from")

// weighted is the kernel of the rows with weights above 0. It multiplies each value by the roots of
// the weights of its two rows.
type weighted struct {
	kernel.Source
	rows  []int     // indices of the rows among all rows, ascending
	roots []float64 // square roots of the rows' weights
}

// Diagonal implements [kernel.Source].
func (w weighted) Diagonal(dst []float64) {
	w.Source.Diagonal(dst)
	for i, r := range w.roots {
		dst[i] *= r * r
	}
}

// Row implements [kernel.Source].
func (w weighted) Row(i int, dst []float64) {
	w.Source.Row(i, dst)
	for j, r := range w.roots {
		dst[j] *= w.roots[i] * r
	}
}

// Block implements [kernel.Source].
func (w weighted) Block(rows, cols []int, dst linalg.Matrix[float64]) {
	w.Source.Block(rows, cols, dst)
	for a, i := range rows {
		row := dst.Row(a)
		for b, j := range cols {
			row[b] *= w.roots[i] * w.roots[j]
		}
	}
}

// leaveOut leaves out the rows without a weight above 0.
func leaveOut(src kernel.Source, targets, weights []float64) (weighted, error) {
	w := weighted{Source: src}
	if err := check(src, targets); err != nil {
		return w, err
	}
	if len(weights) != src.Len() {
		return w, fmt.Errorf("ridge: there are %d weights for %d kernel rows; the numbers must be equal", len(weights), src.Len())
	}
	for i, v := range weights {
		switch {
		case v-v != 0:
			return w, fmt.Errorf("ridge: the weight of row %d is %v; a weight must be finite", i, v)
		case v > 0:
			w.rows, w.roots = append(w.rows, i), append(w.roots, math.Sqrt(v))
		}
	}
	if len(w.rows) == 0 {
		return w, errNoWeight
	}
	w.Source = kernel.Subset(src, w.rows)
	return w, nil
}
