package cli

import "golang.org/x/sys/unix"

// freeMemory returns the total memory of the machine. macOS frees caches on demand, and does not
// report how much memory would be free.
func freeMemory() (int64, error) {
	n, err := unix.SysctlUint64("hw.memsize")
	return int64(n), err
}
