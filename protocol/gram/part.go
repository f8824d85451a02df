package gram

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"sort"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/linalg"
)

// Part is one holder's own Gram matrix, a term of the sum. Read computes its entries tile by tile.
type Part struct {
	params Params
	rows   linalg.Matrix[float64] // values 2^s x, rounded to whole numbers; training rows, then held-out rows
	groups [][]tile
	starts [][]int // index in the group of each tile's first entry; a last index marks the group's end
}

// Part converts the rows of holder l, counted from 0, to fixed point. Training rows precede
// held-out rows. It returns an error if the size of the table or a value contradicts the holder's
// declaration.
func (p Params) Part(rows linalg.Rows, l int) (*Part, error) {
	n, width := rows.Shape()
	if n != p.training+p.heldOut || width != p.holders[l].Columns {
		return nil, fmt.Errorf("gram: the table has %d rows of %d columns; %d rows of %d columns were declared", n, width, p.training+p.heldOut, p.holders[l].Columns)
	}
	part := &Part{params: p, rows: linalg.New[float64](n, width)}
	linalg.Gather(part.rows, rows, 0)
	if err := p.quantise(part.rows, p.holders[l]); err != nil {
		return nil, err
	}
	for group := range 2 {
		list, starts := p.tilesOf(group), []int{0}
		for _, t := range list {
			starts = append(starts, starts[len(starts)-1]+t.entries())
		}
		part.groups, part.starts = append(part.groups, list), append(part.starts, starts)
	}
	return part, nil
}

// quantise replaces each value x of m by the whole number nearest to 2^s x.
func (p Params) quantise(m linalg.Matrix[float64], h Holder) error {
	limit, unit := math.Ldexp(1, h.Exponent), math.Ldexp(1, p.scale)
	for i := range m.Rows {
		row := m.Row(i)
		for j, x := range row {
			switch {
			case !(math.Abs(x) <= limit):
				return fault.OfNumber(x).Errorf("gram: row %d, column %d (from 0) is %g, which exceeds the declared %g", i, j, x, limit)
			case h.Whole && x != math.Trunc(x):
				return fault.Inexact.Errorf("gram: row %d, column %d (from 0) is %g; only whole numbers were declared", i, j, x)
			}
			row[j] = math.RoundToEven(x * unit)
		}
	}
	return nil
}

// Hash returns the SHA-256 of the rows in fixed point.
func (t *Part) Hash() [sha256.Size]byte {
	h := sha256.New()
	buffer := binary.LittleEndian.AppendUint64(nil, uint64(t.rows.Cols))
	for i := range t.rows.Rows {
		for _, x := range t.rows.Row(i) {
			buffer = binary.LittleEndian.AppendUint64(buffer, uint64(int64(x)))
		}
		h.Write(buffer)
		buffer = buffer[:0]
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Read sets dst to the entries of a group, beginning with entry number start. The entries are in
// units of 2^-2s, where s is the scale. Several goroutines can call Read at once.
func (t *Part) Read(group, start int, dst []int64) {
	if group += t.params.first; group == groupDiagonal {
		for i := range dst {
			row := t.rows.Row(t.params.training + start + i)
			dst[i] = int64(square(row))
		}
		return
	}
	starts := t.starts[group]
	k := sort.Search(len(starts), func(k int) bool { return starts[k] > start }) - 1
	for len(dst) > 0 {
		values := t.product(group, t.groups[group][k])
		from := values.Data[start-starts[k]:]
		n := min(len(from), len(dst))
		for i, v := range from[:n] {
			dst[i] = int64(v)
		}
		dst, start, k = dst[n:], start+n, k+1
	}
}

// product computes the entries of one tile.
func (t *Part) product(group int, at tile) linalg.Matrix[float64] {
	row := at.row
	if group == groupCross {
		row += t.params.training
	}
	out := linalg.New[float64](at.height, at.width)
	linalg.MulTransB(out, t.rows.Panel(row, row+at.height), t.rows.Panel(at.column, at.column+at.width))
	return out
}

// square returns the inner product of a row with itself. A sum of whole numbers up to 2^53 is
// exact in any order.
func square(row []float64) float64 {
	sum := 0.0
	for _, x := range row {
		sum += x * x
	}
	return sum
}
