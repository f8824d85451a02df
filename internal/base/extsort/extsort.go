// Package extsort sorts records that are too many for memory: an external merge sort.
//
//	s := extsort.New(store, "people", bytes.Compare, extsort.RunBytes)
//	for ... {
//		err := s.Add(record)
//	}
//	for record, err := range s.All() {
//	}
//
// A Sorter collects records in memory until they have 4 MiB (RunBytes) or more, sorts them, and stores them as
// a run. It merges 32 runs of a level into one run of the next level. At the end it merges all runs, at most 31
// of each level; below 128 GiB there are at most three levels. Each run that is being merged takes some 100 KiB
// of memory. The store holds at most twice the bytes of the records and of their lengths.
package extsort

import (
	"bufio"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
)

// Store holds byte streams by name.
type Store interface {
	// Write stores a stream, either completely or not at all.
	Write(name string, write func(io.Writer) error) error
	Open(name string) (io.ReadCloser, error)
	Remove(name string) error
}

// RunBytes is the usual size of a run.
const RunBytes = 4 << 20

const (
	fanIn = 32      // number of runs that are merged at a time
	spare = 1 << 16 // extra space for the last record of a run
)

// MostBytes is the largest size of a record.
const MostBytes = 64<<20 + binary.MaxVarintLen64

// ErrDamaged reports that a run cannot be read as it was written.
var ErrDamaged = errors.New("a sorted run is damaged; try again")

// Sorter collects records, and returns them in order. Add all records before the first call of All.
type Sorter struct {
	to       Store
	name     string // the beginning of the names of the runs
	compare  func(a, b []byte) int
	runBytes int
	arena    []byte // records in memory, one after another
	records  []span
	sorted   bool       // whether all records are added, and those in memory are in order
	levels   [][]string // names of the stored runs by level
	made     int        // number of runs stored so far
}

// span is the range of a record in the arena.
type span struct{ at, end int }

// New returns a sorter. It stores its runs, each but the last of at least runBytes, under names that begin with name.
// Records that compare as equal come in any order.
func New(to Store, name string, compare func(a, b []byte) int, runBytes int) *Sorter {
	return &Sorter{to: to, name: name, compare: compare, runBytes: runBytes}
}

// Add adds a copy of a record.
func (s *Sorter) Add(record []byte) error {
	if len(record) > MostBytes {
		return fmt.Errorf("extsort: a record has %d bytes; at most %d are allowed", len(record), MostBytes)
	}
	if s.arena == nil {
		s.arena = make([]byte, 0, s.runBytes+spare)
	}
	at := len(s.arena)
	s.arena = append(s.arena, record...)
	s.records = append(s.records, span{at, len(s.arena)})
	if len(s.arena) < s.runBytes {
		return nil
	}
	return s.flush()
}

// All yields all records in order. Each record is valid until All yields the next. It can be called several
// times. After an error it yields nothing more.
func (s *Sorter) All() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := s.finish(); err != nil {
			yield(nil, err)
			return
		}
		if s.made > 0 {
			s.merge(slices.Concat(s.levels...), yield)
			return
		}
		for _, r := range s.records {
			if !yield(s.bytes(r), nil) {
				return
			}
		}
	}
}

// Close removes the stored runs.
func (s *Sorter) Close() error {
	runs := slices.Concat(s.levels...)
	s.levels, s.arena, s.records = nil, nil, nil
	return s.remove(runs)
}

// finish sorts the records in memory. If there are stored runs, it stores these records as one more run, and
// frees their memory.
func (s *Sorter) finish() error {
	switch {
	case s.sorted:
		return nil
	case s.made == 0:
		s.sort()
	case len(s.records) > 0:
		if err := s.flush(); err != nil {
			return err
		}
	}
	if s.sorted = true; s.made > 0 {
		s.arena, s.records = nil, nil
	}
	return nil
}

func (s *Sorter) bytes(r span) []byte { return s.arena[r.at:r.end:r.end] }

func (s *Sorter) sort() {
	slices.SortFunc(s.records, func(a, b span) int { return s.compare(s.bytes(a), s.bytes(b)) })
}

