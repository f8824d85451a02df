package snapshot

import (
	"bufio"
	"container/heap"
	"errors"
	"io"
)

// merge writes the rows of sorted runs as one run.
func (s *sorter) merge(w *bufio.Writer, names []string) (err error) {
	h := &heads{}
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

// heads are the runs of a merge, each at its next row; the least one is first.
type heads struct {
	runs   []*encoded
	opened []io.Closer
}

// open adds a run, which has at least one row.
func (h *heads) open(from Store, name string) error {
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	h.opened = append(h.opened, in)
	e := &encoded{from: bufio.NewReader(in)}
	if err := e.next(); err != nil {
		return errors.Join(errDamaged, err)
	}
	h.runs = append(h.runs, e)
	return nil
}

// Len implements [heap.Interface].
func (h *heads) Len() int { return len(h.runs) }

// Less implements [heap.Interface].
func (h *heads) Less(i, j int) bool { return compare(h.runs[i].row, h.runs[j].row) < 0 }

// Swap implements [heap.Interface].
func (h *heads) Swap(i, j int) { h.runs[i], h.runs[j] = h.runs[j], h.runs[i] }

// Push implements [heap.Interface].
func (h *heads) Push(x any) { h.runs = append(h.runs, x.(*encoded)) }

// Pop implements [heap.Interface].
func (h *heads) Pop() any {
	last := h.runs[len(h.runs)-1]
	h.runs = h.runs[:len(h.runs)-1]
	return last
}
