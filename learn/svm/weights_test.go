package svm

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/linalg"
)

// some draws weights, and the rows that a training set without weights repeats instead: never those
// of weight 0 or less, twice those of weight 2.
func some(seed uint64, n int) (weights []float64, rows []int) {
	rng := rand.New(rand.NewPCG(seed, 11))
	for r := range n {
		w := rng.IntN(5) - 1
		weights = append(weights, float64(w))
		for range w {
			rows = append(rows, r)
		}
	}
	return weights, rows
}

// repeated is a training set with weights, and the rows that repeat it instead.
type repeated struct {
	x         linalg.Matrix[float64]
	codes     []int
	targets   []float64
	weights   []float64
	rows      []int
	elsewhere linalg.Matrix[float64] // rows that no machine has seen
}

func newRepeated(seed uint64, n, classes int) repeated {
	s := repeated{}
	s.x, s.codes = blobs(seed, n, 3, classes)
	s.weights, s.rows = some(seed, n)
	s.elsewhere, _ = blobs(seed+1, 40, 3, classes)
	for r := range n {
		s.targets = append(s.targets, math.Sin(3*s.x.Row(r)[0])+s.x.Row(r)[1])
	}
	return s
}

// trainRepeated holds the training of each machine on some rows of a set, with weights or without.
// It returns decisions.
var trainRepeated = map[string]func(s repeated, rows []int, weights []float64) ([]float64, error){
	"C-SVC": func(s repeated, rows []int, weights []float64) ([]float64, error) {
		x := take(s.x, rows)
		c, err := TrainSVC(rbf(0.4, x, x), linalg.At(s.codes, rows), names(4), Params{C: 3, Tol: repeatedTol, Weights: map[string]float64{"b": 0.5}, RowWeights: weights}, nil)
		return s.classified(x, c, err)
	},
	"nu-SVC": func(s repeated, rows []int, weights []float64) ([]float64, error) {
		x := take(s.x, rows)
		c, err := TrainNuSVC(rbf(0.4, x, x), linalg.At(s.codes, rows), names(4), NuParams{Nu: 0.3, Tol: repeatedTol, RowWeights: weights}, nil)
		return s.classified(x, c, err)
	},
	"SVR": func(s repeated, rows []int, weights []float64) ([]float64, error) {
		x := take(s.x, rows)
		m, err := TrainSVR(rbf(0.4, x, x), linalg.At(s.targets, rows), SVRParams{C: 2, Epsilon: 0.1, Tol: repeatedTol, RowWeights: weights})
		return s.judged(x, m, err)
	},
	"nu-SVR": func(s repeated, rows []int, weights []float64) ([]float64, error) {
		x := take(s.x, rows)
		m, err := TrainNuSVR(rbf(0.4, x, x), linalg.At(s.targets, rows), NuSVRParams{C: 2, Nu: 0.4, Tol: repeatedTol, RowWeights: weights})
		return s.judged(x, m, err)
	},
	"one-class": func(s repeated, rows []int, weights []float64) ([]float64, error) {
		x := take(s.x, rows)
		m, err := TrainOneClass(rbf(0.4, x, x), NuParams{Nu: 0.3, Tol: repeatedTol, RowWeights: weights})
		return s.judged(x, m, err)
	},
}

const repeatedTol = 1e-12

// classified returns the decisions of a classifier that was trained on x, at rows that it has not
// seen.
func (s repeated) classified(x linalg.Matrix[float64], c *Classifier, err error) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	return c.Decisions(rbf(0.4, s.elsewhere, take(x, c.Support())).Matrix).Data, nil
}

// judged is like classified, for a single machine.
func (s repeated) judged(x linalg.Matrix[float64], m *Machine, err error) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	return m.Decisions(rbf(0.4, s.elsewhere, take(x, m.Support)).Matrix), nil
}

