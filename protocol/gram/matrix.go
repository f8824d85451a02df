package gram

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/mercer-fl/mercer/linalg"
)

// Matrix returns the Gram matrix of the rows, training rows before held-out ones, from the sums of
// all parts: every number is exactly the sum over 2^2s. Products of two different held-out rows are
// 0, since they are not summed.
func (p Params) Matrix(sums [][]int64) (linalg.Matrix[float64], error) {
	if p.first != groupTriangle {
		return linalg.Matrix[float64]{}, errors.New("gram: a matrix of rows whose triangle nobody has summed")
	}
	if err := p.check(sums); err != nil {
		return linalg.Matrix[float64]{}, err
	}
	n := p.training + p.heldOut
	m := linalg.New[float64](n, n)
	p.place(m, sums[groupTriangle], groupTriangle)
	if p.heldOut > 0 {
		p.place(m, sums[groupCross], groupCross)
		for i, v := range sums[groupDiagonal] {
			m.Row(p.training + i)[p.training+i] = float64(v) * p.unit()
		}
	}
	return m, nil
}

// Cross returns, from the sums of all parts under NewCrossParams, the inner products of new rows
// with the model's, new x model, and of each new row with itself.
func (p Params) Cross(sums [][]int64) (cross linalg.Matrix[float64], squares []float64, err error) {
	if p.first != groupCross {
		return cross, nil, errors.New("gram: these parameters sum the training rows; make parameters for new rows with NewCrossParams")
	}
	if err := p.check(sums); err != nil {
		return cross, nil, err
	}
	cross, unit := linalg.New[float64](p.heldOut, p.training), p.unit()
	entries := sums[0]
	for _, t := range p.tilesOf(groupCross) {
		for a := range t.height {
			row := cross.Row(t.row + a)[t.column:]
			for b, v := range entries[:t.width] {
				row[b] = float64(v) * unit
			}
			entries = entries[t.width:]
		}
	}
	for _, v := range sums[1] {
		squares = append(squares, float64(v)*unit)
	}
	return cross, squares, nil
}

// check refuses sums of another layout.
func (p Params) check(sums [][]int64) error {
	groups := p.Groups()
	if len(sums) != len(groups) {
		return fmt.Errorf("gram: sums of %d groups, not %d", len(sums), len(groups))
	}
	for g, entries := range groups {
		if len(sums[g]) != entries {
			return fmt.Errorf("gram: group %d has %d sums, not %d", g, len(sums[g]), entries)
		}
	}
	return nil
}

// place writes a group's tiles and their mirror images across the diagonal into the matrix.
func (p Params) place(m linalg.Matrix[float64], sums []int64, group int) {
	below := 0
	if group == groupCross {
		below = p.training
	}
	unit := p.unit()
	for _, t := range p.tilesOf(group) {
		for a := range t.height {
			i := below + t.row + a
			for b, v := range sums[:t.width] {
				j := t.column + b
				x := float64(v) * unit
				m.Row(i)[j], m.Row(j)[i] = x, x
			}
			sums = sums[t.width:]
		}
	}
}

// unit returns the value that a sum of 1 represents.
func (p Params) unit() float64 { return math.Ldexp(1, -2*p.scale) }

// MaxSum is the upper limit for the sum of the holders' bounds: float64 holds whole numbers up to
// it.
const MaxSum = 1 << 53

// Limits on a holder's declaration.
const (
	MaxExponent = 26 // beyond it no square fits MaxSum
	MaxColumns  = 1 << 24
	MaxHolders  = 1 << 10
	MaxRows     = 1 << 14 // held-out ones included: the matrix has 2 GiB then
	MaxProducts = 1 << 27 // of new rows with a model's: as many as a triangle has
)

// The scale is as fine as sums allow, within these limits.
const (
	finest   = 24
	coarsest = 8 // of values that are no whole numbers
)

// Holder is a holder's declaration about its columns.
type Holder struct {
	Columns  int
	Exponent int  // every |x| <= 2^Exponent
	Whole    bool // every x is a whole number
}

// ErrTooLarge reports that no fixed point holds the sums of values up to the declared bounds.
var ErrTooLarge = errors.New("the values are too large for exact sums below 2^53; scale them (scale: minmax)")

// Params fixes the arithmetic for all holders. It never changes.
type Params struct {
	holders           []Holder
	scale             int
	training, heldOut int
	first             int // of the groups that are summed
}

// NewParams computes the scale from the holders' declarations about their columns, for the given
// number of training and held-out rows. Errors are about the declarations.
func NewParams(holders []Holder, training, heldOut int) (Params, error) {
	if training+heldOut > MaxRows {
		return Params{}, fmt.Errorf("gram: %d rows, and an exact matrix can have %d (2 GiB); bring fewer, or let protocol fdskl learn from random features of any number of rows", training+heldOut, MaxRows)
	}
	return newParams(holders, training, heldOut)
}

