//go:build !linux

package bench

import "github.com/mercer-fl/mercer/internal/daemon"

// resetPeak does nothing. Systems other than Linux report the peak since the start of the program.
func resetPeak() error { return nil }

// peakMemory returns the peak of memory since the start of the program, in bytes.
func peakMemory() (float64, error) {
	_, peak := daemon.Usage()
	return float64(peak), nil
}
