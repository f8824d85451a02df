package lattice

import (
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

const (
	// unit is the squared length of the longest row in whole numbers.
	unit = 1 << 46
	// price is the cost to a vector of the square of a coefficient: far above
	// the rounding to whole numbers, which could make a square negative.
	price = 1 << 8
	// plenty is the number of rows that Read takes for each dimension.
	plenty = 2
)

// Read attacks the n x n Gram matrix of n rows.
//
// It reduces the lattice of the vectors (w y, u), where u are whole coefficients
// of rows, y is that combination of rows, and w a large weight. Combinations
// that are zero except for the rounding of rows are short and come first; with
// enough rows their coefficients are small, and so are the coefficients of all other
// combinations after reduction by them. Therefore errors stay below the steps.
func Read(gram linalg.Matrix[float64]) Reading {
	rows, rank := spanning(gram, plenty)
	b := combinations(gram, rows).last(rank)
	b.deepen()
	reading := Reading{Rank: rank}
	for _, coef := range b.carry {
		inner := make([]float64, gram.Rows) // of the combination with all rows
		for a, u := range coef {
			for i, g := range gram.Row(rows[a]) {
				inner[i] += float64(u) * g
			}
		}
		square := 0.0
		for a, u := range coef {
			square += float64(u) * inner[rows[a]]
		}
		reading.add(inner, square)
	}
	return reading
}

// combinations reduces the combinations of rows. The vectors carry their
// coefficients.
func combinations(gram linalg.Matrix[float64], rows []int) *form {
	most := 0.0
	for i := range gram.Rows {
		most = max(most, gram.Row(i)[i])
	}
	b := new(form)
	for a, i := range rows {
		inner := make([]int64, a+1) // with the rows before and itself
		for c, j := range rows[:a+1] {
			inner[c] = int64(math.Round(unit / most * gram.Row(i)[j]))
		}
		products := make([]int64, a)
		for k := range products {
			for c, g := range inner[:a] {
				products[k] += b.carry[k][c] * g
			}
		}
		coef := make([]int64, len(rows))
		coef[a] = 1
		b.insert(products, inner[a]+price, coef)
	}
	return b
}

// ReadExact attacks the n x n Gram matrix of n rows whose features are all
// multiples of step.
func ReadExact(gram linalg.Matrix[float64], step float64) Reading {
	b := new(form) // carries the inner products with all rows
	for i := range gram.Rows {
		inner := make([]int64, gram.Rows)
		for j, v := range gram.Row(i) {
			inner[j] = int64(math.Round(v / step / step))
		}
		products := make([]int64, len(b.gram))
		for k := range products {
			products[k] = b.carry[k][i]
		}
		b.insert(products, inner[i], inner)
	}
	b.deepen()
	reading := Reading{Rank: len(b.gram)}
	for k, products := range b.carry {
		inner := make([]float64, gram.Rows)
		for i, v := range products {
			inner[i] = float64(v) * step * step
		}
		reading.add(inner, float64(b.gram[k][k])*step*step)
	}
	return reading
}

// Differences returns the Gram matrix of the rows minus the first of them.
func Differences(gram linalg.Matrix[float64]) linalg.Matrix[float64] {
	out := linalg.New[float64](gram.Rows, gram.Rows)
	first := gram.Row(0)
	for i := range gram.Rows {
		for j, v := range gram.Row(i) {
			out.Row(i)[j] = v - first[i] - first[j] + first[0]
		}
	}
	return out
}
