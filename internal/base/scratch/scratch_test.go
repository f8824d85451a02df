package scratch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"testing"
)

func space(t *testing.T) (s *Space, folder string) {
	t.Helper()
	folder = t.TempDir()
	s, err := New(folder)
	if err != nil {
		t.Fatal(err)
	}
	return s, folder
}

func write(t *testing.T, s *Space, name string, content []byte) {
	t.Helper()
	err := s.Write(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, s *Space, name string) []byte {
	t.Helper()
	r, err := s.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return b
}

// Streams come back as they were written, any number of them at a time; no file has a name, and none
// holds what was written in clear.
func TestStreams(t *testing.T) {
	s, folder := space(t)
	long := bytes.Repeat([]byte("a secret "), 50_000)
	write(t, s, "long", long)
	write(t, s, "short", nil)
	r, err := s.Open("long")
	if err != nil {
		t.Fatal(err)
	}
	first := make([]byte, 9)
	if _, err := io.ReadFull(r, first); err != nil {
		t.Fatal(err)
	}
	if got := read(t, s, "long"); !bytes.Equal(got, long) || string(first) != "a secret " || len(read(t, s, "short")) != 0 {
		t.Errorf("%d bytes are read of %d", len(got), len(long))
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
	stored := make([]byte, 1<<16)
	if _, err := s.files["long"].ReadAt(stored, 0); err != nil || bytes.Contains(stored, []byte("secret")) {
		t.Errorf("the file holds what was written: %v", err)
	}
	write(t, s, "long", []byte("other"))
	if got := read(t, s, "long"); string(got) != "other" {
		t.Errorf("%q", got)
	}
	if err := s.Remove("long"); err != nil {
		t.Fatal(err)
	}
	var failed *Error
	if _, err := s.Open("long"); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &failed) {
		t.Error(err)
	}
	if err := s.Close(); err != nil || len(s.files) != 0 {
		t.Error(err)
	}
}

// After an error there is no stream. The writer's own errors are told apart from those of the disk.
func TestFailures(t *testing.T) {
	s, _ := space(t)
	broken := errors.New("no such ward")
	err := s.Write("x", func(w io.Writer) error {
		_, err := fmt.Fprint(w, "half")
		return errors.Join(err, broken)
	})
	var failed *Error
	if !errors.Is(err, broken) || errors.As(err, &failed) {
		t.Error(err)
	}
	if _, err := s.Open("x"); err == nil {
		t.Error("half a stream is there")
	}
	write(t, s, "x", bytes.Repeat([]byte("y"), 1<<20))
	if _, err := s.files["x"].WriteAt([]byte{1}, 200_000); err != nil {
		t.Fatal(err)
	}
	r, err := s.Open("x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); !errors.As(err, &failed) {
		t.Errorf("a damaged stream: %v", err)
	}
	if err := s.files["x"].Truncate(500_000); err != nil {
		t.Fatal(err)
	}
	if r, err = s.Open("x"); err == nil {
		_, err = io.ReadAll(r)
	}
	if !errors.As(err, &failed) {
		t.Errorf("a stream that is cut off: %v", err)
	}
	missing, err := New("/no/such/folder")
	if err != nil {
		t.Fatal(err)
	}
	if err := missing.Write("x", func(io.Writer) error { return nil }); !errors.As(err, &failed) {
		t.Error(err)
	}
}
