package svm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// quadratic is a machine's problem as LIBSVM's paper writes it, in alpha:
//
//	min 1/2 a'Qa + p'a,  0 <= a_i <= c_i,  sum of sign_i a_i over each group = total of the group.
type quadratic struct {
	q      linalg.Matrix[float64]
	p, c   []float64
	sign   []float64
	group  []int
	totals []float64
}

// value is the objective.
func (z quadratic) value(a []float64) float64 {
	v := 0.0
	for i, f := range z.gradient(a) {
		v += a[i] * (f + z.p[i]) / 2
	}
	return v
}

func (z quadratic) gradient(a []float64) []float64 {
	out := make([]float64, len(a))
	for i := range out {
		out[i] = z.p[i]
		for j, v := range z.q.Row(i) {
			out[i] += v * a[j]
		}
	}
	return out
}

// project returns the feasible point nearest to v: v_i - lambda sign_i, cut at
// the bounds, with the lambda of the group by bisection.
func (z quadratic) project(v []float64) []float64 {
	out := make([]float64, len(v))
	for g, total := range z.totals {
		span := 1.0
		for i := range v {
			if z.group[i] == g {
				span = max(span, math.Abs(v[i])+z.c[i])
			}
		}
		low, high := -span, span
		for {
			lambda := low + (high-low)/2
			sum := 0.0
			for i := range v {
				if z.group[i] == g {
					out[i] = min(max(v[i]-lambda*z.sign[i], 0), z.c[i])
					sum += z.sign[i] * out[i]
				}
			}
			if lambda == low || lambda == high || sum == total {
				break
			}
			if sum > total {
				low = lambda
			} else {
				high = lambda
			}
		}
	}
	return out
}

// excess bounds how far a is above the minimum: the gradient times the way to
// the feasible point that is best for this gradient (M. Frank, P. Wolfe 1956).
// That point fills up the coefficients in the order of their price.
func (z quadratic) excess(a []float64) float64 {
	f := z.gradient(a)
	sum := 0.0
	for i, v := range f {
		sum += v * a[i]
	}
	for g, total := range z.totals {
		sum -= z.cheapest(f, g, total)
	}
	return sum
}

// rounding bounds the rounding error of sums of this size.
func (z quadratic) rounding() float64 {
	sum := 0.0
	for i, c := range z.c {
		sum += c * math.Abs(z.p[i])
	}
	return 1e-14 * (1 + sum)
}

// cheapest is the least value of f'b over the group's feasible b. Every b_i with
// sign -1 is taken to start at its bound, which makes all of them steps up of
// the sum; the cheapest steps by sign_i f_i go first.
func (z quadratic) cheapest(f []float64, g int, total float64) float64 {
	value, left := 0.0, total
	taken := make([]bool, len(f))
	for i := range f {
		if z.group[i] == g && z.sign[i] < 0 {
			value += f[i] * z.c[i]
			left += z.c[i]
		}
	}
	for left > 0 {
		best := -1
		for i := range f {
			if z.group[i] == g && !taken[i] && (best < 0 || z.sign[i]*f[i] < z.sign[best]*f[best]) {
				best = i
			}
		}
		if best < 0 {
			break // rounding
		}
		taken[best] = true
		step := min(left, z.c[best])
		value += z.sign[best] * f[best] * step
		left -= step
	}
	return value
}

// descend minimises by projected gradients with momentum that starts anew
// whenever the objective rises (A. Beck, M. Teboulle 2009; B. O'Donoghue,
// E. Candes 2015), until the excess is below tol of the objective. It knows
// nothing of working sets.
func (z quadratic) descend(tol float64) (a []float64, excess float64) {
	step := 0.0 // 1 over a bound of the largest eigenvalue
	for i := range z.c {
		sum := 0.0
		for _, v := range z.q.Row(i) {
			sum += math.Abs(v)
		}
		step = max(step, sum)
	}
	step = 1 / max(step, 1e-300)
	a = z.project(make([]float64, len(z.c)))
	ahead, speed, last := a, 1.0, math.Inf(1)
	for round := range 200_000 {
		if round%50 == 0 {
			if excess = z.excess(a); excess <= tol*math.Abs(z.value(a))+z.rounding() {
				break
			}
		}
		next := make([]float64, len(a))
		for i, f := range z.gradient(ahead) {
			next[i] = ahead[i] - step*f
		}
		next = z.project(next)
		value := z.value(next)
		if value > last {
			ahead, speed, last = a, 1, math.Inf(1)
			continue
		}
		faster := (1 + math.Sqrt(1+4*speed*speed)) / 2
		ahead = make([]float64, len(a))
		for i, v := range next {
			ahead[i] = v + (speed-1)/faster*(v-a[i])
		}
		a, speed, last = next, faster, value
	}
	return a, excess
}

