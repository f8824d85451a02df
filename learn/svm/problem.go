package svm

import (
	"fmt"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// tau replaces a curvature that is not positive, as in LIBSVM. It happens with
// duplicate rows and with kernels that are not positive semidefinite.
const tau = 1e-12

// problem is the quadratic programme behind LIBSVM's machines,
//
//	min 1/2 a'Qa + p'a,  y'a constant,  0 <= a_i <= C_i,  Q_ij = y_i y_j K_ij,
//
// written in the signed coefficients b_i = y_i a_i, the sv_coef of a model:
//
//	min 1/2 b'Kb + q'b,  sum b constant,  lower_i <= b_i <= upper_i,
//
// with q_i = y_i p_i, and [lower, upper] = [0, C_i] where y_i = 1, [-C_i, 0]
// where y_i = -1. The gradient f = Kb + q is y_i times LIBSVM's G_i.
type problem struct {
	kernel       kernel.Source
	linear       []float64 // q
	lower, upper []float64
	start        []float64 // feasible b; nil: zero
	// The coefficients before and those from split on have a constant sum each;
	// 0: only all together. It makes the two equality constraints of nu-SVC.
	split int
}

// solution is a minimum of a problem.
type solution struct {
	coef       []float64 // b
	bounded    int       // coefficients at a bound that is not 0
	rho        float64   // the multiplier of the sum, or the mean of both
	margin     float64   // half the difference of the multipliers of two sums
	objective  float64
	gap        float64 // m - M, at least 0
	iterations int
}

// report counts what the others know.
func (s solution) report() Report {
	r := Report{Objective: s.objective, Gap: s.gap, Iterations: s.iterations, Bounded: s.bounded}
	for _, b := range s.coef {
		if b != 0 {
			r.Support++
		}
	}
	return r
}

// stopping holds the conditions under which a solver may stop, and must stop.
type stopping struct {
	tol        float64
	iterations int
	interrupt  func() error // nil: never
}

// interrupted asks whether to go on.
func (s stopping) interrupted() error {
	if s.interrupt == nil {
		return nil
	}
	return s.interrupt()
}

// solve minimises p, keeping at most cacheBytes of kernel rows. It fails when
// the kernel has a value that is not finite, and with ErrNotConverged.
//
// A kernel that computes panels is read in float32, as LIBSVM keeps its rows:
// half the memory, and half the time to read it.
func solve(p problem, stop stopping, cacheBytes int64) (solution, error) {
	if _, ok := p.kernel.(kernel.Panels); ok {
		return solveIn[float32](p, stop, cacheBytes)
	}
	return solveIn[float64](p, stop, cacheBytes)
}

func solveIn[T linalg.Float](p problem, stop stopping, cacheBytes int64) (solution, error) {
	s, err := newSolver[T](p, stop, cacheBytes)
	if err != nil {
		return solution{}, err
	}
	if err := s.run(); err != nil {
		return solution{}, err
	}
	return s.solution(), nil
}

// cSVC returns the problem of a two-class machine (LIBSVM eq. 2): p = -1, y_i = 1
// where first[i], and C_i by side.
func cSVC(k kernel.Source, first []bool, cFirst, cSecond float64) problem {
	n := len(first)
	p := problem{kernel: k, linear: make([]float64, n), lower: make([]float64, n), upper: make([]float64, n)}
	for i, positive := range first {
		if positive {
			p.linear[i], p.upper[i] = -1, cFirst
		} else {
			p.linear[i], p.lower[i] = 1, -cSecond
		}
	}
	return p
}

// errNotConverged returns the error of a solver that was stopped too early, with its gap.
func errNotConverged(gap float64, iterations int, stop stopping) error {
	return fmt.Errorf("%w: the gap is %.3g after %d iterations, tol is %.3g: raise tol, lower C or scale the data", ErrNotConverged, gap, iterations, stop.tol)
}
