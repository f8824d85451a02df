package sealed

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// SolvePlain computes in the clear what the keepers compute on shares, with the same numbers of bits: the
// weights (A + alpha)^-1 B of the scaled rows, as targets x features, multiples of 2^-[Problem.WeightBits].
// It is for tests, and for a process that has all rows anyway. The keepers' weights differ from it by errors of
// truncations only.
//
// outer is the upper triangle of A, row after row, and cross is B as targets x features, both times
// 2^(2 CellBits) and of the scaled rows ([Accumulator]). It returns an error if the problem fails its check,
// if outer or cross has a wrong number of entries, or if an entry is larger than in the sums of any rows.
func SolvePlain(p Problem, outer, cross []int64) (linalg.Matrix[float64], error) {
	none := linalg.Matrix[float64]{}
	if err := p.Check(); err != nil {
		return none, err
	}
	if err := p.checkSums(outer, cross); err != nil {
		return none, err
	}
	return p.solve(outer, cross)
}

// solve is [SolvePlain] without checks.
func (p Problem) solve(outer, cross []int64) (linalg.Matrix[float64], error) {
	e, err := newEvaluation(p, ring128.FromInts(cross), ring128.Round)
	if err != nil {
		return linalg.Matrix[float64]{}, err
	}
	matrix := ring128.FromInts(outer)
	subtractDiagonal(matrix, p.Features, p.middle())
	h := ring128.Symmetric(p.Features, matrix)
	power := plainPower(p, h)
	for !e.done() {
		vectors, powers := e.next()
		x := h
		if powers {
			x = power
		}
		product := e.zeros()
		ring128.AddMulTransB(product, vectors, x)
		e.take(product)
	}
	w := linalg.New[float64](p.Targets, p.Features)
	for k, word := range e.weights.Data {
		w.Data[k] = word.Float(p.WeightBits())
	}
	return w, nil
}

// plainPower returns T_m(H).
func plainPower(p Problem, h ring128.Matrix) ring128.Matrix {
	fraction := p.matrixBits()
	for range p.Plan.Squarings() {
		square := make([]ring128.Word, ring128.Triangle(p.Features))
		ring128.AddSyrk(square, h)
		ring128.Round(square, p.squareBits(fraction))
		fraction = p.VectorBits()
		subtractOne(square, p.Features, fraction)
		h = ring128.Symmetric(p.Features, square)
	}
	return h
}

// checkSums refuses sums of another size, and entries beyond the greatest eigenvalue.
func (p Problem) checkSums(outer, cross []int64) error {
	if len(outer) != ring128.Triangle(p.Features) || len(cross) != p.Targets*p.Features {
		return fmt.Errorf("sealed: the sums have %d entries of A and %d of B; %d features and %d targets require %d and %d", len(outer), len(cross), p.Features, p.Targets, ring128.Triangle(p.Features), p.Targets*p.Features)
	}
	most := int64(1) << p.unitBits()
	exceeds := func(v int64) bool { return v > most || v < -most }
	if slices.ContainsFunc(outer, exceeds) {
		return errors.New("sealed: an entry of the features' products is too large for the number of rows")
	}
	if slices.ContainsFunc(cross, exceeds) {
		return errors.New("sealed: an entry of the products of features and targets is too large for the number of rows")
	}
	return nil
}
