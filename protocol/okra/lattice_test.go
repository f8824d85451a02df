package okra

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// The Gram matrix can be the data (design rule 19): rows on a grid generate a
// lattice, here Z^f, which has an orthonormal basis: one vector for each
// pixel. Lattice reduction (Lenstra, Lenstra, Lovasz 1982) finds it from the
// rows' inner products, which on a grid are integers and therefore exact in
// spite of float32. The inner products of rows with this basis are the
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

// Measured: all 61 pixels that are not always 0, in every row.
func TestLatticeAttackReadsDigits(t *testing.T) {
	x := digits(t)
	for _, spec := range []Spec{{}, {Encoder: Haar}} {
		w := train(t, spec, Input{Rows: x.Panel(0, 900), Grid: true}, Input{Rows: x.Panel(900, x.Rows), Grid: true})
		g := w.server().Gram()
		b := new(reduction)
		for i := range g.Rows {
			products := make([]int64, g.Rows)
			for j, v := range g.Row(i) {
				products[j] = int64(math.Round(256 * v))
			}
			b.insert(i, products)
		}
		want := make(map[string]bool)
		for j := range x.Cols {
			column := make([]int64, x.Rows)
			for i := range column {
				column[i] = int64(16 * x.Row(i)[j])
			}
			if slices.Max(column) > 0 {
				want[fmt.Sprint(column)] = true
			}
		}
		found := 0
		for _, row := range b.rows {
			if slices.Min(row) < 0 {
				for i := range row {
					row[i] = -row[i]
				}
			}
			if want[fmt.Sprint(row)] {
				found++
			}
		}
		if found != 61 || len(want) != 61 {
			t.Errorf("%+v: %d of %d pixels found", spec, found, len(want))
		}
	}
}

// digits are the 1797 images of 8 x 8 pixels, divided by 16.
func digits(t *testing.T) linalg.Matrix[float64] {
	t.Helper()
	folder := os.Getenv("MERCER_DATA")
	if folder == "" {
		folder = "../../../shared/data"
	}
	file, err := os.Open(filepath.Join(folder, "digits", "digits.csv.gz"))
	if err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatal(err)
		}
		t.Skip("the digits are not here; set MERCER_DATA to the folder of the real data")
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(plain).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	x := linalg.New[float64](len(records), 64)
	for i, r := range records {
		for j := range x.Cols {
			v, err := strconv.ParseFloat(r[j], 64)
			if err != nil {
				t.Fatal(err)
			}
			x.Row(i)[j] = v / 16
		}
	}
	return x
}
