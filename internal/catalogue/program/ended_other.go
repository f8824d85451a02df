//go:build !linux

package program

// endMarked reports that no process is left: on this system only the program's group is known.
func endMarked(string) bool { return true }
