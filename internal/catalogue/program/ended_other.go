//go:build !linux

package program

// endMarked reports that nothing is left to end: only the group of a program is known here.
func endMarked(string) bool { return true }