// flush stores the records in memory as a run.
func (s *Sorter) flush() error {
	s.sort()
	name, err := s.store(func(yield func([]byte, error) bool) {
		for _, r := range s.records {
			if !yield(s.bytes(r), nil) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	clear(s.arena)
	s.arena, s.records = s.arena[:0], s.records[:0]
	return s.addRun(0, name)
}

// store stores records as a run under a new name, which it returns.
func (s *Sorter) store(records iter.Seq2[[]byte, error]) (string, error) {
	name := fmt.Sprintf("%s-%d", s.name, s.made)
	s.made++
	return name, s.to.Write(name, func(to io.Writer) error {
		w := bufio.NewWriter(to)
		var head [binary.MaxVarintLen64]byte
		for record, err := range records {
			if err != nil {
				return err
			}
			_, err = w.Write(head[:binary.PutUvarint(head[:], uint64(len(record)))])
			_, more := w.Write(record)
			if err := errors.Join(err, more); err != nil {
				return err
			}
		}
		return w.Flush()
	})
}

// addRun adds a run to a level. If the level is full, it merges all of its runs into one of the next
// level.
func (s *Sorter) addRun(level int, name string) error {
	if level == len(s.levels) {
		s.levels = append(s.levels, nil)
	}
	s.levels[level] = append(s.levels[level], name)
	if len(s.levels[level]) < fanIn {
		return nil
	}
	full := s.levels[level]
	merged, err := s.store(func(yield func([]byte, error) bool) { s.merge(full, yield) })
	if err != nil {
		return err
	}
	if err := s.remove(full); err != nil {
		return err
	}
	s.levels[level] = nil
	return s.addRun(level+1, merged)
}

func (s *Sorter) remove(runs []string) error {
	var errs error
	for _, name := range runs {
		errs = errors.Join(errs, s.to.Remove(name))
	}
	return errs
}

// merge yields the records of several runs in order.
func (s *Sorter) merge(runs []string, yield func([]byte, error) bool) {
	h := &runHeap{compare: s.compare}
	more, err := h.merge(s.to, runs, func(record []byte) bool { return yield(record, nil) })
	if err = errors.Join(err, h.close()); err != nil && more {
		yield(nil, err)
	}
}

// runHeap is a heap of sorted runs, ordered by the next record of each. The run with the smallest
// record comes first.
type runHeap struct {
	compare func(a, b []byte) int
	runs    []*run
	opened  []io.Closer
}

// merge calls use with all records in order until use returns false, and reports whether use wants
// more.
func (h *runHeap) merge(from Store, names []string, use func([]byte) bool) (more bool, err error) {
	for _, name := range names {
		if err := h.open(from, name); err != nil {
			return true, err
		}
	}
	heap.Init(h)
	for h.Len() > 0 {
		least := h.runs[0]
		if !use(least.record) {
			return false, nil
		}
		switch err := least.next(); {
		case errors.Is(err, io.EOF):
			heap.Pop(h)
		case err != nil:
			return true, err
		default:
			heap.Fix(h, 0)
		}
	}
	return true, nil
}

// open adds a run to the heap. The run has at least one record.
func (h *runHeap) open(from Store, name string) error {
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	h.opened = append(h.opened, in)
	r := &run{from: bufio.NewReader(in)}
	if err := r.next(); err != nil {
		return errors.Join(ErrDamaged, err)
	}
	h.runs = append(h.runs, r)
	return nil
}

func (h *runHeap) close() (err error) {
	for _, in := range h.opened {
		err = errors.Join(err, in.Close())
	}
	return err
}

// Len implements [heap.Interface].
func (h *runHeap) Len() int { return len(h.runs) }

// Less implements [heap.Interface].
func (h *runHeap) Less(i, j int) bool { return h.compare(h.runs[i].record, h.runs[j].record) < 0 }

// Swap implements [heap.Interface].
func (h *runHeap) Swap(i, j int) { h.runs[i], h.runs[j] = h.runs[j], h.runs[i] }

// Push implements [heap.Interface].
func (h *runHeap) Push(x any) { h.runs = append(h.runs, x.(*run)) }

// Pop implements [heap.Interface].
func (h *runHeap) Pop() any {
	last := h.runs[len(h.runs)-1]
	h.runs = h.runs[:len(h.runs)-1]
	return last
}

// run reads the records of a sorted run.
type run struct {
	from   *bufio.Reader
	record []byte // valid until the next one is read
}

// next reads the next record. It returns io.EOF after the last.
func (r *run) next() error {
	n, err := binary.ReadUvarint(r.from)
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	if err != nil || n > MostBytes {
		return errors.Join(ErrDamaged, err)
	}
	if uint64(cap(r.record)) < n {
		r.record = make([]byte, n)
	}
	r.record = r.record[:n]
	if _, err := io.ReadFull(r.from, r.record); err != nil {
		return errors.Join(ErrDamaged, err)
	}
	return nil
}
