package linear

import (
	"math"
	"testing"
)

// gaussianKernel are the bounds of features sqrt(2) cos, and of a loss whose
// derivative is bounded by 1 and at most as steep.
func gaussianKernel(lambda float64) Assumptions {
	return Assumptions{Lambda: lambda, Slope: 1, Lipschitz: 1, Kernel: 1, Feature: 2, Distance: 1}
}

// The published constants come to a step that nobody would use.
func TestGuarantee(t *testing.T) {
	g, err := gaussianKernel(1e-3).Guarantee(0.01)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", g)
	if g.Rate < 2e-13 || g.Rate > 2.3e-13 || g.Iterations < 1e16 || g.Iterations > 1e17 {
		t.Errorf("%+v, want a step of about 2e-13 and some 10^16 iterations", g)
	}
	if _, err := (Assumptions{Lambda: 1, Slope: math.Inf(1), Lipschitz: 2, Kernel: 1, Feature: 2, Distance: 1}).Guarantee(0.1); err == nil {
		t.Error("a loss whose derivative has no bound has a guarantee")
	}
	if _, err := gaussianKernel(1e-200).Guarantee(1e-200); err == nil {
		t.Error("a step of 0 is a guarantee")
	}
}

// Step and iterations are the theorem's: the numbers come from its formulas in Python. Each of the
// theorem's three bounds of the step is the smallest in one of the cases.
func TestGuaranteeIsTheTheorems(t *testing.T) {
	smoother := gaussianKernel(1e-2)
	smoother.Lipschitz = 0.25
	for _, tt := range []struct {
		of      Assumptions
		epsilon float64
		want    Guarantee
	}{
		{gaussianKernel(1e-3), 0.01, Guarantee{2.1446594688113108e-13, 3.1168639240302844e+16}},
		{smoother, 0.1, Guarantee{3.427694700792795e-08, 12784180089.493843}},
		{gaussianKernel(100), 1e-3, Guarantee{0.004289321881345248, 20.952488689991583}},
		{gaussianKernel(1000), 7, Guarantee{0.001, 0.13353139262452257}},
	} {
		g, err := tt.of.Guarantee(tt.epsilon)
		if err != nil || !(math.Abs(g.Rate/tt.want.Rate-1) <= 1e-12) || !(math.Abs(g.Iterations/tt.want.Iterations-1) <= 1e-12) {
			t.Errorf("%+v with an error of %v: %+v, %v; want %+v", tt.of, tt.epsilon, g, err, tt.want)
		}
	}
}

// The step keeps to all three of the theorem's bounds, and less error or less
// lambda take a shorter one and more iterations.
func TestGuaranteeBounds(t *testing.T) {
	for _, lambda := range []float64{1e-4, 1e-2, 1, 100} {
		for _, epsilon := range []float64{1e-3, 0.1, 10, 1e6} {
			a := gaussianKernel(lambda)
			g, err := a.Guarantee(epsilon)
			if err != nil {
				t.Fatal(err)
			}
			sum := 1 + math.Sqrt2
			if g.Rate > 1/lambda || g.Rate > epsilon*lambda/(4*sum*sum)*(1+1e-12) || g.Iterations < 0 {
				t.Errorf("lambda %v, error %v: %+v", lambda, epsilon, g)
			}
			closer, err := a.Guarantee(epsilon / 2)
			if err != nil || closer.Rate > g.Rate || closer.Iterations < g.Iterations {
				t.Errorf("lambda %v: half of an error of %v takes %+v after %+v, %v", lambda, epsilon, closer, g, err)
			}
			smoother := a
			smoother.Lipschitz = Logistic{}.Curvature()
			if s, err := smoother.Guarantee(epsilon); err != nil || s.Rate < g.Rate {
				t.Errorf("a smoother loss takes %+v after %+v, %v", s, g, err)
			}
		}
	}
}

// The steps that learn are far above the guaranteed one, and learn all the same:
// the theorem says when a step is short enough, not when it is too long.
func TestGuaranteeIsNoSetting(t *testing.T) {
	wdbc := classes(t, load(t, "wdbc"), "1").standardised()
	train, test := wdbc.split(t, 1)
	d := gaussian(train.x.Cols, train.medianDistance(), 1)
	for _, rate := range []float64{4, 2e-13} {
		w := twin{64, 16, DSGParams{Loss: Logistic{}, Rate: rate, Lambda: 1e-3}, 0}
		learnt := w.run(t, phases[float64](train, d, 512, 16).Unscaled(), train.y)
		u := Decide(phases[float64](test, d, 512, 16).Unscaled(), learnt.Coefficients()).Data
		largest := 0.0
		for _, v := range u {
			largest = max(largest, math.Abs(v))
		}
		if guaranteed := rate < 1e-12; guaranteed != (largest < 1e-10) || !guaranteed && wrong(u, test.y) > 0.1 {
			t.Errorf("rate %v: decisions up to %v, test error %v", rate, largest, wrong(u, test.y))
		}
	}
}
