package lattice

import (
	"math"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

// dependent is the squared distance of a row from others, in units of the
// largest squared norm, below which it is taken to lie in their span: far above
// what float32 leaves of zero, far below a step.
const dependent = 1e-9

// spanning chooses rows that span all, and repeats the choice until there are
// enough times as many: first a row of each dimension, the one that is farthest
// from the rows before, then again from the rows that are left. The repeated choices find
// features that few rows have. It returns the rows and the dimension.
func spanning(gram linalg.Matrix[float64], enough float64) (rows []int, rank int) {
	left := make([]bool, gram.Rows)
	for i := range left {
		left[i] = true
	}
	limit := gram.Rows
	for len(rows) < limit {
		more := pivots(gram, left)
		if len(rows) == 0 {
			rank = len(more)
			limit = min(limit, int(math.Ceil(enough*float64(rank))))
		}
		if len(more) == 0 {
			break
		}
		rows = append(rows, more...)
		for _, i := range more {
			left[i] = false
		}
	}
	return rows[:min(limit, len(rows))], rank
}

// pivots returns those rows, among the rows left, that Cholesky's factorisation
// with pivoting chooses until it reaches the rank.
func pivots(gram linalg.Matrix[float64], left []bool) (chosen []int) {
	distance, most := make([]float64, gram.Rows), 0.0
	for i := range distance {
		most = max(most, gram.Row(i)[i])
		if left[i] {
			distance[i] = gram.Row(i)[i]
		}
	}
	var factor [][]float64 // columns
	for {
		p := argmax(distance)
		if p < 0 || distance[p] <= dependent*most {
			return chosen
		}
		column := slices.Clone(gram.Row(p))
		for _, f := range factor {
			for i, v := range f {
				column[i] -= f[p] * v
			}
		}
		root := math.Sqrt(distance[p])
		for i := range column {
			column[i] /= root
			distance[i] -= column[i] * column[i]
		}
		distance[p] = 0
		factor, chosen = append(factor, column), append(chosen, p)
	}
}

// argmax returns the first index of the largest value, or -1 of none.
func argmax(v []float64) int {
	best := -1
	for i, x := range v {
		if best < 0 || x > v[best] {
			best = i
		}
	}
	return best
}
