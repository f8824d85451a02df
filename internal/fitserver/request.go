package fitserver

import (
	"fmt"
	"io"
	"math"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// request is the header of a request, with its arrays. It has the parameters of all learners and
// kernels, of which a request gives some.
type request struct {
	// Op is the operation: fit, calibrate, decide, couple, or interface, which asks for the number of
	// the interface.
	Op string `json:"op"`
	// Learner is the machine of fit and calibrate: svc, nu-svc, svr, nu-svr, one-class, ridge, kpca.
	Learner string `json:"learner"`
	// Kernel is the kernel, or has the name precomputed: then the array K holds kernel values.
	Kernel  kernel.Spec `json:"kernel"`
	Columns int         `json:"columns"` // number of columns of sparse rows
	Threads int         `json:"threads"` // number of cores to use; 0 means all
	Seed    uint64      `json:"seed"`    // seed of the folds of calibrate
	parameters
	Arrays []array `json:"arrays"`
}

// parameters holds the parameters of the learners. They have LIBSVM's and scikit-learn's names.
type parameters struct {
	C          *float64  `json:"C"` // null means infinity, which JSON cannot write
	Nu         float64   `json:"nu"`
	Epsilon    float64   `json:"epsilon"`
	Tol        float64   `json:"tol"`
	CacheBytes int64     `json:"cache_bytes"`
	MaxIter    int       `json:"max_iter"`
	Weights    []float64 `json:"class_weight"` // weight of each class, or empty
	Classes    int       `json:"classes"`
	Alpha      float64   `json:"alpha"`
	Components int       `json:"components"` // number of components of kpca, at least 1
}

// readRequest reads one request. It returns io.EOF if there is no further request.
func readRequest(r io.Reader) (*request, error) {
	q := &request{}
	if err := readHeader(r, q); err != nil {
		return nil, err
	}
	for i := range q.Arrays {
		if err := q.Arrays[i].read(r); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// array returns the array with a name, or nil.
func (q *request) array(name string) *array {
	for i := range q.Arrays {
		if q.Arrays[i].Name == name {
			return &q.Arrays[i]
		}
	}
	return nil
}

// matrix returns an array of floats as a matrix.
func (q *request) matrix(name string) (linalg.Matrix[float64], error) {
	a := q.array(name)
	if a == nil || a.Type != "f8" || len(a.Shape) != 2 {
		return linalg.Matrix[float64]{}, fmt.Errorf("the request has no array %q of type f8 with two dimensions", name)
	}
	return linalg.Matrix[float64]{Rows: a.Shape[0], Cols: a.Shape[1], Stride: a.Shape[1], Data: a.floats}, nil
}

// floats returns an array as floats, whatever its type, or nil if the request does not have it.
func (q *request) floats(name string) []float64 {
	a := q.array(name)
	if a == nil {
		return nil
	}
	if a.Type == "f8" {
		return a.floats
	}
	values := make([]float64, len(a.ints))
	for i, v := range a.ints {
		values[i] = float64(v)
	}
	return values
}

// ints returns an array of whole numbers. It returns nil if the request does not have the array, or if the
// array has floats.
func (q *request) ints(name string) []int {
	if a := q.array(name); a != nil {
		return a.ints
	}
	return nil
}

// table returns the rows that the array of a name holds, or three arrays of that name if the rows
// are sparse: NAME.indptr, NAME.indices and NAME.data, as in SciPy's CSR format.
func (q *request) table(name string) (linalg.Rows, error) {
	pointers := q.ints(name + ".indptr")
	if pointers == nil {
		return q.matrix(name)
	}
	columns := q.ints(name + ".indices")
	narrow := make([]int32, len(columns))
	for i, c := range columns {
		if narrow[i] = int32(c); int(narrow[i]) != c {
			return nil, fmt.Errorf("array %q has the column %d, which is too large", name, c)
		}
	}
	rows, err := dataset.NewCSR(q.Columns, pointers, narrow, q.floats(name+".data"))
	if err != nil {
		return nil, err
	}
	return dataset.RowsOf(rows), nil
}

// wholeMatrix is the largest number of rows whose kernel matrix is computed as a whole, in float64.
// It then takes 32 MB. The kernel values of more rows are computed on request; support vector machines
// read these in float32.
const wholeMatrix = 2048

// source returns the kernel matrix of the training rows.
func (q *request) source() (kernel.Source, error) {
	if q.Kernel.Name == "precomputed" {
		m, err := q.matrix("K")
		if err == nil && m.Rows != m.Cols {
			err = fmt.Errorf("the kernel matrix has %d rows and %d columns; it must be square", m.Rows, m.Cols)
		}
		return kernel.Dense{K: m}, err
	}
	k, err := kernel.New(q.Kernel)
	if err != nil {
		return nil, err
	}
	x, err := q.table("X")
	if err != nil {
		return nil, err
	}
	if n, _ := x.Shape(); n <= wholeMatrix {
		return kernel.MaterializeGram(kernel.LinearGram(x), k), nil
	}
	return kernel.NewLazyOf(x, k), nil
}

// machineSource returns the matrix of source for a support vector machine. Its values are rounded to
// float32, as LIBSVM's are and as [kernel.Lazy] rounds the values of more rows. The last bits of a value
// differ between processors, and from products that a caller computes. After the rounding they rarely
// choose between rows that tie: only where they decide how a value rounds.
func (q *request) machineSource() (kernel.Source, error) {
	src, err := q.source()
	if whole, ok := src.(kernel.Dense); ok && err == nil {
		for i := range whole.Len() {
			roundToSingle(whole.K.Row(i))
		}
	}
	return src, err
}

// roundToSingle rounds values to float32, the smallest ones to 0. It leaves those that are too large for
// float32.
func roundToSingle(values []float64) {
	for i, v := range values {
		if single := float64(float32(v)); !math.IsInf(single, 0) {
			values[i] = single
		}
	}
}

// crossValues returns the number of rows X, and a function that returns the kernel values of the rows
// X from lo to hi-1 with all rows V. If the kernel is precomputed, the array K holds all values.
func (q *request) crossValues() (rows int, values func(lo, hi int) linalg.Matrix[float64], err error) {
	if q.Kernel.Name == "precomputed" {
		m, err := q.matrix("K")
		return m.Rows, m.Panel, err
	}
	k, err := kernel.New(q.Kernel)
	if err != nil {
		return 0, nil, err
	}
	x, err := q.table("X")
	if err != nil {
		return 0, nil, err
	}
	v, err := q.table("V")
	if err != nil {
		return 0, nil, err
	}
	rows, columns := x.Shape()
	if _, width := v.Shape(); width != columns {
		return 0, nil, fmt.Errorf("the rows have %d columns, but the machine's rows have %d", columns, width)
	}
	right := kernel.SquaredNorms(v)
	return rows, func(lo, hi int) linalg.Matrix[float64] {
		some := linalg.Pick(x, linalg.Range(lo, hi))
		block := kernel.CrossGram(some, v)
		kernel.Cross(k, block, kernel.SquaredNorms(some), right)
		return block
	}, nil
}
