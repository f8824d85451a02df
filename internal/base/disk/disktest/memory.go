// Package disktest keeps the disk out of the time that tests take.
package disktest

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/mercer-fl/mercer/internal/base/disk"
)

const (
	memory = "/dev/shm" // where Linux keeps files in memory
	least  = 2 << 30    // bytes that must be free there
)

// InMemory puts the temporary folders of this process, and of the processes that it starts, into
// memory, where the machine has room for them and TMPDIR asks for no other place. What a home
// stores is synced to the disk at every step: some tests would wait for nothing else. Call it in
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

// runs reports whether programs in the folder may run: containers often forbid it, and some
// tests put programs into their folders.
func runs(dir string) bool {
	own, err := os.MkdirTemp(dir, "mercer-test")
	if err != nil {
		return false
	}
	defer func() { _ = os.RemoveAll(own) }()
	program := filepath.Join(own, "run")
	return os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700) == nil && exec.Command(program).Run() == nil
}
