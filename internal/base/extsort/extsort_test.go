package extsort

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
)

// counting is a store that counts its streams.
type counting struct {
	Memory
	most int // streams at a time
}

func (c *counting) Write(name string, write func(io.Writer) error) error {
	err := c.Memory.Write(name, write)
	c.most = max(c.most, len(c.Memory))
	return err
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
		m := new(counting)
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
		if err := s.Close(); err != nil || len(m.Memory) != 0 || m.most > 4*fanIn {
			t.Errorf("runs of %d bytes: %d streams left, %d at a time, %v", runBytes, len(m.Memory), m.most, err)
		}
	}
	if got := collect(t, New(new(Memory), "none", bytes.Compare, 10)); got != nil {
		t.Errorf("no records: %q", got)
	}
}

// A run that is cut off or lost is an error, and never a shorter list.
func TestDamagedRunsAreErrors(t *testing.T) {
	for name, damage := range map[string]func(Memory, string){
		"cut":   func(m Memory, name string) { m[name] = m[name][:len(m[name])-1] },
		"empty": func(m Memory, name string) { m[name] = nil },
		"gone":  func(m Memory, name string) { delete(m, name) },
		"large": func(m Memory, name string) { copy(m[name], bytes.Repeat([]byte{0xff}, 8)) },
	} {
		m := new(Memory)
		s := New(m, "some", bytes.Compare, 1000)
		for _, record := range drawn(1000) {
			if err := s.Add(record); err != nil {
				t.Fatal(err)
			}
		}
		collect(t, s)
		for run := range *m {
			damage(*m, run)
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
	if err := New(new(Memory), "some", bytes.Compare, 10).Add(make([]byte, MostBytes+1)); err == nil {
		t.Error("a record of more than 64 MiB is taken")
	}
}
