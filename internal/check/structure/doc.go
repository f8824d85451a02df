// Package structure holds tests that keep the program's structure: who names a method or a
// learner, who imports a method's package, what a daemon links, and that the tests, rules, paths and links that
// documents cite exist. It has no code of its own.
//
// What does not hold yet, or is allowed for good, stands in a list of testdata with its reason,
// one entry a line:
//
//	internal/anonymous/gateway -> secvm: the gateway runs secvm's training
//
// A list may only shrink: an entry that nothing needs any more fails its test, and so does
// everything that has none.
package structure
