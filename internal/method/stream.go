package method

import (
	"errors"
	"io"

	"github.com/mercer-fl/mercer/dataset"
)

// Bits holds one bit for each row.
type Bits []uint64

// Set sets the bit of row i. It makes the list longer if necessary.
func (b *Bits) Set(i int) {
	for i/64 >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

// Has reports whether the bit of row i is set.
func (b Bits) Has(i int) bool { return i/64 < len(b) && b[i/64]>>(i%64)&1 == 1 }

// Stream opens a table for one reading in blocks, from the first row. Each reading returns the same
// rows in the same order. No method keeps such a table in memory as a whole.
type Stream func() (StreamReader, error)

// StreamReader reads the blocks of a table. Close ends the reading.
type StreamReader interface {
	dataset.Blocks
	io.Closer
}

// ErrEnough ends [Stream.Each] before the last block, without an error.
var ErrEnough = errors.New("method: enough blocks were read")

// Each calls use with each block of the table, and the number of rows before it. It stops at the
// first error. It returns the number of rows of the blocks for which use returned no error.
func (s Stream) Each(use func(before int, block *dataset.Set) error) (rows int, err error) {
	from, err := s()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	for {
		block, err := from.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err == nil {
			err = use(rows, block)
		}
		if errors.Is(err, ErrEnough) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows += block.X.Rows()
	}
}