// TestWeightTwoIsTheRowTwice trains every machine with weights, and on rows that are repeated or
// left out instead.
func TestWeightTwoIsTheRowTwice(t *testing.T) {
	for name, train := range trainRepeated {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(5) {
				s := newRepeated(seed, 120, 4)
				with, err := train(s, linalg.Range(0, 120), s.weights)
				without, errWithout := train(s, s.rows, nil)
				if err := errors.Join(err, errWithout); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				for i, v := range without {
					if math.Abs(with[i]-v) > 1e-9 {
						t.Fatalf("seed %d: decision %d is %v with weights, %v with repeated rows", seed, i, with[i], v)
					}
				}
			}
		})
	}
}

// TestCalibrateWithWeights: rows that are left out take part in no fold, and equal weights are
// another C.
func TestCalibrateWithWeights(t *testing.T) {
	s := newRepeated(3, 90, 3)
	k := rbf(0.4, s.x, s.x)
	zeros := make([]float64, len(s.codes))
	kept := linalg.Range(0, 60)
	for _, r := range kept {
		zeros[r] = 1
	}
	got := calibrated(t, k, s.codes, Params{C: 2, RowWeights: zeros})
	want := calibrated(t, rbf(0.4, take(s.x, kept), take(s.x, kept)), s.codes[:60], Params{C: 2})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("with weights of 0:\n%s", d)
	}
	got = calibrated(t, k, s.codes, Params{C: 2, RowWeights: slices.Repeat([]float64{4}, 90)})
	if d := cmp.Diff(calibrated(t, k, s.codes, Params{C: 8}), got); d != "" {
		t.Errorf("with weights of 4:\n%s", d)
	}
	if d := cmp.Diff(calibrated(t, k, s.codes, Params{C: 2}), got); d == "" {
		t.Error("the weights change nothing")
	}
}