// draw is a random small problem.
type draw struct {
	*rand.Rand
	kernel  string
	k       gram
	first   []bool    // at least one of both
	weights []float64 // nil, or one for each row; those of the first two rows are above 0
}

func newDraw(seed uint64) draw {
	d := draw{Rand: rand.New(rand.NewPCG(seed, 9))}
	n := 4 + d.IntN(11)
	x := linalg.New[float64](n, 1+d.IntN(6))
	for i := range x.Data {
		x.Data[i] = d.NormFloat64()
	}
	if d.IntN(3) == 0 { // duplicates, with any labels
		for range n / 2 {
			copy(x.Row(d.IntN(n)), x.Row(d.IntN(n)))
		}
	}
	for range n {
		d.first = append(d.first, d.IntN(2) == 0)
	}
	d.first[0], d.first[1] = true, false
	if d.IntN(2) == 0 {
		for range n {
			d.weights = append(d.weights, []float64{-1, 0, 1, 3, d.power(-2, 1), d.power(-2, 1)}[d.IntN(6)])
		}
		d.weights[0], d.weights[1] = d.power(-1, 1), d.power(-1, 1)
	}
	inner := gram{Matrix: linalg.New[float64](n, n)}
	linalg.Syrk(inner.Matrix, x)
	switch d.kernel = []string{"rbf", "rbf", "narrow rbf", "linear", "polynomial", "polynomial", "constant"}[d.IntN(7)]; d.kernel {
	case "rbf":
		d.k = rbf(0.3, x, x)
	case "narrow rbf":
		d.k = rbf(20, x, x)
	default:
		d.k = inner
		for i, v := range inner.Data {
			switch d.kernel {
			case "polynomial":
				inner.Data[i] = (v + 1) * (v + 1)
			case "constant":
				inner.Data[i] = 1
			}
		}
	}
	return d
}

// price draws a C, now and then a very small or large one.
func (d draw) price() float64 {
	return []float64{1e-6, 1e4, d.power(-1, 2), d.power(-1, 2), d.power(-1, 2), d.power(-2, 1)}[d.IntN(6)]
}

// power draws 10^low to 10^high.
func (d draw) power(low, high float64) float64 {
	return math.Pow(10, low+(high-low)*d.Float64())
}

// signed returns the problem with Q_ij = s_i s_j K_ij.
func (d draw) signed(s []float64) quadratic {
	n := len(s)
	z := quadratic{q: linalg.New[float64](n, n), p: make([]float64, n), c: make([]float64, n), sign: s, group: make([]int, n), totals: []float64{0}}
	for i := range s {
		for j := range s {
			z.q.Row(i)[j] = s[i] * s[j] * d.k.At(i%d.k.Rows, j%d.k.Rows)
		}
	}
	return z
}

func (d draw) labels() []float64 {
	y := make([]float64, len(d.first))
	for i, first := range d.first {
		if y[i] = -1; first {
			y[i] = 1
		}
	}
	return y
}

func (d draw) codes() []int {
	codes := make([]int, len(d.first))
	for i, first := range d.first {
		if !first {
			codes[i] = 1
		}
	}
	return codes
}

const descentTol = 1e-7 // of the objective, for the twin

// TestEqualsProjectedGradient solves random small problems of every machine a
// second time, by projected gradients, and compares the objectives to 1e-6.
func TestEqualsProjectedGradient(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	machines := []struct {
		name string
		run  func(t *testing.T, d draw) (z quadratic, objective float64, err error)
	}{{"C-SVC", twinSVC}, {"nu-SVC", twinNuSVC}, {"SVR", twinSVR}, {"nu-SVR", twinNuSVR}, {"one-class", twinOneClass}}
	for _, m := range machines {
		t.Run(m.name, func(t *testing.T) {
			refused := 0
			for seed := range uint64(60) {
				d := newDraw(seed)
				what := fmt.Sprintf("seed %d, %s kernel, %d rows", seed, d.kernel, len(d.first))
				z, got, err := m.run(t, d)
				a, excess := z.descend(descentTol)
				want := z.value(a)
				if err != nil {
					refused++
					if want > 1e-12 || !strings.Contains(err.Error(), "the margin between the classes is ") {
						t.Errorf("%s: %v, yet the twin's objective is %v", what, err, want)
					}
					continue
				}
				if excess > 1e-6*math.Abs(want)+z.rounding() {
					t.Errorf("%s: the twin stays %v above the minimum near %v", what, excess, want)
				}
				if math.Abs(got-want) > 1e-6*math.Abs(want)+z.rounding() {
					t.Errorf("%s: objective %v, the twin has %v", what, got, want)
				}
			}
			if refused > 20 {
				t.Errorf("%d of 60 problems refused", refused)
			}
		})
	}
}

