package linear

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// With a constant step of size c/t, t iterations leave an expected squared error of order 1/t
// (Gu et al. 2020, theorem 4): eight times the iterations leave about an eighth of the error. An
// error that does not fall, or falls as the root of t, is outside the band.
func TestErrorFallsAsOneOverT(t *testing.T) {
	if testing.Short() {
		t.Skip("800 trainings take seconds, and minutes under the race detector")
	}
	c := fewRows()
	best := c.optimum()
	const runs, first = 200, 150
	var errs []float64
	for _, times := range []int{1, 2, 4, 8} {
		sum := 0.0
		for run := range runs {
			sum += c.squaredError(t, best, first*times, rand.New(rand.NewPCG(uint64(run), uint64(times))))
		}
		errs = append(errs, sum/runs)
	}
	t.Logf("mean squared error after %d iterations and twice as many each: %.4f", first, errs)
	for i := range errs[1:] {
		if fall := errs[i] / errs[i+1]; fall < 1.6 || fall > 2.5 {
			t.Errorf("twice the iterations divide the error by %.2f, want about 2", fall)
		}
	}
	if fall := errs[0] / errs[3]; fall < 6 || fall > 11 {
		t.Errorf("eight times the iterations divide the error by %.2f, want about 8", fall)
	}
}

// knownOptimum is a problem whose optimum is known: rows of one column with the kernel
// exp(-(x-z)^2/2), and the logistic loss.
type knownOptimum struct {
	x, y   []float64
	lambda float64
}

func fewRows() knownOptimum {
	return knownOptimum{x: []float64{-1.5, -0.5, 0.5, 1.5}, y: []float64{1, -1, -1, 1}, lambda: 0.5}
}

// optimum returns the decisions of the function that minimises lambda/2 |f|^2 plus the mean loss:
// the fixed point of f = -K slope(f) / (lambda rows), which draws nearer in each round, since the
// loss's curvature is at most a quarter.
func (c knownOptimum) optimum() []float64 {
	n := len(c.x)
	f := make([]float64, n)
	for range 200 {
		next := make([]float64, n)
		for i := range next {
			for j := range f {
				d := c.x[i] - c.x[j]
				next[i] -= math.Exp(-d*d/2) * Logistic{}.Slope(f[j], c.y[j]) / (c.lambda * float64(n))
			}
		}
		f = next
	}
	return f
}

// squaredError trains with one row and one direction at a time, and returns the mean squared
// distance of the rows' decisions from the optimum's.
func (c knownOptimum) squaredError(t *testing.T, best []float64, iterations int, draw *rand.Rand) float64 {
	t.Helper()
	phi := linalg.New[float64](iterations, len(c.x))
	for j := range iterations {
		w, b := draw.NormFloat64(), 2*math.Pi*draw.Float64()
		for i, x := range c.x {
			phi.Row(j)[i] = math.Sqrt2 * math.Cos(w*x+b)
		}
	}
	// The start is forgotten by the factor e^-6.
	p := DSGParams{Loss: Logistic{}, Rate: 6 / (c.lambda * float64(iterations)), Lambda: c.lambda}
	s, err := NewStochastic(OptimizerParams{DSGParams: p, Batch: 1, Block: 1, Features: iterations}, row(c.y), drawer{draw})
	if err != nil {
		t.Fatal(err)
	}
	for rows, _ := s.Draw(); rows != nil; rows, _ = s.Draw() {
		if err := s.Learn(dense{phi}); err != nil {
			t.Fatal(err)
		}
	}
	u, sum := s.Decide(dense{phi}, []int{0, 1, 2, 3}).Data, 0.0
	for i, v := range u {
		sum += (v - best[i]) * (v - best[i])
	}
	return sum / float64(len(best))
}
