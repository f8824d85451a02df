package snapshot

import (
	"bytes"
	"fmt"
	"io"
)

// Memory is a store of a process that keeps nothing.
type Memory struct{ streams map[string][]byte }

// Write implements [Store].
func (m *Memory) Write(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if m.streams == nil {
		m.streams = make(map[string][]byte)
	}
	m.streams[name] = b.Bytes()
	return nil
}

// Open implements [Store].
func (m *Memory) Open(name string) (io.ReadCloser, error) {
	b, there := m.streams[name]
	if !there {
		return nil, fmt.Errorf("snapshot: there is no %s", name)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// Remove implements [Store].
func (m *Memory) Remove(name string) error {
	delete(m.streams, name)
	return nil
}
