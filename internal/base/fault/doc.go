// Package fault tells why something failed, as the exit codes of the program do: whether the input, an
// operator's policy or a named peer is at fault, and what a peer may be told of it.
package fault
