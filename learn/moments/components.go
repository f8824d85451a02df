package moments

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// denseFeatures is the least number of features for which Lanczos is faster than a full
// decomposition, if less than a quarter of the components are wanted.
const denseFeatures = 500

// Components returns the first principal components of the summed rows, and their eigenvalues,
// largest first. The first target of the sums must be 1 ([Unlabelled]). The components are those of
// the centred matrix of the kernel 2/M phi.phi. They are computed from 2/M (A - n mean mean^T),
// which has the same eigenvalues. The outputs of the solution are a row's scores. The entry of largest
// magnitude of each component is positive.
func Components(s *Sums, components int) (Solution, []float64, error) {
	m := s.Outer.Rows
	if components < 1 || components > m {
		return Solution{}, nil, fmt.Errorf("moments: components is %d for %d features; choose 1 to %d", components, m, m)
	}
	c, mean := s.covariance()
	values, vectors, err := eigen(c, components)
	if err != nil {
		return Solution{}, nil, fmt.Errorf("moments: the components cannot be computed: %w", err)
	}
	floor := 1e-14 * float64(s.Rows) * max(values[0], 1)
	for i, v := range values {
		if !(v > floor) {
			return Solution{}, nil, fmt.Errorf("moments: the sums have %d components with a positive eigenvalue, but components is %d; choose fewer", i, components)
		}
	}
	w, offset := linalg.New[float64](components, m), make([]float64, components)
	root := math.Sqrt(2 / float64(m))
	for i := range components {
		row := w.Row(i)
		sign := signOf(vectors.Row(i))
		for j, v := range vectors.Row(i) {
			row[j] = sign * root * v
			offset[i] -= row[j] * mean[j]
		}
	}
	return Solution{Weights: w, Offset: offset}, values, nil
}

// covariance returns the matrix 2/M (A - n mean mean^T) and the mean of the features.
func (s *Sums) covariance() (c linalg.Matrix[float64], mean []float64) {
	m, n := s.Outer.Rows, float64(s.Rows)
	mean = make([]float64, m)
	for j, v := range s.Cross.Row(0) {
		mean[j] = v / (One * One) / n
	}
	c = linalg.New[float64](m, m)
	for i := range m {
		for j, v := range s.Outer.Row(i) {
			c.Row(i)[j] = 2 / float64(m) * (v/(One*One) - n*mean[i]*mean[j])
		}
	}
	return c, mean
}

// Spread returns the sum of the squared distances of the summed rows to their mean. That is the sum
// of all eigenvalues.
func Spread(s *Sums) float64 {
	c, _ := s.covariance()
	sum := 0.0
	for i := range c.Rows {
		sum += c.Row(i)[i]
	}
	return sum
}

// eigen returns the largest eigenvalues of a symmetric matrix, and their eigenvectors as rows.
func eigen(c linalg.Matrix[float64], count int) ([]float64, linalg.Matrix[float64], error) {
	n := c.Rows
	if n >= denseFeatures && count < n/4 {
		return linalg.Lanczos(n, count, 1e-12, func(dst, x []float64) { linalg.MulVec(dst, c, x) })
	}
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(n, c.Data), true) {
		return nil, linalg.Matrix[float64]{}, errors.New("the eigenvalues cannot be computed to working precision")
	}
	all := e.Values(nil)
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	values, rows := make([]float64, count), linalg.New[float64](count, n)
	for i := range count {
		values[i] = all[n-1-i]
		mat.Col(rows.Row(i), n-1-i, &vectors)
	}
	return values, rows, nil
}

// signOf returns the sign of the entry of largest magnitude. Among equal magnitudes it takes the
// first entry.
func signOf(v []float64) float64 {
	largest := 0
	for i, x := range v {
		if math.Abs(x) > math.Abs(v[largest]) {
			largest = i
		}
	}
	return math.Copysign(1, v[largest])
}

// maxScores is the largest possible sum of the squared scores of one row. This sum is at most the
// squared distance of the row to the mean of the training rows. The distance is at most 2, because
// all rows have a length of at most 1 in the feature space of the kernel.
const maxScores = 4

// MeasureComponents returns the sum of the squared scores of rows, in units of 1/SquaredOne.
func MeasureComponents(m feature.Mapping, s Solution, rows linalg.Rows) (int64, error) {
	n, _ := rows.Shape()
	if err := checkSizes(m, s, rows, n); err != nil {
		return 0, err
	}
	sum := int64(0)
	eachPanel(m, rows, func(_ int, phi linalg.Matrix[float64]) {
		scores := s.At(phi)
		for i := range phi.Rows {
			kept := linalg.Dot(scores.Row(i), scores.Row(i))
			sum += int64(math.RoundToEven(min(kept, maxScores) * SquaredOne))
		}
	})
	return sum, nil
}

// Explained returns the mean squared score of other rows, relative to the mean squared distance of
// the training rows to their mean. The argument squares is the sum of the squared scores from
// [MeasureComponents], and rows is the number of other rows.
func Explained(s *Sums, squares, rows int64) float64 {
	return float64(squares) / SquaredOne / float64(rows) / (Spread(s) / float64(s.Rows))
}
