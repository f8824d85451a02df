package cca

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// tolerance bounds the residuals of the squared correlations, which are below 1.
const tolerance = 1e-12

// least is the smallest correlation of a pair of functions. Division by a smaller correlation would
// turn rounding errors into functions.
const least = 1e-5

// Params holds the settings of a kernel canonical correlation analysis (CCA).
type Params struct {
	Components     int     // number of pairs of functions, 1 to the number of rows
	Regularization float64 // regulariser above 0, in the unit of the kernel values; usually 0.001 to 0.1 of the mean diagonal
	// Interrupt, if not nil, is called from time to time. If it returns an error, the fit ends and
	// returns this error wrapped. A context's method Err can be used. The pivoted factorisations do
	// not call Interrupt. They take n r^2 / 2 multiplications for a kernel of rank r.
	Interrupt func() error
}

// Validate returns an error if a setting is invalid for n rows. Its errors name the field.
func (p Params) Validate(n int) error {
	switch {
	case p.Components < 1 || p.Components > n:
		return fmt.Errorf("cca: components is %d for %d rows; choose 1 to %d", p.Components, n, n)
	case !(p.Regularization > 0) || math.IsInf(p.Regularization*float64(n), 1):
		return fmt.Errorf("cca: regularization is %v; it must be above 0, and its product with the number of rows, %d, must be finite", p.Regularization, n)
	}
	return nil
}

// Model is a fitted kernel CCA. It holds no rows. It is read only and safe for
// concurrent use.
type Model struct {
	// Correlations are the correlations of the pairs, largest first, above 0 and below 1. They are
	// the regularised correlations that Fit maximises, and differ from the plain correlations of
	// the scores.
	Correlations []float64
	X, Y         View
}

// View holds the functions in one kernel's feature space.
type View struct {
	Dual     linalg.Matrix[float64] // one row of coefficients per component, one column per training row
	Centring kernel.Centring        // means of the training rows' kernel matrix
}

// Transform returns the values of the functions on new rows, as a matrix of rows x components. On
// the training rows each function has mean 0 and variance 1, and the value of largest magnitude of
// each function of view X is positive. cross is the kernel of the rows with the n training rows,
// rows x n; Transform does not change it and panics on another width.
func (v View) Transform(cross linalg.Matrix[float64]) linalg.Matrix[float64] {
	if cross.Cols != v.Dual.Cols {
		panic(fmt.Sprintf("cca: a cross kernel of %d columns for %d training rows", cross.Cols, v.Dual.Cols))
	}
	centred := clone(cross)
	v.Centring.Apply(centred)
	out := linalg.New[float64](cross.Rows, v.Dual.Rows)
	linalg.MulTransB(out, centred, v.Dual)
	return out
}

// Fit finds the pairs of functions with the largest correlations for two kernels x and y over the
// same n rows. It fails if a kernel value is not finite, if a kernel matrix is not positive
// semidefinite, and if there are fewer correlated pairs than requested.
func Fit(x, y kernel.Source, p Params) (*Model, error) {
	n := x.Len()
	if y.Len() != n {
		return nil, fmt.Errorf("cca: view x has %d rows and view y has %d; both must have the same rows", n, y.Len())
	}
	if err := p.Validate(n); err != nil {
		return nil, err
	}
	if p.Interrupt == nil {
		p.Interrupt = func() error { return nil }
	}
	shift := p.Regularization * float64(n)
	a, err := newSide(x, shift, p.Interrupt)
	if err != nil {
		return nil, fmt.Errorf("cca: view x: %w", err)
	}
	b, err := newSide(y, shift, p.Interrupt)
	if err != nil {
		return nil, fmt.Errorf("cca: view y: %w", err)
	}
	return findPairs(a, b, p)
}

// side holds the data of one kernel that the correlations need. With the centred kernel A of rank r,
// k = Regularization n and A (A + k I)^-1 = Z Z^T, basis is Z^T.
type side struct {
	centring kernel.Centring
	basis    linalg.Matrix[float64] // basis of the feature space, r x n
	factor   linalg.Matrix[float64] // Cholesky factor of A + k I
}

// newSide computes the data of one kernel. The basis is Z^T = H^-1 R, where A = R^T R and H H^T = R
// R^T + k I.
func newSide(src kernel.Source, shift float64, interrupt func() error) (side, error) {
	k := clone(kernel.Materialize(src).K)
	s := side{centring: kernel.Center(k)}
	if v := s.centring.Mean; v-v != 0 {
		return s, errors.New("the kernel matrix holds a NaN or an infinity: check the data and the kernel's parameters")
	}
	r, err := linalg.CholeskyLowRank(k)
	if err != nil {
		return s, fmt.Errorf("the kernel is not positive semidefinite: %w", err)
	}
	h := linalg.New[float64](r.Rows, r.Rows)
	linalg.Syrk(h, r)
	addDiagonal(h, shift)
	if err := linalg.CholeskyUntil(h, interrupt); err != nil {
		return s, choleskyError(err)
	}
	z := transposed(r)
	linalg.SolveLower(h, z)
	s.basis = transposed(z)
	addDiagonal(k, shift)
	if err := linalg.CholeskyUntil(k, interrupt); err != nil {
		return s, choleskyError(err)
	}
	s.factor = k
	return s, nil
}

