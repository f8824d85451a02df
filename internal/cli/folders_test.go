package cli

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A run that cannot write leaves no half of its result, and removes nothing that was there or is beside it.
func TestFolderOfAFailedRun(t *testing.T) {
	full := errors.New("no space left on device")
	base := t.TempDir()
	out := filepath.Join(base, "mercer-out", "job", "okra")
	model := func() error { return os.WriteFile(filepath.Join(out, "north", "model"), nil, 0o600) }
	if err := inFolder(out, func() error { return errors.Join(inFolder(filepath.Join(out, "north"), model), full) }); !errors.Is(err, full) {
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

// A result that was there stays if a later run into the same folder cannot write.
func TestFolderThatWasThere(t *testing.T) {
	full := errors.New("no space left on device")
	out := t.TempDir()
	earlier := filepath.Join(out, "result.json")
	if err := os.WriteFile(earlier, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := inFolder(out, func() error { return full }); !errors.Is(err, full) {
		t.Fatal(err)
	}
	if _, err := os.Stat(earlier); err != nil {
		t.Error(err)
	}
}

// A path at which no folder can be made is refused before a job runs, in a sentence that says why.
func TestFolderThatCannotBe(t *testing.T) {
	base := t.TempDir()
	link := filepath.Join(base, "link")
	if err := os.Symlink("gone/there", link); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		link:                       link + " is a link to gone/there, which does not exist; make that folder, or choose another",
		filepath.Join(link, "run"): link + " is a link to gone/there, which does not exist; make that folder, or choose another",
	}
	if _, err := os.Stat("/proc/self"); err == nil { // Linux
		want["/proc/self/mercer"] = "no file can be written there (no such file or directory); choose another folder"
	}
	for out, why := range want {
		if err := folder(out); err == nil || err.Error() != "--out "+out+" cannot be the results folder: "+why {
			t.Errorf("%s: %v", out, err)
		}
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
	if want := "--out " + out + " cannot be the results folder: " + filepath.Dir(out) + " is a file, not a folder; choose a path of folders"; err == nil || err.Error() != want {
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
