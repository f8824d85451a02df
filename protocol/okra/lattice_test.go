package okra

import (
	"compress/gzip"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// The Gram matrix can be the data (design rule 19): rows on a grid generate a
// lattice, here that of the pixels' units, which has an orthogonal basis: one
// vector for each pixel. Lattice reduction (Lenstra, Lenstra, Lovasz 1982)
// finds it from the encoded rows, which are the rows up to an isometry, and
// the inner products with it are the pixels. No row is known; order and signs
// of the pixels stay unknown. The attack would do the same with nothing but
// the Gram matrix, from which it could make such rows itself.

// basis is a set of independent vectors with their Gram-Schmidt vectors.
type basis struct {
	v, star [][]float64
	mu      [][]float64
	norm    []float64 // |star|^2
}

// shortest bounds from below the squares of vectors that are not rounding
// errors.
const shortest = 1e-6

// orthogonalise recomputes the Gram-Schmidt vector k.
func (b *basis) orthogonalise(k int) {
	b.star[k] = slices.Clone(b.v[k])
	b.mu[k] = make([]float64, k)
	for j := range k {
		if b.norm[j] == 0 {
			continue
		}
		b.mu[k][j] = dot(b.v[k], b.star[j]) / b.norm[j]
		axpy(b.star[k], -b.mu[k][j], b.star[j])
	}
	if b.norm[k] = dot(b.star[k], b.star[k]); b.norm[k] < shortest {
		b.norm[k] = 0
	}
}

// shorten subtracts multiples of earlier vectors from vector k.
func (b *basis) shorten(k int) {
	for j := k - 1; j >= 0; j-- {
		q := math.Round(b.mu[k][j])
		if q == 0 {
			continue
		}
		axpy(b.v[k], -q, b.v[j])
		axpy(b.mu[k][:j], -q, b.mu[j])
		b.mu[k][j] -= q
	}
}

// insert adds a vector to the lattice and reduces the basis again, dropping
// what turns out to be dependent.
func (b *basis) insert(v []float64) {
	b.v, b.star, b.mu, b.norm = append(b.v, slices.Clone(v)), append(b.star, nil), append(b.mu, nil), append(b.norm, 0)
	for k := len(b.v) - 1; k < len(b.v); {
		b.orthogonalise(k)
		b.shorten(k)
		b.orthogonalise(k)
		if dot(b.v[k], b.v[k]) < shortest { // a combination of the others
			b.v, b.star, b.mu, b.norm = slices.Delete(b.v, k, k+1), slices.Delete(b.star, k, k+1), slices.Delete(b.mu, k, k+1), slices.Delete(b.norm, k, k+1)
			continue
		}
		if k == 0 || b.norm[k] >= (.99-b.mu[k][k-1]*b.mu[k][k-1])*b.norm[k-1] {
			k++
			continue
		}
		b.v[k], b.v[k-1] = b.v[k-1], b.v[k]
		b.orthogonalise(k - 1)
		k = max(k-1, 1)
		if k == 1 {
			b.orthogonalise(0)
		}
	}
}

func TestLatticeAttackReadsDigits(t *testing.T) {
	x := digits(t)
	for _, spec := range []Spec{{}, {Encoder: Haar}} {
		w := train(t, spec, Input{Rows: x.Panel(0, 900), Grid: true}, Input{Rows: x.Panel(900, x.Rows), Grid: true})
		y := linalg.New[float64](x.Rows, w.server().Width())
		for i := range y.Rows {
			w.server().store.row(i, y.Row(i))
		}
		b := new(basis)
		for i := range y.Rows {
			b.insert(y.Row(i))
		}
		t.Log(len(b.v))
		for _, v := range b.v { t.Log(1/math.Sqrt(dot(v,v))) }
		_ = csv.NewReader
	}
}

// digits are the 1797 images of 8 x 8 pixels, each pixel scaled to [0, 1].
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
			if x.Row(i)[j], err = strconv.ParseFloat(r[j], 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	for j := range x.Cols {
		largest := 0.0
		for i := range x.Rows {
			largest = max(largest, x.Row(i)[j])
		}
		for i := range x.Rows {
			if largest > 0 {
				x.Row(i)[j] /= largest
			}
		}
	}
	return x
}
