package kmeans

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// blobs draws n points around centres that lie `apart` from each other; point i
// is of centre i mod centres.
func blobs(n, centres int, apart float64, seed uint64) linalg.Matrix[float64] {
	rng := rand.New(rand.NewPCG(seed, 3))
	m := linalg.New[float64](n, 2)
	for i := range n {
		m.Row(i)[0] = rng.NormFloat64() + apart*float64(i%centres)
		m.Row(i)[1] = rng.NormFloat64()
	}
	return m
}

// inertia is the dumb twin for the linear kernel: means and distances in the
// space of the points.
func inertia(x linalg.Matrix[float64], assignment []int, clusters int) (sum float64, means linalg.Matrix[float64]) {
	means = linalg.New[float64](clusters, x.Cols)
	sizes := make([]float64, clusters)
	for i, c := range assignment {
		sizes[c]++
		for j, v := range x.Row(i) {
			means.Row(c)[j] += v
		}
	}
	for c, n := range sizes {
		for j := range x.Cols {
			means.Row(c)[j] /= n
		}
	}
	for i, c := range assignment {
		sum += squared(x.Row(i), means.Row(c))
	}
	return sum, means
}

func squared(a, b []float64) float64 {
	sum := 0.0
	for j, v := range a {
		sum += (v - b[j]) * (v - b[j])
	}
	return sum
}

// TestIsALocalOptimum: by the twin, the inertia is what the model says, no
// cluster is empty, and no row is nearer to another mean; new rows go to the
// nearest mean.
func TestIsALocalOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		clusters := rapid.IntRange(1, n).Draw(t, "clusters")
		x := blobs(n, 3, rapid.Float64Range(0, 5).Draw(t, "apart"), rapid.Uint64().Draw(t, "seed"))
		for i := range n / 3 { // duplicates
			copy(x.Row(i), x.Row(n-1-i))
		}
		m, err := Fit(kernel.Dense{K: kernel.LinearGram(x)}, Params{Clusters: clusters, Restarts: 2})
		if err != nil {
			t.Fatal(err)
		}
		want, means := inertia(x, m.Assignment, clusters)
		if math.Abs(m.Inertia-want) > 1e-9*(1+want) || math.IsNaN(want) {
			t.Fatalf("inertia %v, the twin has %v", m.Inertia, want)
		}
		z := blobs(10, 3, 2, 77)
		for name, rows := range map[string]linalg.Matrix[float64]{"training": x, "new": z} {
			for i, c := range m.Predict(kernel.CrossGram(rows, x)) {
				if name == "training" {
					c = m.Assignment[i]
				}
				own := squared(rows.Row(i), means.Row(c))
				for d := range clusters {
					if other := squared(rows.Row(i), means.Row(d)); other < own-1e-9 {
						t.Fatalf("%s row %d is %v from its mean and %v from another", name, i, own, other)
					}
				}
			}
		}
	})
}

// TestInertiaNeverRises follows a run round by round.
func TestInertiaNeverRises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 80).Draw(t, "n")
		x := blobs(n, 4, 1, rapid.Uint64().Draw(t, "seed"))
		k := kernel.LinearGram(x)
		r := newRun(k, rapid.IntRange(1, min(n, 8)).Draw(t, "clusters"))
		for i := range r.assignment { // a bad start, with empty clusters
			r.assignment[i] = i * i % (len(r.sizes)/2 + 1)
		}
		last := math.Inf(1)
		for round := 0; ; round++ {
			r.fillEmpty()
			r.measure()
			if r.inertia > last+1e-9 {
				t.Fatalf("round %d: the inertia rose from %v to %v", round, last, r.inertia)
			}
			last = r.inertia
			if !r.reassign() || round > 300 {
				break
			}
		}
	})
}

