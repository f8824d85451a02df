package disk

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestCreateNeverOverwrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seed")
	if err := Create(path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("second Create: %v, want fs.ErrExist", err)
	}
	wantFile(t, path, "first")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v; want 0600", info.Mode(), err)
	}
}

func TestReplaceLeavesNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "approved")
	for _, content := range []string{"one", "another", ""} {
		if err := Replace(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		wantFile(t, path, content)
	}
	wantEntries(t, dir, 1)
}

// An error of the writer leaves the old file, and no other.
func TestReplaceByKeepsTheOldAfterAnError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report")
	long := bytes.Repeat([]byte("line\n"), bufferBytes)
	if err := ReplaceBy(path, func(w io.Writer) error { _, err := w.Write(long); return err }); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, string(long))
	broken := errors.New("broken")
	err := ReplaceBy(path, func(w io.Writer) error {
		_, err := w.Write([]byte("half"))
		return errors.Join(err, broken)
	})
	if !errors.Is(err, broken) {
		t.Fatalf("%v, want the error of what wrote", err)
	}
	wantFile(t, path, string(long))
	wantEntries(t, dir, 1)
}

func TestReplaceRefusesAFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "folder")
	for range 2 { // MakeDir accepts an existing folder
		if err := MakeDir(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := Replace(path, []byte("x")); err == nil {
		t.Fatal("a folder was replaced by a file")
	}
	wantEntries(t, dir, 1)
}

// Files of any size are overwritten: a reader with a second link to a file, or to its
// blocks, finds nothing of it.
func TestEraseOfALargeFile(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "seed"), filepath.Join(dir, "link")
	secret := bytes.Repeat([]byte("portion of a model"), 200_000)
	if err := errors.Join(Create(path, secret), os.Link(path, link), Erase(path)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	left, err := os.ReadFile(link)
	if err != nil || len(left) != len(secret) {
		t.Fatalf("%d bytes, %v", len(left), err)
	}
	if bytes.Contains(left, secret[:18]) {
		t.Error("the blocks still hold the file")
	}
}

// A kill during a Replace leaves an incomplete file, which the next start removes; complete
// files stay.
func TestSweepRemovesHalvesOfFiles(t *testing.T) {
	dir := t.TempDir()
	half, whole := filepath.Join(dir, draft+"123"), filepath.Join(dir, "model")
	if err := errors.Join(os.WriteFile(half, []byte("half a model"), 0o600), Create(whole, []byte("model")), Sweep(dir), Sweep(half)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a file is left: %v", err)
	}
	wantFile(t, whole, "model")
}

// Errors name the requested file, not the temporary one, and give advice if the disk is
// full.
func TestReasonsNameTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	err := ReplaceBy(path, func(io.Writer) error { return syscall.ENOSPC })
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != "disk: "+path+" cannot be written: no space left on device; make room there, or choose another disk" {
		t.Errorf("a full disk: %v", err)
	}
	err = replace(path, func(f *os.File) error {
		return errors.Join(f.Close(), f.Sync())
	})
	if !errors.Is(err, os.ErrClosed) || strings.Contains(err.Error(), ".new-") {
		t.Errorf("a file that is closed: %v", err)
	}
	source := &fs.PathError{Op: "read", Path: "elsewhere", Err: fs.ErrInvalid}
	if err := ReplaceBy(path, func(io.Writer) error { return source }); !errors.Is(err, source) || !strings.Contains(err.Error(), "elsewhere") {
		t.Errorf("a source that cannot be read: %v", err)
	}
	wantNothing(t, filepath.Dir(path))
}

func wantNothing(t *testing.T, dir string) {
	t.Helper()
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("%v is left, %v", entries, err)
	}
}

// A second link to the file shows the content of its blocks after the name is gone.
func TestEraseOverwritesBeforeItRemoves(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "seed"), filepath.Join(dir, "link")
	secret := bytes.Repeat([]byte("key!"), 8)
	if err := Create(path, secret); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	if err := Erase(path); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadFile(link)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != len(secret) || bytes.Contains(left, secret[:8]) {
		t.Fatalf("the blocks still hold %q", left)
	}
	if err := Erase(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("second Erase: %v, want fs.ErrNotExist", err)
	}
}

func TestErrorsNameThePath(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "no", "such", "folder")
	_, lockErr := Lock(missing)
	_, logErr := OpenLog(missing, func([]byte) error { return nil })
	for name, err := range map[string]error{
		"Lock":    lockErr,
		"OpenLog": logErr,
		"Create":  Create(missing, nil),
		"Replace": Replace(missing, nil),
		"Erase":   Erase(missing),
		"MakeDir": MakeDir(missing),
		"SyncDir": SyncDir(missing),
	} {
		if !errors.Is(err, fs.ErrNotExist) || !bytes.Contains([]byte(err.Error()), []byte(filepath.Dir(missing))) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLockExcludes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(path); !errors.Is(err, ErrLocked) {
		t.Fatalf("second Lock: %v, want ErrLocked", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Lock(path)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestWaitLockWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := WaitLock(path)
	if err != nil {
		t.Fatal(err)
	}
	var released atomic.Bool
	got := make(chan error)
	go func() {
		second, err := WaitLock(path)
		if err == nil && !released.Load() {
			err = errors.New("it did not wait")
		}
		got <- errors.Join(err, second.Close())
	}()
	time.Sleep(20 * time.Millisecond)
	released.Store(true)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Fatal(err)
	}
}

func wantEntries(t *testing.T, dir string, want int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != want {
		t.Fatalf("%d entries, %v; want %d: %v", len(entries), err, want, entries)
	}
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Fatalf("%s holds %q, %v; want %q", path, got, err, want)
	}
}

// ReplaceSecret leaves the new content alone: neither the former content's blocks nor a draft hold the
// former secret. An error leaves the former file.
func TestReplaceSecretLeavesNoFormerSecret(t *testing.T) {
	dir := t.TempDir()
	path, blocks := filepath.Join(dir, "key"), filepath.Join(t.TempDir(), "blocks")
	if err := ReplaceSecret(path, []byte("new")); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("without a former file: %v", err)
	}
	if err := errors.Join(Create(path, []byte("former")), os.Link(path, blocks), Create(path+secretDraft, []byte("of a crash"))); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceSecret(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "new")
	wantEntries(t, dir, 1)
	if b, err := os.ReadFile(blocks); err != nil || string(b) == "former" {
		t.Fatalf("the blocks hold %q, %v", b, err)
	}
	if err := errors.Join(EraseDraft(path), Create(path+secretDraft, []byte("of a crash")), EraseDraft(path)); err != nil {
		t.Fatal(err)
	}
	wantEntries(t, dir, 1)
}

// Folders are made with their parents, for their owner alone. An existing one is accepted, and a file is not.
func TestMakeDirs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b", "c")
	for range 2 {
		if err := MakeDirs(dir); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(filepath.Dir(dir)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	file := filepath.Join(dir, "file")
	if err := Create(file, nil); err != nil {
		t.Fatal(err)
	}
	for _, blocked := range []string{file, filepath.Join(file, "sub"), filepath.Join(file, "sub", "sub")} {
		if err := MakeDirs(blocked); err == nil || !strings.Contains(err.Error(), file+":") {
			t.Errorf("%s: %v", blocked, err)
		}
	}
}
