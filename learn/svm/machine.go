package svm

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// Machine is a single trained function, f(x) = sum_k Coef[k] K(x, sv[k]) - Rho. It is the
// regression of [TrainSVR] or [TrainNuSVR], or the boundary of [TrainOneClass]. It holds no rows;
// package model stores them. It is read only and safe for concurrent use.
type Machine struct {
	Support []int     // training rows that are support vectors, ascending
	Coef    []float64 // coefficient of each support vector; never 0
	Rho     float64
	Report  Report // final state of the training, or zero if it is not known
}

// Decisions returns f(x) of each row. For a regression it is the prediction, in the unit of the
// targets; for a one-class machine a value above 0 is inside. The matrix cross is the kernel of the
// rows with the support vectors, rows x len(Support), in that order; another width is a mistake of
// the program and panics.
func (m *Machine) Decisions(cross linalg.Matrix[float64]) []float64 {
	if cross.Cols != len(m.Support) {
		panic(fmt.Sprintf("svm: a cross kernel of %d columns for %d support vectors", cross.Cols, len(m.Support)))
	}
	out := make([]float64, cross.Rows)
	linalg.MulVec(out, cross, m.Coef)
	for i := range out {
		out[i] -= m.Rho
	}
	return out
}

// newMachine makes a machine from the coefficients that are not zero. There is one coefficient in
// coef per row.
func newMachine(coef []float64, s solution) *Machine {
	m := &Machine{Rho: s.rho, Report: s.report()}
	for r, b := range coef {
		if b != 0 {
			m.Support, m.Coef = append(m.Support, r), append(m.Coef, b)
		}
	}
	m.Report.Support = len(m.Support)
	return m
}

// checkCommon checks the parameters that all solvers share.
func (p Params) checkCommon() error {
	switch p = p.filled(); {
	case !positive(p.Tol):
		return fmt.Errorf("svm: tol is %v; it must be a finite number above 0", p.Tol)
	case p.CacheBytes < 0:
		return fmt.Errorf("svm: the kernel cache is %d bytes; it must not be negative", p.CacheBytes)
	case p.MaxIter < 0:
		return fmt.Errorf("svm: max_iter is %d; it must not be negative", p.MaxIter)
	}
	return nil
}

// SVRParams are the parameters of epsilon-SVR.
type SVRParams struct {
	// C is the cost of an error beyond Epsilon, above 0.
	C float64
	// Epsilon is the largest error without cost, in the unit of the targets. It is at least 0.
	Epsilon float64
	// Tol is the tolerance at which training stops, in the unit of the targets. 0 means DefaultTol.
	Tol        float64
	RowWeights []float64    // as in Params
	CacheBytes int64        // as in Params
	MaxIter    int          // as in Params
	Interrupt  func() error // as in Params
}

func (p SVRParams) shared() Params {
	return Params{C: p.C, Tol: p.Tol, CacheBytes: p.CacheBytes, MaxIter: p.MaxIter, Interrupt: p.Interrupt}.filled()
}

// Validate checks p. Its errors name the field.
func (p SVRParams) Validate() error {
	if !(p.Epsilon >= 0) || math.IsInf(p.Epsilon, 1) {
		return fmt.Errorf("svm: epsilon is %v; it must be finite and at least 0", p.Epsilon)
	}
	return cmp.Or(checkPrice(p.C), p.shared().checkCommon())
}

// TrainSVR trains an epsilon-SVR (LIBSVM equation 11). The source src is the kernel of the n
// training rows, and targets has n finite values. Report.Support counts rows, and Report.Bounded
// counts the rows whose error is beyond Epsilon. A training that reaches MaxIter returns its machine
// beside an error that wraps [ErrNotConverged].
func TrainSVR(src kernel.Source, targets []float64, p SVRParams) (*Machine, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	w, q, err := tube(src, targets, p.RowWeights, p.Epsilon, p.C)
	if err != nil {
		return nil, err
	}
	return w.regression(q, p.C, p.shared())
}

