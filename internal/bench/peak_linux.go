package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
)

// resetPeak resets the peak that the kernel records of this process's memory (proc(5),
// clear_refs). If that is not allowed, the peak counts from the start of the program.
func resetPeak() error {
	err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// peakMemory returns the peak of this process's memory since resetPeak, in bytes.
func peakMemory() (float64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(status) {
		var kib float64
		if _, err := fmt.Sscanf(string(line), "VmHWM: %g kB", &kib); err == nil {
			return kib * 1024, nil
		}
	}
	return 0, errors.New("the kernel does not report the peak of this process's memory")
}
