// Package onerow tests that adding a method, or a learner, takes one entry in a list. Fakes, each
// in a test file, are passed to the program beside the real ones, and run from job to model. The
// package has no code of its own.
package onerow
