package lattice

import (
	"math"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

const (
	// unit is the squared length of the longest row after scaling to integers.
	unit = 1 << 46
	// penalty is the weight of the squared coefficients in a vector's squared norm. It is far above
	// the error of rounding to integers, which could make a squared norm negative.
	penalty = 1 << 8
	// rowsPerDimension is the number of rows that Read uses for each dimension of their span.
	rowsPerDimension = 2
	// noisyRowsPerDimension is the same number for ReadNoisy. More rows make coefficients smaller.
	noisyRowsPerDimension = 4
)

// Read reconstructs features from the n x n Gram matrix of n rows.
//
// It reduces the lattice of the vectors (w y, u), where u holds an integer coefficient for each
// row, y is the combination of rows with these coefficients, and w is a large weight. Combinations
// that are zero except for the rounding of rows are short and come first. With enough rows, the
// coefficients of these short combinations are small. After reduction by the short combinations,
// all other combinations have small coefficients, too. Small coefficients keep the rounding error
// of a combination below the features' steps.
func Read(gram linalg.Matrix[float64]) Reading {
	rows, rank := spanning(gram, rowsPerDimension)
	b := combinations(gram, rows, penalty).last(rank)
	b.deepen()
	reading := Reading{Rank: rank}
	for _, coef := range b.carry {
		inner := make([]float64, gram.Rows) // inner products of the combination with all rows
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

// ReadNoisy reconstructs features from the Gram matrix of noisy rows that an unknown linear map has
// distorted. The map must be nearly an isometry, as a random map to many dimensions is. The features
// are the coordinates of the rows in the reduced basis, which the map does not change. Step is the
// length of the distorted basis vector, which is close to the feature's step. The argument noise is
// the length of a row's error as a share of the longest row. It can be far too large without harm.
func ReadNoisy(gram linalg.Matrix[float64], noise float64) Reading {
	rows, rank := spanning(gram, noisyRowsPerDimension)
	b := combinations(gram, rows, max(penalty, int64(unit*noise*noise))).last(rank)
	b.deepen()
	inner, basis := productsOf(b.carry, gram, rows)
	reading := Reading{Rank: rank}
	lengths := make([]float64, rank)
	for k := range lengths {
		lengths[k] = math.Sqrt(basis.Row(k)[k])
	}
	if linalg.Cholesky(basis) != nil {
		return reading // noise was taken for a dimension
	}
	linalg.SolveCholesky(basis, inner)
	coordinates := make([]float64, gram.Rows)
	for k, length := range lengths {
		for i := range coordinates {
			coordinates[i] = inner.Row(i)[k]
		}
		before := len(reading.Columns)
		reading.add(coordinates, 1)
		for i := range reading.Columns[before:] {
			reading.Columns[before+i].Step *= length
		}
	}
	return reading
}

// productsOf returns the inner products of all rows with the combinations of the given rows, one
// combination in a column, and the inner products of the combinations with each other.
func productsOf(combinations [][]int64, gram linalg.Matrix[float64], rows []int) (inner, basis linalg.Matrix[float64]) {
	inner, basis = linalg.New[float64](gram.Rows, len(combinations)), linalg.New[float64](len(combinations), len(combinations))
	for k, coef := range combinations {
		for a, u := range coef {
			for i, g := range gram.Row(rows[a]) {
				inner.Row(i)[k] += float64(u) * g
			}
		}
	}
	for k, coef := range combinations {
		for a, u := range coef {
			linalg.Axpy(float64(u), inner.Row(rows[a]), basis.Row(k))
		}
	}
	return inner, basis
}

// combinations returns a reduced basis of the integer combinations of rows. Each vector carries
// its coefficients. The penalty is the weight of the squared coefficients.
func combinations(gram linalg.Matrix[float64], rows []int, penalty int64) *form {
	most := 0.0
	for i := range gram.Rows {
		most = max(most, gram.Row(i)[i])
	}
	b := new(form)
	for a, i := range rows {
		inner := make([]int64, a+1) // inner products with the earlier rows and with itself
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
		b.insert(products, inner[a]+penalty, coef)
	}
	return b
}

// ReadExact reconstructs features from the n x n Gram matrix of n rows whose features are all
// multiples of step.
func ReadExact(gram linalg.Matrix[float64], step float64) Reading {
	b := new(form) // b.carry holds the inner products of each vector with all rows
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

// Differences returns the Gram matrix of the rows after the first row is subtracted from each.
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

// dependent is a bound on the squared distance between a row and the span of the chosen rows, in
// units of the largest squared norm of a row. A row up to this bound counts as dependent on the
// chosen rows. The bound is far above the error of rounding to float32, and far below a feature's
// step.
const dependent = 1e-9

// spanning returns rows that span all rows, and the dimension of the span. It chooses one row for
// each dimension, always the row farthest from the span of the earlier ones. It repeats this choice
// among the remaining rows until the number of chosen rows is enough times the dimension. The
// repetitions find features that few rows have.
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

// pivots returns the rows that a pivoted Cholesky factorisation chooses among the candidates. It
// stops when the remaining rows depend on the chosen ones.
func pivots(gram linalg.Matrix[float64], candidates []bool) (chosen []int) {
	distance, most := make([]float64, gram.Rows), 0.0
	for i := range distance {
		most = max(most, gram.Row(i)[i])
		if candidates[i] {
			distance[i] = gram.Row(i)[i]
		}
	}
	var factor [][]float64 // columns of the Cholesky factor
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

// argmax returns the first index of the largest value, or -1 for an empty slice.
func argmax(v []float64) int {
	best := -1
	for i, x := range v {
		if best < 0 || x > v[best] {
			best = i
		}
	}
	return best
}

// Reading holds the features that an attack reconstructed.
type Reading struct {
	Rank    int // dimension of the rows' span
	Columns []Column
}

// Column is a reconstructed feature: the feature equals Step times Values in every row, or Step
// times -Values. A column can also be the difference or the sum of two features with equal steps.
// Step is then the step of one of the two features, divided by the square root of 2. The entry of
// Values with the largest magnitude is positive.
//
// The lattice vector of each column was verified: for every row, twice the inner product of vector
// and row is an integer multiple of the vector's squared norm. That this holds for all rows cannot
// be a coincidence.
type Column struct {
	Step   float64
	Values []int64
}

// wholeTolerance is the distance from an integer below which a quotient counts as an integer.
const wholeTolerance = .1

// add appends a column for a lattice vector, if the vector can belong to a feature. The slice inner
// holds the vector's inner products with all rows, and square is the vector's squared norm.
func (r *Reading) add(inner []float64, square float64) {
	values := make([]int64, len(inner))
	odd := false
	for i, v := range inner {
		q := math.Round(2 * v / square)
		if !(math.Abs(2*v/square-q) < wholeTolerance) {
			return
		}
		values[i] = int64(q)
		odd = odd || values[i]&1 != 0
	}
	least, most := slices.Min(values), slices.Max(values)
	if least == most {
		return
	}
	step := math.Sqrt(square) / 2
	for i := range values {
		if -least > most {
			values[i] *= -1
		}
		if !odd {
			values[i] /= 2
		}
	}
	if !odd {
		step *= 2
	}
	r.Columns = append(r.Columns, Column{Step: step, Values: values})
}

// Recovered returns the indices of the columns of x that the attack reconstructed. The matrix x
// holds one row for each secret row. A column counts if it is right within tol in every row, up
// to sign. The indices ascend.
func (r Reading) Recovered(x linalg.Matrix[float64], tol float64) (columns []int) {
	for j := range x.Cols {
		if slices.ContainsFunc(r.Columns, func(c Column) bool { return c.is(x, j, tol) }) {
			columns = append(columns, j)
		}
	}
	return columns
}

// is reports whether c equals column j of x within tol, up to sign.
func (c Column) is(x linalg.Matrix[float64], j int, tol float64) bool {
	plus, minus := true, true
	for i, v := range c.Values {
		plus = plus && math.Abs(x.Row(i)[j]-c.Step*float64(v)) <= tol
		minus = minus && math.Abs(x.Row(i)[j]+c.Step*float64(v)) <= tol
	}
	return plus || minus
}