// tube returns the problem of a regression with a tube of half width epsilon, and the rows that have
// weights above 0.
func tube(src kernel.Source, targets, weights []float64, epsilon, c float64) (weighted, problem, error) {
	if err := checkTargets(src.Len(), targets); err != nil {
		return weighted{}, problem{}, err
	}
	w, err := leaveOut(src, weights)
	if err != nil {
		return weighted{}, problem{}, err
	}
	q := svr(w.source, w.of(targets), epsilon, c)
	q.weigh(slices.Concat(w.weights, w.weights))
	return w, q, nil
}

// regression solves a problem that has two coefficients for each row of w, as tube returns it. The
// bounds of the coefficients are c times the weights of their rows.
func (w weighted) regression(q problem, c float64, shared Params) (*Machine, error) {
	n := len(w.rows)
	s, err := solve(q, shared.stopping(n), shared.CacheBytes)
	if leavesNothing(err) {
		return nil, w.describe(err)
	}
	coef := make([]float64, n)
	for i := range coef {
		coef[i] = s.coef[i] + s.coef[n+i]
	}
	s.bounded = countBounded(coef, w.weights, c) // solve counts a row twice if both its coefficients are at a bound
	return w.machine(coef, s), w.describe(err)
}

func checkTargets(n int, targets []float64) error {
	if len(targets) != n {
		return fmt.Errorf("svm: there are %d targets for %d kernel rows; the numbers must be equal", len(targets), n)
	}
	if n == 0 {
		return errNoRows
	}
	for i, y := range targets {
		if y-y != 0 {
			return fmt.Errorf("svm: target %d is %v; it must be finite", i, y)
		}
	}
	return nil
}

// svr returns the problem of epsilon-SVR, which has two coefficients for each row. Coefficient i is
// above 0 only if the prediction of row i is too low by Epsilon or more. Coefficient n+i is below 0
// only if the prediction of row i is too high by Epsilon or more.
func svr(src kernel.Source, targets []float64, epsilon, c float64) problem {
	n := len(targets)
	q := problem{kernel: doubleRows(src), linear: make([]float64, 2*n), lower: make([]float64, 2*n), upper: make([]float64, 2*n)}
	for i, y := range targets {
		q.linear[i], q.upper[i] = epsilon-y, c
		q.linear[n+i], q.lower[n+i] = -epsilon-y, -c
	}
	return q
}

// doubleRows returns a kernel matrix in which all rows of src occur twice. If src is a
// [kernel.Panels], the result is one, too, so that the solver reads it in float32.
func doubleRows(src kernel.Source) kernel.Source {
	if _, panels := src.(kernel.Panels); !panels {
		return doubled{src}
	}
	all := linalg.Range(0, src.Len())
	return kernel.Subset(src, slices.Concat(all, all))
}

// doubled is a kernel matrix in which all rows of the source occur twice.
type doubled struct{ kernel.Source }

func (d doubled) Len() int { return 2 * d.Source.Len() }

func (d doubled) Diagonal(dst []float64) {
	n := d.Source.Len()
	d.Source.Diagonal(dst[:n])
	copy(dst[n:], dst[:n])
}

func (d doubled) Row(i int, dst []float64) {
	n := d.Source.Len()
	d.Source.Row(i%n, dst[:n])
	copy(dst[n:], dst[:n])
}

func (d doubled) Block(rows, cols []int, dst linalg.Matrix[float64]) {
	d.Source.Block(d.once(rows), d.once(cols), dst)
}

func (d doubled) once(rows []int) []int {
	out := make([]int, len(rows))
	for i, r := range rows {
		out[i] = r % d.Source.Len()
	}
	return out
}

// These are the defaults of [Params].
const (
	DefaultTol        = 1e-3
	DefaultCacheBytes = 200 << 20 // as in scikit-learn
)

// MaxClasses is the largest number of classes. 4,096 classes need 8.4 million machines.
const MaxClasses = 4096

// ErrNotConverged marks the error of a training that ended before it met Tol. The training reached
// its maximum of iterations, or rounding prevented any further step. It also marks that of a sigmoid's fit
// that did not converge.
var ErrNotConverged = errors.New("not converged")

