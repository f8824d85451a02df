// Command manual writes the manual pages of mercer and its completion scripts for shells, as packages of
// operating systems hold them.
//
//	go run ./internal/cli/manual FOLDER
package main
