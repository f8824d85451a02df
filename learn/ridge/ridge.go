package ridge

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// Model is a fitted kernel ridge regression. It holds no rows; package model stores them. It is
// read only and safe for concurrent use.
type Model struct {
	Dual []float64 // one coefficient per training row, in the unit of the targets over the unit of the kernel
	// Condition estimates the condition number of K + alpha I in the 1-norm. Dual has about
	// 16 - log10(Condition) correct digits.
	Condition float64
}

// Fit solves (K + alpha I) dual = targets (Saunders, Gammerman, Vovk 1998, equation 8;
// scikit-learn's KernelRidge). The source src is the kernel of the n training rows, and targets has
// n finite values. alpha, at least 0, is the weight of |w|^2 relative to the squared errors. It
// fails if K + alpha I is not positive definite.
func Fit(src kernel.Source, targets []float64, alpha float64) (*Model, error) {
	return FitUntil(src, targets, alpha, func() error { return nil })
}

// FitUntil is like [Fit] but calls interrupt from time to time. If interrupt returns an error, the
// fit ends and returns this error wrapped. A context's method Err can be used.
func FitUntil(src kernel.Source, targets []float64, alpha float64, interrupt func() error) (*Model, error) {
	if err := checkAlpha(alpha); err != nil {
		return nil, err
	}
	s, err := solve(src, targets, 1, alpha, interrupt)
	if err != nil {
		return nil, err
	}
	return &Model{Dual: s.dual, Condition: s.condition}, nil
}

// FitTargets is like [Fit] for many targets at once: it factors the matrix once and replaces each row
// of targets (targets x n) by its coefficients.
func FitTargets(src kernel.Source, targets linalg.Matrix[float64], alpha float64) error {
	return FitTargetsUntil(src, targets, alpha, func() error { return nil })
}

// FitTargetsUntil is like [FitTargets] but calls interrupt as [FitUntil] does. After an interruption,
// targets is unchanged.
func FitTargetsUntil(src kernel.Source, targets linalg.Matrix[float64], alpha float64, interrupt func() error) error {
	if err := checkAlpha(alpha); err != nil {
		return err
	}
	for t := range targets.Rows {
		if err := check(src, targets.Row(t)); err != nil {
			return err
		}
	}
	l, _, err := factored(src, 1, alpha, interrupt)
	if err != nil {
		return err
	}
	linalg.SolveCholesky(l, targets)
	for t := range targets.Rows {
		if err := checkFinite(targets.Row(t)); err != nil {
			return err
		}
	}
	return nil
}

func checkAlpha(alpha float64) error {
	if !(alpha >= 0) || math.IsInf(alpha, 1) {
		return fmt.Errorf("ridge: alpha is %v; it must be finite and at least 0", alpha)
	}
	return nil
}

// checkFinite checks coefficients.
func checkFinite(dual []float64) error {
	for _, v := range dual {
		if v-v != 0 {
			return errOverflow
		}
	}
	return nil
}

// Predict returns the predictions for m rows, in the unit of the targets. The matrix cross is the
// kernel of these rows with the n training rows, m x n; another width is a mistake of the program
// and panics.
func (m *Model) Predict(cross linalg.Matrix[float64]) []float64 {
	checkWidth(cross, len(m.Dual))
	out := make([]float64, cross.Rows)
	linalg.MulVec(out, cross, m.Dual)
	return out
}

func checkWidth(cross linalg.Matrix[float64], n int) {
	if cross.Cols != n {
		panic(fmt.Sprintf("ridge: a cross kernel of %d columns for %d training rows", cross.Cols, n))
	}
}

// errOverflow reports that a coefficient is too large for float64.
var errOverflow = errors.New("ridge: the coefficients overflow: scale the kernel and the targets to values near 1")

// solution is the solution of a system with a positive definite matrix.
type solution struct {
	factor    linalg.Matrix[float64] // Cholesky factor of the matrix
	dual      []float64
	condition float64 // estimated condition number of the matrix
}

// solve solves (scale K + shift I) dual = targets by a Cholesky factorisation.
func solve(src kernel.Source, targets []float64, scale, shift float64, interrupt func() error) (*solution, error) {
	if err := check(src, targets); err != nil {
		return nil, err
	}
	l, norm, err := factored(src, scale, shift, interrupt)
	if err != nil {
		return nil, err
	}
	dual := append([]float64(nil), targets...)
	linalg.SolveCholesky(l, row(dual))
	if err := checkFinite(dual); err != nil {
		return nil, err
	}
	return &solution{l, dual, linalg.Condition(l, norm)}, nil
}

// factored returns the Cholesky factor of the matrix scale K + shift I, and the matrix's 1-norm.
func factored(src kernel.Source, scale, shift float64, interrupt func() error) (l linalg.Matrix[float64], norm float64, err error) {
	if l, err = shifted(src, scale, shift); err != nil {
		return l, 0, err
	}
	norm = linalg.NormOne(l)
	if err := linalg.CholeskyUntil(l, interrupt); err != nil {
		return l, 0, unfactored(err, shift)
	}
	return l, norm, nil
}

// row returns v as a matrix of one row.
func row(v []float64) linalg.Matrix[float64] {
	return linalg.Matrix[float64]{Rows: 1, Cols: len(v), Stride: len(v), Data: v}
}

func check(src kernel.Source, targets []float64) error {
	if len(targets) != src.Len() {
		return fmt.Errorf("ridge: there are %d targets for %d kernel rows; the numbers must be equal", len(targets), src.Len())
	}
	if len(targets) == 0 {
		return errors.New("ridge: there are no rows to learn from")
	}
	for i, y := range targets {
		if y-y != 0 {
			return fmt.Errorf("ridge: target %d is %v; it must be finite", i, y)
		}
	}
	return nil
}

// shifted returns the matrix scale K + shift I in new memory.
func shifted(src kernel.Source, scale, shift float64) (linalg.Matrix[float64], error) {
	k := kernel.Materialize(src).K
	for i := range k.Rows {
		for j, v := range k.Row(i)[:i+1] {
			if v-v != 0 {
				return k, fmt.Errorf("ridge: kernel value (%d, %d) is %v: check the data and the kernel's parameters", i, j, v)
			}
			if k.Row(i)[j] = v * scale; math.IsInf(k.Row(i)[j], 0) {
				return k, errOverflow
			}
		}
		k.Row(i)[i] += shift
	}
	return k, nil
}

// unfactored adds advice to the error for a matrix that is not positive definite.
func unfactored(err error, shift float64) error {
	if _, ok := errors.AsType[*linalg.PivotError](err); !ok {
		return fmt.Errorf("ridge: %w", err) // an interruption
	}
	return fmt.Errorf("ridge: the kernel matrix plus %.3g on its diagonal cannot be factored; use a larger alpha (noise): %w", shift, err)
}
