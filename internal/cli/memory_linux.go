package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
)

// freeMemory returns the number of bytes that the kernel could give to a new program.
func freeMemory() (int64, error) {
	facts, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(facts) {
		var kib int64
		if _, err := fmt.Sscanf(string(line), "MemAvailable: %d kB", &kib); err == nil {
			return kib << 10, nil
		}
	}
	return 0, errors.New("the system does not report its free memory")
}
