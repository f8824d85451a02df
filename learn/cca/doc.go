// Package cca implements kernel canonical correlation analysis. It finds pairs of functions, one in
// each of two kernels' feature spaces, whose values on the same rows have the largest correlation
// (F. Bach, M. Jordan, Kernel independent component analysis, JMLR 3, 2002, section 3.2; D.
// Hardoon, S. Szedmak, J. Shawe-Taylor, Canonical correlation analysis, Neural Computation 16,
// 2004).
//
// The two kernels are two views of the same n rows: other columns, or columns
// of other owners.
//
//	m, err := cca.Fit(x, y, cca.Params{Components: 2, Regularization: 0.01})
//	if err != nil {
//		return err
//	}
//	fmt.Println(m.Correlations)
//	u, v := m.X.Transform(crossX), m.Y.Transform(crossY) // new rows x 2 each
//
// With centred kernel matrices A and B, and k = Regularization n, the dual
// coefficients a solve
//
//	(A + k I)^-1 B (B + k I)^-1 A a = rho^2 a
//
// Without regularization a kernel matrix of full rank correlates perfectly with anything;
// therefore Regularization must be above 0.
//
// It is meant for a few thousand rows: it takes up to some 5 n^3 multiplications and eight matrices of
// n^2 values.
package cca
