package komd

import (
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

// These constants decide when a descent stops.
const (
	maxSteps = 20000
	stillIs  = 1e-10 // the descent ends when a step without momentum moves every weight by less than this
)

// Descend returns a stationary point of 1/2 a^T P a - q^T a over a >= 0 with sum a = 1. From a
// stationary point, no direction immediately lowers the value. P (n x n) is symmetric and need not
// be definite. If P is not definite, there can be several stationary points, and Descend returns
// the point that it reaches from equal weights. If [Simplex] has a solution, Descend returns nearly
// the same one: it stops when a step without momentum moves every weight by less than 10^-10.
//
// The method is projected gradients with momentum (FISTA, Beck and Teboulle 2009). It restarts
// whenever momentum would raise the objective or has stopped moving weights.
func Descend(p linalg.Matrix[float64], q []float64) ([]float64, error) {
	if err := checkForm(p, q); err != nil {
		return nil, err
	}
	d := newDescent(p, q)
	if math.IsNaN(d.value) || math.IsInf(d.curve, 1) {
		return nil, fmt.Errorf("komd: the quadratic form has a value that is not finite")
	}
	for range maxSteps {
		plain := d.momentum == 0
		if moved := d.step(); plain && moved < stillIs {
			return d.at, nil
		} else if moved < stillIs {
			d.restart()
		}
	}
	return nil, fmt.Errorf("komd: the weights have not converged after %d steps", maxSteps)
}

// descent holds the state of Descend. It stores the product of P with each point, so that a step
// computes only one product.
type descent struct {
	p              linalg.Matrix[float64]
	q              []float64
	curve          float64 // bound on the curvature in any direction
	at, before     []float64
	pAt, pBefore   []float64
	value          float64 // value of the objective
	pace, momentum float64
}

func newDescent(p linalg.Matrix[float64], q []float64) *descent {
	n := len(q)
	d := &descent{p: p, q: q, at: make([]float64, n)}
	for i := range n {
		d.at[i] = 1 / float64(n)
		length := 0.0
		for _, v := range p.Row(i) {
			length += math.Abs(v)
		}
		d.curve = max(d.curve, length)
	}
	d.pAt = d.times(d.at)
	d.value = d.objective(d.at, d.pAt)
	d.restart()
	return d
}

func (d *descent) restart() { d.before, d.pBefore, d.pace, d.momentum = d.at, d.pAt, 1, 0 }

// step makes one step and returns the largest change of a weight. If a step with momentum would
// raise the objective, step only discards the momentum and returns infinity. A step without momentum
// never raises the objective.
func (d *descent) step() float64 {
	next := make([]float64, len(d.at))
	for i := range next {
		ahead := d.at[i] + d.momentum*(d.at[i]-d.before[i])
		slope := d.pAt[i] + d.momentum*(d.pAt[i]-d.pBefore[i]) - d.q[i]
		next[i] = ahead - slope/d.curve
	}
	ontoSimplex(next)
	pNext := d.times(next)
	value := d.objective(next, pNext)
	if value > d.value && d.momentum > 0 {
		d.restart()
		return math.Inf(1)
	}
	moved := 0.0
	for i, v := range next {
		moved = max(moved, math.Abs(v-d.at[i]))
	}
	pace := (1 + math.Sqrt(1+4*d.pace*d.pace)) / 2
	d.momentum, d.pace = (d.pace-1)/pace, pace
	d.before, d.pBefore, d.at, d.pAt, d.value = d.at, d.pAt, next, pNext, value
	return moved
}

func (d *descent) times(a []float64) []float64 {
	out := make([]float64, len(a))
	for j, weight := range a {
		if weight == 0 {
			continue
		}
		for i, v := range d.p.Row(j) { // column j equals row j, since P is symmetric
			out[i] += weight * v
		}
	}
	return out
}

func (d *descent) objective(a, pa []float64) float64 {
	sum := 0.0
	for i, weight := range a {
		sum += weight * (pa[i]/2 - d.q[i])
	}
	return sum
}

// ontoSimplex moves v to the nearest point with v >= 0 and sum 1 (Held, Wolfe and Crowder 1974). It
// subtracts one number from all entries and replaces negative entries by 0.
func ontoSimplex(v []float64) {
	sorted := slices.Clone(v)
	slices.Sort(sorted)
	sum, shift := 0.0, 0.0
	for k := range sorted {
		largest := sorted[len(sorted)-1-k]
		sum += largest
		if s := (sum - 1) / float64(k+1); largest > s {
			shift = s
		}
	}
	for i := range v {
		v[i] = max(0, v[i]-shift)
	}
}
