package extsort

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
)

// Memory is a store in memory: it maps the name of a stream to its bytes. The zero value is empty.
type Memory map[string][]byte

// Write implements [Store].
func (m *Memory) Write(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if *m == nil {
		*m = make(Memory)
	}
	(*m)[name] = b.Bytes()
	return nil
}

// Open implements [Store].
func (m *Memory) Open(name string) (io.ReadCloser, error) {
	b, there := (*m)[name]
	if !there {
		return nil, fmt.Errorf("there is no stream %s: %w", name, fs.ErrNotExist)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// Remove implements [Store].
func (m *Memory) Remove(name string) error {
	delete(*m, name)
	return nil
}
