// Package scratch stores byte streams that are too large for memory, for as long as one task takes.
//
//	space, err := scratch.New(folder)
//	...
//	err = space.Write("runs", func(w io.Writer) error { ... })
//	r, err := space.Open("runs")
//	...
//	err = space.Close()
//
// Every stream is sealed under a key that is in the memory of this process alone. Its file has no name
// on the disk: when the process ends, even by a crash, the system frees the file.
package scratch

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"github.com/mercer-fl/mercer/internal/base/sealed"
)

// Space holds byte streams by name. Several streams can be read at a time, but several goroutines must not use
// one Space. Close frees all streams.
type Space struct {
	folder string
	key    []byte
	files  map[string]*os.File
}

// Error reports that a stream could not be written or read, whatever was in it.
type Error struct{ Err error }

func (e *Error) Error() string { return fmt.Sprintf("scratch: %v", e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an empty space, whose files are in an existing folder.
func New(folder string) (*Space, error) {
	s := &Space{folder: folder, key: make([]byte, 32), files: make(map[string]*os.File)}
	if _, err := rand.Read(s.key); err != nil {
		return nil, err
	}
	return s, nil
}

// Write stores a stream, and replaces an earlier one of the same name. After an error of write, the space has
// no stream of this name.
func (s *Space) Write(name string, write func(io.Writer) error) error {
	if err := s.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := s.unnamed()
	if err != nil {
		return &Error{err}
	}
	to := &file{File: f}
	w, err := sealed.NewWriter(to, s.key, name)
	if err == nil {
		err = errors.Join(write(w), w.Close())
	}
	if err = errors.Join(err, to.failed()); err != nil {
		return errors.Join(err, f.Close())
	}
	s.files[name] = f
	return nil
}

// unnamed creates a file and removes its name. A crash between these two steps leaves an empty file.
func (s *Space) unnamed() (*os.File, error) {
	f, err := os.CreateTemp(s.folder, ".new-scratch-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// file remembers the first error of writing.
type file struct {
	*os.File
	err error
}

// Write implements [io.Writer].
func (f *file) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	if err != nil && f.err == nil {
		f.err = err
	}
	return n, err
}

func (f *file) failed() error {
	if f.err == nil {
		return nil
	}
	return &Error{f.err}
}

// Open opens a stream from its beginning.
func (s *Space) Open(name string) (io.ReadCloser, error) {
	f, there := s.files[name]
	if !there {
		return nil, &Error{fmt.Errorf("there is no stream %s: %w", name, fs.ErrNotExist)}
	}
	r, err := sealed.NewReader(io.NewSectionReader(f, 0, math.MaxInt64), s.key, name)
	if err != nil {
		return nil, &Error{err}
	}
	return opened{r}, nil
}

// opened reads a stream.
type opened struct{ plain *sealed.Reader }

// Read implements [io.Reader].
func (o opened) Read(b []byte) (int, error) {
	n, err := o.plain.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &Error{err}
	}
	return n, err
}

// Close clears the decrypted bytes.
func (o opened) Close() error {
	o.plain.Clear()
	return nil
}

// Remove frees a stream.
func (s *Space) Remove(name string) error {
	f, there := s.files[name]
	if !there {
		return &Error{fmt.Errorf("there is no stream %s: %w", name, fs.ErrNotExist)}
	}
	delete(s.files, name)
	if err := f.Close(); err != nil {
		return &Error{err}
	}
	return nil
}

// Close frees all streams, and forgets the key.
func (s *Space) Close() error {
	var errs error
	for name := range s.files {
		errs = errors.Join(errs, s.Remove(name))
	}
	clear(s.key)
	return errs
}
