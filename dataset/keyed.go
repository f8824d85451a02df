package dataset

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

// SplitKey is a secret key that decides which rows of a table are held out. The rows' owner keeps
// it. Whether a row is held out is a function of the key and the row, so that other parties cannot
// choose rows, and the same rows are held out every time.
type SplitKey [32]byte

// errNoSplitKey reports that a split key was never set.
var errNoSplitKey = errors.New("dataset: the table has no split key to decide which rows are held out; give the table a split key")

// Split holds out about the given fraction of a table's rows; the fraction is in (0, 1). It returns
// the rows of both sets (from 0) in ascending order; each of the two sets can be empty. An HMAC-SHA-256 of
// each row is read as a number from 0 to 1, and the row is held out if this number is below the
// fraction. The HMAC is over the row's group; without groups, over the row's id; without ids, over
// all cells and the label of the row. It depends on no other row, nor on the order of rows and of
// named columns, nor on whether a table is dense or sparse. Without groups and ids, equal
// rows get the same decision. A larger fraction holds out all rows that a smaller one does, and further rows.
func (k SplitKey) Split(s *Set, fraction float64) (train, test []int, err error) {
	switch {
	case k == SplitKey{}:
		return nil, nil, errNoSplitKey
	case !(fraction > 0 && fraction < 1):
		return nil, nil, fmt.Errorf("dataset: the test fraction is %v; choose one between 0 and 1", fraction)
	}
	digest, below := newRowDigest(k, s), uint64(math.Ldexp(fraction, 64))
	for i := range s.X.Rows() {
		if digest.row(i) < below {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	return train, test, nil
}

// rowDigest makes keyed digests of rows.
type rowDigest struct {
	mac  hash.Hash
	set  *Set
	rank []uint32 // rank of each column by name; nil if columns have no names
	buf  []byte
	sum  []byte
}

func newRowDigest(k SplitKey, s *Set) *rowDigest {
	d := &rowDigest{mac: hmac.New(sha256.New, k[:]), set: s}
	if s.Columns == nil {
		return d
	}
	// Shorter names come first, so that x2 precedes x10. Columns without names are in the order of
	// the names that [WriteCSV] gives them.
	order := linalg.Range(0, len(s.Columns))
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := s.Columns[a], s.Columns[b]
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	})
	d.rank = make([]uint32, len(order))
	for at, column := range order {
		d.rank[column] = uint32(at)
	}
	return d
}

// cellBytes is the size of a cell in a digest: its column's rank by name, and its value.
const cellBytes = 4 + 8

// row returns the first 64 bits of a row's digest.
func (d *rowDigest) row(i int) uint64 {
	d.mac.Reset()
	typed, _ := d.set.X.(Typed)
	switch {
	case d.set.Groups != nil:
		d.buf = append(append(d.buf[:0], "mercer/v1/split/group\x00"...), d.set.Groups[i]...)
	case d.set.IDs != nil:
		d.buf = append(append(d.buf[:0], "mercer/v1/split/id\x00"...), d.set.IDs[i]...)
	case typed != nil:
		d.writeTyped(typed, i)
	default:
		d.writeCells(i)
	}
	d.mac.Write(d.buf)
	d.sum = d.mac.Sum(d.sum[:0])
	return binary.BigEndian.Uint64(d.sum)
}

// writeCells writes the nonzero cells of a row in the order of the column names, and then its
// label.
func (d *rowDigest) writeCells(i int) {
	const head = "mercer/v1/split/row\x00"
	d.buf = append(d.buf[:0], head...)
	d.set.X.Each(i, func(col int, v float64) {
		if v == 0 { // skips zeros of either sign, because a sparse table does not store zeros
			return
		}
		at := uint32(col)
		if d.rank != nil {
			at = d.rank[col]
		}
		d.buf = binary.BigEndian.AppendUint32(d.buf, at)
		d.buf = binary.BigEndian.AppendUint64(d.buf, math.Float64bits(v))
	})
	if d.rank != nil {
		sortCells(d.buf[len(head):])
	}
	if d.set.Labels != nil {
		d.buf = append(append(d.buf, "\xff\xff\xff\xfflabel "...), d.set.Labels[i]...) // no column has the rank 0xffffffff
	}
}

// writeTyped writes the cells of a row of a [Typed] table in the order of the column names, and
// then its label.
func (d *rowDigest) writeTyped(t Typed, i int) {
	d.buf = append(d.buf[:0], "mercer/v1/split/typed\x00"...)
	at := make([]int, len(d.rank))
	for column, place := range d.rank {
		at[place] = column
	}
	for _, column := range at {
		d.buf = t.AppendCell(d.buf, i, column)
	}
	if d.set.Labels != nil {
		d.buf = append(append(d.buf, "label "...), d.set.Labels[i]...)
	}
}

// sortCells sorts the encoded cells of a row by the ranks of their columns.
func sortCells(b []byte) {
	cells := make([][cellBytes]byte, len(b)/cellBytes)
	for c := range cells {
		copy(cells[c][:], b[c*cellBytes:])
	}
	slices.SortFunc(cells, func(a, b [cellBytes]byte) int { return slices.Compare(a[:4], b[:4]) })
	for c := range cells {
		copy(b[c*cellBytes:], cells[c][:])
	}
}
