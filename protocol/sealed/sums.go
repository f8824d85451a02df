package sealed

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// Accumulator adds up the rows of one party in whole numbers: A = sum of phi phi^T and B = sum of phi y^T of the
// scaled and rounded rows of a [Problem], in units of 2^(-2 CellBits).
type Accumulator struct {
	problem      Problem
	rows         int
	outer, cross []int64
}

// NewAccumulator returns the sums of no rows. It returns an error if the problem fails its check.
func NewAccumulator(p Problem) (*Accumulator, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	return &Accumulator{problem: p, outer: make([]int64, ring128.Triangle(p.Features)), cross: make([]int64, p.Targets*p.Features)}, nil
}

// Add adds a block of rows: phi(x) as features x rows, with |phi| <= 1, and y as targets x rows, with |y| <= 1. It
// scales phi by [Problem.RowScale] and rounds phi and y towards zero to whole numbers of 2^-CellBits. That lengthens
// no row, so that A's eigenvalues keep their bound; a row that is too long by rounding errors of float64 only is
// accepted. It returns an error, and adds nothing, if a shape is wrong, if there are more rows than the problem
// has, or if a row is too long or has a number that is not finite. The error counts rows from 0 over all blocks.
func (a *Accumulator) Add(features, targets linalg.Matrix[float64]) error {
	p := a.problem
	if features.Rows != p.Features || targets.Rows != p.Targets || features.Cols != targets.Cols {
		return fmt.Errorf("sealed: a block has %d features of %d rows and %d targets of %d rows; the problem has %d features and %d targets", features.Rows, features.Cols, targets.Rows, targets.Cols, p.Features, p.Targets)
	}
	if features.Cols > p.Rows-a.rows {
		return fmt.Errorf("sealed: there are more than the problem's %d rows", p.Rows)
	}
	phi, y := p.whole(features, p.RowScale()), p.whole(targets, 1)
	if i := tooLong(phi, p.longestRow()); i >= 0 {
		return fmt.Errorf("sealed: the features of row %d (from 0) are not finite, or their norm is above 1", a.rows+i)
	}
	if i := tooLong(y, math.Ldexp(1, 2*p.CellBits())); i >= 0 {
		return fmt.Errorf("sealed: the targets of row %d (from 0) are not finite, or their norm is above 1; scale them", a.rows+i)
	}
	a.addProducts(phi, y)
	a.rows += features.Cols
	return nil
}

// whole returns numbers times scale as whole numbers of 2^-CellBits, rounded towards zero.
func (p Problem) whole(m linalg.Matrix[float64], scale float64) linalg.Matrix[float64] {
	w := linalg.New[float64](m.Rows, m.Cols)
	for k := range m.Rows {
		to := w.Row(k)
		for i, v := range m.Row(k) {
			to[i] = math.Trunc(math.Ldexp(v*scale, p.CellBits()))
		}
	}
	return w
}

// tooLong returns the first column of whole numbers whose squares add up to more than most, or are not finite; or -1.
// The sums that it accepts are exact, since most is below 2^53.
func tooLong(m linalg.Matrix[float64], most float64) int {
	sums := make([]float64, m.Cols)
	for k := range m.Rows {
		for i, v := range m.Row(k) {
			sums[i] += v * v
		}
	}
	for i, v := range sums {
		if !(v <= most) {
			return i
		}
	}
	return -1
}

// addProducts adds the products of whole numbers. All sums of the problem's rows, those of magnitudes too, are at most
// N in units of 2^(-2 CellBits), which is at most 2^48: float64 adds them up exactly, in any order.
func (a *Accumulator) addProducts(phi, y linalg.Matrix[float64]) {
	outer, cross := linalg.New[float64](phi.Rows, phi.Rows), linalg.New[float64](y.Rows, phi.Rows)
	linalg.Syrk(outer, phi)
	linalg.MulTransB(cross, y, phi)
	at := 0
	for i := range outer.Rows {
		for _, v := range outer.Row(i)[i:] {
			a.outer[at] += int64(v)
			at++
		}
	}
	for k, v := range cross.Data {
		a.cross[k] += int64(v)
	}
}

// Rows returns the number of rows so far.
func (a *Accumulator) Rows() int { return a.rows }

// Sums returns the upper triangle of A, row after row, and B as targets x features, as [SolvePlain] takes them. They
// are the accumulator's own: the next block changes them.
func (a *Accumulator) Sums() (outer, cross []int64) { return a.outer, a.cross }
