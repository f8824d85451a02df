package moments

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// ClassScore returns the generalised cross-validation score of the classes' regressions with a
// given alpha (Golub, Heath and Wahba 1979). With H the n x n matrix that maps the training rows'
// targets to outputs, it returns
//
//	(squared error of the training rows / n) / (1 - trace H / n)^2
//
// over all classes together. A smaller score is better. It follows from the sums alone, so the
// choice of alpha reveals nothing about held-out rows.
func ClassScore(s *Sums, alpha float64) (float64, error) {
	n, classes := float64(s.Rows), float64(s.Cross.Rows)
	b := linalg.New[float64](s.Cross.Rows, s.Cross.Cols)
	for k, v := range s.Cross.Data {
		b.Data[k] = v / (One * One)
	}
	squared, trace, _, err := s.fit(b, classes*n, alpha)
	return score(squared/classes, trace, n), err
}

// NumberScore is like [ClassScore] for a regression of numbers. The numbers are scaled to the range
// from -1 to 1.
func NumberScore(s *Sums, alpha float64) (float64, error) {
	n := float64(s.Rows)
	b := linalg.New[float64](2, s.Cross.Cols)
	mean := s.mean()
	for k, v := range s.Cross.Row(1) {
		b.Row(0)[k] = (v - mean*s.Cross.Row(0)[k]) / (One * One)
		b.Row(1)[k] = s.Cross.Row(0)[k] / (One * One)
	}
	// The mean is subtracted before the regression and added after it. This adds 1, minus ones/n,
	// to the trace. Here ones/n is the share of a constant target that the features explain.
	_, _, ones, err := s.fit(b.Panel(1, 2), 0, alpha)
	if err != nil {
		return 0, err
	}
	squared, trace, _, err := s.fit(b.Panel(0, 1), n*s.variance(), alpha)
	return score(squared, trace+1-ones/n, n), err
}

func score(squared, trace, n float64) float64 {
	left := 1 - trace/n
	if left <= 0 {
		return math.Inf(1)
	}
	return max(0, squared) / n / (left * left)
}

// fit computes the regression with a given alpha and evaluates it on the training rows. The matrix
// b holds the sums of targets times features, and power is the sum of the squared targets. It
// returns the squared error, the trace of the matrix that maps targets to outputs, and the part of
// power that b explains: b (A + alpha M/2 I)^-1 b.
func (s *Sums) fit(b linalg.Matrix[float64], power, alpha float64) (squared, trace, explained float64, err error) {
	if !(alpha > 0) || math.IsInf(alpha, 1) {
		return 0, 0, 0, fmt.Errorf("moments: alpha is %v; it must be finite and above 0", alpha)
	}
	m := s.Outer.Rows
	shift := alpha * float64(m) / 2
	l, err := factor(s.Outer, shift)
	if err != nil {
		return 0, 0, 0, fmt.Errorf("moments: alpha %v is too small for these sums: %w", alpha, err)
	}
	w := linalg.New[float64](b.Rows, m)
	for k := range b.Rows {
		copy(w.Row(k), b.Row(k))
	}
	linalg.SolveCholesky(l, w)
	norm := 0.0
	for k := range w.Rows {
		explained += linalg.Dot(w.Row(k), b.Row(k))
		norm += linalg.Dot(w.Row(k), w.Row(k))
	}
	// The squared error power - 2 w.b + w A w is the first result, since A w = b - shift w.
	return power - explained - shift*norm, float64(m) - shift*inverseTrace(l), explained, nil
}

// inverseTrace returns the trace of (L L^T)^-1, which is the squared norm of L^-1.
func inverseTrace(l linalg.Matrix[float64]) float64 {
	const panel = 256
	sum, norms := 0.0, make([]float64, panel)
	for lo := 0; lo < l.Rows; lo += panel {
		hi := min(lo+panel, l.Rows)
		below := linalg.Matrix[float64]{Rows: l.Rows - lo, Cols: l.Rows - lo, Stride: l.Stride, Data: l.Data[lo*l.Stride+lo:]}
		units := linalg.New[float64](hi-lo, l.Rows-lo) // columns lo to hi-1 of L^-1 are zero above row lo
		for i := range units.Rows {
			units.Row(i)[i] = 1
		}
		linalg.SolveLower(below, units)
		linalg.SquaredNorms(norms[:hi-lo], units)
		for _, v := range norms[:hi-lo] {
			sum += v
		}
	}
	return sum
}
