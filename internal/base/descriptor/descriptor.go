// Package descriptor bounds what may use up the files and connections that this process may have
// open. Who has none left can neither read a table nor write a queue, so that nobody else may
// have them all.
package descriptor

import (
	"errors"
	"math"
	"syscall"
)

// share is the part of all descriptors that strangers at one door may have: one of four. A process has
// two doors at most.
const share = 4

// Strangers returns the number of connections that may be open to strangers at one door at a
// time.
func Strangers() int { return limit() / share }

// limit returns the number of files and connections that this process may have open.
func limit() int {
	var most syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most); err != nil || most.Cur > math.MaxInt32 {
		return math.MaxInt32 // the system names no bound
	}
	return int(most.Cur)
}

// Exhausted reports whether an error says that there is none left, of this process or of the
// machine: nothing is broken, and it passes.
func Exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
