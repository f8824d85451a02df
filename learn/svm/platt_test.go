package svm

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/linalg"
)

// TestSigmoidIsOptimal: no sigmoid nearby has a smaller loss, taken straight
// from its definition.
func TestSigmoidIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 100).Draw(t, "n")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		gap := rapid.Float64Range(-2, 6).Draw(t, "gap")
		f, first := make([]float64, n), make([]bool, n)
		positive := 0.0
		for i := range f {
			first[i] = rng.IntN(3) == 0
			f[i] = rng.NormFloat64()
			if first[i] {
				f[i] += gap
				positive++
			}
		}
		s, err := FitSigmoid(f, first)
		if err != nil {
			t.Fatal(err)
		}
		loss := func(a, b float64) float64 {
			sum := 0.0
			for i, v := range f {
				target := 1 / (float64(n) - positive + 2)
				if first[i] {
					target = (positive + 1) / (positive + 2)
				}
				p := 1 / (1 + math.Exp(a*v+b))
				sum -= target*math.Log(p) + (1-target)*math.Log(1-p)
			}
			return sum
		}
		best := loss(s.A, s.B)
		for _, step := range []float64{1e-3, 0.1, 1} {
			for _, d := range [][2]float64{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, 1}} {
				if other := loss(s.A+step*d[0], s.B+step*d[1]); other < best-1e-8 {
					t.Fatalf("loss %v at %+v, %v beside it", best, s, other)
				}
			}
		}
	})
}

func TestSigmoidProbability(t *testing.T) {
	s := Sigmoid{A: -2, B: 0.5}
	for _, f := range []float64{-1e9, -3, 0, 0.25, 3, 1e9} {
		if got, want := s.Probability(f), 1/(1+math.Exp(-2*f+0.5)); math.Abs(got-want) > 1e-15 {
			t.Errorf("at %v: %v, want %v", f, got, want)
		}
	}
}

// TestCertaintyIsBounded: no pair is believed beyond 1 - 1e-7, as in LIBSVM.
func TestCertaintyIsBounded(t *testing.T) {
	c := Calibration{Classes: 2, Sigmoids: []Sigmoid{{A: -1}}}
	m := linalg.Matrix[float64]{Rows: 3, Cols: 1, Stride: 1, Data: []float64{40, -40, 10}}
	p := c.Probabilities(m)
	for i, want := range []float64{1 - 1e-7, 1e-7, 1 / (1 + math.Exp(-10))} {
		if got := p.Row(i)[0]; math.Abs(got-want) > 1e-12 {
			t.Errorf("decision %v: probability %v, want %v", m.Data[i], got, want)
		}
	}
}

// TestCoupleEqualsLinearSystem: the optimum solves Q p + b 1 = 0, sum p = 1
// (Wu, Lin, Weng 2004, equation 21).
func TestCoupleEqualsLinearSystem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "classes")
		r := linalg.New[float64](n, n)
		for i := range n {
			for j := i + 1; j < n; j++ {
				v := rapid.Float64Range(1e-4, 1-1e-4).Draw(t, "r")
				r.Row(i)[j], r.Row(j)[i] = v, 1-v
			}
		}
		a, rhs := mat.NewDense(n+1, n+1, nil), mat.NewVecDense(n+1, nil)
		rhs.SetVec(n, 1)
		for i := range n {
			a.Set(i, n, 1)
			a.Set(n, i, 1)
			for j := range n {
				if i != j {
					a.Set(i, i, a.At(i, i)+r.Row(j)[i]*r.Row(j)[i])
					a.Set(i, j, -r.Row(j)[i]*r.Row(i)[j])
				}
			}
		}
		var want mat.VecDense
		if err := want.SolveVec(a, rhs); err != nil {
			t.Skip("the linear system of the twin has no solution: ", err)
		}
		p, sum := make([]float64, n), 0.0
		couple(p, r, 1e-10)
		for i, v := range p {
			sum += v
			if math.Abs(v-want.AtVec(i)) > 1e-5 || v < 0 {
				t.Fatalf("probability %d is %v, the system gives %v", i, v, want.AtVec(i))
			}
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("the probabilities add up to %v", sum)
		}
	})
}

// TestCoupleRecovers: what can be explained by one set of probabilities is.
func TestCoupleRecovers(t *testing.T) {
	want := []float64{0.5, 0.3, 0.15, 0.05}
	r := linalg.New[float64](4, 4)
	for i, a := range want {
		for j, b := range want {
			r.Row(i)[j] = a / (a + b)
		}
	}
	got := make([]float64, 4)
	couple(got, r, 1e-10)
	for i, w := range want {
		if math.Abs(got[i]-w) > 1e-8 {
			t.Errorf("probability %d is %v, want %v", i, got[i], w)
		}
	}
}

