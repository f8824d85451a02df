// Package lattice implements an attack on protocols: it reconstructs data from a Gram matrix. It
// exists for the tests of protocols that give a Gram matrix to a server, and for the warnings to
// users of such protocols; no code of the program imports it.
//
// If each feature has integer multiples of its own step (counts, pixels, one-hot codes, all of
// these after scaling), the rows are in a lattice. Once the rows generate it, its shortest basis
// is a vector along each feature. Lattice reduction (A. Lenstra, H. Lenstra, L. Lovász, Factoring
// polynomials with rational coefficients, Math. Ann. 261, 1982) finds that basis from the inner
// products of the rows, which the Gram matrix holds. The inner products of the rows with the
// basis are their features: all of them, in every row, up to order and sign, without knowing any
// row or feature.
//
//	reading := lattice.Read(gram) // gram: n x n inner products
//	for _, c := range reading.Columns {
//		fmt.Println(c.Step, c.Values) // a feature is Step times Values, or minus that
//	}
//
// [Read] needs no steps and tolerates rounding: rows that were float32, and features scaled each
// by its own range. It needs 1.5 times as many rows as the rows have dimensions. [ReadExact]
// needs only one row more than dimensions, but also one step for all features, and a Gram matrix
// whose errors are small compared with that step squared. [ReadNoisy] is for rows that an unknown
// linear map has distorted, with more noise. [Differences] is for features that were
// shifted as well, for instance by their means.
//
// A feature with one value in all rows is not reconstructed. The features of several one-hot codes
// cannot be reconstructed one by one, because the sum of each code's features is equal in all rows;
// their differences can, and reveal as much.
package lattice
