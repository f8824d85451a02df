package gram

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/mercer-fl/mercer/linalg"
)

// Matrix computes the Gram matrix of all rows from the sums over all holders. Training rows precede
// held-out rows, and each entry is exactly a sum divided by 2^2s, where s is the scale. The entry
// of two different held-out rows is 0, because the holders do not compute this product.
func (p Params) Matrix(sums [][]int64) (linalg.Matrix[float64], error) {
	if p.first != groupTriangle {
		return linalg.Matrix[float64]{}, errors.New("gram: these parameters are for new rows; make parameters for training rows with NewParams")
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
			m.Row(p.training + i)[p.training+i] = float64(v) * p.valueOfOne()
		}
	}
	return m, nil
}

// Cross returns the inner products of new rows with a model's rows, as a matrix of new rows x model
// rows. It also returns the inner product of each new row with itself. The argument sums holds the
// sums over the parts of all holders, and p must come from NewCrossParams.
func (p Params) Cross(sums [][]int64) (cross linalg.Matrix[float64], squares []float64, err error) {
	if p.first != groupCross {
		return cross, nil, errors.New("gram: these parameters are for training rows; make parameters for new rows with NewCrossParams")
	}
	if err := p.check(sums); err != nil {
		return cross, nil, err
	}
	cross, unit := linalg.New[float64](p.heldOut, p.training), p.valueOfOne()
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

// check returns an error unless there is one list of sums for each group of p, with the right
// number of entries.
func (p Params) check(sums [][]int64) error {
	groups := p.Groups()
	if len(sums) != len(groups) {
		return fmt.Errorf("gram: there are sums for %d groups; %d groups are required", len(sums), len(groups))
	}
	for g, entries := range groups {
		if len(sums[g]) != entries {
			return fmt.Errorf("gram: group %d has %d sums; %d are required", g, len(sums[g]), entries)
		}
	}
	return nil
}

// place copies a group's tiles and their mirror images across the diagonal into the matrix.
func (p Params) place(m linalg.Matrix[float64], sums []int64, group int) {
	below := 0
	if group == groupCross {
		below = p.training
	}
	unit := p.valueOfOne()
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

// valueOfOne returns the real number that a fixed-point sum of 1 represents.
func (p Params) valueOfOne() float64 { return math.Ldexp(1, -2*p.scale) }

// MaxSum limits the sum of the holders' bounds. A float64 holds all whole numbers up to MaxSum
// exactly.
const MaxSum = 1 << 53

// Parameters and declarations have these limits.
const (
	MaxExponent = 26 // a larger exponent gives squares above MaxSum
	MaxColumns  = 1 << 24
	MaxHolders  = 1 << 10
	MaxRows     = 1 << 14 // largest number of training and held-out rows, whose matrix takes 2 GiB
	MaxProducts = 1 << 27 // largest number of products of new rows with a model's rows
)

// finest and coarsest limit the fixed-point scale. Between these limits, the scale is as fine as
// exact sums allow.
const (
	finest   = 24
	coarsest = 8 // smallest scale for values that are not whole numbers
)

// Holder describes the columns of one party, as the party declares them.
type Holder struct {
	Columns  int
	Exponent int  // every value x has |x| <= 2^Exponent
	Whole    bool // whether every value is a whole number
}

// ErrTooLarge reports that no allowed fixed-point scale gives exact sums for values up to the declared
// bounds.
var ErrTooLarge = errors.New("the values are too large for exact sums up to 2^53; scale them (write \"scale: minmax\")")

// Params holds the fixed-point scale and the sizes on which all holders agree. It never
// changes.
type Params struct {
	holders           []Holder
	scale             int
	training, heldOut int
	first             int // index of the first group that is summed
}

// NewParams computes the scale for the holders' columns and the given numbers of training and
// held-out rows. It returns an error if the declarations do not allow exact sums.
func NewParams(holders []Holder, training, heldOut int) (Params, error) {
	if training+heldOut > MaxRows {
		return Params{}, fmt.Errorf("gram: there are %d rows; an exact matrix allows at most %d (2 GiB); use fewer rows, or use protocol fdskl, which learns from random features and takes any number of rows", training+heldOut, MaxRows)
	}
	return newParams(holders, training, heldOut)
}

func newParams(holders []Holder, training, heldOut int) (Params, error) {
	if len(holders) < 2 || len(holders) > MaxHolders {
		return Params{}, fmt.Errorf("gram: there are %d holders of columns; 2 to %d are required", len(holders), MaxHolders)
	}
	if training < 1 || heldOut < 0 {
		return Params{}, fmt.Errorf("gram: there are %d training and %d held-out rows; at least one training row is required", training, heldOut)
	}
	whole := true
	for i, h := range holders {
		if h.Columns < 1 || h.Columns > MaxColumns || h.Exponent < 0 || h.Exponent > MaxExponent {
			return Params{}, fmt.Errorf("gram: the declaration of holder %d (from 0) is out of range: %d columns of values up to 2^%d; 1 to %d columns and exponents from 0 to %d are allowed", i, h.Columns, h.Exponent, MaxColumns, MaxExponent)
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

// NewCrossParams returns parameters for the products of new rows with a model's rows. The new
// rows take the place of held-out rows. Products of the model's rows with each other are known
// and omitted.
func NewCrossParams(holders []Holder, model, added int) (Params, error) {
	if model > MaxRows {
		return Params{}, fmt.Errorf("gram: the model has %d rows; at most %d are allowed", model, MaxRows)
	}
	if added < 1 || added > MaxProducts/max(1, model) {
		return Params{}, fmt.Errorf("gram: %d new rows and %d rows of the model have %d products; 1 to %d products are allowed; predict fewer rows at a time", added, model, added*model, MaxProducts)
	}
	p, err := newParams(holders, model, added)
	p.first = groupCross
	return p, err
}

// fits reports whether the sum of all holders' bounds is at most MaxSum.
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

// boundOf returns the bound of a holder's entries, or false if the bound has more than 62 bits. For
// holder l with d_l columns of values up to v_l, the bound is B_l = d_l (2^s v_l)^2.
func (p Params) boundOf(l int) (uint64, bool) {
	h := p.holders[l]
	square := 2 * (p.scale + h.Exponent)
	if square+bits.Len(uint(h.Columns)) > 62 {
		return 0, false
	}
	return uint64(h.Columns) << square, true
}

// Scale returns the scale s. Values are rounded to multiples of 2^-s.
func (p Params) Scale() int { return p.scale }

// Bound returns the largest magnitude that an entry of any holder's part can have.
func (p Params) Bound() int64 {
	most := uint64(0)
	for l := range p.holders {
		bound, _ := p.boundOf(l)
		most = max(most, bound)
	}
	return int64(most)
}

// Training returns the number of training rows. Under NewCrossParams it is the number of the
// model's rows.
func (p Params) Training() int { return p.training }

// HeldOut returns the number of held-out rows. Under NewCrossParams it is the number of new
// rows.
func (p Params) HeldOut() int { return p.heldOut }

// Exponent returns the least e >= 0 such that bound <= 2^e. It returns an error if e would exceed
// MaxExponent.
func Exponent(bound float64) (int, error) {
	for e := range MaxExponent + 1 {
		if bound <= math.Ldexp(1, e) {
			return e, nil
		}
	}
	return 0, fmt.Errorf("gram: a value is %g: %w", bound, ErrTooLarge)
}

// edge is the number of rows and columns of a tile.
const edge = 64

// These are the groups of entries, in the order of Groups.
const (
	groupTriangle = iota // products of training rows with each other
	groupCross           // products of held-out rows with training rows
	groupDiagonal        // products of each held-out row with itself
)

// tile is a block of the matrix of products. A tile on the diagonal is square and symmetric: its
// lower half repeats its upper half.
type tile struct {
	row, column   int
	height, width int
}

func (t tile) entries() int { return t.height * t.width }

// tiles returns the tiles of a height x width matrix in order. If triangle is set, it returns only
// the tiles of the upper triangle.
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

// tilesOf returns the tiles of the group groupTriangle or groupCross.
func (p Params) tilesOf(group int) []tile {
	if group == groupTriangle {
		return tiles(p.training, p.training, true)
	}
	return tiles(p.heldOut, p.training, false)
}

// Groups returns the number of entries of each summed group. The products of training rows form one
// group, which is left out under NewCrossParams. Held-out rows add two groups.
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
