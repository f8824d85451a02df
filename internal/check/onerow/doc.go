// Package onerow tests that a new method or learner needs only one new entry in a list. The
// tests pass a fake method and a fake learner to the program beside the real ones, and run them
// from job to model. The package has no code of its own.
package onerow
