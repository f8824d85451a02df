// Package linalg provides linear algebra for kernel machines. It has dense matrices over float32
// and float64, products on all cores, also of sparse rows, kernel maps and the fast Walsh-Hadamard
// transform. A fixed partition of work makes results independent of timing and of the number of cores.
//
// The Gram matrix of three rows, and its cross-Gram with one more:
//
//	x := linalg.Matrix[float64]{Rows: 3, Cols: 2, Stride: 2, Data: []float64{1, 0, 0, 1, 1, 1}}
//	g := linalg.New[float64](3, 3)
//	linalg.Syrk(g, x)
//	z := linalg.Matrix[float64]{Rows: 1, Cols: 2, Stride: 2, Data: []float64{2, 3}}
//	c := linalg.New[float64](1, 3)
//	linalg.MulTransB(c, z, x)
//
// # The order of additions
//
// Element (i, j) of a product depends on row i of a and row j of b only: the products of 256
// consecutive columns are added from left to right, and these partial sums again from left to
// right. So, on one build and one machine, bit for bit,
//
//   - a product made panel by panel equals the product made at once,
//   - Syrk(dst, a) equals MulTransB(dst, a, a) and is exactly symmetric,
//   - SquaredNorms equals the diagonal of Syrk (for float32 that of SyrkWide), so that the
//     distance between two equal rows is exactly 0.
//
// Sums in blocks also keep rounding errors small: with k columns the error
// grows like 256 + k/256, not like k.
//
// On a path with vector instructions (see Path), a product of dense matrices is computed with fused
// multiply-adds, which do not round before they add, so results of two machines can differ in the last bits.
//
// Functions panic on wrong arguments, such as shapes that do not agree, and not on infinities and NaNs,
// which follow IEEE 754.
package linalg
