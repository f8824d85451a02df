package extsort

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"
)

// memory is a store that counts what it holds.
type memory struct {
	streams map[string][]byte
	most    int // streams at a time
}

func newMemory() *memory { return &memory{streams: make(map[string][]byte)} }

func (m *memory) Write(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	m.streams[name] = b.Bytes()
	m.most = max(m.most, len(m.streams))
	return nil
}

func (m *memory) Open(name string) (io.ReadCloser, error) {
	b, ok := m.streams[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

func (m *memory) Remove(name string) error {
	delete(m.streams, name)
	return nil
}

func drawn(n int) (list [][]byte) {
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		list = append(list, fmt.Append(nil, r.IntN(n/2), "abcdefgh"[:r.IntN(8)]))
	}
	return list
}

func collect(t *testing.T, s *Sorter) (list [][]byte) {
	t.Helper()
	for record, err := range s.All() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, slices.Clone(record))
	}
	return list
}

// Whatever the size of runs, all records come back in order, as often as they are read; nothing is left.
func TestRecordsAreSorted(t *testing.T) {
	list := drawn(5000)
	want := slices.Clone(list)
	slices.SortFunc(want, bytes.Compare)
	for _, runBytes := range []int{1 << 20, 3000, 40, 1} { // one, some, and all levels of them
		m := newMemory()
		s := New(m, "some", bytes.Compare, runBytes)
		for _, record := range list {
			if err := s.Add(record); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if got := collect(t, s); !slices.EqualFunc(got, want, bytes.Equal) {
				t.Fatalf("runs of %d bytes: %d records of %d, or in another order", runBytes, len(got), len(want))
			}
		}
		for _, err := range s.All() { // a reader may stop
			if err != nil {
				t.Error(err)
			}
			break
		}
		if err := s.Close(); err != nil || len(m.streams) != 0 || m.most > 4*fanIn {
			t.Errorf("runs of %d bytes: %d streams left, %d at a time, %v", runBytes, len(m.streams), m.most, err)
		}
	}
	if got := collect(t, New(newMemory(), "none", bytes.Compare, 10)); got != nil {
		t.Errorf("no records: %q", got)
	}
}

// A run that is cut off or lost is an error, and never a shorter list.
func TestDamagedRunsAreErrors(t *testing.T) {
	for name, damage := range map[string]func(*memory, string){
		"cut":   func(m *memory, name string) { m.streams[name] = m.streams[name][:len(m.streams[name])-1] },
		"empty": func(m *memory, name string) { m.streams[name] = nil },
		"gone":  func(m *memory, name string) { delete(m.streams, name) },
		"large": func(m *memory, name string) { copy(m.streams[name], bytes.Repeat([]byte{0xff}, 8)) },
	} {
		m := newMemory()
		s := New(m, "some", bytes.Compare, 1000)
		for _, record := range drawn(1000) {
			if err := s.Add(record); err != nil {
				t.Fatal(err)
			}
		}
		collect(t, s)
		for run := range m.streams {
			damage(m, run)
			break
		}
		var failed error
		for _, err := range s.All() {
			failed = errors.Join(failed, err)
		}
		if failed == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRecordsThatAreTooLong(t *testing.T) {
	if err := New(newMemory(), "some", bytes.Compare, 10).Add(make([]byte, MostBytes+1)); err == nil {
		t.Error("a record of more than 64 MiB is taken")
	}
}
