package disk

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrLocked reports that another process, or another open file of this process, holds the lock.
var ErrLocked = errors.New("another process is using it; stop that process first")

// Lock takes an exclusive lock on path, which it creates. It does not wait: if the lock is
// held, it returns an error for which errors.Is(err, ErrLocked) holds. The lock lasts until
// the file is closed, or the process ends in any way.
func Lock(path string) (*os.File, error) {
	return lock(path, syscall.LOCK_NB)
}

// WaitLock is like Lock for locks that are held briefly. It waits until the holder of the lock,
// another goroutine or another process, releases it.
func WaitLock(path string) (*os.File, error) {
	return lock(path, 0)
}

func lock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("disk: %w", err)
	}
	err = syscall.EINTR
	for errors.Is(err, syscall.EINTR) { // a signal interrupted the wait
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|how)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("disk: %s: %w", path, err), f.Close())
	}
	return f, nil
}
