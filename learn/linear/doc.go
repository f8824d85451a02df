// Package linear trains linear models on features, for classification and regression: f(x) =
// w.phi(x). On random features (see package kernel/feature) they approximate kernel machines.
//
// [Fit] minimises mean loss + lambda/2 |w|^2 over all rows by cyclic block Newton: it moves one
// block of features at a time, with the matrix of second derivatives replaced by its bound and
// factored once. It reads features from a [Table], so they need not be in memory: [Phases] holds
// words of 8, 16 or 32 bits, and makes the features when they are read.
//
//	table := linear.NewPhases[float32](len(rows), 2048, 16)
//	table.Put(words, 0, len(rows), 0, 2048)
//	f, err := linear.Fit(table, targets, linear.Params{Loss: linear.Logistic{}, Lambda: 1e-6})
//	u := linear.Decide(held, f.Coefficients)
//
// [DSG] is the algorithm of doubly stochastic gradients (Dai, Xie, He, Liang, Raj, Balcan, Song,
// "Scalable kernel methods via doubly stochastic gradients", NIPS 2014), step by step, for
// callers that supply the features.
//
// Features of several parties' columns have no intercept: subtract the mean from the targets of a
// regression first.
//
// # Settings to begin with
//
// Use the logistic loss, lambda 1e-6 and 2,048 directions in 16 bits of exp(-|x-z|^2 / (2 s^2)),
// where s is the median distance between two rows. The median test errors of three splits 3:1 are
// then .021 on wdbc (standardised), .007 on digits (odd or even), .034 on phishing, .147 on a9a
// and .182 on default-credit (go test -tags slow -v ./learn/linear). Half that s is better for
// phishing (.030) and worse for a9a (.153). If many labels are noise, lambda must be larger: 1e-4
// for epsilon-5k, with .375 compared to .383 of a support vector machine. The default tolerance
// takes some five passes; decisions change little after the third.
package linear
