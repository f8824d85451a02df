package lattice

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// vectors draws whole vectors, some of which depend on others.
func vectors(seed uint64, n, dims int) [][]int64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([][]int64, n)
	for i := range out {
		out[i] = make([]int64, dims)
		for c := range out[i] {
			out[i][c] = rng.Int64N(41) - 20
		}
		if i > 2 && rng.IntN(4) == 0 {
			for c := range out[i] {
				out[i][c] = out[i-1][c] - 3*out[i-3][c]
			}
		}
	}
	return out
}

func product(a, b []int64) (sum int64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// insertAll carries the vectors themselves.
func insertAll(vectors [][]int64) *form {
	b := new(form)
	for _, v := range vectors {
		products := make([]int64, len(b.carry))
		for k, w := range b.carry {
			products[k] = product(v, w)
		}
		b.insert(products, product(v, v), append([]int64(nil), v...))
	}
	return b
}

// TestReduced compares with the definitions, from the carried vectors: inner
// products, independence, size reduction and Lovász' condition; after deepen,
// the condition of deep insertion. Every inserted vector is a whole combination of the basis.
func TestReduced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.IntRange(1, 12).Draw(t, "dims")
		in := vectors(rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 16).Draw(t, "n"), dims)
		b := insertAll(in)
		orthogonal := gramSchmidt(t, b)
		for k := 1; k < len(b.carry); k++ {
			mu := along(b.carry[k], orthogonal[k-1])
			if square(orthogonal[k]) < (lovasz-mu*mu-1e-9)*square(orthogonal[k-1]) {
				t.Fatalf("vector %d should come before vector %d", k, k-1)
			}
		}
		b.deepen()
		orthogonal = gramSchmidt(t, b)
		for k := range b.carry {
			left := float64(b.gram[k][k])
			for i := range k {
				if left < (lovasz-1e-9)*square(orthogonal[i]) {
					t.Fatalf("vector %d should come before vector %d", k, i)
				}
				mu := along(b.carry[k], orthogonal[i])
				left -= mu * mu * square(orthogonal[i])
			}
		}
		for _, v := range in {
			if !inLattice(v, b.carry, orthogonal) {
				t.Fatalf("%v is not in the lattice of %v", v, b.carry)
			}
		}
	})
}

// gramSchmidt checks products and sizes on the way.
func gramSchmidt(t *rapid.T, b *form) (orthogonal [][]float64) {
	for k, v := range b.carry {
		o := make([]float64, len(v))
		for c, x := range v {
			o[c] = float64(x)
		}
		for j := range k {
			if got, want := b.gram[k][j], product(v, b.carry[j]); got != want || b.gram[j][k] != want {
				t.Fatalf("inner product (%d, %d) is %d and %d, want %d", k, j, got, b.gram[j][k], want)
			}
			mu := along(v, orthogonal[j])
			if math.Abs(mu) > .52 {
				t.Fatalf("coefficient (%d, %d) is %v", k, j, mu)
			}
			for c, x := range orthogonal[j] {
				o[c] -= mu * x
			}
		}
		if square(o) < 1e-9 || b.gram[k][k] != product(v, v) {
			t.Fatalf("vector %d is %v, squared norm %d", k, v, b.gram[k][k])
		}
		orthogonal = append(orthogonal, o)
	}
	return orthogonal
}

func square(v []float64) (sum float64) {
	for _, x := range v {
		sum += x * x
	}
	return sum
}

// along is the coefficient of v along o.
func along(v []int64, o []float64) float64 {
	sum := 0.0
	for c, x := range v {
		sum += float64(x) * o[c]
	}
	return sum / square(o)
}

func inLattice(v []int64, basis [][]int64, orthogonal [][]float64) bool {
	rest := append([]int64(nil), v...)
	for k := len(basis) - 1; k >= 0; k-- {
		q := int64(math.Round(along(rest, orthogonal[k])))
		for c, x := range basis[k] {
			rest[c] -= q * x
		}
	}
	return product(rest, rest) == 0
}
