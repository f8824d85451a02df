// Package fault classifies errors like the program's exit codes. The cause of an error is the
// input, an operator's policy or a named peer. It also determines the part of an error that peers
// are allowed to read.
package fault
