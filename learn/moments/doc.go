// Package moments learns from sums over rows: with phi(x) the random features
// of a row (see package feature) and y its targets,
//
//	A = sum of phi phi^T    B = sum of phi y^T    n = number of rows
//
// are all that ridge regression on the features needs. The sums are whole
// numbers: each feature is rounded to a multiple of 2^-16 first. So sums of
// several parties add up exactly, in any order, and equal the sums over all
// their rows in one place, number for number.
//
//	s, err := moments.Summarize(m, rows, moments.Classes{Codes: codes, Count: k}) // at each party
//	score, err := moments.ClassScore(s, 0.1) // of the sums of all, for each alpha
//	solution, err := moments.Solve(s, 0.1)   // for the best
//	correct, err := moments.Correct(m, solution, heldOut, codes) // at each party
//
// Classes are told apart by one regression each on the targets +1 (of the
// class) and -1: that is kernel ridge regression with the features' kernel
// 2/M phi(x).phi(z), and its alpha is package ridge's. The same sums give
// regressions of numbers ([Regress]), the deviations of Gaussian processes
// ([Process]) and the components of kernel PCA ([Components]): exactly as
// packages ridge and kpca give them with the features' kernel, except for the rounding
// of the features.
//
// A sum is no anonymity. Somebody who holds A sees for any row how well the rows
// behind it explain it (the leverage), and so whether it is likely one of them:
// [Membership] measures how likely. It depends on the number of rows for each
// feature.
package moments
