package kpca

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// denseRows is the least number of rows for which Lanczos is faster than a full decomposition. It
// holds for any small number of components.
const denseRows = 500

// tolerance bounds the residuals of the eigenvectors, relative to the largest eigenvalue.
const tolerance = 1e-12

// Model is a fitted kernel PCA. It holds no rows; package model stores them. It is read only and safe
// for concurrent use.
type Model struct {
	Eigenvalues []float64              // eigenvalues of the centred kernel matrix, largest first, above 0
	Vectors     linalg.Matrix[float64] // eigenvectors as orthonormal rows, components x training rows
	Centring    kernel.Centring        // means of the kernel matrix, with which Transform centres new rows
}

// Fit finds the first components of the kernel matrix src, which has n rows. It needs no copy of the
// matrix if src is a [kernel.Dense] of at least 500 rows; it never changes src. It fails if a kernel
// value is not finite, and if the centred matrix has fewer components with a positive eigenvalue than
// requested.
func Fit(src kernel.Source, components int) (*Model, error) {
	return FitUntil(src, components, func() error { return nil })
}

// FitUntil is like [Fit] but calls interrupt before each product with the matrix. If interrupt
// returns an error, the fit ends and returns this error wrapped. A context's method Err can be
// used. A matrix of fewer than 500 rows is decomposed at once, without calls of interrupt.
func FitUntil(src kernel.Source, components int, interrupt func() error) (*Model, error) {
	m, err := decompose(src, components, interrupt)
	if err != nil {
		return nil, err
	}
	if rank := m.rank(); rank < components {
		return nil, fmt.Errorf("kpca: the centred kernel matrix has %d components with a positive eigenvalue, but components is %d; choose fewer", rank, components)
	}
	return m, nil
}

// FitAtMost is like [Fit] but leaves out components without a positive eigenvalue. The result can
// have no components.
func FitAtMost(src kernel.Source, components int) (*Model, error) {
	m, err := decompose(src, components, func() error { return nil })
	if err != nil {
		return nil, err
	}
	rank := m.rank()
	m.Eigenvalues, m.Vectors = m.Eigenvalues[:rank], m.Vectors.Panel(0, rank)
	return m, nil
}

// decompose finds the first components of src, whatever their eigenvalues.
func decompose(src kernel.Source, components int, interrupt func() error) (*Model, error) {
	n := src.Len()
	if components < 1 || components > n {
		return nil, fmt.Errorf("kpca: components is %d for %d rows; choose 1 to %d", components, n, n)
	}
	k := matrix(src)
	m := &Model{Centring: means(k)}
	if v := m.Centring.Mean; v-v != 0 {
		return nil, errors.New("kpca: the kernel matrix holds a NaN or an infinity: check the data and the kernel's parameters")
	}
	var err error
	if n < denseRows {
		err = m.dense(k, components)
	} else {
		err = m.lanczos(k, components, interrupt)
	}
	if err != nil {
		return nil, err
	}
	for i := range components {
		fixSign(m.Vectors.Row(i))
	}
	return m, nil
}

// matrix returns the whole kernel matrix, which callers must not change.
func matrix(src kernel.Source) linalg.Matrix[float64] {
	if d, ok := src.(kernel.Dense); ok {
		return d.K
	}
	return kernel.Materialize(src).K
}

// means returns the row means of the matrix and their mean. The result is that of [kernel.Center],
// but means does not centre the matrix.
func means(k linalg.Matrix[float64]) kernel.Centring {
	c := kernel.Centring{Means: make([]float64, k.Rows)}
	linalg.Each(k.Rows, 16, func(i int) {
		c.Means[i] = linalg.Mean(k.Row(i))
	})
	c.Mean = linalg.Mean(c.Means)
	return c
}

