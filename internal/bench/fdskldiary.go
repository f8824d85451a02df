package bench

import (
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// diary is a table of phases, row after row, because mode faithful reads one row
// in all directions; [linear.Phases] has direction after direction.
type diary struct {
	wave   *feature.Wave[float64]
	words  []byte
	stride int // bytes of a row
}

func newDiary(rows, directions, bits int, amplitude float64) diary {
	stride := directions * bits / 8
	return diary{feature.NewWave[float64](bits).Times(amplitude), make([]byte, rows*stride), stride}
}

// put sets phases of a row, from a direction on.
func (d diary) put(words []byte, row, first int) {
	copy(d.words[row*d.stride+first*d.wave.Bits()/8:], words)
}

// ReadAt implements [linear.Sampler].
func (d diary) ReadAt(dst linalg.Matrix[float64], first int, rows []int) {
	for i, r := range rows {
		d.turn(dst, i, first, r)
	}
}

// turn sets a column of dst to features of a row.
func (d diary) turn(dst linalg.Matrix[float64], column, first, row int) {
	size, half := d.wave.Bits()/8, dst.Rows/2
	linalg.Scratch(2*half, func(room []float64) {
		d.wave.Turn(room[:half], room[half:], d.words[row*d.stride+first/2*size:][:half*size])
		for j := range half {
			dst.Row(2 * j)[column], dst.Row(2*j + 1)[column] = room[j], room[half+j]
		}
	})
}

// excerpt is some rows of a diary, and the first features: a [linear.Table].
type excerpt struct {
	diary
	first, count, features int
}

// Rows implements [linear.Table].
func (e excerpt) Rows() int { return e.count }

// Features implements [linear.Table].
func (e excerpt) Features() int { return e.features }

// Read implements [linear.Table].
func (e excerpt) Read(dst linalg.Matrix[float64], first, row int) {
	for i := range dst.Cols {
		e.turn(dst, i, first, e.first+row+i)
	}
}
