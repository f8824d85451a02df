package linalg

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// cholBlock is the number of columns that are factored at a time. All work outside the diagonal
// blocks is products of matrices and solutions with a triangular block.
const cholBlock = 64

// solveRows is the number of right-hand sides that go to one core at a time.
const solveRows = 32

// PivotError names the pivot at which a Cholesky factorisation failed. For [Cholesky], the leading minor of
// Index+1 rows is not positive definite to working precision. [CholeskyLowRank] chooses pivots in another
// order.
type PivotError struct {
	Index int     // row of the failing pivot, from 0
	Value float64 // the value of the pivot, which must have a square root
}

func (e *PivotError) Error() string {
	return fmt.Sprintf("linalg: pivot %d of the Cholesky factorisation is %.3g: the matrix is not positive definite to working precision", e.Index, e.Value)
}

// Cholesky replaces the lower triangle of the symmetric n x n matrix a by its Cholesky factor L,
// for which a = L L^T. It runs on all cores. It reads nothing above the diagonal and leaves
// arbitrary values there. It panics unless a is square. It returns a [PivotError] if a is not
// positive definite; a is then overwritten, too.
//
// The algorithm is the left-looking one by blocks of columns (Golub and Van
// Loan 2013, section 4.2.6).
func Cholesky(a Matrix[float64]) error {
	return CholeskyUntil(a, func() error { return nil })
}

// CholeskyUntil is like [Cholesky] but calls interrupt before each block of columns. If interrupt
// returns an error, CholeskyUntil returns it; a is then partly overwritten.
func CholeskyUntil(a Matrix[float64], interrupt func() error) error {
	if a.Rows != a.Cols {
		panic(fmt.Sprintf("linalg: cannot factor %d x %d values", a.Rows, a.Cols))
	}
	n := a.Rows
	update := make([]float64, n*min(n, cholBlock))
	for j := 0; j < n; j += cholBlock {
		if err := interrupt(); err != nil {
			return err
		}
		jEnd := min(j+cholBlock, n)
		subtractProduct(part(a, j, n, j, jEnd), part(a, j, n, 0, j), part(a, j, jEnd, 0, j), update)
		corner := part(a, j, jEnd, j, jEnd)
		if err := factorCorner(corner); err != nil {
			err.Index += j
			return err
		}
		solveCorner(part(a, jEnd, n, j, jEnd), corner, blas.Trans)
	}
	return nil
}

// part returns the submatrix of rows i to iEnd-1 and columns j to jEnd-1 of m. It shares m's
// memory.
func part(m Matrix[float64], i, iEnd, j, jEnd int) Matrix[float64] {
	p := Matrix[float64]{Rows: iEnd - i, Cols: jEnd - j, Stride: m.Stride}
	if p.Rows > 0 && p.Cols > 0 {
		p.Data = m.Data[i*m.Stride+j : (iEnd-1)*m.Stride+jEnd]
	}
	return p
}

// subtractProduct sets dst to dst - a b^T. The buffer holds the product.
func subtractProduct(dst, a, b Matrix[float64], buffer []float64) {
	if a.Cols == 0 || dst.Rows == 0 {
		return
	}
	product := Matrix[float64]{Rows: dst.Rows, Cols: dst.Cols, Stride: dst.Cols, Data: buffer[:dst.Rows*dst.Cols]}
	MulTransB(product, a, b)
	For(dst.Rows, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := dst.Row(i)
			for j, v := range product.Row(i) {
				to[j] -= v
			}
		}
	})
}

// factorCorner is [Cholesky] for a small matrix, on one core.
func factorCorner(a Matrix[float64]) *PivotError {
	for i := range a.Rows {
		row := a.Row(i)
		for j := range i {
			row[j] = (row[j] - dot(row[:j], a.Row(j)[:j])) / a.Row(j)[j]
		}
		pivot := row[i] - dot(row[:i], row[:i])
		if !(pivot > 0) || math.IsInf(pivot, 1) {
			return &PivotError{Index: i, Value: pivot}
		}
		row[i] = math.Sqrt(pivot)
	}
	return nil
}

// solveCorner sets x to x L^-T if trans is blas.Trans, and to x L^-1 otherwise, for a small L.
func solveCorner(x, l Matrix[float64], trans blas.Transpose) {
	For(x.Rows, solveRows, func(lo, hi int) {
		var impl gonum.Implementation
		p := x.Panel(lo, hi)
		impl.Dtrsm(blas.Right, blas.Lower, trans, blas.NonUnit, p.Rows, p.Cols, 1, l.Data, l.Stride, p.Data, p.Stride)
	})
}

