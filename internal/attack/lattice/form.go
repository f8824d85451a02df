package lattice

import (
	"math"
	"slices"
)

// form represents a lattice basis by the integer inner products of its vectors. The
// floating-point LLL algorithm of P. Nguyen and D. Stehlé (An LLL algorithm with quadratic
// complexity, SIAM J. Comput. 39, 2009) reduces the basis. The inner products are exact. The
// Gram-Schmidt coefficients are approximate, and are computed again when needed.
type form struct {
	gram  [][]int64   // inner products of the basis vectors
	carry [][]int64   // values of a linear function for each vector; all slices have equal lengths
	mu    [][]float64 // Gram-Schmidt coefficients
	r     [][]float64 // r[k][j] = mu[k][j] r[j][j]; r[k][k] is the squared norm of the orthogonal part
}

const (
	// lovasz is the factor in LLL's Lovász condition. Two neighbouring vectors are swapped if the
	// squared norm of the orthogonal part at the first place then falls below this share of its
	// earlier value.
	lovasz = .99
	// negligible is the squared norm below which the orthogonal part of a vector counts as zero. In
	// theory, the orthogonal part of an independent integer vector can be as short as 1 over the
	// determinant of the earlier vectors. In a reduced basis, the squared norm of the orthogonal
	// part is far above negligible.
	negligible = 1e-6
)

// insert adds a vector to the basis and reduces the basis by LLL. The arguments are the vector's
// inner products with the basis and with itself. A vector that depends linearly on the basis does
// not add a dimension.
func (b *form) insert(products []int64, square int64, carry []int64) {
	n := len(b.gram)
	for k, g := range products {
		b.gram[k] = append(b.gram[k], g)
		b.mu[k], b.r[k] = append(b.mu[k], 0), append(b.r[k], 0)
	}
	b.gram, b.carry = append(b.gram, append(slices.Clone(products), square)), append(b.carry, carry)
	b.mu, b.r = append(b.mu, make([]float64, n+1)), append(b.r, make([]float64, n+1))
	b.reduce(n, func(k int) int {
		if k > 0 && b.r[k][k] < (lovasz-b.mu[k][k-1]*b.mu[k][k-1])*b.r[k-1][k-1] {
			return k - 1
		}
		return k
	})
}

// reduce shortens each vector from index k on, and then moves the vector forward. The function
// place chooses the new index. A vector of length zero is removed.
func (b *form) reduce(k int, place func(k int) int) {
	for k < len(b.gram) {
		b.shorten(k)
		if b.gram[k][k] == 0 {
			b.remove(k)
			continue
		}
		to := place(k)
		if to == k {
			k++
			continue
		}
		for ; k > to; k-- {
			b.swap(k)
		}
	}
}

// deepen reduces the basis further by deep insertions of vectors at earlier positions. See Schnorr
// and Euchner, Lattice basis reduction: improved practical algorithms and solving subset sum
// problems, Math. Program. 66, 1994. Each insertion moves a vector to the first position at which
// the orthogonal part of the moved vector is shorter than that of the present one.
func (b *form) deepen() {
	b.reduce(0, func(k int) int {
		left := float64(b.gram[k][k])
		for i := range k {
			if left < lovasz*b.r[i][i] {
				return i
			}
			left -= b.mu[k][i] * b.r[k][i]
		}
		return k
	})
}

// last returns a form that holds only the last n vectors.
func (b *form) last(n int) *form {
	from := len(b.gram) - n
	out := &form{carry: b.carry[from:]}
	for k := range n {
		out.gram = append(out.gram, slices.Clone(b.gram[from+k][from:]))
		out.mu, out.r = append(out.mu, make([]float64, n)), append(out.r, make([]float64, n))
	}
	return out
}

// shorten subtracts integer multiples of earlier vectors from vector k. It stops when the
// Gram-Schmidt coefficients of vector k are small, and stores these coefficients.
func (b *form) shorten(k int) {
	for again := true; again; {
		again = false
		b.orthogonalise(k)
		for j := k - 1; j >= 0; j-- {
			if math.Abs(b.mu[k][j]) > .51 { // with a bound of .5, rounding errors could alternate without end
				b.subtract(k, j, int64(math.Round(b.mu[k][j])))
				again = true
			}
		}
	}
}

// subtract subtracts q times vector j from vector k, where j < k.
func (b *form) subtract(k, j int, q int64) {
	gk, gj := b.gram[k], b.gram[j]
	square := gk[k] - 2*q*gk[j] + q*q*gj[j]
	for i, g := range gj {
		gk[i] -= q * g
		b.gram[i][k] = gk[i]
	}
	gk[k] = square
	for i, u := range b.carry[j] {
		b.carry[k][i] -= q * u
	}
	for i, m := range b.mu[j][:j] {
		b.mu[k][i] -= float64(q) * m
	}
	b.mu[k][j] -= float64(q)
}

// orthogonalise computes the Gram-Schmidt coefficients of vector k.
func (b *form) orthogonalise(k int) {
	r, mu := b.r[k], b.mu[k]
	for j := 0; j <= k; j++ {
		r[j] = float64(b.gram[k][j])
		for i, m := range b.mu[j][:j] {
			r[j] -= m * r[i]
		}
		switch {
		case j == k && r[k] < negligible:
			r[k] = 0
		case j < k && b.r[j][j] > 0:
			mu[j] = r[j] / b.r[j][j]
		case j < k:
			mu[j], r[j] = 0, 0
		}
	}
}

// swap exchanges vectors k and k-1 of the basis.
func (b *form) swap(k int) {
	b.gram[k], b.gram[k-1] = b.gram[k-1], b.gram[k]
	b.carry[k], b.carry[k-1] = b.carry[k-1], b.carry[k]
	for _, g := range b.gram {
		g[k], g[k-1] = g[k-1], g[k]
	}
}

func (b *form) remove(k int) {
	b.gram, b.carry = slices.Delete(b.gram, k, k+1), slices.Delete(b.carry, k, k+1)
	b.mu, b.r = b.mu[:len(b.gram)], b.r[:len(b.gram)]
	for j := range b.gram {
		b.gram[j] = slices.Delete(b.gram[j], k, k+1)
	}
}
