package svm

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// TestWarmStart: a grid of C walked up and down, with weights that come and go,
// ends where training from zero ends.
func TestWarmStart(t *testing.T) {
	x, codes := blobs(31, 240, 3, 3)
	k := rbf(0.5, x, x)
	weights, _ := some(31, 240)
	others, _ := some(32, 240)
	var last *Classifier
	for _, p := range []Params{
		{C: 0.3}, {C: 1}, {C: 10}, {C: 5}, {C: 5}, {C: 0.05},
		{C: 2, Weights: map[string]float64{"b": 3}}, {C: 2, Weights: map[string]float64{"a": 0.5, "c": 7}}, {C: 2},
		{C: 2, RowWeights: weights}, {C: 1, RowWeights: weights}, {C: 1, RowWeights: others}, {C: 1},
	} {
		p.Tol = 1e-7
		want := MustSVC(t, k, codes, names(3), p)
		if last == nil {
			last = want
		}
		got := MustSVCFrom(t, last, k, codes, names(3), p)
		for i, w := range want.Pairs {
			compareOptima(t, fmt.Sprintf("C %v, weights %v and %v, pair %d", p.C, p.Weights, p.RowWeights != nil, i), got.Pairs[i], w)
		}
		last = got
	}
}

func compareOptima(t *testing.T, what string, got, want Pair) {
	t.Helper()
	g, w := got.Report, want.Report
	if math.Abs(g.Objective-w.Objective) > 1e-9*math.Abs(w.Objective) {
		t.Errorf("%s: objective %v, from zero %v", what, g.Objective, w.Objective)
	}
	if free := w.Support - w.Bounded; free > 0 && math.Abs(got.Rho-want.Rho) > 1e-5 {
		t.Errorf("%s: rho %v, from zero %v", what, got.Rho, want.Rho)
	}
	sum := 0.0
	for _, b := range got.Coef {
		sum += b
	}
	if math.Abs(sum) > 1e-11 {
		t.Errorf("%s: the coefficients add up to %v", what, sum)
	}
}

// TestWarmStartSaves: along a grid, most iterations.
func TestWarmStartSaves(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	x, codes := blobs(31, 500, 20, 2)
	k := rbf(0.05, x, x)
	warm, cold := 0, 0
	var last *Classifier
	for c := 0.0625; c <= 64; c *= 2 {
		p := Params{C: c}
		want := MustSVC(t, k, codes, names(2), p)
		if last == nil {
			last = want
		}
		last = MustSVCFrom(t, last, k, codes, names(2), p)
		warm, cold = warm+last.Pairs[0].Report.Iterations, cold+want.Pairs[0].Report.Iterations
	}
	if warm > cold/2 {
		t.Errorf("%d iterations, from zero %d: the start is of no use", warm, cold)
	}
}

// TestWarmStartAtOptimum: from its own solution nothing moves.
func TestWarmStartAtOptimum(t *testing.T) {
	x, codes := blobs(32, 90, 2, 3)
	k := rbf(1, x, x)
	c := MustSVC(t, k, codes, names(3), Params{C: 2})
	again := MustSVCFrom(t, c, k, codes, names(3), Params{C: 2})
	for i, p := range again.Pairs {
		if p.Report.Iterations != 0 {
			t.Errorf("pair %d takes %d iterations", i, p.Report.Iterations)
		}
	}
}

func TestWarmStartRefusesStrangers(t *testing.T) {
	x, codes := blobs(33, 60, 2, 3)
	k := rbf(1, x, x)
	c := MustSVC(t, k, codes, names(3), Params{C: 1})
	turned := make([]int, len(codes))
	for i, code := range codes {
		turned[i] = (code + 1) % 3
	}
	loaded, err := NewClassifier(names(3), make([]Pair, 3), 60)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		start   *Classifier
		codes   []int
		classes []string
	}{
		{"other codes", c, turned, names(3)},
		{"other classes", c, codes, []string{"a", "b", "z"}},
		{"compact", c.Compact(), codes, names(3)},
		{"loaded", loaded, codes, names(3)},
	} {
		if _, err := TrainSVCFrom(test.start, k, test.codes, test.classes, Params{C: 1}, nil); !errors.Is(err, errStart) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