// TestCalibrated: among rows given a probability near p, a share near p is of
// the class.
func TestCalibrated(t *testing.T) {
	x, codes := blobs(41, 400, 2, 2)
	k := rbf(0.3, x, x)
	p := Params{C: 1}
	m := MustSVC(t, k, codes, names(2), p)
	c, err := Calibrate(k, codes, names(2), p, 1)
	if err != nil {
		t.Fatal(err)
	}
	if c.Sigmoids[0].A >= 0 {
		t.Fatalf("%+v: a larger decision must mean a larger probability of the first class", c.Sigmoids[0])
	}
	tests, truth := blobs(42, 4000, 2, 2)
	probabilities := c.Probabilities(m.Decisions(rbf(0.3, tests, take(x, m.Support())).Matrix))
	var mean, hits, rows [5]float64
	for i, code := range truth {
		v := probabilities.Row(i)[0]
		b := min(int(v*5), 4)
		mean[b] += v
		rows[b]++
		if code == 0 {
			hits[b]++
		}
	}
	for b, n := range rows {
		if n > 100 && math.Abs(mean[b]-hits[b])/n > 0.12 {
			t.Errorf("bin %d: mean probability %.3f, share %.3f of %v rows", b, mean[b]/n, hits[b]/n, n)
		}
	}
}

func TestCalibrationDependsOnSeedOnly(t *testing.T) {
	x, codes := blobs(43, 90, 2, 3)
	k := rbf(0.3, x, x)
	calibrate := func(seed uint64, cache int64) *Calibration {
		c, err := Calibrate(k, codes, names(3), Params{C: 1, CacheBytes: cache}, seed)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if d := cmp.Diff(calibrate(1, 0), calibrate(1, 1)); d != "" {
		t.Errorf("same seed, other result:\n%s", d)
	}
	if cmp.Equal(calibrate(1, 0), calibrate(2, 0)) {
		t.Error("the seed does nothing")
	}
}

// TestCalibrateFewRows: classes of one row leave folds without one of them.
func TestCalibrateFewRows(t *testing.T) {
	x, _ := blobs(44, 4, 2, 2)
	c, err := Calibrate(rbf(0.3, x, x), []int{0, 1, 1, 2}, names(3), Params{C: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p := c.Probabilities(linalg.New[float64](1, 3))
	sum := 0.0
	for _, v := range p.Row(0) {
		sum += v
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("probabilities %v", p.Row(0))
	}
}

func TestFoldsAreStratified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.SliceOfN(rapid.Bool(), 1, 60).Draw(t, "first")
		var count [2][plattFolds]int
		for i, f := range folds(first, 3, 4) {
			side := 0
			if first[i] {
				side = 1
			}
			count[side][f]++
		}
		for side, c := range count {
			least, most := len(first), 0
			for _, n := range c {
				least, most = min(least, n), max(most, n)
			}
			if most-least > 1 {
				t.Fatalf("class %d by fold: %v", side, c)
			}
		}
	})
}

func TestCalibrateErrors(t *testing.T) {
	x, codes := blobs(1, 30, 2, 3)
	broken := rbf(1, x, x)
	broken.Matrix.Row(7)[10], broken.Matrix.Row(10)[7] = math.NaN(), math.NaN()
	if _, err := Calibrate(rbf(1, x, x), codes, names(3), Params{}, 1); err == nil || err.Error() != "svm: C is 0; it must be above 0" {
		t.Errorf("C: %v", err)
	}
	// Rows 7 and 10 are of class b; the indices count in the whole kernel.
	_, err := Calibrate(broken, codes, names(3), Params{C: 1}, 1)
	if err == nil || !strings.Contains(err.Error(), `svm: classes "a" and "b": kernel value (`) || !strings.Contains(err.Error(), "7") || !strings.Contains(err.Error(), "10") {
		t.Errorf("NaN: %v", err)
	}
	if !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN: %v is no ErrNotFinite", err)
	}
	c, err := Calibrate(rbf(1, x, x), codes, names(3), Params{C: 1, MaxIter: 10}, 1)
	if !errors.Is(err, ErrNotConverged) || c == nil {
		t.Fatalf("ten iterations: %v, %v", c, err)
	}
	for k, s := range c.Sigmoids {
		if !(s.A < 0) {
			t.Errorf("ten iterations: pair %d has the sigmoid %+v, which does not rise with the decision", k, s)
		}
	}
}
