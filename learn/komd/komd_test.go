package komd_test

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/linalg"
)

// objective is 1/2 a^T P a - q^T a.
func objective(p linalg.Matrix[float64], q, a []float64) float64 {
	sum := 0.0
	for i := range a {
		for j := range a {
			sum += a[i] * p.Row(i)[j] * a[j] / 2
		}
		sum -= q[i] * a[i]
	}
	return sum
}

// projected is the dumb twin: projected gradient steps, many of them.
func projected(p linalg.Matrix[float64], q []float64) []float64 {
	n, bound := len(q), 0.0
	for i := range n {
		row := 0.0
		for _, v := range p.Row(i) {
			row += math.Abs(v)
		}
		bound = max(bound, row)
	}
	a := make([]float64, n)
	a[0] = 1
	for range 20000 {
		next := make([]float64, n)
		for i := range n {
			next[i] = a[i] + q[i]/bound
			for j := range n {
				next[i] -= p.Row(i)[j] * a[j] / bound
			}
		}
		a = ontoSimplex(next)
	}
	return a
}

// ontoSimplex finds the shift that leaves a sum of 1 by bisection.
func ontoSimplex(v []float64) []float64 {
	out := make([]float64, len(v))
	lo, hi := slices.Min(v)-1, slices.Max(v)
	for range 64 { // below what float64 tells apart
		shift, sum := (lo+hi)/2, 0.0
		for i, x := range v {
			out[i] = max(0, x-shift)
			sum += out[i]
		}
		if sum > 1 {
			lo = shift
		} else {
			hi = shift
		}
	}
	return out
}

func TestSimplexAgainstProjectedGradient(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for trial := range 40 {
		n := 1 + trial%12
		x := linalg.New[float64](n, n+3)
		for i := range x.Data {
			x.Data[i] = max(0, rng.NormFloat64())
		}
		p, q := linalg.New[float64](n, n), make([]float64, n)
		linalg.Syrk(p, x)
		for i := range q {
			p.Row(i)[i] += 0.1
			q[i] = []float64{0.1, 1, 10}[trial%3] * rng.Float64()
		}
		a, err := komd.Simplex(p, q)
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for _, v := range a {
			total += v
			if v < 0 {
				t.Errorf("trial %d: a weight of %v", trial, v)
			}
		}
		if math.Abs(total-1) > 1e-12 {
			t.Errorf("trial %d: weights of sum %v", trial, total)
		}
		got, want := objective(p, q, a), objective(p, q, projected(p, q))
		if math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
			t.Errorf("trial %d: objective %v, projected gradient reaches %v", trial, got, want)
		}
	}
}

func TestSimplexRefuses(t *testing.T) {
	saddle := linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, 2, 2, 1}}
	if _, err := komd.Simplex(saddle, []float64{0, 0}); !errors.Is(err, komd.ErrNotConvex) {
		t.Errorf("a saddle: %v", err)
	}
	if _, err := komd.Simplex(saddle, []float64{0}); err == nil {
		t.Error("other lengths are accepted")
	}
	if _, err := komd.Simplex(linalg.Matrix[float64]{}, nil); err == nil {
		t.Error("no variable is accepted")
	}
	nan := linalg.Matrix[float64]{Rows: 1, Cols: 1, Stride: 1, Data: []float64{math.NaN()}}
	if _, err := komd.Simplex(nan, []float64{1}); err == nil {
		t.Error("NaN is accepted")
	}
}

func TestRank(t *testing.T) {
	// Users who like 0 like 1; users who like 2 like 3; nobody knows 4.
	k, err := komd.Spec{Name: komd.Linear}.Kernel(komd.CountsOf(5, [][]int{{0, 1}, {0, 1}, {2, 3}, {2, 3}, {0, 2}}))
	if err != nil {
		t.Fatal(err)
	}
	m := komd.New(k)
	list, err := m.Rank([]int{0}, komd.DefaultLambda)
	if err != nil {
		t.Fatal(err)
	}
	var order []int
	for _, item := range list {
		order = append(order, item.Index)
	}
	if len(order) != 4 || order[0] != 1 || slices.Contains(order, 0) {
		t.Errorf("ranking %v: want item 1 first and item 0 nowhere", list)
	}
	if !slices.IsSortedFunc(list, func(a, b komd.Item) int { return cmp.Compare(b.Score, a.Score) }) {
		t.Errorf("ranking %v is not sorted", list)
	}
}

func TestRankRefuses(t *testing.T) {
	m := komd.New(linalg.New[float64](3, 3))
	for name, try := range map[string]func() error{
		"nothing liked": func() error { _, err := m.Rank(nil, 0.1); return err },
		"unknown item":  func() error { _, err := m.Rank([]int{3}, 0.1); return err },
		"negative item": func() error { _, err := m.Scores([]int{-1}, 0.1); return err },
		"liked twice":   func() error { _, err := m.Weights([]int{1, 1}, 0.1); return err },
		"lambda 0":      func() error { _, err := m.Rank([]int{1}, 0); return err },
		"lambda NaN":    func() error { _, err := m.Rank([]int{1}, math.NaN()); return err },
	} {
		if try() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
