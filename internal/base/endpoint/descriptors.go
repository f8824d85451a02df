package endpoint

import (
	"math"
	"syscall"
)

// descriptors returns the number of files and connections that this process may open.
func descriptors() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > math.MaxInt32 {
		return math.MaxInt32 // the system names no bound
	}
	return int(limit.Cur)
}
