package disk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// Failed reports whether the disk caused an error because it is full, read-only or broken. The same
// operation can succeed later.
func Failed(err error) bool {
	for _, why := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO} {
		if errors.Is(err, why) {
			return true
		}
	}
	return false
}

// probeBytes is the size of the file that Probe writes. It is more than a short record of a journal
// needs with the file system's overhead.
const probeBytes = 256 << 10

// Probe tests whether a folder can be written. It writes a file, removes it, and returns the errors
// of both steps.
func Probe(dir string) error {
	path := filepath.Join(dir, "probe.tmp")
	err := Write(path, make([]byte, probeBytes))
	return errors.Join(err, os.RemoveAll(path))
}
