// Package moments learns from sums over rows. With phi(x) the features of a row, random ones or its bounded
// columns (see package feature), and y its targets, the sums
//
//	A = sum of phi phi^T    B = sum of phi y^T    n = number of rows
//
// are sufficient for ridge regression on the features. The sums are integers: each feature and target is
// rounded to a multiple of 2^-16 first. So sums of several parties add up exactly, in any order,
// and equal the sums over all their rows in one place, number for number.
//
//	s, err := moments.Summarize(m, rows, moments.Classes{Codes: codes, Count: k}) // at each party
//	score, err := moments.ClassScore(s, 0.1) // for each alpha; s: sums over all parties
//	solution, err := moments.Solve(s, 0.1)   // for the best alpha
//	correct, err := moments.Correct(m, solution, heldOut, codes) // at each party
//
// Classes are separated by one regression each on the targets +1 (of the class) and -1: that is
// kernel ridge regression with the features' kernel 2/M phi(x).phi(z), and its alpha is package
// ridge's. The same sums give regressions of numbers ([Regress]), the deviations of Gaussian
// processes ([Process]) and the components of kernel PCA ([Components]): the same as those of
// packages ridge and kpca with the features' kernel, except for the rounding of features and targets.
//
// A sum does not make rows anonymous. From A one can compute, for any row, how well the rows
// behind A explain it (the leverage), and so whether it is probably one of them: [Membership]
// measures how reliably. The reliability depends on the number of rows per feature.
package moments
