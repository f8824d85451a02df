// Package onerow holds the tests that a method is one row and a learner is one row: a
// fake of each stands in a test file, is handed to the program beside the real ones, and
// goes the whole way. It has no code of its own.
package onerow
