// Package fault classifies errors like the program's exit codes. The cause of an error is the
// input, an operator's policy, a peer, a time limit, or none of these. The package also determines the
// part of an error that peers are allowed to read.
package fault
