// Package descriptor bounds the use of the files and connections that this process may have
// open. A process without any can neither read a table nor write a queue; so no peer may
// use up all of them.
package descriptor

import (
	"errors"
	"math"
	"syscall"
)

// share is the number of parts of all descriptors of which strangers at one port may use
// one. A process has two ports at most.
const share = 4

// Strangers returns the number of connections that strangers may have open at one port.
func Strangers() int { return limit() / share }

// limit returns the number of files and connections that this process may have open.
func limit() int {
	var most syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most); err != nil || most.Cur > math.MaxInt32 {
		return math.MaxInt32 // the system has no limit
	}
	return int(most.Cur)
}

// Exhausted reports whether an error says that this process or the machine has none left.
// Nothing is broken, and the condition is temporary.
func Exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
