package libsvm

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// KernelName is the type of a kernel, by its name in model files.
type KernelName string

// These are the kernels, in the order of the numbers of option -t.
const (
	Linear      KernelName = "linear"
	Polynomial  KernelName = "polynomial"
	RBF         KernelName = "rbf"
	Sigmoid     KernelName = "sigmoid"
	Precomputed KernelName = "precomputed" // the rows hold kernel values
)

// Kernels returns all kernels, in the order of the numbers of option -t.
func Kernels() []KernelName {
	return []KernelName{Linear, Polynomial, RBF, Sigmoid, Precomputed}
}

// Kernel is a kernel with its parameters.
type Kernel struct {
	Name         KernelName
	Degree       int
	Gamma, Coef0 float64
}

// filled returns the kernel with gamma 0 replaced by 1 / features. The columns of a table count
// from index 0, which is no feature.
func (k Kernel) filled(columns int) Kernel {
	if k.Gamma == 0 && columns > 1 {
		k.Gamma = 1 / float64(columns-1)
	}
	return k
}

// function returns the kernel as a function of inner products. It is not for precomputed kernels.
func (k Kernel) function() (kernel.Kernel, error) {
	switch k.Name {
	case Linear:
		return kernel.New(kernel.Spec{Name: "linear"})
	case RBF:
		return kernel.New(kernel.Spec{Name: "rbf", Gamma: k.Gamma})
	case Polynomial:
		return ofProduct{string(k.Name), func(xz float64) float64 { return power(k.Gamma*xz+k.Coef0, k.Degree) }}, nil
	}
	return ofProduct{string(k.Name), func(xz float64) float64 { return math.Tanh(k.Gamma*xz + k.Coef0) }}, nil
}

// power returns base to the given power by repeated squaring, as LIBSVM does.
func power(base float64, exponent int) float64 {
	out := 1.0
	for ; exponent > 0; exponent /= 2 {
		if exponent%2 == 1 {
			out *= base
		}
		base *= base
	}
	return out
}

// ofProduct is a function of the inner product of two rows. Unlike the kernels of package kernel, it
// can be indefinite. The solver handles such a kernel as LIBSVM does.
type ofProduct struct {
	name string
	of   func(xz float64) float64
}

// Name returns the name of the kernel.
func (k ofProduct) Name() string { return k.name }

// At implements kernel.Kernel.
func (k ofProduct) At(xz, _, _ float64) float64 { return k.of(xz) }

// Map implements kernel.Kernel.
func (k ofProduct) Map(dst, xz []float64, _ float64, _ []float64) {
	for i, v := range xz {
		dst[i] = k.of(v)
	}
}

// source returns the kernel matrix of the rows of x. It computes values on request.
func (k Kernel) source(x *dataset.CSR) (kernel.Source, error) {
	f, err := k.function()
	if err != nil {
		return nil, err
	}
	if dense(x) {
		return kernel.NewLazy(dataset.DenseOf(x).Matrix(), f), nil
	}
	return kernel.NewLazySparse(x, f), nil
}

// dense reports whether products of the rows of x take less time if zeros are stored, too.
func dense(x *dataset.CSR) bool { return 4*x.Stored() > x.Rows()*x.Cols() }

// precomputed returns the kernel matrix that the rows of a training file hold.
func precomputed(p *Problem) (kernel.Source, error) {
	columns, err := p.serials()
	if err != nil {
		return nil, err
	}
	k := linalg.New[float64](p.X.Rows(), len(columns))
	valuesAt(k, p.X, 0, columns)
	return kernel.Dense{K: k}, nil
}

// rounded is a kernel matrix whose values are rounded to float32, except for those that Diagonal returns.
// LIBSVM trains on such values.
type rounded struct{ kernel.Source }

// Row implements kernel.Source.
func (r rounded) Row(i int, dst []float64) {
	r.Source.Row(i, dst)
	round(dst)
}

// Block implements kernel.Source.
func (r rounded) Block(rows, cols []int, dst linalg.Matrix[float64]) {
	r.Source.Block(rows, cols, dst)
	for a := range rows {
		round(dst.Row(a))
	}
}

func round(values []float64) {
	for i, v := range values {
		values[i] = float64(float32(v))
	}
}

// valuesAt sets dst to the given columns of the rows of x from row lo on.
func valuesAt(dst linalg.Matrix[float64], x *dataset.CSR, lo int, columns []int) {
	linalg.For(dst.Rows, 16, func(from, to int) {
		row := make([]float64, x.Cols())
		for i := from; i < to; i++ {
			x.Row(lo+i, row)
			for b, j := range columns {
				dst.Row(i)[b] = 0
				if j < len(row) {
					dst.Row(i)[b] = row[j]
				}
			}
		}
	})
}

// serials returns the serial number of each row of a training file of a precomputed kernel: the
// value of index 0. It is the index of the row's column.
func (p *Problem) serials() ([]int, error) {
	list := make([]int, p.X.Rows())
	for i := range list {
		cols, values := p.X.Entries(i)
		if len(cols) == 0 || cols[0] != 0 {
			return nil, p.errorf(i, "the row does not begin with 0:NUMBER, which a precomputed kernel needs; add the number of the row, from 1")
		}
		v := values[0]
		if v != math.Trunc(v) || v < 1 || v >= float64(p.X.Cols()) {
			return nil, p.errorf(i, "the number of the row, 0:%v, has no column; write a whole number from 1 to %d", v, p.X.Cols()-1)
		}
		list[i] = int(v)
	}
	return list, nil
}

// errorf returns an error about row i.
func (p *Problem) errorf(i int, format string, args ...any) error {
	return fmt.Errorf("%s: row %d: %w", p.Name, i+1, fmt.Errorf(format, args...))
}
