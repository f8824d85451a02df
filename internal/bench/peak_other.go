//go:build !linux

package bench

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// resetPeak does nothing: other systems tell the peak since the program began.
func resetPeak() error { return nil }

// peakMemory is the peak of memory since the program began, in bytes.
func peakMemory() (float64, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	if runtime.GOOS == "darwin" {
		return float64(u.Maxrss), nil
	}
	return float64(u.Maxrss) * 1024, nil
}
