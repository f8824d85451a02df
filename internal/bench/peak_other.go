//go:build !linux

package bench

import "github.com/mercer-fl/mercer/internal/daemon"

// resetPeak does nothing: other systems tell the peak since the program began.
func resetPeak() error { return nil }

// peakMemory is the peak of memory since the program began, in bytes.
func peakMemory() (float64, error) {
	_, peak := daemon.Usage()
	return float64(peak), nil
}
