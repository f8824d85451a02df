package cli

import "golang.org/x/sys/unix"

// freeMemory is the machine's memory: macOS gives up caches when asked to, and
// has no figure for what would be left.
func freeMemory() (int64, error) {
	n, err := unix.SysctlUint64("hw.memsize")
	return int64(n), err
}
