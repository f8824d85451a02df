// Package descriptor limits the share of this process's open files and connections that strangers
// can use. A stranger is a peer that has not proven its name. A process without a free file descriptor can
// neither read a table nor write a queue, so peers must not be able to use up all descriptors.
package descriptor

import (
	"errors"
	"math"
	"syscall"
)

// share sets the limit for strangers: at one port they can use 1/share of all descriptors. A process
// opens at most three ports to other machines.
const share = 4

// Strangers returns the largest number of connections that strangers can have open at one port.
func Strangers() int { return limit() / share }

// limit returns the largest number of files and connections that this process can have open.
func limit() int {
	var most syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most); err != nil || most.Cur > math.MaxInt32 {
		return math.MaxInt32 // the system sets no limit
	}
	return int(most.Cur)
}

// Exhausted reports whether an error means that this process or the machine has no file descriptor
// left. Nothing is broken, and the condition is temporary.
func Exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