func twinSVC(t *testing.T, d draw) (quadratic, float64, error) {
	p := Params{C: d.price(), Tol: 1e-8, Weights: map[string]float64{"b": d.power(-1, 1)}, RowWeights: d.weights}
	c := MustSVC(t, d.k, d.codes(), names(2), p)
	z := d.signed(d.labels())
	for i, first := range d.first {
		z.p[i], z.c[i] = -1, p.C*weight(d.weights, i)
		if !first {
			z.c[i] *= p.Weights["b"]
		}
	}
	return z, c.Pairs[0].Report.Objective, nil
}

// twinNuSVC undoes the scaling by the margin. A margin of 0 is refused.
func twinNuSVC(t *testing.T, d draw) (quadratic, float64, error) {
	total, positive := 0.0, 0.0
	for i, first := range d.first {
		w := weight(d.weights, i)
		if total += w; first {
			positive += w
		}
	}
	largest := 2 * min(positive, total-positive) / total
	nu := []float64{largest, largest * d.Float64(), 1e-3 * largest}[d.IntN(3)]
	z := d.signed(d.labels())
	z.totals = []float64{nu * total / 2, -nu * total / 2}
	for i, first := range d.first {
		z.c[i] = weight(d.weights, i)
		if !first {
			z.group[i] = 1
		}
	}
	p := NuParams{Nu: nu, Tol: 1e-12, RowWeights: d.weights}
	c, err := TrainNuSVC(d.k, d.codes(), names(2), p, nil)
	if err != nil {
		return z, 0, err
	}
	CheckNuSVC(t, d.k, d.codes(), p, c)
	sum := 0.0
	for _, b := range c.Pairs[0].Coef {
		sum += max(b, 0)
	}
	margin := z.totals[0] / sum
	return z, c.Pairs[0].Report.Objective * margin * margin, nil
}

func twinSVR(t *testing.T, d draw) (quadratic, float64, error) {
	n := len(d.first)
	y := make([]float64, n)
	for i := range y {
		y[i] = 3 * d.NormFloat64()
	}
	p := SVRParams{C: d.price(), Epsilon: []float64{0, 0.1, 0.1, 1, 1, 100}[d.IntN(6)], Tol: 1e-8, RowWeights: d.weights}
	m := MustSVR(t, d.k, y, p)
	s := make([]float64, 2*n)
	for i := range y {
		s[i], s[n+i] = 1, -1
	}
	z := d.signed(s)
	for i := range s {
		z.p[i], z.c[i] = p.Epsilon-s[i]*y[i%n], p.C*weight(d.weights, i%n)
	}
	return z, m.Report.Objective, nil
}

func twinNuSVR(t *testing.T, d draw) (quadratic, float64, error) {
	n := len(d.first)
	y, s, total := make([]float64, n), make([]float64, 2*n), 0.0
	for i := range y {
		y[i] = 3 * d.NormFloat64()
		s[i], s[n+i] = 1, -1
		total += weight(d.weights, i)
	}
	p := NuSVRParams{C: d.power(-1, 1), Nu: []float64{1, d.Float64() + 1e-9, 0.1}[d.IntN(3)], Tol: 1e-9, RowWeights: d.weights}
	m := MustNuSVR(t, d.k, y, p)
	z := d.signed(s)
	half := p.C * p.Nu * total / 2
	z.totals = []float64{half, -half}
	for i := range s {
		z.p[i], z.c[i], z.group[i] = -s[i]*y[i%n], p.C*weight(d.weights, i%n), i/n
	}
	return z, m.Report.Objective, nil
}

func twinOneClass(t *testing.T, d draw) (quadratic, float64, error) {
	n := len(d.first)
	nu := []float64{1, d.Float64() + 1e-9, 0.1 / float64(n)}[d.IntN(3)]
	m := MustOneClass(t, d.k, NuParams{Nu: nu, Tol: 1e-9, RowWeights: d.weights})
	s := make([]float64, n)
	for i := range s {
		s[i] = 1
	}
	z := d.signed(s)
	z.totals[0] = 0
	for i := range s {
		z.c[i] = weight(d.weights, i)
		z.totals[0] += nu * z.c[i]
	}
	return z, m.Report.Objective, nil
}
