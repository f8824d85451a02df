package snapshot

import (
	"bufio"
	"bytes"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
)

const (
	runBytes = 4 << 20 // size of the rows that are sorted in memory at a time
	fanIn    = 32      // number of runs that are merged at a time
	spare    = 1 << 16 // extra space for the last row of a run
)

// Write stores all rows of a source, sorted by the columns of key and then by all other columns. It
// ignores columns of key that the source lacks.
func Write(to Store, from dataset.Records, key []string) error {
	return write(to, from, key, runBytes)
}

func write(to Store, from dataset.Records, key []string, runBytes int) error {
	s := &sorter{to: to, columns: from.Columns(), order: orderOf(from.Columns(), key), arena: make([]byte, 0, runBytes+spare)}
	for {
		row, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := s.add(row); err != nil {
			return err
		}
		if len(s.arena) >= runBytes {
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
	return s.finish()
}

// Keep stores all rows of a source, in the order of the source. It is for sources with an order,
// such as files.
func Keep(to Store, from dataset.Records) error {
	s := &sorter{columns: from.Columns(), order: orderOf(from.Columns(), nil)}
	return to.Write(Name, buffered(func(w *bufio.Writer) error {
		if err := writeRow(w, 0, s.encodedColumns()); err != nil {
			return err
		}
		for {
			row, err := from.Next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			s.arena, s.rows = s.arena[:0], s.rows[:0]
			if err := s.add(row); err != nil {
				return err
			}
			if err := writeRow(w, row.Line, s.arena); err != nil {
				return err
			}
		}
	}))
}

// orderOf returns the indices of all columns, the key columns first. This is the sort order.
func orderOf(columns, key []string) (order []int) {
	for _, name := range key {
		if at := slices.Index(columns, name); at >= 0 && !slices.Contains(order, at) {
			order = append(order, at)
		}
	}
	for at := range columns {
		if !slices.Contains(order, at) {
			order = append(order, at)
		}
	}
	return order
}

// sorter collects rows in memory, sorts them, and stores them as sorted runs.
type sorter struct {
	to      Store
	columns []string
	order   []int
	arena   []byte // encoded rows, one after another
	rows    []span
	levels  [][]string // names of the sorted runs by level; fanIn runs of a level are merged into one run of the next level
	made    int
}

// span is the range of an encoded row in the arena.
type span struct{ at, end, line int }

func (s *sorter) add(row dataset.Record) error {
	at := len(s.arena)
	s.arena = appendRow(s.arena, row.Fields, s.order)
	if n := len(s.arena) - at; n > maxRow {
		return fmt.Errorf("row %d has %d bytes, more than the %d allowed; leave out its longest column", row.Line, n, maxRow)
	}
	s.rows = append(s.rows, span{at, len(s.arena), row.Line})
	return nil
}

// appendRow appends an encoded row to b, with its fields in the given order.
func appendRow(b []byte, fields []string, order []int) []byte {
	for _, at := range order {
		b = binary.AppendUvarint(b, uint64(len(fields[at])))
		b = append(b, fields[at]...)
	}
	return b
}

func (s *sorter) encoded(r span) []byte { return s.arena[r.at:r.end] }

// write sorts the rows in memory, writes them, and frees their memory.
func (s *sorter) write(w *bufio.Writer) error {
	slices.SortFunc(s.rows, func(a, b span) int {
		return cmp.Or(compareRows(s.encoded(a), s.encoded(b)), cmp.Compare(a.line, b.line))
	})
	for _, r := range s.rows {
		if err := writeRow(w, r.line, s.encoded(r)); err != nil {
			return err
		}
	}
	clear(s.arena)
	s.arena, s.rows = s.arena[:0], s.rows[:0]
	return nil
}

// flush stores the rows in memory as a sorted run.
func (s *sorter) flush() error {
	name, err := s.storeRun(s.write)
	if err != nil {
		return err
	}
	return s.addRun(0, name)
}

// storeRun stores a run under a new name, which it returns.
func (s *sorter) storeRun(write func(*bufio.Writer) error) (string, error) {
	name := fmt.Sprintf("run-%d", s.made)
	s.made++
	return name, s.to.Write(name, buffered(write))
}

func buffered(write func(*bufio.Writer) error) func(io.Writer) error {
	return func(to io.Writer) error {
		w := bufio.NewWriter(to)
		return errors.Join(write(w), w.Flush())
	}
}

// addRun adds a run to a level. If the level is full, it merges all runs of the level into one run
// of the next level.
func (s *sorter) addRun(level int, name string) error {
	if level == len(s.levels) {
		s.levels = append(s.levels, nil)
	}
	s.levels[level] = append(s.levels[level], name)
	if len(s.levels[level]) < fanIn {
		return nil
	}
	full := s.levels[level]
	s.levels[level] = nil
	merged, err := s.storeRun(func(w *bufio.Writer) error { return s.merge(w, full) })
	if err != nil {
		return err
	}
	if err := s.remove(full); err != nil {
		return err
	}
	return s.addRun(level+1, merged)
}

func (s *sorter) remove(runs []string) error {
	var errs error
	for _, name := range runs {
		errs = errors.Join(errs, s.to.Remove(name))
	}
	return errs
}

// finish merges all runs into the snapshot and removes the runs.
func (s *sorter) finish() error {
	if s.made > 0 && len(s.rows) > 0 {
		if err := s.flush(); err != nil {
			return err
		}
	}
	runs := slices.Concat(s.levels...)
	err := s.to.Write(Name, buffered(func(w *bufio.Writer) error {
		if err := writeRow(w, 0, s.encodedColumns()); err != nil {
			return err
		}
		if s.made == 0 {
			return s.write(w)
		}
		return s.merge(w, runs)
	}))
	if err != nil {
		return err
	}
	return s.remove(runs)
}

// encodedColumns encodes the name of each column and its index in the source.
func (s *sorter) encodedColumns() (b []byte) {
	for _, at := range s.order {
		b = appendRow(b, s.columns, []int{at})
		b = binary.AppendUvarint(b, uint64(at))
	}
	return b
}

// Memory is a store in memory, for processes that keep no data.
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
		return nil, fmt.Errorf("snapshot: the store has no stream %s", name)
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// Remove implements [Store].
func (m *Memory) Remove(name string) error {
	delete(m.streams, name)
	return nil
}

// merge merges several sorted runs into one and writes it.
func (s *sorter) merge(w *bufio.Writer, names []string) (err error) {
	h := &runHeap{}
	defer func() {
		for _, r := range h.opened {
			err = errors.Join(err, r.Close())
		}
	}()
	for _, name := range names {
		if err := h.open(s.to, name); err != nil {
			return err
		}
	}
	heap.Init(h)
	for h.Len() > 0 {
		least := h.runs[0]
		if err := writeRow(w, least.line, least.row); err != nil {
			return err
		}
		switch err := least.next(); {
		case errors.Is(err, io.EOF):
			heap.Pop(h)
		case err != nil:
			return err
		default:
			heap.Fix(h, 0)
		}
	}
	return nil
}

// runHeap is a heap of sorted runs, ordered by the next row of each run. The run with the smallest
// row comes first.
type runHeap struct {
	runs   []*rowReader
	opened []io.Closer
}

// open adds a run to the heap. The run must have at least one row.
func (h *runHeap) open(from Store, name string) error {
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	h.opened = append(h.opened, in)
	e := &rowReader{from: bufio.NewReader(in)}
	if err := e.next(); err != nil {
		return errors.Join(errDamaged, err)
	}
	h.runs = append(h.runs, e)
	return nil
}

// Len implements [heap.Interface].
func (h *runHeap) Len() int { return len(h.runs) }

// Less implements [heap.Interface].
func (h *runHeap) Less(i, j int) bool { return compareRows(h.runs[i].row, h.runs[j].row) < 0 }

// Swap implements [heap.Interface].
func (h *runHeap) Swap(i, j int) { h.runs[i], h.runs[j] = h.runs[j], h.runs[i] }

// Push implements [heap.Interface].
func (h *runHeap) Push(x any) { h.runs = append(h.runs, x.(*rowReader)) }

// Pop implements [heap.Interface].
func (h *runHeap) Pop() any {
	last := h.runs[len(h.runs)-1]
	h.runs = h.runs[:len(h.runs)-1]
	return last
}
