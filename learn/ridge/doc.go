// Package ridge predicts numbers from a kernel. It implements kernel ridge regression, and Gaussian
// processes, which predict the same mean and its uncertainty.
//
// Both solve (K + s I) a = y with a Cholesky factor of the n x n kernel matrix
// K of the training rows (n^3 / 6 multiplications, 8 n^2 bytes); a new row x
// is predicted by the sum of a_i K(x, i). The shift s is called alpha in kernel
// ridge regression, as in scikit-learn, and noise in a Gaussian process, where
// it is the variance of the measurements around the truth.
//
// Targets are used unchanged: no mean is subtracted. A prediction far from all training rows
// tends to 0, so subtract the mean of the targets before and add it after, unless 0 has a
// meaning.
//
// Nothing is added to the diagonal implicitly. If K + s I is not positive definite to working
// precision, the error says at which row, and the caller decides about the remedy, a larger s.
//
//	gram := kernel.Of(kernel.LinearGram(x), k) // x: training rows
//	gp, err := ridge.FitGP(gram, targets, ridge.GPParams{Noise: 0.5})
//	if err != nil {
//		return err
//	}
//	// cross: kernel values of new rows with the training rows; prior: of each
//	// new row with itself.
//	mean, deviation := gp.Predict(cross), gp.Deviations(cross, prior)
package ridge
