package disk

import (
	"fmt"
	"syscall"
)

// Free returns the number of bytes that users other than root can still write on the disk of a folder.
func Free(dir string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("disk: %s: %w", dir, err)
	}
	return s.Bavail * uint64(s.Bsize), nil
}
