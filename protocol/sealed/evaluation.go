package sealed

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg/chebyshev"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// evaluation is the course of one solution: which product comes next, and what becomes of it. All of it is
// linear but the truncations. So two servers follow it side by side, each with its share of B, and obtain
// shares of the products by messages; a process that holds A and B multiplies by itself. All vectors are
// targets x features, so that a product X y of a symmetric X is y X^T.
type evaluation struct {
	problem  Problem
	truncate func([]ring128.Word, uint)
	blocks   [][]ring128.Word // coefficients with powerBits fraction bits
	first    []ring128.Matrix // T_0(H) B/N to T_i(H) B/N, up to i = m-1 with m = Plan.Block
	last     ring128.Matrix   // b_(j+1) of Clenshaw's recurrence
	before   ring128.Matrix   // b_(j+2)
	j        int              // block of the next product with T_m(H)
	weights  ring128.Matrix   // the result; without words until the course ends
}

// newEvaluation returns the course for a share of B in units of 2^(-2 CellBits), as targets x features, of a problem
// that passes its check. It keeps no reference to the words of cross. The function truncate is that of the
// share's holder.
func newEvaluation(p Problem, cross []ring128.Word, truncate func([]ring128.Word, uint)) (*evaluation, error) {
	if len(cross) != p.Targets*p.Features {
		return nil, fmt.Errorf("sealed: there are %d words for %d targets of %d features", len(cross), p.Targets, p.Features)
	}
	polynomial, err := chebyshev.New(p.Ratio(), p.Plan.Steps)
	if err != nil {
		return nil, err
	}
	e := &evaluation{problem: p, truncate: truncate}
	for _, block := range polynomial.Blocks(p.Plan.Block) {
		words := make([]ring128.Word, len(block))
		for i, c := range block {
			if words[i], err = ring128.FromFloat(c, p.powerBits(p.Plan.Block)); err != nil {
				return nil, err
			}
		}
		e.blocks = append(e.blocks, words)
	}
	start := e.zeros()
	copy(start.Data, cross)
	truncate(start.Data, uint(p.unitBits())-p.VectorBits()) // B/N
	e.first = []ring128.Matrix{start}
	e.begin()
	return e, nil
}

func (e *evaluation) powerBits() uint { return e.problem.powerBits(e.problem.Plan.Block) }

func (e *evaluation) zeros() ring128.Matrix {
	return ring128.New(e.problem.Targets, e.problem.Features)
}

// done reports whether the weights are computed.
func (e *evaluation) done() bool { return e.weights.Data != nil }

// next returns the vectors of the next product, and whether its matrix is T_m(H); otherwise it is H.
func (e *evaluation) next() (vectors ring128.Matrix, power bool) {
	if n := len(e.first); n < e.problem.Plan.Block {
		return e.first[n-1], false
	}
	return e.last, true
}

// take continues with the product of the vectors that next returned. The product is not truncated; take overwrites its
// words.
func (e *evaluation) take(product ring128.Matrix) {
	if len(e.first) < e.problem.Plan.Block {
		e.takeFirst(product)
		e.begin()
		return
	}
	if e.j == 0 {
		ring128.Lsh(e.before.Data, e.powerBits())
		ring128.Sub(product.Data, e.before.Data)
		e.end(product)
		return
	}
	ring128.Lsh(product.Data, 1)
	e.addBlock(product)
	e.truncate(product.Data, e.powerBits())
	ring128.Sub(product.Data, e.before.Data)
	e.last, e.before = product, e.last
	e.j--
}

// takeFirst appends T_i: H T_0, or 2 H T_(i-1) - T_(i-2).
func (e *evaluation) takeFirst(product ring128.Matrix) {
	i, f := len(e.first), e.problem.matrixBits()
	if i == 1 {
		e.truncate(product.Data, f)
	} else {
		e.truncate(product.Data, f-1)
		ring128.Sub(product.Data, e.first[i-2].Data)
	}
	e.first = append(e.first, product)
}

// begin starts Clenshaw's recurrence with the highest block once all vectors T_i are computed.
func (e *evaluation) begin() {
	if len(e.first) < e.problem.Plan.Block {
		return
	}
	e.j = len(e.blocks) - 1
	e.last, e.before = e.zeros(), e.zeros()
	if e.j == 0 {
		e.end(e.zeros())
		return
	}
	e.addBlock(e.last)
	e.truncate(e.last.Data, e.powerBits())
	e.j--
}

// addBlock adds the combination of the vectors T_i of block j.
func (e *evaluation) addBlock(to ring128.Matrix) {
	for i, c := range e.blocks[e.j] {
		ring128.AddScaled(to.Data, c, e.first[i].Data)
	}
}

// end makes the weights from the last product, by one truncation from all bits to those that are opened.
func (e *evaluation) end(product ring128.Matrix) {
	e.addBlock(product)
	e.truncate(product.Data, e.powerBits()+e.problem.VectorBits()-e.problem.WeightBits())
	e.weights = product
}

// subtractOne subtracts 1 with the given fraction bits on the diagonal of an upper triangle. Only one of the two
// holders of shares calls it.
func subtractOne(triangle []ring128.Word, features int, fraction uint) {
	subtractDiagonal(triangle, features, ring128.FromInt64(1).Lsh(fraction))
}

func subtractDiagonal(triangle []ring128.Word, features int, word ring128.Word) {
	for i := range features {
		at := ring128.Start(features, i)
		triangle[at] = triangle[at].Sub(word)
	}
}
