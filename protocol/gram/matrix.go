package gram

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// Matrix returns the Gram matrix of the rows, training rows before held-out
// ones, from the sums of all parts: every number is exactly the sum over 2^2s.
// Products of two different held-out rows are 0, since nobody has summed them.
func (p Params) Matrix(sums [][]int64) (linalg.Matrix[float64], error) {
	n := p.training + p.heldOut
	groups := p.Groups()
	if len(sums) != len(groups) {
		return linalg.Matrix[float64]{}, fmt.Errorf("gram: sums of %d groups, not %d", len(sums), len(groups))
	}
	for g, entries := range groups {
		if len(sums[g]) != entries {
			return linalg.Matrix[float64]{}, fmt.Errorf("gram: group %d has %d sums, not %d", g, len(sums[g]), entries)
		}
	}
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

// unit is what a sum of 1 stands for.
func (p Params) unit() float64 { return math.Ldexp(1, -2*p.scale) }
