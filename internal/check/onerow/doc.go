// Package onerow holds the tests that a method is one row, and that a learner is: fakes stand
// in a test file each, are handed to the program beside the real ones, and go the whole way.
// It has no code of its own.
package onerow
