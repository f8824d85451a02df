// Package disktest puts the temporary folders of tests into memory, so that tests do not
// wait for the disk. It also reads and writes their files.
package disktest

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/mercer-fl/mercer/internal/base/disk"
)

const (
	memory = "/dev/shm" // folder on Linux whose files are in memory
	least  = 2 << 30    // number of free bytes that the folder must have
)

// InMemory moves the temporary folders of this process, and of the processes that it starts, into
// memory. It does so if TMPDIR is not set, and if /dev/shm has room and lets programs run. Daemons flush their
// files to the disk at every step, and some tests would mostly wait for that. Call InMemory in
// TestMain.
func InMemory() {
	if os.Getenv("TMPDIR") != "" {
		return
	}
	if free, err := disk.Free(memory); err != nil || free < least || !runs(memory) {
		return
	}
	if err := os.Setenv("TMPDIR", memory); err != nil {
		panic(err)
	}
}

// runs reports whether programs in the folder are allowed to run. Containers often forbid this, and some tests
// run programs from a temporary folder.
func runs(dir string) bool {
	own, err := os.MkdirTemp(dir, "mercer-test")
	if err != nil {
		return false
	}
	defer func() { _ = os.RemoveAll(own) }()
	program := filepath.Join(own, "run")
	return os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700) == nil && exec.Command(program).Run() == nil
}
