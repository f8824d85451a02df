// Package structure holds tests of the program's structure. They check which files name a method
// or a learner, which packages import a method's package, and which packages those of daemons import,
// directly or through others. They also check that the tests, rules, paths and links in documents
// exist. The package has no code of its own.
//
// Exceptions, temporary or permanent, are in lists of testdata with their reasons, one entry a
// line:
//
//	internal/anonymous/gateway -> secvm: the gateway runs secvm's training
//
// A test fails for an entry that is no longer needed, and for an exception without an entry.
package structure
