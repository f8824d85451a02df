package kmeans

import (
	"math"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// square is an n x n kernel matrix.
func square(n int, value func(i, j int) float64) kernel.Dense {
	m := linalg.New[float64](n, n)
	for i := range n {
		for j := range n {
			m.Row(i)[j] = value(i, j)
		}
	}
	return kernel.Dense{K: m}
}

// TestHostileKernels: a right clustering or an error in words, whatever the
// kernel.
func TestHostileKernels(t *testing.T) {
	same := func(v float64) func(i, j int) float64 { return func(int, int) float64 { return v } }
	diagonal := func(v float64) func(i, j int) float64 {
		return func(i, j int) float64 {
			if i == j {
				return v
			}
			return 0
		}
	}
	for _, c := range []struct {
		name     string
		k        kernel.Dense
		clusters int
		inertia  float64
		want     string // of the error
	}{
		{"no rows", square(0, nil), 1, 0, "kmeans: clusters is 1 for 0 rows"},
		{"one row", square(1, same(2)), 1, 0, ""},
		{"zeros", square(4, same(0)), 2, 0, ""},
		{"all rows the same", square(4, same(3)), 4, 0, ""},
		{"twice each", square(6, func(i, j int) float64 { return diagonal(1)(i/2, j/2) }), 3, 0, ""},
		{"a cluster for each row", square(5, diagonal(7)), 5, 0, ""},
		{"orthogonal rows", square(4, diagonal(1)), 1, 3, ""},
		{"tiny", square(4, diagonal(5e-324)), 2, 0, ""},
		{"negative", square(4, diagonal(-1)), 2, 0, ""},
		{"infinite", square(4, diagonal(math.Inf(1))), 2, 0, "kmeans: kernel value (0, 0) is +Inf: check"},
		{"huge", square(4, same(1e308)), 2, 0, "kmeans: the distances overflow: scale"},
		{"huge diagonal", square(4, diagonal(1e308)), 2, 0, "kmeans: the distances overflow: scale"},
	} {
		m, err := Fit(c.k, Params{Clusters: c.clusters})
		switch {
		case c.want != "":
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.name, err, c.want)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		default:
			for n, members := range membersOf(m.Assignment, c.clusters) {
				if len(members) == 0 {
					t.Errorf("%s: cluster %d of %v is empty", c.name, n, m.Assignment)
				}
			}
			if math.Abs(m.Inertia-c.inertia) > 1e-12 || m.Assignment[0] != 0 {
				t.Errorf("%s: inertia %v of %v, want %v", c.name, m.Inertia, m.Assignment, c.inertia)
			}
		}
	}
}
