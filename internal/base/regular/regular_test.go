package regular

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Read returns at once for everything that is not a file: a pipe without a writer would block.
func TestReadRefusesWhatIsNoFile(t *testing.T) {
	folder := t.TempDir()
	pipe, socket := filepath.Join(folder, "pipe"), filepath.Join(folder, "socket")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // closed at the end of the test
	for path, kind := range map[string]string{folder: "a folder", pipe: "a named pipe", socket: "a socket", "/dev/zero": "a device"} {
		want := path + " is " + kind + ", not a file; give the path of a file"
		if _, err := Read(path); err == nil || err.Error() != want {
			t.Errorf("error %v\nwant  %s", err, want)
		}
	}
}

func TestReadOfFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if _, err := Read(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
	if _, err := Read(path); err.Error() != path+" does not exist; correct the path" {
		t.Errorf("a missing file gives %v", err)
	}
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(path); err != nil || string(b) != "text" {
		t.Errorf("read %q, error %v", b, err)
	}
}

// A missing file under ~ is probably one of the home folder.
func TestReadOfATilde(t *testing.T) {
	for path, want := range map[string]bool{"~/a.csv": true, "~ann/a.csv": true, "/data/~/a.csv": true, "~": true, "/data/a~.csv": false, "/data/~a/b": false, "a.csv": false} {
		_, err := Read(path)
		if !errors.Is(err, fs.ErrNotExist) || strings.HasSuffix(err.Error(), "; write the whole path") != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A shell passes the output of a command as a pipe that is already open, as in <(command).
func TestReadOfAnOpenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // read only
	if _, err := w.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(fmt.Sprintf("/dev/fd/%d", r.Fd())); err != nil || string(b) != "text" {
		t.Errorf("read %q, error %v", b, err)
	}
}
