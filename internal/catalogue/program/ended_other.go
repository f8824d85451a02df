//go:build !linux

package program

// endMarked always returns true: on this system, only processes of the program's group can be
// found.
func endMarked(string) bool { return true }
