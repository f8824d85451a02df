package kmeans

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// ErrNotConverged marks the error of a run that reached its maximum of iterations.
var ErrNotConverged = errors.New("not converged")

// Params holds the settings of a clustering. The zero value of a field means its
// default, except in Clusters and Seed.
type Params struct {
	Clusters int    // number of clusters, 1 to the number of rows
	Restarts int    // number of runs from different starts, of which the best is kept; default 10
	MaxIter  int    // greatest number of rounds in a run; default 300
	Seed     uint64 // equal seeds give equal results, on any number of cores
	// Interrupt, if not nil, is called before each round. If it returns an error, the clustering
	// ends and returns this error wrapped. A context's method Err can be used.
	Interrupt func() error
}

func (p Params) filled() Params {
	if p.Restarts == 0 {
		p.Restarts = 10
	}
	if p.MaxIter == 0 {
		p.MaxIter = 300
	}
	if p.Interrupt == nil {
		p.Interrupt = func() error { return nil }
	}
	return p
}

// Validate returns an error if a setting is invalid for n rows. Its errors name the field.
func (p Params) Validate(n int) error {
	switch {
	case p.Clusters < 1 || p.Clusters > n:
		return fmt.Errorf("kmeans: clusters is %d for %d rows; choose 1 to %d", p.Clusters, n, n)
	case p.Restarts < 0:
		return fmt.Errorf("kmeans: restarts is %d; it must not be negative", p.Restarts)
	case p.MaxIter < 0:
		return fmt.Errorf("kmeans: max_iter is %d; it must not be negative", p.MaxIter)
	}
	return nil
}

// Model is the result of a clustering. It holds no rows. It is read only and safe for concurrent
// use.
type Model struct {
	Assignment []int // cluster of each row
	// Inertia is the sum of squared distances, in feature space, of all rows to the means of their
	// clusters.
	Inertia    float64
	Iterations int       // number of rounds of the best run
	sizes      []float64 // number of rows of each cluster
	norms      []float64 // squared norm of each mean
}

// Fit clusters the n rows of src. It keeps the kernel matrix in memory: 8 n^2 bytes unless src is a
// [kernel.Dense], which it only reads. A round takes n^2 additions. No cluster is empty at the end.
// Fit returns an error if a kernel value or a sum of kernel values is not finite. If rows still
// change clusters after the last round of any run, the error wraps [ErrNotConverged].
func Fit(src kernel.Source, p Params) (*Model, error) {
	if err := p.Validate(src.Len()); err != nil {
		return nil, err
	}
	p = p.filled()
	k := matrix(src)
	if err := checkFinite(k); err != nil {
		return nil, err
	}
	var best *run
	for restart := range p.Restarts {
		r := newRun(k, p.Clusters)
		r.seed(p.Seed, uint64(restart))
		if err := r.improve(p); err != nil {
			return nil, err
		}
		if v := r.inertia; v-v != 0 {
			return nil, errors.New("kmeans: the distances overflow: scale the data so that kernel values are near 1")
		}
		if best == nil || r.inertia < best.inertia {
			best = r
		}
	}
	return best.model(), nil
}

// Distinct counts the rows of src that differ from each other in feature space by more than the
// rounding of the kernel. It stops counting at most, and reads one row of the matrix for each row that
// it counts. If Fit makes more clusters than there are distinct rows, some clusters hold equal rows.
func Distinct(src kernel.Source, most int) int {
	const rounding = 64 * 0x1p-52 // relative rounding error of the terms of a squared distance
	n := src.Len()
	diagonal, row := make([]float64, n), make([]float64, n)
	equal := make([]bool, n) // whether a row equals a counted row
	src.Diagonal(diagonal)
	count := 0
	for i := 0; i < n && count < most; i++ {
		if equal[i] {
			continue
		}
		count++
		src.Row(i, row)
		for j, v := range row {
			a, b := diagonal[j], diagonal[i]
			equal[j] = equal[j] || a-2*v+b <= rounding*(a+b)
		}
	}
	return count
}

func newRun(k linalg.Matrix[float64], clusters int) *run {
	return &run{
		k: k, assignment: make([]int, k.Rows), sizes: make([]float64, clusters),
		norms: make([]float64, clusters), inner: linalg.New[float64](k.Rows, clusters),
	}
}

// matrix returns the whole kernel matrix, which callers must not change.
func matrix(src kernel.Source) linalg.Matrix[float64] {
	if d, ok := src.(kernel.Dense); ok {
		return d.K
	}
	return kernel.Materialize(src).K
}

func checkFinite(k linalg.Matrix[float64]) error {
	for i := range k.Rows {
		for j, v := range k.Row(i) {
			if v-v != 0 {
				return fmt.Errorf("kmeans: kernel value (%d, %d) is %v: check the data and the kernel's parameters", i, j, v)
			}
		}
	}
	return nil
}

// Distances returns the squared distance of each new row to each mean, up to a constant for each
// row. The result is rows x clusters. A value is |mean|^2 minus twice the inner product; adding
// K(x, x) of the row would make it exact. cross is the kernel of the new rows with the n rows of
// Fit, rows x n; another width panics.
func (m *Model) Distances(cross linalg.Matrix[float64]) linalg.Matrix[float64] {
	if cross.Cols != len(m.Assignment) {
		panic(fmt.Sprintf("kmeans: a cross kernel of %d columns for %d rows", cross.Cols, len(m.Assignment)))
	}
	out := linalg.New[float64](cross.Rows, len(m.sizes))
	linalg.Each(cross.Rows, 16, func(i int) {
		addByCluster(out.Row(i), cross.Row(i), m.Assignment)
		for c, sum := range out.Row(i) {
			out.Row(i)[c] = m.norms[c] - 2*sum/m.sizes[c]
		}
	})
	return out
}

// Predict returns the nearest cluster of each new row; of equally near clusters, it returns the one
// with the lowest number. cross is as in [Model.Distances].
func (m *Model) Predict(cross linalg.Matrix[float64]) []int {
	d := m.Distances(cross)
	out := make([]int, d.Rows)
	for i := range out {
		for c, v := range d.Row(i) {
			if v < d.Row(i)[out[i]] {
				out[i] = c
			}
		}
	}
	return out
}

// addByCluster adds each value to the sum of its row's cluster.
func addByCluster(sums, values []float64, assignment []int) {
	for j, c := range assignment {
		sums[c] += values[j]
	}
}
