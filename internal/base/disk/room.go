package disk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// Failed reports whether the disk is what failed: it is full, read-only or broken. The same
// may succeed later.
func Failed(err error) bool {
	for _, why := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO} {
		if errors.Is(err, why) {
			return true
		}
	}
	return false
}

// probeBytes is more than a short record of a journal, with what the file system adds.
const probeBytes = 256 << 10

// Probe returns the error of writing a file into a folder, which it removes again.
func Probe(dir string) error {
	path := filepath.Join(dir, "probe.tmp")
	err := Write(path, make([]byte, probeBytes))
	return errors.Join(err, os.RemoveAll(path))
}
