package gram

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// MaxSum bounds the sum of the holders' bounds: float64 holds whole numbers up
// to it.
const MaxSum = 1 << 53

// Bounds on what a holder may declare.
const (
	MaxExponent = 26 // beyond it no square fits MaxSum
	MaxColumns  = 1 << 24
	MaxHolders  = 1 << 10
	MaxRows     = 1 << 14 // held-out ones included: the matrix has 2 GiB then
	MaxProducts = 1 << 27 // of new rows with a model's: as many as a triangle has
)

// The scale: as fine as sums allow, within these.
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

// ErrTooLarge says that no fixed point holds the sums of values up to the
// declared bounds.
var ErrTooLarge = errors.New("the values are too large for exact sums below 2^53; scale them (scale: minmax)")

// Params fixes the arithmetic for all holders. It never changes.
type Params struct {
	holders           []Holder
	scale             int
	training, heldOut int
	first             int // of the groups that are summed
}

// NewParams finds the scale for what the holders declare about their columns of
// that number of training and held-out rows. Errors are about what they declare.
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

// NewCrossParams is NewParams for the products of new rows with a model's rows, whose
// products with each other are known: the new rows stand where held-out ones do, and
// the triangle is left out.
func NewCrossParams(holders []Holder, model, added int) (Params, error) {
	if added < 1 || model > MaxRows || added > MaxProducts/max(1, model) {
		return Params{}, fmt.Errorf("gram: %d new rows and %d of a model, which have %d products; there can be from 1 to %d; ask about fewer rows at a time", added, model, added*model, MaxProducts)
	}
	p, err := newParams(holders, model, added)
	p.first = groupCross
	return p, err
}

// fits reports whether the bounds of all holders add up to MaxSum at most.
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

// boundOf is B_l = d_l (2^s v_l)^2, unless that is beyond MaxSum.
func (p Params) boundOf(l int) (uint64, bool) {
	h := p.holders[l]
	square := 2 * (p.scale + h.Exponent)
	if square+bits.Len(uint(h.Columns)) > 62 {
		return 0, false
	}
	return uint64(h.Columns) << square, true
}

// Scale is s: values are whole multiples of 2^-s.
func (p Params) Scale() int { return p.scale }

// Bound returns the largest |entry| that any holder's part may have.
func (p Params) Bound() int64 {
	most := uint64(0)
	for l := range p.holders {
		bound, _ := p.boundOf(l)
		most = max(most, bound)
	}
	return int64(most)
}

// Training returns the number of training rows, or of a model's.
func (p Params) Training() int { return p.training }

// HeldOut returns the number of held-out rows, or of new ones.
func (p Params) HeldOut() int { return p.heldOut }

// Exponent returns the least e >= 0 with |x| <= 2^e for all values up to most, or
// an error beyond MaxExponent.
func Exponent(most float64) (int, error) {
	for e := range MaxExponent + 1 {
		if most <= math.Ldexp(1, e) {
			return e, nil
		}
	}
	return 0, fmt.Errorf("gram: a value of %g: %w", most, ErrTooLarge)
}
