package kmeans

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// toMeanTwin is |phi(x_i) - mean of the members|^2, every sum formed again.
func toMeanTwin(k linalg.Matrix[float64], i int, members []int) float64 {
	size := float64(len(members))
	with, among := 0.0, 0.0
	for _, a := range members {
		with += k.Row(i)[a]
		for _, b := range members {
			among += k.Row(a)[b]
		}
	}
	return k.Row(i)[i] - 2*with/size + among/size/size
}

func membersOf(assignment []int, clusters int) [][]int {
	members := make([][]int, clusters)
	for i, c := range assignment {
		members[c] = append(members[c], i)
	}
	return members
}

// lloyd is the dumb twin of a run: from an assignment without empty clusters,
// all rows go to the nearest mean until none moves. It gives up where a cluster
// becomes empty.
func lloyd(k linalg.Matrix[float64], assignment []int, clusters int) (inertia float64, rounds int, ok bool) {
	for {
		members := membersOf(assignment, clusters)
		for _, m := range members {
			if len(m) == 0 {
				return 0, 0, false
			}
		}
		rounds++
		next, moved := make([]int, len(assignment)), false
		inertia = 0
		for i, own := range assignment {
			next[i] = own
			for c, m := range members {
				if toMeanTwin(k, i, m) < toMeanTwin(k, i, members[next[i]]) {
					next[i] = c
				}
			}
			inertia += toMeanTwin(k, i, members[own])
			moved = moved || next[i] != own
		}
		if !moved {
			return inertia, rounds, true
		}
		copy(assignment, next)
	}
}

// TestEqualsTwin: from the same starts, the same clusters in the same number of
// rounds; Fit keeps the best of them.
func TestEqualsTwin(t *testing.T) {
	compared := 0
	for _, spec := range []kernel.Spec{{Name: "linear"}, {Name: "rbf", Gamma: 0.3}, {Name: "polynomial", Gamma: 1, Coef0: 1, Degree: 2}} {
		kern, err := kernel.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(12) {
			x := blobs(45, 3, 1.5, seed)
			k := kernel.Materialize(kernel.Of(kernel.LinearGram(x), kern)).K
			const clusters, restarts = 4, 3
			best := math.Inf(1)
			for restart := range uint64(restarts) {
				r := newRun(k, clusters)
				r.seed(seed, restart)
				assignment := append([]int(nil), r.assignment...)
				want, rounds, ok := lloyd(k, assignment, clusters)
				if err := r.improve(Params{}.filled()); err != nil {
					t.Fatal(err)
				}
				best = min(best, r.inertia)
				if !ok {
					continue
				}
				compared++
				if d := cmp.Diff(assignment, r.assignment); d != "" || r.iterations != rounds || math.Abs(r.inertia-want) > 1e-9*want {
					t.Fatalf("%s, seed %d: inertia %v in %d rounds, the twin has %v in %d\n%s", spec.Name, seed, r.inertia, r.iterations, want, rounds, d)
				}
			}
			m, err := Fit(kernel.Dense{K: k}, Params{Clusters: clusters, Restarts: restarts, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			if m.Inertia != best {
				t.Errorf("%s, seed %d: inertia %v, the best run has %v", spec.Name, seed, m.Inertia, best)
			}
			compareDistances(t, k, m, clusters)
		}
	}
	if compared < 90 {
		t.Errorf("%d runs compared of 108", compared)
	}
}

// compareDistances wants Distances to be those to the means of the clusters,
// less K(x, x).
func compareDistances(t *testing.T, k linalg.Matrix[float64], m *Model, clusters int) {
	t.Helper()
	members := membersOf(m.Assignment, clusters)
	d := m.Distances(k)
	for i := range k.Rows {
		for c := range clusters {
			if want := toMeanTwin(k, i, members[c]) - k.Row(i)[i]; math.Abs(d.Row(i)[c]-want) > 1e-9*(1+math.Abs(want)) {
				t.Fatalf("row %d, cluster %d: distance %v, the twin has %v", i, c, d.Row(i)[c], want)
			}
		}
	}
}

// TestSeedsAreDrawnByDistance: with one far row, k-means++ takes it for the second
// centre nearly always; a uniform draw would in one of 30.
func TestSeedsAreDrawnByDistance(t *testing.T) {
	x := blobs(30, 1, 0, 5)
	x.Row(17)[0] = 500
	k := kernel.LinearGram(x)
	alone := 0
	for restart := range uint64(200) {
		r := newRun(k, 2)
		r.seed(1, restart)
		m := membersOf(r.assignment, 2)
		if len(m[0]) == 1 || len(m[1]) == 1 {
			alone++
		}
	}
	if alone < 195 {
		t.Errorf("the far row was a cluster of its own in %d of 200 starts", alone)
	}
}

// TestDistance in the space of the points.
func TestDistance(t *testing.T) {
	x := blobs(20, 3, 2, 6)
	r := newRun(kernel.LinearGram(x), 2)
	for i := range x.Rows {
		for j := range x.Rows {
			if got, want := r.distance(i, j), squared(x.Row(i), x.Row(j)); math.Abs(got-want) > 1e-10*(1+want) {
				t.Fatalf("rows %d and %d: %v, want %v", i, j, got, want)
			}
		}
	}
}

// TestCentresKeepTheirClusters, also where another centre is as near: the
// cluster drawn last is never empty.
func TestCentresKeepTheirClusters(t *testing.T) {
	x := linalg.New[float64](10, 1)
	for i := range x.Rows {
		x.Row(i)[0] = float64(i % 2)
	}
	for restart := range uint64(20) {
		r := newRun(kernel.LinearGram(x), 4)
		r.seed(3, restart)
		if len(membersOf(r.assignment, 4)[3]) == 0 {
			t.Fatalf("start %d: %v", restart, r.assignment)
		}
	}
}

// TestFillEmptyTakesFromTheRich: a cluster of one row is left alone, be it ever
// so far.
func TestFillEmptyTakesFromTheRich(t *testing.T) {
	x := linalg.Matrix[float64]{Rows: 4, Cols: 1, Stride: 1, Data: []float64{100, 1, 2, 50}}
	r := newRun(kernel.LinearGram(x), 3)
	copy(r.assignment, []int{0, 1, 1, 1})
	r.fillEmpty()
	if d := cmp.Diff([]int{0, 1, 1, 2}, r.assignment); d != "" {
		t.Error(d)
	}
}

// TestDefaults: ten restarts are what no number of restarts means.
func TestDefaults(t *testing.T) {
	differ := false
	for seed := range uint64(20) {
		k := kernel.Dense{K: kernel.LinearGram(blobs(60, 6, 1, seed))}
		fit := func(restarts int) float64 {
			m, err := Fit(k, Params{Clusters: 6, Restarts: restarts, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			return m.Inertia
		}
		if fit(0) != fit(10) {
			t.Errorf("seed %d: inertia %v by default, %v after ten restarts", seed, fit(0), fit(10))
		}
		differ = differ || fit(10) < fit(1)
	}
	if !differ {
		t.Error("restarts are of no use")
	}
}

// TestTies: of clusters equally near the lowest is taken.
func TestTies(t *testing.T) {
	x := linalg.Matrix[float64]{Rows: 2, Cols: 1, Stride: 1, Data: []float64{-1, 1}}
	m, err := Fit(kernel.Dense{K: kernel.LinearGram(x)}, Params{Clusters: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Predict(linalg.New[float64](1, 2)); got[0] != 0 {
		t.Errorf("the middle goes to cluster %d", got[0])
	}
}
