//go:build linux

package powercut

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// MountTest mounts a disk for a test in a folder of its own. It skips the test where nothing can be mounted,
// unless MERCER_REQUIRE_FUSE is set.
func MountTest(t testing.TB) (d *Disk, dir string) {
	t.Helper()
	dir = t.TempDir()
	d, err := Mount(dir)
	if err != nil {
		if os.Getenv("MERCER_REQUIRE_FUSE") == "" {
			t.Skipf("no file system can be mounted here: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.unmountWhenIdle(10 * time.Second); err != nil {
			t.Error(err)
		}
	})
	return d, dir
}

// unmountWhenIdle unmounts the disk, and tries again for a time while files are open. The garbage collector closes
// the files that a test has left open.
func (d *Disk) unmountWhenIdle(patience time.Duration) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		runtime.GC()
		if err := d.Unmount(); !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline) {
			return err
		}
	}
}
