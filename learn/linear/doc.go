// Package linear trains linear models on features, which kernel machines become
// on random ones (see package kernel/feature): f(x) = w.phi(x), by the losses of
// classification and regression.
//
// [Fit] minimises mean loss + lambda/2 |w|^2 over all rows by cyclic block
// Newton: a block of features at a time, with the matrix of second derivatives
// replaced by its bound and factored once. It reads features from a [Table], so
// that they need not be in memory: [Phases] holds words of 8, 16 or 32 bits from
// which features are looked up.
//
//	table := linear.NewPhases[float32](len(rows), 2048, 16)
//	table.Put(words, 0, len(rows), 0, 2048)
//	f, err := linear.Fit(table, targets, linear.Params{Loss: linear.Logistic{}, Lambda: 1e-6})
//	u := linear.Decide(held, f.Coefficients)
//
// [DSG] is the algorithm of doubly stochastic gradients (Dai, Xie, He, Liang,
// Raj, Balcan, Song, "Scalable kernel methods via doubly stochastic gradients",
// NIPS 2014), step by step, for callers that bring features.
//
// Features of several parties' columns have no intercept: centre the targets of
// a regression first.
//
// # What to begin with
//
// The logistic loss, lambda 1e-6 and directions of exp(-|x-z|^2 / (2 s^2)), s the
// median distance between two rows, 2,048 of them in 16 bits. Median test errors
// of three splits 3:1 then are .021 on wdbc (standardised), .007 on digits
// (odd or even), .034 on phishing, .147 on a9a and .182 on default-credit
// (go test -tags slow -v ./learn/linear). Half that s suits phishing better
// (.030) and a9a worse (.153). Where labels are noise in good part lambda must be
// larger: 1e-4 for epsilon-5k, .375 beside .383 of a support vector machine. The
// default tolerance takes some five passes; decisions change little after the
// third.
package linear
