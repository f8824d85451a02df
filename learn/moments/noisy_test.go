package moments

import (
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/privacy"
)

// ridgeFor returns the noise of three members, of whom two suffice, for features of a greatest length and
// targets of length 1.
func ridgeFor(t testing.TB, g privacy.Guarantee, m feature.Mapping, length float64, targets int) privacy.Ridge {
	t.Helper()
	r, err := privacy.NewRidge(g, privacy.Shape{
		Features: m.Len(), Targets: targets,
		SquaredFeatures: privacy.Nearest(length, 16, m.Len()), SquaredTargets: One * One,
		Summands: privacy.Summands{Honest: 2, All: 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// withNoise returns the sums after so many members have added their noise.
func withNoise(t testing.TB, p *Partial, r privacy.Ridge, members int, random io.Reader) *Partial {
	t.Helper()
	noisy := *p
	noisy.Outer, noisy.Cross = slices.Clone(p.Outer), slices.Clone(p.Cross)
	outer, cross := make([]int64, len(p.Outer)), make([]int64, len(p.Cross))
	for range members {
		if err := r.Draw(outer, cross, random); err != nil {
			t.Fatal(err)
		}
		for i, v := range outer {
			noisy.Outer[i] += v
		}
		for i, v := range cross {
			noisy.Cross[i] += v
		}
	}
	return &noisy
}

// coins returns random bytes that are the same in every run of a test.
func coins(number byte) io.Reader { return prg.New([32]byte{number, 9}, "noise") }

func partialOf(t testing.TB, m feature.Mapping, rows linalg.Rows, y Targets) *Partial {
	t.Helper()
	_, targets := y.Shape()
	a := NewAccumulator(m, targets)
	if err := a.Add(rows, y); err != nil {
		t.Fatal(err)
	}
	return a.Partial
}

// eigenvalues returns those of A, smallest first, in units of A.
func eigenvalues(t testing.TB, s *Sums) []float64 {
	t.Helper()
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(s.Outer.Rows, s.Outer.Data), false) {
		t.Fatal("no eigenvalues")
	}
	return e.Values(nil)
}

// The largest eigenvalue of the noise stays below the public bound and comes near it, so that noisy sums,
// also of no row at all, can be solved with the public ridge: their spectrum is in the interval that a
// polynomial needs.
func TestNoiseStaysInThePublicInterval(t *testing.T) {
	for _, width := range []int{1, 4, 31, 127} {
		m := feature.Linear{Inputs: width, Bound: 1}
		r := ridgeFor(t, privacy.Guarantee{Epsilon: 1, Delta: 1e-6}, m, 1, 1)
		alpha, norm := float64(r.Alpha()), float64(r.Norm())
		largest := 0.0
		for draw := range byte(20) {
			noisy := withNoise(t, NewPartial(m.Len(), 1), r, 3, coins(draw))
			noisy.Rows = 1
			values := eigenvalues(t, noisy.Sums())
			low, high := values[0], values[len(values)-1]
			largest = max(largest, -low, high)
			if low+alpha < alpha/10-1 || low+norm < 0 || high+norm > 2*norm {
				t.Errorf("%d features: eigenvalues of noise %v to %v, alpha %v, norm %v", m.Len(), low, high, alpha, norm)
			}
			if _, err := SolveNoisy(noisy.Sums(), r); err != nil {
				t.Errorf("%d features: %v", m.Len(), err)
			}
		}
		if largest < norm/4 || width > 100 && largest < .75*norm {
			t.Errorf("%d features: the largest eigenvalue is %v, the bound %v", m.Len(), largest, norm)
		}
	}
}

// SolveNoisy solves (A + alpha I) W = B with the alpha of the noise, in units of A, and nothing else.
func TestSolveNoisy(t *testing.T) {
	x, codes := digits(t)
	m := feature.Linear{Inputs: x.Cols, Bound: 4}
	y := UnitClasses{codes, 10}
	r := ridgeFor(t, privacy.Guarantee{Epsilon: 8, Delta: 1e-6}, m, 1, 10)
	s := withNoise(t, partialOf(t, m, x, y), r, 3, coins(1)).Sums()
	got, err := SolveNoisy(s, r)
	if err != nil {
		t.Fatal(err)
	}
	alpha := float64(r.Alpha())
	for c := range 10 {
		w := got.Weights.Row(c)
		for i := range w {
			sum := alpha * w[i]
			for j, v := range s.Outer.Row(i) {
				sum += v * w[j]
			}
			if want := s.Cross.Row(c)[i]; math.Abs(sum-want) > 1e-9*alpha {
				t.Fatalf("class %d, feature %d: (A + alpha) w is %v, want %v", c, i, sum, want)
			}
		}
	}
	if want := 2 / float64(m.Len()) * alpha / (One * One); math.Abs(got.Alpha/want-1) > 1e-12 {
		t.Errorf("alpha %v, want %v", got.Alpha, want)
	}
	s.Outer.Row(3)[3] = -2 * alpha // far beyond the noise
	if _, err := SolveNoisy(s, r); err == nil || !strings.Contains(err.Error(), "too small for these sums") {
		t.Errorf("an indefinite matrix: %v", err)
	}
	if _, err := SolveNoisy(NewSums(m.Len(), 9), r); err == nil || !strings.Contains(err.Error(), "use the noise of these sums") {
		t.Errorf("another number of targets: %v", err)
	}
	if _, err := SolveNoisy(NewSums(m.Len()-1, 10), r); err == nil || !strings.Contains(err.Error(), "use the noise of these sums") {
		t.Errorf("another number of features: %v", err)
	}
}

// The targets of a row have the length 1 or less, and solutions of them have one output for each class, or
// the numbers' unit.
func TestUnitTargets(t *testing.T) {
	columns := func(y Targets, first, rows int) linalg.Matrix[float64] {
		_, targets := y.Shape()
		dst := linalg.New[float64](targets, rows)
		for i := range dst.Data {
			dst.Data[i] = math.NaN()
		}
		y.Columns(dst, first)
		return dst
	}
	for name, c := range map[string]struct {
		y    Targets
		want []float64
	}{
		"two classes":   {UnitClasses{[]int{1, 0, 1, 0}, 2}, []float64{-1, 1, -1}},
		"three classes": {UnitClasses{[]int{1, 0, 1, 2}, 3}, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}},
		"numbers":       {UnitNumbers{[]float64{7, 10, 25, -3}, Range{0, 20}}, []float64{0, 1, -1}},
	} {
		if n, _ := c.y.Shape(); n != 4 {
			t.Errorf("%s: %d rows", name, n)
		}
		got := columns(c.y, 1, 3)
		for i, v := range got.Data {
			if v != c.want[i] {
				t.Errorf("%s: %v, want %v", name, got.Data, c.want)
				break
			}
		}
	}
	s := Solution{Alpha: 3, Weights: linalg.Matrix[float64]{Rows: 1, Cols: 2, Stride: 2, Data: []float64{1, -2}}, Offset: []float64{.25}}
	phi := linalg.Matrix[float64]{Rows: 1, Cols: 2, Stride: 2, Data: []float64{1, 1}}
	if got := (UnitClasses{Count: 2}).Outputs(s).At(phi).Data; got[0] != .75 || got[1] != -.75 {
		t.Errorf("two classes: outputs %v", got)
	}
	if got := (UnitClasses{Count: 3}).Outputs(s).At(phi).Data; len(got) != 1 || got[0] != -.75 {
		t.Errorf("three classes: outputs %v", got)
	}
	if got := (UnitNumbers{Range: Range{0, 20}}).Outputs(s).At(phi).Data; len(got) != 1 || got[0] != 10-.75*10 {
		t.Errorf("numbers: outputs %v", got)
	}
}

// A row adds at most UnitSquare to the sum of squared errors, whatever solution a server sends. Products of huge weights
// overflow to infinities of both signs, whose sum is no number.
func TestErrorsOfForgedSolutionsAreBounded(t *testing.T) {
	const columns, features = 4, 512 // more than linalg adds up at a time
	m := featuresOf(1, features, columns, .1)
	x := linalg.Matrix[float64]{Rows: 1, Cols: columns, Stride: columns, Data: []float64{.3, .5, .1, .9}}
	phi := linalg.New[float64](1, features)
	m.Rows(phi, x)
	forged := Solution{Weights: linalg.New[float64](1, features), Offset: []float64{0}}
	for j := range forged.Weights.Data {
		forged.Weights.Data[j] = math.Copysign(1.7e308, phi.Data[j])
		if j >= features/2 {
			forged.Weights.Data[j] *= -1
		}
	}
	if f := forged.At(phi).Data[0]; !math.IsNaN(f) {
		t.Fatalf("the output is %v, want none", f)
	}
	e, err := MeasureUnitNumbers(m, forged, x, UnitNumbers{[]float64{1}, Range{-1, 1}})
	if err != nil || e.Squared != SquaredOne {
		t.Errorf("the squared error is %d, %v; want %d, as of the middle", e.Squared, err, SquaredOne)
	}
}
