package gram

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// Matrix returns the Gram matrix of the rows, training rows before held-out
// ones, from the sums of all parts: every number is exactly the sum over 2^2s.
// Products of two different held-out rows are 0, since nobody has summed them.
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

// Cross returns, from the sums of all parts under NewCrossParams, the inner products
// of new rows with the model's, new x model, and of each new row with itself.
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

// place puts a group's tiles into the matrix and their mirror images across its
// diagonal.
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

// unit returns the value that a sum of 1 stands for.
func (p Params) unit() float64 { return math.Ldexp(1, -2*p.scale) }
