// Package privacy draws discrete Gaussian noise, accounts for it as differential privacy, and
// calibrates the noise for sums of features from which a ridge regression is solved.
//
// The unit of protection is one person with one row. Two data sets are neighbours if one of them
// has zeros where the other has this row's features and targets: the number of rows is public.
// Replacing a row by another one changes the sums of products by up to sqrt 2 times as much, and
// the sums of targets by up to twice as much.
package privacy