// dense fits the components by a full decomposition of a centred copy of the matrix.
func (m *Model) dense(k linalg.Matrix[float64], components int) error {
	n := k.Rows
	centred := linalg.New[float64](n, n)
	for i := range n {
		copy(centred.Row(i), k.Row(i))
	}
	kernel.Center(centred)
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(n, centred.Data), true) {
		return errors.New("kpca: the eigenvalues of the kernel matrix cannot be computed to working precision: check the data and the kernel's parameters")
	}
	all := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	m.Eigenvalues, m.Vectors = make([]float64, components), linalg.New[float64](components, n)
	for i := range components {
		m.Eigenvalues[i] = all[n-1-i]
		mat.Col(m.Vectors.Row(i), n-1-i, &vectors)
	}
	return nil
}

// lanczos fits the components by the Lanczos method, which does not change the matrix. To multiply
// the centred matrix by x, it subtracts the mean of x from x, multiplies K by the difference, and
// subtracts the mean of the product from the product.
func (m *Model) lanczos(k linalg.Matrix[float64], components int, interrupt func() error) error {
	shifted := make([]float64, k.Rows)
	values, vectors, err := linalg.LanczosUntil(k.Rows, components, tolerance, func(dst, x []float64) {
		centre(shifted, x)
		linalg.MulVec(dst, k, shifted)
		centre(dst, dst)
	}, interrupt)
	if err != nil {
		return fmt.Errorf("kpca: the components cannot be found: %w", err)
	}
	m.Eigenvalues, m.Vectors = values, vectors
	return nil
}

// centre sets dst to x minus its mean.
func centre(dst, x []float64) {
	u := linalg.Mean(x)
	for i, v := range x {
		dst[i] = v - u
	}
}

// rank returns the number of components before the first whose eigenvalue is not clearly above 0.
// The scores of such a component would be noise divided by nearly zero.
func (m *Model) rank() int {
	floor := 1e-14 * float64(m.Vectors.Cols) * max(m.Eigenvalues[0], math.Abs(m.Centring.Mean))
	for i, v := range m.Eigenvalues {
		if !(v > floor) {
			return i
		}
	}
	return len(m.Eigenvalues)
}

// fixSign makes the entry of largest magnitude positive. Among equal magnitudes it takes the first
// entry.
func fixSign(v []float64) {
	largest := 0
	for i, x := range v {
		if math.Abs(x) > math.Abs(v[largest]) {
			largest = i
		}
	}
	if v[largest] > 0 {
		return
	}
	for i := range v {
		v[i] = -v[i]
	}
}

// Scores returns the scores of the training rows, rows x components. A component's scores are its
// eigenvector times the root of its eigenvalue.
func (m *Model) Scores() linalg.Matrix[float64] {
	out := linalg.New[float64](m.Vectors.Cols, m.Vectors.Rows)
	for c, lambda := range m.Eigenvalues {
		root := math.Sqrt(lambda)
		for i, u := range m.Vectors.Row(c) {
			out.Row(i)[c] = root * u
		}
	}
	return out
}

// Transform returns the scores of new rows, rows x components (Schölkopf, Smola, Müller 1998,
// equation 2.17). The matrix cross is the kernel of the new rows with the n training rows, rows x
// n. Transform does not change cross and panics on another width.
func (m *Model) Transform(cross linalg.Matrix[float64]) linalg.Matrix[float64] {
	if cross.Cols != m.Vectors.Cols {
		panic(fmt.Sprintf("kpca: a cross kernel of %d columns for %d training rows", cross.Cols, m.Vectors.Cols))
	}
	centred := linalg.New[float64](cross.Rows, cross.Cols)
	for i := range cross.Rows {
		copy(centred.Row(i), cross.Row(i))
	}
	m.Centring.Apply(centred)
	out := linalg.New[float64](cross.Rows, len(m.Eigenvalues))
	linalg.MulTransB(out, centred, m.Vectors)
	for i := range out.Rows {
		for c, lambda := range m.Eigenvalues {
			out.Row(i)[c] /= math.Sqrt(lambda)
		}
	}
	return out
}