// choleskyError explains why a Cholesky decomposition has failed: the regularization is too small.
func choleskyError(err error) error {
	if _, ok := errors.AsType[*linalg.PivotError](err); !ok {
		return err // an interruption
	}
	return fmt.Errorf("regularization is too small: %w", err)
}

// findPairs finds the largest singular values of T = Z^T W, which are the correlations, and their
// singular vectors. Here Z^T is the basis of view x, and W^T is the basis of view y.
func findPairs(a, b side, p Params) (*Model, error) {
	components := p.Components
	t := linalg.New[float64](a.basis.Rows, b.basis.Rows)
	if components > min(t.Rows, t.Cols) {
		return nil, tooMany(min(t.Rows, t.Cols), components)
	}
	linalg.MulTransB(t, a.basis, b.basis)
	back, q := transposed(t), make([]float64, t.Cols)
	squares, left, err := linalg.LanczosUntil(t.Rows, components, tolerance, func(dst, x []float64) {
		linalg.MulVec(q, back, x)
		linalg.MulVec(dst, t, q)
	}, p.Interrupt)
	if err != nil {
		return nil, fmt.Errorf("cca: the correlations cannot be found: %w", err)
	}
	m := &Model{Correlations: make([]float64, components)}
	for i, square := range squares {
		if !(square > least*least) {
			return nil, tooMany(i, components)
		}
		m.Correlations[i] = math.Sqrt(square)
	}
	u := timesBasis(left, a.basis) // values of view x's functions on the training rows
	right := linalg.New[float64](components, t.Cols)
	linalg.MulTransB(right, left, back)
	for i, rho := range m.Correlations {
		scale(right.Row(i), 1/rho)
	}
	v := timesBasis(right, b.basis)
	m.X, m.Y = a.view(u, v, m.Correlations), b.view(v, u, m.Correlations)
	m.fixSigns(u)
	return m, nil
}

func tooMany(found, components int) error {
	return fmt.Errorf("cca: the views have %d pairs with a correlation above %v, but components is %d; choose fewer components", found, least, components)
}

// view returns the functions that have the given values on the training rows. The coefficients of a
// function are (A + k I)^-1 times the values of the other view's function, divided by their
// correlation and scaled to variance 1.
func (s side) view(values, other linalg.Matrix[float64], correlations []float64) View {
	dual := clone(other)
	linalg.SolveCholesky(s.factor, dual)
	for i, rho := range correlations {
		sum := 0.0
		for _, v := range values.Row(i) {
			sum += v * v
		}
		scale(dual.Row(i), math.Sqrt(float64(values.Cols)/sum)/rho)
	}
	return View{Dual: dual, Centring: s.centring}
}

// fixSigns makes the value of largest magnitude in view X positive. Among equal magnitudes it takes
// the first value. The values of view Y change sign with it, so that correlations stay positive.
func (m *Model) fixSigns(u linalg.Matrix[float64]) {
	for i := range u.Rows {
		largest := 0.0
		for _, v := range u.Row(i) {
			if math.Abs(v) > math.Abs(largest) {
				largest = v
			}
		}
		if largest < 0 {
			scale(m.X.Dual.Row(i), -1)
			scale(m.Y.Dual.Row(i), -1)
		}
	}
}

// timesBasis returns the product of c and basis, as components x n values.
func timesBasis(c, basis linalg.Matrix[float64]) linalg.Matrix[float64] {
	out := linalg.New[float64](c.Rows, basis.Cols)
	linalg.MulTransB(out, c, transposed(basis))
	return out
}

func scale(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}

func addDiagonal(m linalg.Matrix[float64], v float64) {
	for i := range m.Rows {
		m.Row(i)[i] += v
	}
}

func clone(m linalg.Matrix[float64]) linalg.Matrix[float64] {
	out := linalg.New[float64](m.Rows, m.Cols)
	for i := range m.Rows {
		copy(out.Row(i), m.Row(i))
	}
	return out
}

func transposed(m linalg.Matrix[float64]) linalg.Matrix[float64] {
	out := linalg.New[float64](m.Cols, m.Rows)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			out.Row(j)[i] = v
		}
	}
	return out
}
