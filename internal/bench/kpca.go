package bench

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/kpca"
	"github.com/mercer-fl/mercer/linalg"
)

// kpcaSize holds the numbers of rows, columns and components at which kernel PCA is measured.
type kpcaSize struct {
	rows, columns, components int
	small                     int // number of rows for which a dense solver is fast enough
}

// residual is the largest error that learn/kpca allows, relative to the largest eigenvalue.
const residual = 1e-12

// KPCA returns a benchmark of kernel PCA on a computed kernel matrix. It compares the time of
// kernel PCA with the time in which the matrix is read as often as the Lanczos method reads it. It
// also compares the eigenvalues with the eigenvalues of a dense solver.
func KPCA() Benchmark {
	return kpcaOf(kpcaSize{rows: 6400, columns: 100, components: 20, small: 400})
}

func kpcaOf(s kpcaSize) Benchmark {
	return Benchmark{cases: []scene{
		sceneOf(fmt.Sprintf("%d rows", s.rows), s, raceKPCA),
		sceneOf(fmt.Sprintf("%d rows", s.small), s, raceEigen),
	}}
}

// correlated returns an RBF kernel matrix whose spectrum decays like that of real data. The
// standard deviation of column j of the rows is proportional to 1/j.
func correlated(rows, columns int) (linalg.Matrix[float64], error) {
	x := noise[float64](rows, columns, 1)
	for i := range rows {
		for j := range x.Row(i) {
			x.Row(i)[j] /= float64(j + 1)
		}
	}
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 1})
	if err != nil {
		return linalg.Matrix[float64]{}, err
	}
	return kernel.Materialize(kernel.Of(kernel.LinearGram(x), k)).K, nil
}

func raceKPCA(s kpcaSize) (race, error) {
	k, err := correlated(s.rows, s.columns)
	if err != nil {
		return race{}, err
	}
	products := 0
	if _, _, err := linalg.Lanczos(s.rows, s.components, residual, counted(&products, centred(k))); err != nil {
		return race{}, err
	}
	sums := make([]float64, s.rows)
	return race{
		runs: []run{
			pure(func() {
				for range products {
					readAll(sums, k)
				}
			}),
			func(context.Context) error {
				_, err := kpca.Fit(kernel.Dense{K: k}, s.components)
				return err
			},
		},
		rows: func(best []span) []Row {
			name := fmt.Sprintf("kernel PCA, top %d of %d rows", s.components, s.rows)
			reading := fmt.Sprintf("reading the matrix %d times", products)
			const allowed = 4 // wall time in seconds on two cores
			return []Row{
				figure(name, best[1].wall, "s").beside(reading, best[0].wall).byCPU(best[1].cpu / best[0].cpu).within(allowed),
				figure(name+", processor time", best[1].cpu, "s").within(2 * allowed),
			}
		},
	}, nil
}

// centred returns a function that multiplies a vector by the centred kernel matrix, whose
// eigenvectors kernel PCA computes. Rows and columns of k are centred.
func centred(k linalg.Matrix[float64]) func(dst, x []float64) {
	shifted := make([]float64, k.Rows)
	return func(dst, x []float64) {
		subtractMean(shifted, x)
		linalg.MulVec(dst, k, shifted)
		subtractMean(dst, dst)
	}
}

func counted(count *int, apply func(dst, x []float64)) func(dst, x []float64) {
	return func(dst, x []float64) {
		*count++
		apply(dst, x)
	}
}

func subtractMean(dst, x []float64) {
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for i, v := range x {
		dst[i] = v - mean
	}
}

// readAll reads every value of a matrix once, on all cores. It adds to four sums, so that the
// latency of an addition does not limit the speed.
func readAll(sums []float64, k linalg.Matrix[float64]) {
	linalg.Each(k.Rows, 16, func(i int) {
		var a, b, c, d float64
		row := k.Row(i)
		for ; len(row) >= 4; row = row[4:] {
			a, b, c, d = a+row[0], b+row[1], c+row[2], d+row[3]
		}
		for _, v := range row {
			a += v
		}
		sums[i] = a + b + c + d
	})
}

// raceEigen compares the eigenvalues of Lanczos with those of a dense solver, for one matrix.
func raceEigen(s kpcaSize) (race, error) {
	k, err := correlated(s.small, s.columns)
	if err != nil {
		return race{}, err
	}
	full := linalg.New[float64](s.small, s.small)
	copy(full.Data, k.Data)
	kernel.Center(full)
	var dense, lanczos []float64
	return race{
		runs: []run{
			func(context.Context) error {
				var eigen mat.EigenSym
				if !eigen.Factorize(mat.NewSymDense(s.small, full.Data), true) {
					return errors.New("the dense solver did not converge")
				}
				dense = eigen.Values(nil)
				return nil
			},
			func(context.Context) (err error) {
				lanczos, _, err = linalg.Lanczos(s.small, s.components, residual, centred(k))
				return err
			},
		},
		rows: func(best []span) []Row {
			worst := 0.0
			for i, v := range lanczos {
				want := dense[len(dense)-1-i]
				worst = max(worst, math.Abs(v-want)/want)
			}
			name := fmt.Sprintf("eigenvalues, top %d of %d rows", s.components, s.small)
			return []Row{
				figure(name+", largest relative difference to a dense solver", worst, "").within(1e-8),
				figure(name, best[1].wall, "s").beside("dense solver, all eigenvectors", best[0].wall).byCPU(best[1].cpu / best[0].cpu),
			}
		},
	}, nil
}
