package privacy

import (
	"math"
	"strings"
	"testing"
)

// byGrid computes the conversion of [Delta] with package math and without any search: over a fine grid of orders.
func byGrid(rho, epsilon float64) float64 {
	least := math.Inf(1)
	for t := -12.; t < 12; t += .0005 {
		u := math.Exp(t) // a - 1
		least = min(least, u*((1+u)*rho-epsilon)-math.Log(u)+(1+u)*math.Log(u/(1+u)))
	}
	return math.Exp(least)
}

func TestDeltaIsTheLeastOverOrders(t *testing.T) {
	for _, c := range []struct{ rho, epsilon float64 }{{.001, .2}, {.0244, 1}, {.1, 1}, {.31, 4}, {1.05, 8}, {2.56, 17.14}, {20, 60}, {70, 100}} {
		got, want := Delta(c.rho, c.epsilon), byGrid(c.rho, c.epsilon)
		if got < want*(1-1e-5) || got > want*(1+1e-5) {
			t.Errorf("rho %v, epsilon %v: delta %v, want %v", c.rho, c.epsilon, got, want)
		}
	}
}

// gaussianDelta is the least delta of a Gaussian of variance 1/(2 rho) for sensitivity 1, which is rho-zCDP (Balle and Wang,
// "Improving the Gaussian mechanism for differential privacy", ICML 2018, theorem 8).
func gaussianDelta(rho, epsilon float64) float64 {
	mu := math.Sqrt(2 * rho)
	above := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	return above(epsilon/mu-mu/2) - math.Exp(epsilon)*above(epsilon/mu+mu/2)
}

// The conversion holds for the Gaussian, whose delta is known exactly, and gives less than the standard conversion (Bun
// and Steinke 2016, proposition 1.3): it lies between them.
func TestDeltaLiesBetween(t *testing.T) {
	for _, rho := range []float64{.001, .01, .1, 1, 10} {
		for _, z := range []float64{1, 2, 4, 6} {
			epsilon := rho + z*math.Sqrt(2*rho)
			got, most := Delta(rho, epsilon), math.Exp(-(epsilon-rho)*(epsilon-rho)/(4*rho))
			if least := gaussianDelta(rho, epsilon); got < least || got > most/1.5 {
				t.Errorf("rho %v, epsilon %v: delta %v, want from %v to %v", rho, epsilon, got, least, most/1.5)
			}
		}
	}
}

// Published values: of OpenDP's tests (opendp 0.14, zCDP_to_approxDP/test.rs, for a Gaussian of deviation 4), and what the authors' program prints
// (cdp2adp.py beside the paper).
func TestPublishedValues(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"OpenDP, epsilon", Epsilon(1./32, 1e-3), 0.6880024554878085},
		{"OpenDP, delta", Delta(1./32, 0), 0.1508457845622862},
		{"authors, epsilon", Epsilon(.025, 1e-6), 1.014074254726128},
		{"authors, delta", Delta(.025, 1), 1.3361319064032213e-06},
		{"authors, rho", Guarantee{1, 1e-6}.Rho(), 0.024355970359538372},
	} {
		if math.Abs(c.got/c.want-1) > 1e-6 {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

// Rho, Epsilon and Delta invert one another, and every result is on the safe side.
func TestConversionsInvert(t *testing.T) {
	for _, g := range []Guarantee{{.01, 1e-6}, {1, 1e-6}, {2, 1e-6}, {4, 1e-6}, {8, 1e-6}, {1, .01}, {8, 1e-15}, {.01, 1e-15}, {100, .01}, {.01, .01}} {
		rho := g.Rho()
		if d := Delta(rho, g.Epsilon); d > g.Delta*(1+1e-14) || d < g.Delta*(1-1e-5) {
			t.Errorf("%v: rho %v gives delta %v", g, rho, d)
		}
		if e := Epsilon(rho, g.Delta); math.Abs(e/g.Epsilon-1) > 1e-6 {
			t.Errorf("%v: rho %v gives epsilon %v", g, rho, e)
		}
		if byGrid(rho, g.Epsilon) > g.Delta*(1+1e-5) || byGrid(rho*1.00001, g.Epsilon) < g.Delta {
			t.Errorf("%v: rho %v is not the largest", g, rho)
		}
	}
}

// The bits of rho decide the noise, so they are the same on every machine.
func TestRhoHasTheSameBitsEverywhere(t *testing.T) {
	for epsilon, bits := range map[float64]uint64{1: 0x3f98f0c5792da935, 2: 0x3fb6912cab7dbb8f, 4: 0x3fd3e87cf73f6ae4, 8: 0x3ff0d6755548329f} {
		if got := math.Float64bits((Guarantee{epsilon, 1e-6}).Rho()); got != bits {
			t.Errorf("epsilon %v: bits %#x, want %#x", epsilon, got, bits)
		}
	}
}

func TestGuaranteeRefuses(t *testing.T) {
	for _, g := range []Guarantee{{}, {.001, 1e-6}, {101, 1e-6}, {math.NaN(), 1e-6}, {math.Inf(1), 1e-6}, {-1, 1e-6}} {
		if err := g.Check(); err == nil || !strings.Contains(err.Error(), "use 0.01 to 100") || g.Rho() != 0 {
			t.Errorf("%v: %v, rho %v", g, err, g.Rho())
		}
	}
	for _, d := range []float64{0, 1e-16, .02, 1, math.NaN(), -1e-6} {
		g := Guarantee{1, d}
		if err := g.Check(); err == nil || !strings.Contains(err.Error(), "use 1e-15 to 0.01") || g.Rho() != 0 {
			t.Errorf("%v: %v, rho %v", g, err, g.Rho())
		}
	}
}

// What cannot be converted gives no guarantee.
func TestConversionsOutOfLimits(t *testing.T) {
	nan := math.NaN()
	for _, c := range [][2]float64{{-1, 1e-6}, {1e-10, 1e-6}, {1e5, 1e-6}, {nan, 1e-6}, {1, 0}, {1, nan}, {1, -1}, {1, .5}} {
		if e := Epsilon(c[0], c[1]); !math.IsInf(e, 1) {
			t.Errorf("rho %v, delta %v: epsilon %v", c[0], c[1], e)
		}
	}
	for _, c := range [][2]float64{{-1, 1}, {1e-10, 1}, {1e5, 1}, {nan, 1}, {1, -1}, {1, nan}} {
		if d := Delta(c[0], c[1]); d != 1 {
			t.Errorf("rho %v, epsilon %v: delta %v", c[0], c[1], d)
		}
	}
	if e, d := Epsilon(0, 1e-6), Delta(0, 1); e != 0 || d != 0 {
		t.Errorf("rho 0: epsilon %v, delta %v", e, d)
	}
	if e, d := Epsilon(LeastRho, 1e-6), Delta(MostRho, 1); !(e > 0 && e < .01) || d != 1 {
		t.Errorf("limits: epsilon %v, delta %v", e, d)
	}
}