// SolveLower replaces each row v of b by L^-1 v. b is m x n, and l holds L in its lower triangle, n
// x n, as [Cholesky] returns it. It panics on other shapes; a zero on the diagonal gives
// infinities or NaNs.
func SolveLower(l, b Matrix[float64]) {
	checkSolve(l, b)
	n := l.Rows
	update := make([]float64, b.Rows*min(n, cholBlock))
	for j := 0; j < n; j += cholBlock {
		jEnd := min(j+cholBlock, n)
		right := part(b, 0, b.Rows, j, jEnd)
		subtractProduct(right, part(b, 0, b.Rows, 0, j), part(l, j, jEnd, 0, j), update)
		solveCorner(right, part(l, j, jEnd, j, jEnd), blas.Trans)
	}
}

// SolveLowerTrans replaces each row v of b by L^-T v. The shapes of l and b are the same as in
// [SolveLower].
func SolveLowerTrans(l, b Matrix[float64]) {
	checkSolve(l, b)
	n := l.Rows
	width := min(n, cholBlock)
	update, below := make([]float64, b.Rows*width), make([]float64, n*width)
	for jEnd := n; jEnd > 0; {
		j := (jEnd - 1) / cholBlock * cholBlock
		right := part(b, 0, b.Rows, j, jEnd)
		factor := transposed(part(l, jEnd, n, j, jEnd), below)
		subtractProduct(right, part(b, 0, b.Rows, jEnd, n), factor, update)
		solveCorner(right, part(l, j, jEnd, j, jEnd), blas.NoTrans)
		jEnd = j
	}
}

// SolveCholesky replaces each row v of b by (L L^T)^-1 v. b is m x n, and l is the result of
// [Cholesky] for an n x n matrix. It panics on other shapes.
func SolveCholesky(l, b Matrix[float64]) {
	SolveLower(l, b)
	SolveLowerTrans(l, b)
}

// InverseDiagonal returns the diagonal of (L L^T)^-1, where l is the result of [Cholesky] for an n x n
// matrix. It takes as many multiplications as the factorisation and n times inverseRows further
// values. It calls interrupt from time to time, and returns its error.
//
// Entry i is the squared norm of column i of L^-1. Columns are computed in groups. They are zero above
// the diagonal, so that each group needs only the part of L below it.
func InverseDiagonal(l Matrix[float64], interrupt func() error) ([]float64, error) {
	if l.Rows != l.Cols {
		panic(fmt.Sprintf("linalg: a factor of %d x %d values", l.Rows, l.Cols))
	}
	n := l.Rows
	diagonal := make([]float64, n)
	for i := 0; i < n; i += inverseRows {
		if err := interrupt(); err != nil {
			return nil, err
		}
		columns := New[float64](min(inverseRows, n-i), n-i)
		for k := range columns.Rows {
			columns.Row(k)[k] = 1
		}
		SolveLower(part(l, i, n, i, n), columns)
		SquaredNorms(diagonal[i:i+columns.Rows], columns)
	}
	return diagonal, nil
}

// inverseRows is the number of columns of an inverse that are computed at a time.
const inverseRows = 256

func checkSolve(l, b Matrix[float64]) {
	if l.Rows != l.Cols || b.Cols != l.Rows {
		panic(fmt.Sprintf("linalg: a factor of %d x %d for right-hand sides of %d x %d", l.Rows, l.Cols, b.Rows, b.Cols))
	}
}

// transposed writes the transpose of m to buffer and returns it.
func transposed(m Matrix[float64], buffer []float64) Matrix[float64] {
	t := Matrix[float64]{Rows: m.Cols, Cols: m.Rows, Stride: m.Rows, Data: buffer[:m.Rows*m.Cols]}
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			t.Data[j*t.Stride+i] = v
		}
	}
	return t
}

// LogDet returns the logarithm of the determinant of L L^T, where l is the result of [Cholesky].
func LogDet(l Matrix[float64]) float64 {
	sum := 0.0
	for i := range l.Rows {
		sum += math.Log(l.Row(i)[i])
	}
	return 2 * sum
}

// NormOne returns the 1-norm of a symmetric matrix, the largest sum of the magnitudes of a row. It
// reads the lower triangle only.
func NormOne(a Matrix[float64]) float64 {
	sums := make([]float64, a.Rows)
	for i := range a.Rows {
		for j, v := range a.Row(i)[:i+1] {
			sums[i] += math.Abs(v)
			if j < i {
				sums[j] += math.Abs(v)
			}
		}
	}
	most := 0.0
	for _, v := range sums {
		most = max(most, v)
	}
	return most
}

// Condition estimates the condition number of a matrix in the 1-norm (LAPACK's dpocon). The
// argument l is the Cholesky factor of the matrix, and norm is the 1-norm of the matrix. It returns
// +Inf for a matrix that is singular to working precision.
func Condition(l Matrix[float64], norm float64) float64 {
	n := l.Rows
	if n == 0 {
		return 1
	}
	return 1 / lapackgonum.Implementation{}.Dpocon(blas.Lower, n, l.Data, l.Stride, norm, make([]float64, 3*n), make([]int, n))
}
