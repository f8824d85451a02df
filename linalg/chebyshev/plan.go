package chebyshev

import (
	"fmt"
	"math/bits"
)

// Plan is an order in which to evaluate a polynomial of a matrix H on a matrix of vectors. With m the
// block and J = Steps/m: H is squared to T_2(H), T_4(H), ... T_m(H); T_1 to T_(m-1) are applied to the
// vectors, one after the other; Clenshaw's recurrence with T_m(H) takes J-1 further products.
type Plan struct {
	Steps int // K, the number of coefficients: a multiple of Block
	Block int // m: 1, 2, 4, 8 or 16
}

// MaxBlock is the greatest block of a plan.
const MaxBlock = 16

// Check returns an error unless the block is a power of two up to [MaxBlock] that divides the number
// of steps, which is at most [MaxSteps].
func (p Plan) Check() error {
	switch {
	case p.Block < 1 || p.Block > MaxBlock || p.Block&(p.Block-1) != 0:
		return fmt.Errorf("chebyshev: blocks of %d steps; use 1, 2, 4, 8 or %d", p.Block, MaxBlock)
	case p.Steps < p.Block || p.Steps > MaxSteps || p.Steps%p.Block != 0:
		return fmt.Errorf("chebyshev: %d steps in blocks of %d; the steps must be a positive multiple of the block, at most %d", p.Steps, p.Block, MaxSteps)
	}
	return nil
}

// Squarings returns the number of squarings of a matrix.
func (p Plan) Squarings() int { return bits.TrailingZeros(uint(p.Block)) }

// Products returns the number of products of a matrix and all vectors.
func (p Plan) Products() int { return p.Block - 1 + p.Steps/p.Block - 1 }

// InARow returns the number of squarings and products, which follow one another. If each of them needs
// one message, it is also the number of messages that follow one another.
func (p Plan) InARow() int { return p.Squarings() + p.Products() }

// Price holds the costs of the parts of an evaluation, in any common unit, such as nanoseconds.
type Price struct {
	Squaring int64 // cost of squaring one matrix
	Product  int64 // cost of the product of a matrix and all vectors
	Message  int64 // cost of waiting for one message after another
}

// Cost returns the price of the evaluation. All members of a session compute the same price.
func (p Plan) Cost(of Price) int64 {
	return int64(p.Squarings())*of.Squaring + int64(p.Products())*of.Product + int64(p.InARow())*of.Message
}

// Choose returns the cheapest plan for the given number of rows, as in [Steps], and the given ratio,
// among blocks m of 1, 2, 4, 8 and 16 that the function fits accepts, for example by
// [Polynomial.RangeBits]. Of equally cheap plans it returns the one with the smallest block. The steps
// are those of [Steps]. It returns an error if the arguments are out of range, if no block fits, or if
// there are too many steps.
func Choose(rows int, ratio float64, of Price, fits func(p Polynomial, m int) bool) (Plan, error) {
	if rows < 1 {
		return Plan{}, fmt.Errorf("chebyshev: there are %d rows; there must be at least one", rows)
	}
	if err := checkRatio(ratio); err != nil {
		return Plan{}, err
	}
	var best Plan
	for m := 1; m <= MaxBlock; m *= 2 {
		plan := Plan{Steps(rows, ratio, m), m}
		if plan.Check() != nil || best != (Plan{}) && plan.Cost(of) >= best.Cost(of) {
			continue
		}
		p, err := New(ratio, plan.Steps)
		if err != nil {
			return Plan{}, err
		}
		if fits(p, m) {
			best = plan
		}
	}
	if best == (Plan{}) {
		return best, fmt.Errorf("chebyshev: every plan has more than %d steps or too large intermediate values; use a larger ratio", MaxSteps)
	}
	return best, nil
}
