// Package prepare turns the cells of real tables into numbers: gaps, categories, dates, units.
//
// A job's [Schema] describes the columns for all parties. A party's own [Mapping] describes how
// its file differs: other names, words and units. [Read] gives a [Frame], whose cells are typed
// and can be gaps. A [Preparation] holds the values that fill gaps and the agreed categories; it
// makes the table of numbers that learners read. The order of the steps is always the same:
//
//	rename, values, parse, unit, range      Read, row by row
//	fill gaps, transform, one-hot           Preparation.Apply
//	scale                                   by Preparation.Offset and Factor; one-hot columns are not scaled
//
// A preparation is fitted on training rows: by [FitAlone] if one party has all rows of a column,
// or by [Plan.Vector] and [Plan.Fit] from sums of integers over several parties. The columns of
// categories have scikit-learn's names, such as sex_F. Columns that mark gaps have names such as
// creatinine_missing.
package prepare
