package bench

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// cpuSeconds is the processor time of this process and of its children that
// have ended, user and system.
func cpuSeconds() (float64, error) {
	total := 0.0
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if err := unix.Getrusage(who, &u); err != nil {
			return 0, fmt.Errorf("bench: the system does not tell the processor time: %w", err)
		}
		total += seconds(u.Utime) + seconds(u.Stime)
	}
	return total, nil
}

func seconds(t unix.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
