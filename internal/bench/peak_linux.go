package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
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
func peakMemory() (float64, error) { return peakOf(os.Getpid()) }

func processFile(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// peakOf returns the peak of a process's memory, in bytes.
func peakOf(pid int) (float64, error) {
	status, err := os.ReadFile(processFile(pid, "status"))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(status) {
		var kib float64
		if _, err := fmt.Sscanf(string(line), "VmHWM: %g kB", &kib); err == nil {
			return kib * 1024, nil
		}
	}
	return 0, errors.New("the kernel does not report the peak of the process's memory")
}

// peakOfEnded returns the peak of the memory of a process that has ended, in bytes.
func peakOfEnded(p *os.ProcessState) (float64, error) {
	used, is := p.SysUsage().(*syscall.Rusage)
	if !is {
		return 0, errors.New("the kernel does not report the peak of the process's memory")
	}
	return float64(used.Maxrss) * 1024, nil
}

// ticks is the number of clock ticks in a second, in which the kernel counts processor time.
const ticks = 100

// spentBy returns the peak of memory and the processor time of a process so far.
func spentBy(pid int) (s spent, err error) {
	if s.peak, err = peakOf(pid); err != nil {
		return s, err
	}
	stat, err := os.ReadFile(processFile(pid, "stat"))
	if err != nil {
		return s, err
	}
	_, rest, _ := bytes.Cut(stat, []byte(") ")) // after the program's name
	fields := bytes.Fields(rest)
	const user, system = 11, 12 // fields 14 and 15 of the whole line
	if len(fields) <= system {
		return s, errors.New("the kernel does not report the process's time")
	}
	for _, field := range fields[user : system+1] {
		v, err := strconv.ParseFloat(string(field), 64)
		if err != nil {
			return s, err
		}
		s.cpu += v / ticks
	}
	return s, nil
}