func newParams(holders []Holder, training, heldOut int) (Params, error) {
	if len(holders) < 2 || len(holders) > MaxHolders {
		return Params{}, fmt.Errorf("gram: %d holders of columns; there must be 2 to %d", len(holders), MaxHolders)
	}
	if training < 1 || heldOut < 0 {
		return Params{}, fmt.Errorf("gram: %d training and %d held-out rows; there must be a training row", training, heldOut)
	}
	whole := true
	for i, h := range holders {
		if h.Columns < 1 || h.Columns > MaxColumns || h.Exponent < 0 || h.Exponent > MaxExponent {
			return Params{}, fmt.Errorf("gram: holder %d (from 0) declares %d columns of values up to 2^%d", i, h.Columns, h.Exponent)
		}
		whole = whole && h.Whole
	}
	p := Params{holders: holders, training: training, heldOut: heldOut}
	if whole {
		if !p.fits() {
			return Params{}, fmt.Errorf("gram: %w", ErrTooLarge)
		}
		return p, nil
	}
	for p.scale = finest; !p.fits(); p.scale-- {
		if p.scale == coarsest {
			return Params{}, fmt.Errorf("gram: %w", ErrTooLarge)
		}
	}
	return p, nil
}

// NewCrossParams is like NewParams, for the products of new rows with a model's rows, whose
// products with each other are known: the new rows take the place of held-out ones, and the
// triangle is omitted.
func NewCrossParams(holders []Holder, model, added int) (Params, error) {
	if added < 1 || model > MaxRows || added > MaxProducts/max(1, model) {
		return Params{}, fmt.Errorf("gram: %d new rows and %d of a model, which have %d products; there can be from 1 to %d; ask about fewer rows at a time", added, model, added*model, MaxProducts)
	}
	p, err := newParams(holders, model, added)
	p.first = groupCross
	return p, err
}

// fits reports whether the bounds of all holders add up to at most MaxSum.
func (p Params) fits() bool {
	sum := uint64(0)
	for l := range p.holders {
		bound, ok := p.boundOf(l)
		if sum += bound; !ok || sum > MaxSum {
			return false
		}
	}
	return true
}

// boundOf returns B_l = d_l (2^s v_l)^2, unless it exceeds MaxSum.
func (p Params) boundOf(l int) (uint64, bool) {
	h := p.holders[l]
	square := 2 * (p.scale + h.Exponent)
	if square+bits.Len(uint(h.Columns)) > 62 {
		return 0, false
	}
	return uint64(h.Columns) << square, true
}

// Scale returns s: values are whole multiples of 2^-s.
func (p Params) Scale() int { return p.scale }

// Bound returns the largest |entry| of any holder's part.
func (p Params) Bound() int64 {
	most := uint64(0)
	for l := range p.holders {
		bound, _ := p.boundOf(l)
		most = max(most, bound)
	}
	return int64(most)
}

// Training returns the number of training rows, or of a model's rows.
func (p Params) Training() int { return p.training }

// HeldOut returns the number of held-out rows, or of new ones.
func (p Params) HeldOut() int { return p.heldOut }

// Exponent returns the least e >= 0 with |x| <= 2^e for all values up to most, or an error beyond
// MaxExponent.
func Exponent(most float64) (int, error) {
	for e := range MaxExponent + 1 {
		if most <= math.Ldexp(1, e) {
			return e, nil
		}
	}
	return 0, fmt.Errorf("gram: a value of %g: %w", most, ErrTooLarge)
}

// edge is the number of rows and columns of a tile.
const edge = 64

// The groups of entries, in the order of Groups.
const (
	groupTriangle = iota // training rows with each other
	groupCross           // held-out rows with training rows
	groupDiagonal        // held-out rows with themselves
)

// tile is a rectangle of products: rows first..first+height of one kind with
// training rows from column on. A tile on the diagonal of the triangle is
// whole: its lower half repeats the upper.
type tile struct {
	row, column   int
	height, width int
}

func (t tile) entries() int { return t.height * t.width }

// tiles lists the tiles of a group in order: of rows height x width, or of the
// upper triangle of width x width.
func tiles(height, width int, triangle bool) []tile {
	var list []tile
	for row := 0; row < height; row += edge {
		column := 0
		if triangle {
			column = row
		}
		for ; column < width; column += edge {
			list = append(list, tile{row, column, min(edge, height-row), min(edge, width-column)})
		}
	}
	return list
}

// tilesOf returns the tiles of the triangle or of the cross-Gram.
func (p Params) tilesOf(group int) []tile {
	if group == groupTriangle {
		return tiles(p.training, p.training, true)
	}
	return tiles(p.heldOut, p.training, false)
}

// Groups returns the number of entries of each summed group: the triangle unless it is known, and
// two more groups if there are held-out rows.
func (p Params) Groups() []int {
	groups := []int{count(p.tilesOf(groupTriangle))}
	if p.heldOut > 0 {
		groups = append(groups, count(p.tilesOf(groupCross)), p.heldOut)
	}
	return groups[p.first:]
}

func count(list []tile) int {
	n := 0
	for _, t := range list {
		n += t.entries()
	}
	return n
}
