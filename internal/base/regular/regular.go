// Package regular opens files that people name, and refuses folders, devices and other paths that are no files.
//
//	b, err := regular.Read("job.yaml")
//
// A named pipe without a writer would block its reader without end, and a device such as /dev/zero
// never ends. Pipes that the process already has, such as /dev/stdin, have a writer and are read.
package regular

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Open opens the file at path for reading. It returns an error for a folder, a device, a socket, and a named
// pipe that this process does not have open.
func Open(path string) (*os.File, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// Read returns the content of the file at path. It refuses the same paths as [Open].
func Read(path string) (b []byte, err error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(f)
}

// Check returns an error unless path is a file, or a pipe that this process has open.
func Check(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		cause := &fs.PathError{Op: "open", Path: path, Err: errors.Unwrap(err)}
		if errors.Is(err, fs.ErrNotExist) {
			return &absent{cause, cmp.Or(Tilde(path), "correct the path")}
		}
		return cause
	}
	kind := kindOf(info.Mode())
	if kind == "" || info.Mode()&fs.ModeNamedPipe != 0 && inherited(path) {
		return nil
	}
	return fmt.Errorf("%s is %s, not a file; give the path of a file", path, kind)
}

// absent is the error that nothing is at a path, with advice.
type absent struct {
	*fs.PathError
	advice string
}

func (e *absent) Error() string { return e.Path + " does not exist; " + e.advice }

func (e *absent) Unwrap() error { return e.PathError }

// Tilde returns advice about a path in which ~ probably stands for the home folder. It returns "" for other
// paths.
func Tilde(path string) string {
	first, _, _ := strings.Cut(path, "/")
	if strings.HasPrefix(first, "~") || strings.Contains(path+"/", "/~/") {
		return "only a shell replaces ~ by the home folder, and only at the beginning of a word; write the whole path"
	}
	return ""
}

// kindOf names what is at a path in place of a regular file. For a regular file it returns "".
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// inherited reports whether path leads to a file that the process had open from the start.
func inherited(path string) bool {
	return path == "/dev/stdin" || strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/")
}