// Params are the parameters of C-SVC.
type Params struct {
	// C is the cost of a margin error, above 0. Infinity allows no margin error: the training does
	// not converge unless the classes can be separated.
	C float64
	// Tol is the tolerance of LIBSVM's stopping rule m(alpha) - M(alpha) <= Tol. It is above 0 and
	// below 2, since the untrained machine would already satisfy the rule with 2. 0 means
	// DefaultTol.
	Tol float64
	// Weights holds factors by which C is multiplied for the rows of a class. The key is the
	// class's name. Classes that are not named have weight 1.
	Weights map[string]float64
	// RowWeights holds a factor by which C is multiplied for each row. It has one finite number for
	// each row of the kernel. Rows with weight 0 or less are left out. Weight 2 is the same as two
	// equal rows. Nil means that each row has weight 1.
	RowWeights []float64
	// CacheBytes bounds the memory of the cached kernel rows. The pairs that are trained at the same
	// time share it. At least two rows per pair are kept. It changes the speed but not the result. 0
	// means DefaultCacheBytes.
	CacheBytes int64
	// MaxIter is the greatest number of iterations for one pair. 0 means the larger of 10^7 and 100
	// times the pair's rows, as in LIBSVM.
	MaxIter int
	// Interrupt, if not nil, is called every few iterations, by several goroutines at once. If it
	// returns an error, the training ends and returns this error wrapped. A context's method Err
	// can be used.
	Interrupt func() error
}

// DefaultParams returns parameters with C = 1 and Tol = DefaultTol.
func DefaultParams() Params {
	return Params{C: 1, Tol: DefaultTol, CacheBytes: DefaultCacheBytes}
}

// filled returns the parameters with zeros replaced by defaults.
func (p Params) filled() Params {
	if p.Tol == 0 {
		p.Tol = DefaultTol
	}
	if p.CacheBytes == 0 {
		p.CacheBytes = DefaultCacheBytes
	}
	return p
}

// Validate returns an error if a parameter is invalid for the given classes. Its errors name the
// field.
func (p Params) Validate(classes []string) error {
	p = p.filled()
	switch {
	case !(p.C > 0):
		return checkPrice(p.C)
	case !(p.Tol > 0 && p.Tol < 2):
		return fmt.Errorf("svm: tol is %v; it must be above 0 and below 2", p.Tol)
	case p.CacheBytes < 0:
		return fmt.Errorf("svm: the kernel cache is %d bytes; it must not be negative", p.CacheBytes)
	case p.MaxIter < 0:
		return fmt.Errorf("svm: max_iter is %d; it must not be negative", p.MaxIter)
	}
	for _, class := range slices.Sorted(maps.Keys(p.Weights)) {
		w := p.Weights[class]
		if !slices.Contains(classes, class) {
			return &ParameterError{"class_weight", fmt.Errorf("svm: there is a weight for class %q, but no training row has that class; remove the weight", class)}
		}
		if !positive(w) || !positive(w*p.C) && !math.IsInf(p.C, 1) {
			return fmt.Errorf("svm: the weight of class %q is %v; the weight and C times the weight must be finite and above 0", class, w)
		}
	}
	return nil
}

// ParameterError reports a parameter that does not suit the training rows.
type ParameterError struct {
	Parameter string // "nu", or "class_weight" for a weight in [Params]
	Err       error
}

func (e *ParameterError) Error() string { return e.Err.Error() }

func (e *ParameterError) Unwrap() error { return e.Err }

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }

// bound returns the upper bound C_i for the coefficients of a class's rows.
func (p Params) bound(class string) float64 {
	if w, ok := p.Weights[class]; ok {
		return p.C * w
	}
	return p.C
}

// stopping returns the conditions under which a solver for n rows stops.
func (p Params) stopping(n int) stopping {
	s := stopping{tol: p.Tol, iterations: p.MaxIter, interrupt: p.Interrupt}
	if s.iterations == 0 {
		s.iterations = max(10_000_000, 100*n)
	}
	return s
}
