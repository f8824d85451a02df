package program

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

const (
	sweeps    = 100
	sweepTime = 10 * time.Millisecond
	// quietSweeps is the number of consecutive searches of /proc that must find no marked process.
	// One search can miss a process that an ending process has just started.
	quietSweeps = 2
)

// endMarked kills all processes with a program's mark in their environment, even if they have left
// the program's process group. It reports whether all processes have ended whose environment this
// user can read.
func endMarked(mark string) bool {
	quiet := 0
	for range sweeps {
		if quiet++; endOnce([]byte(mark)) {
			quiet = 0
		}
		if quiet == quietSweeps {
			return true
		}
		time.Sleep(sweepTime)
	}
	return false
}

// endOnce kills the marked processes that exist now. It reports whether it found any.
func endOnce(mark []byte) (found bool) {
	list, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return false
	}
	for _, path := range list {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			continue
		}
		process, err := os.FindProcess(pid) // open the process before reading, so that no other process can get its number
		if err != nil {
			continue
		}
		env, err := os.ReadFile(path)
		if err == nil && slices.ContainsFunc(bytes.Split(env, []byte{0}), func(v []byte) bool { return bytes.Equal(v, mark) }) {
			found = !errors.Is(process.Kill(), os.ErrProcessDone) || found
		}
		_ = process.Release()
	}
	return found
}
