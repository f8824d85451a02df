package local

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/generated"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/fedcfk"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/linalg"
)

// grades are generated ratings from 1 to 5.
func grades() *dataset.Ratings {
	r := generated.Ratings(100, 60, 20, [32]byte{1})
	for i := range r.List {
		r.List[i].Value = float64(1 + (i*i+i/7)%5)
	}
	return r
}

// Kernels of secure sums of ratings equal the kernels that plain loops over the pooled ratings give,
// in every step of 16 bits, and the sums are the plain ones, entry for entry. The server is semi-honest:
// an active one gets the same sums, and TestRatingsOfThoseWhoStay has it.
func TestRatingsEqualTheNaiveTwin(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	job := strings.NewReplacer("threshold: 4", "threshold: 4, ratings: 5", ", dropout: 0.1", "").Replace(honest)
	for name, tt := range map[string]struct {
		kernel string
		of     func(ii, jj, ij float64) float64
	}{
		"linear":      {"name: linear", func(ii, jj, ij float64) float64 { return ij / math.Sqrt(ii*jj) }},
		"polynomial":  {"name: polynomial, gamma: 1, degree: 2", func(ii, jj, ij float64) float64 { return ij * ij / (ii * jj) }},
		"dot-product": {"name: dot-product, coefficients: [0, 1, 0.5]", func(ii, jj, ij float64) float64 { return powers(ij) / math.Sqrt(powers(ii)*powers(jj)) }},
		"rbf":         {"name: rbf, gamma: 0.01", func(ii, jj, ij float64) float64 { return math.Exp(-.01 * (ii + jj - 2*ij)) }},
	} {
		t.Run(name, func(t *testing.T) {
			c := played(t, strings.Replace(job, "name: linear", tt.kernel, 1))
			all := grades()
			c.Ratings = from(all)
			r, err := play(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			file, err := os.ReadFile(filepath.Join(c.Dir, "items.kernel"))
			if err != nil {
				t.Fatal(err)
			}
			k, err := fedcfk.DecodeItemKernel(file)
			if err != nil {
				t.Fatal(err)
			}
			if r.Exact == nil || !*r.Exact || len(k.Kept) < 40 || r.Metrics["auc"] < .55 {
				t.Errorf("exact %v, %d items, %v", r.Exact, len(k.Kept), r.Metrics)
			}
			products, at := naive(all, 10), 0
			if d := cmp.Diff(ratedInOnePlace(t, c, all, products, tt.of), r.Pooled, cmpopts.EquateApprox(0, 1e-12)); d != "" {
				t.Errorf("pooled: %s", d)
			}
			for n, i := range k.Kept {
				for _, j := range k.Kept[n:] {
					want := tt.of(products[i][i], products[j][j], products[i][j])
					if got := float64(k.Values[at]) / fedcfk.One; math.Abs(got-want) > .5/fedcfk.One+1e-12 {
						t.Fatalf("items %d and %d: %v, want %v", i, j, got, want)
					}
					at++
				}
			}
		})
	}
}

func powers(x float64) float64 { return x + x*x/2 }

// ratedInOnePlace is CF-KOMD on the kernel of all people's products of ratings.
func ratedInOnePlace(t *testing.T, c local.Play, all *dataset.Ratings, products [][]float64, of func(ii, jj, ij float64) float64) learner.Metrics {
	t.Helper()
	train, test, err := fedcfk.Split(c.Job, all)
	if err != nil {
		t.Fatal(err)
	}
	k := linalg.New[float64](len(products), len(products))
	for i := range products {
		for j := range products {
			k.Row(i)[j] = of(products[i][i], products[j][j], products[i][j])
		}
	}
	return ranked(t, k, train, test, komd.DefaultLambda)
}

// naive adds up products of ratings, without every k-th of each person.
func naive(all *dataset.Ratings, k int) [][]float64 {
	people := make([][]dataset.Rating, len(all.Users))
	seen := make([]int, len(all.Users))
	for _, r := range all.List {
		if seen[r.User]++; seen[r.User]%k != 0 {
			people[r.User] = append(people[r.User], r)
		}
	}
	out := make([][]float64, len(all.Items))
	for i := range out {
		out[i] = make([]float64, len(all.Items))
	}
	for _, list := range people {
		for _, a := range list {
			for _, b := range list {
				out[a.Item][b.Item] += a.Value * b.Value
			}
		}
	}
	return out
}

// If a tenth of the clients drops out of each sum, the sums equal the plain sums over their
// members, and the statement names what squares reveal.
func TestRatingsOfThoseWhoStay(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c := played(t, strings.Replace(recommender, "threshold: 4", "threshold: 4, ratings: 5", 1))
	c.Ratings = from(grades())
	r, err := play(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Exact == nil || !*r.Exact {
		t.Error("the sums are not those of the plain ratings")
	}
	if text := strings.Join(r.Leakage["server"], " "); !strings.Contains(text, "squared ratings") || !strings.Contains(text, "products of") {
		t.Error(text)
	}
	c.Ratings = from(generated.Ratings(100, 60, 20, [32]byte{1}))
	c.Dir = t.TempDir()
	ones := strings.Replace(recommender, "threshold: 4", "threshold: 4, ratings: 4", 1)
	c.Job = played(t, ones).Job
	if _, err := play(t.Context(), c); err == nil || !strings.Contains(err.Error(), `with 5; the job has "ratings: 4", so a rating must be a whole number from 1 to 4`) {
		t.Errorf("ratings above the job's: %v", err)
	}
}
