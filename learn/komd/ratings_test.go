package komd_test

import (
	"math"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/linalg"
)

// The linear kernel of ratings is the cosine of their columns.
func TestKernelOfRatings(t *testing.T) {
	columns := [][]float64{{5, 0, 3, 1}, {4, 2, 0, 1}, {0, 5, 5, 1}, {0, 0, 0, 0}} // by item
	profiles, ratings := make([][]int, 4), make([][]int64, 4)
	for i, column := range columns {
		for u, v := range column {
			if v > 0 {
				profiles[u], ratings[u] = append(profiles[u], i), append(ratings[u], int64(v))
			}
		}
	}
	k, err := komd.Spec{Name: komd.Linear}.Kernel(komd.ProductsOf(4, 5, profiles, ratings))
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range columns {
		for j, z := range columns {
			dot, xx, zz := 0.0, 0.0, 0.0
			for u := range x {
				dot, xx, zz = dot+x[u]*z[u], xx+x[u]*x[u], zz+z[u]*z[u]
			}
			want := 0.0
			if xx > 0 && zz > 0 {
				want = dot / math.Sqrt(xx*zz)
			}
			if got := k.Row(i)[j]; math.Abs(got-want) > 1e-15 {
				t.Errorf("items %d and %d: %v, want %v", i, j, got, want)
			}
		}
	}
}

// Kernels that compare lists refuse ratings, and so do all kernels where no ratings can have given
// the sums.
func TestRatingsThatHaveNoKernel(t *testing.T) {
	sums := func(users int, c ...float64) komd.Counts {
		return komd.Counts{Users: users, Most: 5, C: linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: c}}
	}
	for _, tt := range []struct {
		spec komd.Spec
		sums komd.Counts
		want string
	}{
		{komd.Spec{Name: komd.Tanimoto}, sums(2, 4, 2, 2, 9), "komd: kernel tanimoto compares lists of items, but the users gave ratings; use linear, polynomial, dot-product or rbf"},
		{komd.Spec{Name: komd.Conjunctive, Degree: 2}, sums(2, 4, 2, 2, 9), "komd: kernel conjunctive compares lists"},
		{komd.Spec{Name: komd.Linear}, sums(2, 51, 2, 2, 9), "2 users can rate item 0 with at most 5 each, so their squared ratings cannot add up to 51"},
		{komd.Spec{Name: komd.Linear}, sums(2, 4, 7, 7, 9), "the squared ratings of items 1 and 0 add up to 9 and 4, so their products cannot add up to 7"},
		{komd.Spec{Name: komd.Linear}, sums(2, 4, -1, -1, 9), "their products cannot add up to -1"},
		{komd.Spec{Name: komd.Linear}, sums(2, 4, 1, 2, 9), "it must be symmetric"},
	} {
		if _, err := tt.spec.Kernel(tt.sums); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v of %v: %v, want %s", tt.spec, tt.sums.C.Data, err, tt.want)
		}
	}
}
