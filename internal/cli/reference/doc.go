// Command reference writes docs/job.md and docs/commands.md from the program: the declarations
// of its job file, files that it refuses, and its commands.
//
//	go generate ./internal/cli/reference
//
// The pages hold no sentence about a key, a flag or a mistake that the program does not hold too.
package main

//go:generate go run . ../../../docs
