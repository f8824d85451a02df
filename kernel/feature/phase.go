package feature

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// CheckBits returns an error if words of the given number of bits are not supported.
func CheckBits(bits int) error {
	switch bits {
	case 8, 16, 32:
		return nil
	}
	return fmt.Errorf("feature: phases of %d bits are not supported; use 8, 16 or 32", bits)
}

// Phases computes the phases w.x of rows under directions w as integers modulo 2^bits. A full turn,
// 2 pi, is 2^bits. Cosines do not depend on whole turns, so phases can be added and masked modulo
// 2^bits. Besides the rounding of w.x in float64, the only error is the rounding of each phase to the
// nearest integer. Phases keeps the directions used last; it is not safe for concurrent use.
type Phases struct {
	rows   linalg.Rows
	sparse linalg.SparseRows // rows, if they are multiplied as sparse rows
	bits   int
	window window
}

// NewPhases returns the phases of rows under the directions d in words of 8, 16 or 32 bits. The
// rows must be finite. It panics if d has another number of columns, and on other bits.
func NewPhases(rows linalg.Rows, d Directions, bits int) *Phases {
	if err := CheckBits(bits); err != nil {
		panic(err.Error())
	}
	if _, cols := rows.Shape(); cols != d.Columns {
		panic(fmt.Sprintf("feature: directions of %d columns for rows of %d", d.Columns, cols))
	}
	p := &Phases{rows: rows, bits: bits, window: newWindow(d, 0)}
	if s, ok := rows.(linalg.SparseRows); ok && mostlyZero(s) {
		p.sparse = s
	}
	return p
}

// Block writes the phases of the given rows under directions start to start+count-1 to dst, on all
// cores. Phases are little-endian words of bits/8 bytes, row after row. It panics unless dst has as
// many bytes.
func (p *Phases) Block(dst []byte, rows []int, start, count int) {
	width := count * p.bits / 8
	if len(dst) != len(rows)*width {
		panic(fmt.Sprintf("feature: %d bytes for %d x %d phases of %d bits", len(dst), len(rows), count, p.bits))
	}
	if len(dst) == 0 {
		return
	}
	w := p.window.read(start, count)
	panel := max(1, phaseRoom/count)
	linalg.Scratch(min(panel, len(rows))*count, func(room []float64) {
		for lo := 0; lo < len(rows); lo += panel {
			some := rows[lo:min(lo+panel, len(rows))]
			turns := linalg.Matrix[float64]{Rows: len(some), Cols: count, Stride: count, Data: room[:len(some)*count]}
			p.turns(turns, some, w)
			words(dst[lo*width:][:len(some)*width], turns.Data, p.bits)
		}
	})
}

// phaseRoom is the number of phases that are computed before they are rounded. They take 8 MiB.
const phaseRoom = 1 << 20

// turns sets dst to the phases of the given rows, in turns.
func (p *Phases) turns(dst linalg.Matrix[float64], rows []int, w linalg.Matrix[float64]) {
	if p.sparse != nil {
		linalg.MulSparse(dst, p.sparse, rows, w)
		return
	}
	linalg.Scratch(len(rows)*w.Cols, func(room []float64) {
		x := linalg.Matrix[float64]{Rows: len(rows), Cols: w.Cols, Stride: w.Cols, Data: room}
		linalg.Gather(x, linalg.Pick(p.rows, rows), 0)
		linalg.MulTransB(dst, x, w)
	})
}

// mostlyZero reports whether products over stored entries are faster than products over whole rows.
func mostlyZero(rows linalg.SparseRows) bool {
	const columnsPerEntry = 16 // one stored entry takes as much time as this number of columns of a whole row
	stored := 0
	for i := range rows.Rows() {
		cols, _ := rows.Entries(i)
		stored += len(cols)
	}
	return stored < rows.Rows()*(rows.Cols()/columnsPerEntry)
}

// words rounds phases in turns to words, on all cores.
func words(dst []byte, turns []float64, bits int) {
	linalg.For(len(turns), 1<<14, func(lo, hi int) {
		linalg.RoundTurns(dst[lo*bits/8:hi*bits/8], turns[lo:hi], bits)
	})
}

// window caches the directions of the latest consecutive requests. The directions are in turns,
// that is, divided by 2 pi.
type window struct {
	source Directions
	first  int
	made   linalg.Matrix[float64] // directions x columns
}

// newWindow returns an empty window that begins with direction start.
func newWindow(source Directions, start int) window {
	return window{source, start, linalg.Matrix[float64]{Cols: source.Columns, Stride: source.Columns}}
}

// windowValues is the greatest number of cached values beyond the requested directions. They take
// 32 MiB.
const windowValues = 1 << 22

// read returns directions start to start+count-1. The caller must not change them.
func (w *window) read(start, count int) linalg.Matrix[float64] {
	last := w.first + w.made.Rows
	switch {
	case start < w.first || start > last || (start+count-w.first)*w.source.Columns > windowValues && start+count > last:
		*w = newWindow(w.source, start)
		w.extend(count)
	case start+count > last:
		w.extend(start + count - last)
	}
	return w.made.Panel(start-w.first, start-w.first+count)
}

// extend draws count more directions, and then the rest of the last block. A direction needs the
// numbers of all directions before it in its block.
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
