// Command reference generates docs/job.md and docs/commands.md. Their content comes from the
// program: the keys of job files, examples of refused files, and the commands.
//
//	go generate ./internal/cli/reference
//
// Apart from the introductions in the templates, the pages hold no sentence about a key, a flag or a mistake
// that the program does not hold too.
package main

//go:generate go run . ../../../docs
