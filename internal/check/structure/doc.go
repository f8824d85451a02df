// Package structure holds tests of the program's structure: the files that name a method or a
// learner, the imports of a method's package, and the packages that a daemon links. They also
// check that the tests, rules, paths and links in documents exist. The package has no code of its
// own.
//
// Exceptions, temporary or permanent, are in lists of testdata with their reasons, one entry a
// line:
//
//	internal/anonymous/gateway -> secvm: the gateway runs secvm's training
//
// A list may only shrink: a test fails for an entry that is no longer needed, and for an exception
// without an entry.
package structure
