//go:build !linux

package bench

import (
	"os"

	"github.com/mercer-fl/mercer/internal/daemon"
)

// resetPeak does nothing. Systems other than Linux report the peak since the start of the program.
func resetPeak() error { return nil }

// peakMemory returns the peak of memory since the start of the program, in bytes.
func peakMemory() (float64, error) {
	_, peak := daemon.Usage()
	return float64(peak), nil
}

// errOtherProcess reports that this system does not say what another process uses.
var errOtherProcess = unavailable{"the memory of another process is measured on Linux only"}

func peakOfEnded(*os.ProcessState) (float64, error) { return 0, errOtherProcess }

func spentBy(int) (spent, error) { return spent{}, errOtherProcess }
