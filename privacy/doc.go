// Package privacy draws discrete Gaussian noise, accounts for it as differential privacy, and
// calibrates it for sums from which a ridge regression is solved.
//
// The unit of protection is one person with one row. Two data sets are neighbours if one of them
// has zeros where the other has this row's features and targets. The number of rows is public.
// Replacing a row by another one is two such steps: it changes sums of products of features by up
// to sqrt 2 times as much, and sums of features times targets by up to twice as much.
//
//	r, err := privacy.NewRidge(privacy.Guarantee{Epsilon: 4, Delta: 1e-6}, privacy.Shape{
//		Features: 128, Targets: 1, // A has 128 x 128 entries, B has 128
//		SquaredFeatures: privacy.Nearest(8, 16, 128), // |phi| <= 8, rounded to multiples of 2^-16
//		SquaredTargets:  1 << 32,
//		Summands:        privacy.Summands{Honest: 2, All: 3},
//	})
//	err = r.Draw(outer, cross, stream) // at each member who adds noise
//	alpha := r.Alpha()                 // the ridge of the regression, in units of A
//
// Noise is drawn exactly, by whole-number arithmetic ([Gaussian]), so nothing is lost to the
// rounding of floating-point numbers (Mironov, "On significance of the least significant bits for
// differential privacy", CCS 2012). Its time depends on what is drawn: see [Gaussian].
package privacy
