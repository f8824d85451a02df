package feature

import (
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// window holds the directions that were asked for last, and those from which
// they go on, in turns for a unit: divided by 2 pi.
type window struct {
	source Directions
	first  int
	made   linalg.Matrix[float64] // directions x columns
}

// newWindow returns one with no directions yet, which begins with first.
func newWindow(source Directions, first int) window {
	return window{source, first, linalg.Matrix[float64]{Cols: source.Columns, Stride: source.Columns}}
}

// windowValues bounds the numbers that a window keeps beside the numbers it is asked
// for: 32 MiB.
const windowValues = 1 << 22

// read returns directions first to first+count-1. They must not be changed.
func (w *window) read(first, count int) linalg.Matrix[float64] {
	last := w.first + w.made.Rows
	switch {
	case first < w.first || first > last || (first+count-w.first)*w.source.Columns > windowValues && first+count > last:
		*w = newWindow(w.source, first)
		w.extend(count)
	case first+count > last:
		w.extend(first + count - last)
	}
	return w.made.Panel(first-w.first, first-w.first+count)
}

// extend makes that many more directions, and those up to the end of their
// block: one of them takes what all before it in its block do.
func (w *window) extend(count int) {
	end := w.first + w.made.Rows + count
	count += (BlockLength - end%BlockLength) % BlockLength
	more := linalg.New[float64](count, w.source.Columns)
	w.source.Read(more, w.first+w.made.Rows)
	for i := range more.Data {
		more.Data[i] /= 2 * math.Pi
	}
	w.made.Data = append(w.made.Data, more.Data...)
	w.made.Rows += count
}
