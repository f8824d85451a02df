// Package kpca implements kernel principal component analysis. It finds the directions of largest
// variance in a kernel's feature space, and the scores of rows along them (B. Schölkopf, A. Smola,
// K.-R. Müller, Nonlinear component analysis as a kernel eigenvalue problem, Neural Computation 10,
// 1998).
//
//	gram := kernel.Of(kernel.LinearGram(x), k) // x: training rows
//	m, err := kpca.Fit(gram, 2)
//	if err != nil {
//		return err
//	}
//	scores := m.Scores()            // training rows x 2
//	others := m.Transform(cross)    // cross: kernel of new rows with the training rows
//
// Names and scales are scikit-learn's: Eigenvalues belong to the centred
// kernel matrix, not divided by the number of rows, and the scores of the
// training rows along a component have the eigenvalue as their sum of squares.
// An eigenvector's sign is arbitrary; here its entry of largest size is
// positive.
//
// From 500 rows on, the eigenpairs come from the Lanczos iteration, which reads
// the kernel matrix once per step and needs no copy of it; below, from a dense
// solver.
package kpca
