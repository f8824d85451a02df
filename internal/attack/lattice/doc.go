// Package lattice attacks protocols: it reads data from a Gram matrix. It exists for
// the tests of protocols that hand a Gram matrix to a server, and for the warnings that
// users get about them; no code of the program imports it.
//
// Features that hold whole multiples of a step, each feature of its own (counts,
// pixels, one-hot codes, all of these after scaling), put the rows into a
// lattice. Once the rows generate it, its shortest basis is a vector along each
// feature. Lattice reduction (A. Lenstra, H. Lenstra, L. Lovász, Factoring
// polynomials with rational coefficients, Math. Ann. 261, 1982) finds that basis
// from the inner products of the rows, which is what a Gram matrix holds. The
// inner products of the rows with it are their features: all of them, in every
// row, up to order and sign, with no row and no feature known.
//
//	reading := lattice.Read(gram) // gram: n x n inner products
//	for _, c := range reading.Columns {
//		fmt.Println(c.Step, c.Values) // a feature is Step times Values, or minus that
//	}
//
// [Read] asks nothing about the steps and withstands rounding: rows that went
// through float32, and features scaled each by its own range. It wants half as
// many rows again as the rows have dimensions. [ReadExact] needs one row more
// than dimensions, but also one step for all features, and a Gram matrix whose
// errors are small against that step squared. [Differences] is for features that
// were shifted as well, by their means for instance.
//
// A feature with one value in all rows is no dimension. The features of a
// one-hot code cannot be had one by one, because their sum is equal in all
// rows; their differences can, and the differences say as much.
package lattice