func calibrated(t *testing.T, k gram, codes []int, p Params) *Calibration {
	t.Helper()
	c, err := Calibrate(k, codes, names(3), p, 5)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestMaxIterReturnsTheSolution: a training that ends early returns where it was.
func TestMaxIterReturnsTheSolution(t *testing.T) {
	k, codes, classes, targets := hard(3)
	few := 100 // more than the rows of a pair, so that it may shrink
	c, err := TrainSVC(k, codes, classes, Params{C: 10, Tol: 1e-12, MaxIter: few}, nil)
	if !errors.Is(err, ErrNotConverged) {
		t.Fatal(err)
	}
	if want := `svm: classes "a" and "b": not converged: `; err.Error()[:len(want)] != want {
		t.Errorf("error %q does not begin with %q", err, want)
	}
	for _, q := range c.Pairs {
		if q.Report.Iterations != few {
			t.Errorf("%d iterations, want %d", q.Report.Iterations, few)
		}
	}
	CheckSVC(t, k, codes, Params{C: 10, Tol: largestGap(c)}, c)
	m, err := TrainSVR(k, targets, SVRParams{C: 10, Tol: 1e-12, MaxIter: few})
	if !errors.Is(err, ErrNotConverged) {
		t.Fatal(err)
	}
	CheckSVR(t, k, targets, SVRParams{C: 10, Tol: m.Report.Gap}, m)
	m, err = TrainOneClass(k, NuParams{Nu: 0.5, Tol: 1e-12, MaxIter: 20})
	if !errors.Is(err, ErrNotConverged) {
		t.Fatal(err)
	}
	CheckOneClass(t, k, NuParams{Nu: 0.5, Tol: m.Report.Gap}, m)
	if c, err = TrainNuSVC(k, codes, classes, NuParams{Nu: 0.5, Tol: 1e-12, MaxIter: 20}, nil); !errors.Is(err, ErrNotConverged) || len(c.Pairs) != 3 {
		t.Fatalf("%v, %v", c, err)
	}
}

func largestGap(c *Classifier) float64 {
	gap := 0.0
	for _, q := range c.Pairs {
		gap = max(gap, q.Report.Gap)
	}
	return gap
}

// TestHardMargin: with an infinite C no row is inside the margin, and classes that cannot be
// separated do not converge.
func TestHardMargin(t *testing.T) {
	x, codes := blobs(7, 60, 2, 2)
	for i, code := range codes {
		x.Row(i)[0] += 8 * float64(code)
	}
	p := Params{C: math.Inf(1), Tol: 1e-9}
	k := rbf(0.1, x, x)
	c := MustSVC(t, k, codes, names(2), p)
	for i, f := range c.Decisions(columns(k.Matrix, c.Support())).Data {
		if y := 1 - 2*float64(codes[i]); y*f < 1-1e-8 {
			t.Errorf("row %d is inside the margin: decision %v", i, f)
		}
	}
	if c.Pairs[0].Report.Bounded != 0 {
		t.Errorf("%d coefficients are at a bound", c.Pairs[0].Report.Bounded)
	}
	copy(x.Row(1), x.Row(0)) // of the other class
	p.MaxIter = 1e5
	if _, err := TrainSVC(rbf(0.1, x, x), codes, names(2), p, nil); !errors.Is(err, ErrNotConverged) {
		t.Errorf("equal rows of two classes: %v", err)
	}
}

func TestWeightErrors(t *testing.T) {
	x, codes := blobs(8, 6, 2, 2)
	k := rbf(1, x, x)
	targets := make([]float64, 6)
	for _, test := range []struct {
		weights []float64
		want    string
	}{
		{make([]float64, 5), "svm: there are 5 row weights for 6 kernel rows; the numbers must be equal"},
		{[]float64{1, 1, math.NaN(), 1, 1, 1}, "svm: the weight of row 2 is NaN; a weight must be finite"},
		{[]float64{1, 1, 1, math.Inf(1), 1, 1}, "svm: the weight of row 3 is +Inf; a weight must be finite"},
	} {
		for name, err := range trainAll(k, codes, targets, test.weights) {
			if err == nil || err.Error() != test.want {
				t.Errorf("%s: got %v, want %s", name, err, test.want)
			}
		}
	}
	for name, err := range trainAll(k, codes, targets, []float64{0, 0, -1, 0, -2, 0}) {
		want := errNoWeight.Error()
		if name == "C-SVC" || name == "nu-SVC" {
			want = `svm: no training row of class "a" has a weight above 0: leave the class out or give its rows weights`
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

func trainAll(k gram, codes []int, targets, weights []float64) map[string]error {
	errs := map[string]error{}
	_, errs["C-SVC"] = TrainSVC(k, codes, names(2), Params{C: 1, RowWeights: weights}, nil)
	_, errs["nu-SVC"] = TrainNuSVC(k, codes, names(2), NuParams{Nu: 0.5, RowWeights: weights}, nil)
	_, errs["SVR"] = TrainSVR(k, targets, SVRParams{C: 1, RowWeights: weights})
	_, errs["nu-SVR"] = TrainNuSVR(k, targets, NuSVRParams{C: 1, Nu: 0.5, RowWeights: weights})
	_, errs["one-class"] = TrainOneClass(k, NuParams{Nu: 0.5, RowWeights: weights})
	return errs
}

// TestWeightsNumberRows: errors number rows as the whole training set does.
func TestWeightsNumberRows(t *testing.T) {
	x, _ := blobs(9, 12, 2, 2)
	k := rbf(1, x, x)
	k.Matrix.Row(7)[10], k.Matrix.Row(10)[7] = math.NaN(), math.NaN()
	weights := slices.Repeat([]float64{1}, 12)
	weights[2], weights[3] = 0, 0
	for _, test := range []struct {
		name     string
		err      error
		row, col int
	}{
		{"SVR", second(TrainSVR(k, squares(12), SVRParams{C: 1, RowWeights: weights})), 10, 7},
		{"one-class", second(TrainOneClass(k, NuParams{Nu: 1, RowWeights: weights})), 7, 10},
	} {
		want := "svm: " + (&valueError{test.row, test.col, math.NaN()}).Error()
		if test.err == nil || test.err.Error() != want {
			t.Errorf("%s: got %v, want %s", test.name, test.err, want)
		}
	}
}

func second(_ *Machine, err error) error { return err }

func squares(n int) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = float64(i * i)
	}
	return y
}
