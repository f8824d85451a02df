package svm

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// twin solves a problem by trying, for every coefficient, all three places it
// can have: the lower bound, the upper bound, or free. It knows nothing of
// working sets and takes 3^n linear systems.
func twin(p problem, k gram) (best float64, coef []float64) {
	n := k.Len()
	best = math.Inf(1)
	place := make([]int, n)
	for {
		if b := stationary(p, k, place); b != nil {
			if v := objective(p, k, b); v < best {
				best, coef = v, b
			}
		}
		i := 0
		for ; i < n && place[i] == 2; i++ {
			place[i] = 0
		}
		if i == n {
			return best, coef
		}
		place[i]++
	}
}

// stationary returns the feasible point with the given places (0 lower, 1
// upper, 2 free) at which the free coefficients are stationary under sum b = 0,
// or nil.
func stationary(p problem, k gram, place []int) []float64 {
	b := make([]float64, len(place))
	var free []int
	sum := 0.0
	for i, w := range place {
		switch w {
		case 0:
			b[i] = p.lower[i]
		case 1:
			b[i] = p.upper[i]
		default:
			free = append(free, i)
		}
		sum += b[i]
	}
	if len(free) == 0 {
		if math.Abs(sum) > 1e-12 {
			return nil
		}
		return b
	}
	m := len(free)
	a, rhs := mat.NewDense(m+1, m+1, nil), mat.NewVecDense(m+1, nil)
	for r, i := range free {
		f := p.linear[i]
		for j := range b {
			f += k.At(i, j) * b[j]
		}
		rhs.SetVec(r, -f)
		a.Set(r, m, 1)
		a.Set(m, r, 1)
		for c, j := range free {
			a.Set(r, c, k.At(i, j))
		}
	}
	rhs.SetVec(m, -sum)
	var x mat.VecDense
	if err := x.SolveVec(a, rhs); err != nil {
		return nil
	}
	for r, i := range free {
		b[i] = x.AtVec(r)
		if b[i] < p.lower[i]-1e-9 || b[i] > p.upper[i]+1e-9 {
			return nil
		}
	}
	return b
}

func objective(p problem, k gram, b []float64) float64 {
	v := 0.0
	for i := range b {
		v += p.linear[i] * b[i]
		for j := range b {
			v += b[i] * k.At(i, j) * b[j] / 2
		}
	}
	return v
}

func TestSolverEqualsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "n")
		x, first := linalg.New[float64](n, 2), make([]bool, n)
		for i := range n {
			// Distinct by the first coordinate, so that K is positive definite.
			x.Row(i)[0] = 0.7*float64(i) + rapid.Float64Range(0, 0.3).Draw(t, "x")
			x.Row(i)[1] = rapid.Float64Range(-1, 1).Draw(t, "y")
			first[i] = rapid.Bool().Draw(t, "first")
		}
		first[0], first[n-1] = true, false
		k := rbf(rapid.Float64Range(0.3, 3).Draw(t, "gamma"), x, x)
		bound := rapid.Float64Range(0.05, 20)
		p := cSVC(k, first, bound.Draw(t, "C first"), bound.Draw(t, "C second"))
		got := mustSolve(t, p, k, stopping{tol: 1e-10, iterations: 1e6}, 0)
		want, coef := twin(p, k)
		if math.Abs(got.objective-want) > 1e-8*(1+math.Abs(want)) {
			t.Fatalf("objective %v, the twin has %v", got.objective, want)
		}
		for i := range coef {
			if math.Abs(got.coef[i]-coef[i]) > 1e-6*(1+math.Abs(coef[i])) {
				t.Fatalf("coefficient %d is %v, the twin has %v", i, got.coef[i], coef[i])
			}
		}
	})
}

// TestGeneralProblem solves what C-SVC never poses: a start that is not zero,
// a sum that is not zero, no linear term (one-class SVM, LIBSVM eq. 5).
func TestGeneralProblem(t *testing.T) {
	x, _ := blobs(3, 40, 2, 2)
	k := rbf(0.5, x, x)
	n := k.Len()
	p := problem{kernel: k, linear: make([]float64, n), lower: make([]float64, n), upper: make([]float64, n), start: make([]float64, n)}
	for i := range n {
		p.upper[i] = 1
		if i < 8 { // nu n = 8
			p.start[i] = 1
		}
	}
	mustSolve(t, p, k, stopping{tol: 1e-9, iterations: 1e6}, 0)
	p.start = append([]float64(nil), p.upper...)
	full := mustSolve(t, p, k, stopping{tol: 1e-9, iterations: 1e6}, 0)
	if full.iterations != 0 || full.gap != 0 {
		t.Errorf("nothing can grow, yet %d iterations, gap %v", full.iterations, full.gap)
	}
}

func TestOptimality(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(t, "n")
		x, codes := blobs(rapid.Uint64().Draw(t, "seed"), n, 3, 2)
		for i := range n / 4 { // duplicate rows with other labels: zero curvature
			copy(x.Row(i), x.Row(n-1-i))
		}
		first := make([]bool, n)
		for i, c := range codes {
			first[i] = c == 0
		}
		k := rbf(0.3, x, x)
		p := cSVC(k, first, rapid.Float64Range(0.01, 1000).Draw(t, "C"), 10)
		tol := math.Pow(10, rapid.Float64Range(-9, -1).Draw(t, "log tol"))
		mustSolve(t, p, k, stopping{tol: tol, iterations: 1e7}, 0)
	})
}
