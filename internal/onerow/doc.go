// Package onerow holds the test that a method is one row: a fake stands in a test file, is
// handed to the program beside the real ones, and goes the whole way. It has no code of
// its own.
package onerow
