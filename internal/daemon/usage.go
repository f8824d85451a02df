package daemon

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Usage returns the processor time (user and system) of this process in seconds, and its peak
// memory in bytes.
func Usage() (cpuSeconds float64, peakRSS uint64) { return usage(unix.RUSAGE_SELF) }

// UsageOfChildren returns the processor time of all ended child processes, and the peak memory of
// the largest of them.
func UsageOfChildren() (cpuSeconds float64, peakRSS uint64) { return usage(unix.RUSAGE_CHILDREN) }

func usage(who int) (cpuSeconds float64, peakRSS uint64) {
	var u unix.Rusage
	if err := unix.Getrusage(who, &u); err != nil {
		return 0, 0 // getrusage cannot fail on the systems that Mercer supports
	}
	unit := uint64(1 << 10)
	if runtime.GOOS == "darwin" {
		unit = 1 // macOS reports bytes, Linux reports KiB
	}
	return seconds(u.Utime) + seconds(u.Stime), uint64(u.Maxrss) * unit
}

func seconds(t unix.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