// TestSmallProblems: no partition at all is better where the clusters are
// clear, and none is worse than the optimum elsewhere.
func TestSmallProblems(t *testing.T) {
	for seed := range uint64(20) {
		for _, apart := range []float64{0, 20} {
			x := blobs(8, 3, apart, seed)
			m, err := Fit(kernel.Dense{K: kernel.LinearGram(x)}, Params{Clusters: 3, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			best := math.Inf(1)
			assignment := make([]int, 8)
			for code := range 6561 { // 3^8
				for i := range assignment {
					assignment[i] = code % 3
					code /= 3
				}
				if v, _ := inertia(x, assignment, 3); v < best { // NaN when one is empty
					best = v
				}
			}
			if m.Inertia < best-1e-9 || apart > 0 && m.Inertia > best+1e-9 {
				t.Errorf("seed %d, %v apart: inertia %v, the best partition has %v", seed, apart, m.Inertia, best)
			}
			if want := []int{0, 1, 2, 0, 1, 2, 0, 1}; apart > 0 && !cmp.Equal(want, m.Assignment) {
				t.Errorf("seed %d: %v", seed, m.Assignment)
			}
		}
	}
}

// TestRings: in the space of an RBF kernel, a ring around a disc is a cluster
// of its own; in the plane no two means could tell them apart.
func TestRings(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	x := linalg.New[float64](200, 2)
	for i := range x.Rows {
		radius, angle := 0.3*rng.Float64(), 2*math.Pi*rng.Float64()
		if i%2 == 1 {
			radius += 4
		}
		copy(x.Row(i), []float64{radius * math.Cos(angle), radius * math.Sin(angle)})
	}
	k, err := kernel.New(kernel.Spec{Name: "polynomial", Gamma: 1, Degree: 2})
	if err != nil {
		t.Fatal(err)
	}
	// One direction of this kernel is the squared norm. The ring is stretched
	// along others and takes three clusters.
	m, err := Fit(kernel.Of(kernel.LinearGram(x), k), Params{Clusters: 4, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range m.Assignment {
		if i%2 == 0 && c != 0 || i%2 == 1 && c == 0 {
			t.Fatalf("row %d is in cluster %d", i, c)
		}
	}
}

func TestSameOnOneCoreAndForASeed(t *testing.T) {
	x := blobs(150, 5, 1.5, 9)
	fit := func(seed uint64) *Model {
		m, err := Fit(kernel.Dense{K: kernel.LinearGram(x)}, Params{Clusters: 5, Restarts: 1, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	many := fit(1)
	if cmp.Equal(many.Assignment, fit(2).Assignment) && cmp.Equal(many.Assignment, fit(3).Assignment) {
		t.Error("the seed does nothing")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if d := cmp.Diff(many, fit(1), cmp.AllowUnexported(Model{})); d != "" {
		t.Error(d)
	}
}

func TestErrors(t *testing.T) {
	x := blobs(40, 3, 0, 1)
	k := kernel.LinearGram(x)
	broken := kernel.LinearGram(x)
	broken.Row(2)[3] = math.NaN()
	fit := func(k linalg.Matrix[float64], p Params) error {
		_, err := Fit(kernel.Dense{K: k}, p)
		return err
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{fit(k, Params{}), "kmeans: clusters is 0 for 40 rows; choose 1 to 40"},
		{fit(k, Params{Clusters: 41}), "kmeans: clusters is 41 for 40 rows; choose 1 to 40"},
		{fit(k, Params{Clusters: 2, Restarts: -1}), "kmeans: restarts is -1; it must not be negative"},
		{fit(k, Params{Clusters: 2, MaxIter: -1}), "kmeans: max_iter is -1; it must not be negative"},
		{fit(broken, Params{Clusters: 2}), "kmeans: kernel value (2, 3) is NaN: check the data and the kernel's parameters"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", test.err, test.want)
		}
	}
	if err := fit(k, Params{Clusters: 6, MaxIter: 1}); !errors.Is(err, ErrNotConverged) {
		t.Errorf("one round: %v", err)
	}
}

// Rows that differ only by rounding count once, and the count stops where it is asked to.
func TestDistinct(t *testing.T) {
	t.Parallel()
	rows := [][]float64{{.1, .7}, {.1, .7}, {.3, .2}, {.3, .2}, {.1, .7}, {.1, .700001}}
	k := linalg.New[float64](len(rows), len(rows))
	for i, a := range rows {
		for j, b := range rows {
			k.Row(i)[j] = (a[0]*b[0] + a[1]*b[1]) * (1 + float64((i+j)%3)*0x1p-52)
		}
	}
	for most, want := range map[int]int{1: 1, 2: 2, 3: 3, 6: 3} {
		if n := Distinct(kernel.Dense{K: k}, most); n != want {
			t.Errorf("%d rows differ, counted up to %d, want %d", n, most, want)
		}
	}
}
