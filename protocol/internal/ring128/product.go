package ring128

import (
	"fmt"
	"math/bits"

	"github.com/mercer-fl/mercer/linalg"
)

// These blocks keep the inner loop in the first-level cache: depth words of a row are 8 KiB, and a panel
// of rows 128 KiB of the second level. A core takes stripe rows of the second factor at a time.
const (
	depth  = 512
	panel  = 16
	stripe = 64
)

// AddMulTransB adds a b^T to dst, which is a.Rows x b.Rows. It panics on other shapes. The work is
// a.Rows b.Rows a.Cols multiply-adds; the cores divide the rows of b.
func AddMulTransB(dst, a, b Matrix) { AddMulTransBRows(dst, a, b, 0, b.Rows) }

// AddMulTransBRows is the part of [AddMulTransB] that rows lo to hi-1 of b make: columns lo to hi-1 of dst.
func AddMulTransBRows(dst, a, b Matrix, lo, hi int) {
	if a.Cols != b.Cols || dst.Rows != a.Rows || dst.Cols != b.Rows {
		panic(fmt.Sprintf("ring128: the product of %d x %d and the transpose of %d x %d into %d x %d", a.Rows, a.Cols, b.Rows, b.Cols, dst.Rows, dst.Cols))
	}
	checkRows(lo, hi, b.Rows)
	linalg.For(hi-lo, stripe, func(from, to int) {
		for i := 0; i < a.Rows; i += panel {
			addBlock(a, i, min(i+panel, a.Rows), b, lo+from, lo+to, func(i, j int) *Word { return &dst.Data[i*dst.Cols+j] })
		}
	})
}

// AddSyrk adds the upper triangle of a a^T to dst, row after row ([Start]). For a symmetric matrix a, a a^T
// is its square. It panics on other sizes. The work is a.Rows (a.Rows+1)/2 a.Cols multiply-adds.
func AddSyrk(dst []Word, a Matrix) { AddSyrkRows(dst, a, 0, a.Rows) }

// AddSyrkRows is the part of [AddSyrk] for rows lo to hi-1 of the triangle. Row i takes (a.Rows-i) a.Cols
// multiply-adds.
func AddSyrkRows(dst []Word, a Matrix, lo, hi int) { addTriangle(dst, a, a, lo, hi) }

// AddSyr2k adds the upper triangle of a b^T + b a^T to dst, row after row ([Start]). For symmetric
// matrices that is a b + b a. It panics on other sizes. The work is twice that of [AddSyrk].
func AddSyr2k(dst []Word, a, b Matrix) { AddSyr2kRows(dst, a, b, 0, a.Rows) }

// AddSyr2kRows is the part of [AddSyr2k] for rows lo to hi-1 of the triangle.
func AddSyr2kRows(dst []Word, a, b Matrix, lo, hi int) {
	addTriangle(dst, a, b, lo, hi)
	addTriangle(dst, b, a, lo, hi)
}

// addTriangle adds rows lo to hi-1 of the upper triangle of a b^T to dst. The cores divide the columns: a few
// long rows keep all of them busy.
func addTriangle(dst []Word, a, b Matrix, lo, hi int) {
	n := a.Rows
	if b.Rows != n || b.Cols != a.Cols || len(dst) != Triangle(n) {
		panic(fmt.Sprintf("ring128: the triangle of %d x %d and the transpose of %d x %d into %d words", a.Rows, a.Cols, b.Rows, b.Cols, len(dst)))
	}
	checkRows(lo, hi, n)
	at := func(i, j int) *Word { return &dst[Start(n, i)+j-i] }
	linalg.For(n-lo, stripe, func(from, to int) {
		left, right := lo+from, lo+to
		for i := lo; i < min(hi, right); i += panel {
			end := min(i+panel, hi, right)
			if end > left { // the block on the diagonal, row by row
				for k := i; k < end; k++ {
					addBlock(a, k, k+1, b, k, end, at)
				}
			}
			addBlock(a, i, end, b, max(end, left), right, at)
		}
	})
}

func checkRows(lo, hi, rows int) {
	if lo < 0 || hi < lo || hi > rows {
		panic(fmt.Sprintf("ring128: rows %d to %d of %d", lo, hi, rows))
	}
}

// addBlock adds the products of rows i0 to i1-1 of a and rows j0 to j1-1 of b to the words at(i, j).
func addBlock(a Matrix, i0, i1 int, b Matrix, j0, j1 int, at func(i, j int) *Word) {
	for k := 0; k < a.Cols; k += depth {
		end := min(k+depth, a.Cols)
		for j := j0; j < j1; j++ {
			y := b.Row(j)[k:end]
			i := i0
			for ; i+1 < i1; i += 2 {
				first, second := dots(a.Row(i)[k:end], a.Row(i + 1)[k:end], y)
				*at(i, j) = at(i, j).Add(first)
				*at(i+1, j) = at(i+1, j).Add(second)
			}
			if i < i1 {
				*at(i, j) = at(i, j).Add(dot(a.Row(i)[k:end], y))
			}
		}
	}
}

// dot returns the inner product of x and y.
func dot(x, y []Word) Word {
	var hi, lo, carry uint64
	x = x[:len(y)]
	for k, b := range y {
		a := x[k]
		h, l := bits.Mul64(a.Lo, b.Lo)
		h += a.Lo*b.Hi + a.Hi*b.Lo
		lo, carry = bits.Add64(lo, l, 0)
		hi, _ = bits.Add64(hi, h, carry)
	}
	return Word{hi, lo}
}

// dots returns the inner products of x0 and y, and of x1 and y. It reads each word of y once.
func dots(x0, x1, y []Word) (Word, Word) {
	var hi0, lo0, hi1, lo1, carry uint64
	x0, x1 = x0[:len(y)], x1[:len(y)]
	for k, b := range y {
		a := x0[k]
		h, l := bits.Mul64(a.Lo, b.Lo)
		h += a.Lo*b.Hi + a.Hi*b.Lo
		lo0, carry = bits.Add64(lo0, l, 0)
		hi0, _ = bits.Add64(hi0, h, carry)
		a = x1[k]
		h, l = bits.Mul64(a.Lo, b.Lo)
		h += a.Lo*b.Hi + a.Hi*b.Lo
		lo1, carry = bits.Add64(lo1, l, 0)
		hi1, _ = bits.Add64(hi1, h, carry)
	}
	return Word{hi0, lo0}, Word{hi1, lo1}
}
