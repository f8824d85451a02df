// Package rows holds what methods for holders of other rows have in common: a table's
// split, one order of columns, one scaling.
package rows
