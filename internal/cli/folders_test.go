package cli

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A run that cannot write leaves no empty folder, and removes none that was there or has content.
func TestFolderOfAFailedRun(t *testing.T) {
	full := errors.New("no space left on device")
	base := t.TempDir()
	out := filepath.Join(base, "mercer-out", "job", "okra")
	if err := inFolder(out, func() error { return inFolder(filepath.Join(out, "north"), func() error { return full }) }); !errors.Is(err, full) {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
		t.Errorf("left %v, error %v", left, err)
	}
	if err := os.Mkdir(filepath.Join(base, "mercer-out"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := inFolder(out, func() error {
		return errors.Join(os.WriteFile(filepath.Join(filepath.Dir(out), "kept"), nil, 0o600), full)
	})
	if !errors.Is(err, full) {
		t.Fatal(err)
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty folder is left: %v", err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(out), "kept")); err != nil {
		t.Error(err)
	}
}

// A folder below a file is named, and nothing is written.
func TestFolderBelowAFile(t *testing.T) {
	base := t.TempDir()
	if err := os.WriteFile(filepath.Join(base, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(base, "file", "out")
	err := inFolder(out, func() error { t.Error("written"); return nil })
	if want := "--out " + out + " cannot be the results folder: stat " + out + ": not a directory"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// A pipe in place of a run's file is refused: nobody writes into it.
func TestCopyFileOfAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "model")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copyFile(filepath.Join(t.TempDir(), "to"), pipe); err == nil || err.Error() != pipe+" is a named pipe, not a file; give the path of a file" {
		t.Error(err)
	}
}
