package okra

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/linalg"
)

// The Gram matrix can be the data: rows on a grid generate a
// lattice with an orthogonal basis, one vector for each pixel. Lattice
// reduction (Lenstra, Lenstra, Lovasz 1982) finds it from the rows' inner
// products, which in units of the grid are integers and therefore exact in
// spite of rounding. The inner products of rows with this basis are the
// pixels. No row is known; order and signs of the pixels stay unknown.

// reduction is a lattice basis known by its inner products only.
type reduction struct {
	rows  [][]int64   // rows[i] are the inner products of basis vector i with all rows
	gram  [][]int64   // of the basis vectors
	mu, r [][]float64 // Gram-Schmidt coefficients, and mu times the squared norms
}

// orthogonalise recomputes the Gram-Schmidt coefficients of vector k. The
// squared norm of its last component, r[k][k], is 0 if k depends on the
// vectors before.
func (b *reduction) orthogonalise(k int) {
	for j := 0; j <= k; j++ {
		b.r[k][j] = float64(b.gram[k][j])
		for i := range j {
			b.r[k][j] -= b.mu[j][i] * b.r[k][i]
		}
		if j < k && b.r[j][j] > 0 {
			b.mu[k][j] = b.r[k][j] / b.r[j][j]
		} else if j < k {
			b.mu[k][j], b.r[k][j] = 0, 0
		}
	}
	if b.r[k][k] < 1e-6 {
		b.r[k][k] = 0
	}
}

// shorten subtracts multiples of earlier vectors from vector k.
func (b *reduction) shorten(k int) {
	for j := k - 1; j >= 0; j-- {
		q := int64(math.Round(b.mu[k][j]))
		if q == 0 {
			continue
		}
		for i := range b.rows[k] {
			b.rows[k][i] -= q * b.rows[j][i]
		}
		b.gram[k][k] += q*q*b.gram[j][j] - 2*q*b.gram[k][j]
		for i := range b.gram {
			if i != k {
				b.gram[k][i] -= q * b.gram[j][i]
				b.gram[i][k] = b.gram[k][i]
			}
		}
		for i := range j {
			b.mu[k][i] -= float64(q) * b.mu[j][i]
		}
		b.mu[k][j] -= float64(q)
	}
}

func (b *reduction) swap(k int) {
	b.rows[k], b.rows[k-1] = b.rows[k-1], b.rows[k]
	b.gram[k], b.gram[k-1] = b.gram[k-1], b.gram[k]
	for _, g := range b.gram {
		g[k], g[k-1] = g[k-1], g[k]
	}
}

// insert adds row i to the lattice, whose inner products with all rows are
// given, and reduces the basis, dropping what turns out to be dependent.
func (b *reduction) insert(i int, products []int64) {
	n := len(b.rows)
	b.rows = append(b.rows, slices.Clone(products))
	b.gram = append(b.gram, make([]int64, n))
	for j := range n {
		b.gram[n][j] = b.rows[j][i]
		b.gram[j] = append(b.gram[j], b.gram[n][j])
	}
	b.gram[n] = append(b.gram[n], products[i])
	b.mu, b.r = append(b.mu, make([]float64, n+1)), append(b.r, make([]float64, n+1))
	for j := range n {
		b.mu[j], b.r[j] = append(b.mu[j], 0), append(b.r[j], 0)
	}
	b.reduce(n)
}

// reduce is LLL from vector k on, all before being reduced.
func (b *reduction) reduce(k int) {
	for k < len(b.rows) {
		b.orthogonalise(k)
		b.shorten(k)
		b.orthogonalise(k)
		switch {
		case b.gram[k][k] == 0:
			b.remove(k)
		case k == 0 || b.r[k][k] >= (.99-b.mu[k][k-1]*b.mu[k][k-1])*b.r[k-1][k-1]:
			k++
		default:
			b.swap(k)
			k = max(k-1, 0)
		}
	}
}

func (b *reduction) remove(k int) {
	b.rows, b.gram = slices.Delete(b.rows, k, k+1), slices.Delete(b.gram, k, k+1)
	b.mu, b.r = b.mu[:len(b.rows)], b.r[:len(b.rows)]
	for j := range b.gram {
		b.gram[j] = slices.Delete(b.gram[j], k, k+1)
	}
}

// Measured: all 61 pixels that are not always 0, in every row, in all three
// cases. The third shows that scaling each pixel by its own maximum does not
// help; there the grid is finer (65,520 is the least common multiple of the
// maxima), and float32 would round too coarsely for this form of the attack.
func TestLatticeAttackReadsDigits(t *testing.T) {
	pixels := digits(t)
	for _, c := range []struct {
		spec Spec
		max  func(pixel []float64) float64 // pixels are divided by it
		grid float64                       // values are multiples of 1/grid
	}{
		{Spec{}, func([]float64) float64 { return 16 }, 16},
		{Spec{Encoder: Haar}, func([]float64) float64 { return 16 }, 16},
		{Spec{Wire: Float64}, slices.Max[[]float64], 65520},
	} {
		x := linalg.New[float64](pixels.Cols, pixels.Rows)
		want := make(map[string]bool)
		for j := range pixels.Rows {
			largest := c.max(pixels.Row(j))
			column := make([]int64, pixels.Cols)
			for i, v := range pixels.Row(j) {
				x.Row(i)[j] = v / max(1, largest)
				column[i] = int64(v)
			}
			if slices.Max(column) > 0 {
				want[upToScale(column)] = true
			}
		}
		w := train(t, c.spec, Input{Rows: x.Panel(0, 900), Grid: true}, Input{Rows: x.Panel(900, x.Rows), Grid: true})
		found := 0
		for _, row := range reduced(w.server().Gram(), c.grid).rows {
			if want[upToScale(row)] {
				found++
			}
		}
		if found != 61 || len(want) != 61 {
			t.Errorf("%+v: %d of %d pixels found", c.spec, found, len(want))
		}
	}
}

// reduced is the attack: it gets the Gram matrix and the step of the grid.
func reduced(gram linalg.Matrix[float64], grid float64) *reduction {
	b := new(reduction)
	for i := range gram.Rows {
		products := make([]int64, gram.Rows)
		for j, v := range gram.Row(i) {
			products[j] = int64(math.Round(grid * grid * v))
		}
		b.insert(i, products)
	}
	return b
}

// upToScale names a column of numbers up to a factor.
func upToScale(column []int64) string {
	var divisor int64
	for _, v := range column {
		for a := max(v, -v); a != 0; {
			divisor, a = a, divisor%a
		}
	}
	if slices.Min(column) < 0 {
		divisor = -divisor
	}
	scaled := make([]int64, len(column))
	for i, v := range column {
		scaled[i] = v / divisor
	}
	return fmt.Sprint(scaled)
}

// digits are the 1797 images of 8 x 8 pixels from 0 to 16, one pixel in a row.
func digits(t *testing.T) linalg.Matrix[float64] {
	t.Helper()
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	x := linalg.New[float64](set.X.Cols(), set.X.Rows())
	row := make([]float64, x.Rows)
	for i := range x.Cols {
		for j, v := range set.X.Row(i, row) {
			x.Row(j)[i] = v
		}
	}
	return x
}
