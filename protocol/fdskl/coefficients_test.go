package fdskl

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// The attack on the coefficients of another active worker. The paper calls them private if that
// worker has at least two (section 2.3.1). The attacker follows the protocol: it draws each row
// once and keeps the other's parts of the model's value. After the other's last iteration these
// are values of one function, but for known factors of decay.

// eavesdropper is what an active worker has heard of another one's part of the model's value.
type eavesdropper struct {
	rows  []int
	parts []float64 // without the decay, so as if the other's training had ended
}

// overheard runs a council of two active workers. The first draws every row once; the second makes
// few iterations. It returns what the first has heard in messages, and the second's coefficients.
func overheard(t *testing.T, mode Mode, rows, few int) (*council, eavesdropper, []float64) {
	t.Helper()
	c := newCouncil(t, Spec{Mode: mode, Bits: 32, Rows: rows, Directions: 2 * rows}, 4, rows, few)
	c.draws[0] = rand.New(rand.NewPCG(1, 2)).Perm(rows)
	var heard [][]byte
	r, err := sim.Run(sim.Config{Session: c.session, Nodes: c.nodes(), Intercept: func(m protocol.Message) []protocol.Message {
		if m.Round == roundShares && m.Sender == c.names[1] && m.Receiver == c.names[0] {
			heard = append(heard, m.Body)
		}
		return []protocol.Message{m}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil || len(heard) != rows {
		t.Fatalf("%d of %d parts, error %v", len(heard), rows, err)
	}
	var e eavesdropper
	for k := few; k < rows; k++ {
		part, err := decodeShares(heard[k], 1)
		if err != nil {
			t.Fatal(err)
		}
		later := float64(rows - k) // the other's coefficients decay in this iteration and all later ones
		e.rows, e.parts = append(e.rows, c.draws[0][k]), append(e.parts, part[0]*math.Pow(1-c.Gamma*c.Lambda, later))
	}
	return c, e, r.Outcome(c.names[1]).Machine.(*Active).schedule.(*partner).alpha
}

// solve fits the parts with given directions: each adds a cosine and a sine of w.x, whatever its
// phase is. It returns the sizes of the coefficients and what the fit leaves of the parts.
func (e eavesdropper) solve(t *testing.T, x, w [][]float64) (sizes []float64, left float64) {
	t.Helper()
	features := linalg.New[float64](2*len(w), len(e.rows))
	for j, direction := range w {
		for i, row := range e.rows {
			sin, cos := math.Sincos(linalg.Dot(direction, x[row]))
			features.Row(2 * j)[i], features.Row(2*j + 1)[i] = math.Sqrt2*cos, -math.Sqrt2*sin
		}
	}
	gram, fit, value := linalg.New[float64](2*len(w), 2*len(w)), linalg.New[float64](1, 2*len(w)), row(e.parts)
	linalg.MulTransB(gram, features, features)
	linalg.MulTransB(fit, value, features)
	if err := linalg.Cholesky(gram); err != nil {
		t.Fatal(err)
	}
	linalg.SolveCholesky(gram, fit)
	for j := range w {
		sizes = append(sizes, math.Hypot(fit.Data[2*j], fit.Data[2*j+1]))
	}
	rest := slices.Clone(e.parts)
	for j, v := range fit.Data {
		linalg.Axpy(-v, features.Row(j), rest)
	}
	return sizes, squaredNorm(rest) / squaredNorm(e.parts)
}

func row(v []float64) linalg.Matrix[float64] {
	m := linalg.New[float64](1, len(v))
	copy(m.Data, v)
	return m
}

// sizesOf lists the coefficients without signs. A coefficient's sign has no meaning: the opposite
// sign, with half a turn more of phase, is the same model.
func sizesOf(alpha []float64) []float64 {
	var list []float64
	for _, a := range alpha {
		list = append(list, math.Abs(a))
	}
	return list
}

// errorOf is the relative error of estimated sizes.
func errorOf(got, want []float64) float64 {
	wrong := slices.Clone(got)
	linalg.Axpy(-1, want, wrong)
	return math.Sqrt(squaredNorm(wrong) / squaredNorm(want))
}

// directionsOf lists directions of the second active worker over all columns.
func (c *council) directionsOf(count int) [][]float64 {
	var list [][]float64
	first := c.params.Spec().Directions / 2
	for j := range count {
		var direction []float64
		for _, w := range c.W {
			direction = append(direction, w[first+j])
		}
		list = append(list, direction)
	}
	return list
}

// In mode paper the attacker knows all directions, and by TestSharedDirectionsGiveTheRows all rows.
// Then every part is a linear equation: all coefficients follow, however many there are, given twice
// as many parts. With private directions the attacker can only guess them, and its sizes are wrong.
func TestAttackPartsOfTheValueGiveCoefficients(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, few := range []int{2, 24} {
		c, e, alpha := overheard(t, Paper, 100, few)
		sizes, left := e.solve(t, c.X, c.directionsOf(few))
		compare(t, "mode paper", sizes, sizesOf(alpha), 1e-5)
		if !(left <= 1e-6) {
			t.Errorf("%d coefficients leave %v of the parts", few, left)
		}
		c, e, alpha = overheard(t, Hardened, 100, few)
		sizes, left = e.solve(t, c.X, normal(rand.New(rand.NewPCG(3, 4)), few, len(c.W)))
		wrong := errorOf(sizes, sizesOf(alpha))
		t.Logf("%d private directions: guessed ones leave %.2f of the parts, error of the sizes %.2f", few, left, wrong)
		if !(left >= .05) || !(wrong >= .3) {
			t.Errorf("%d guessed directions leave %.2f of the parts and tell sizes with an error of %.2f; they should tell little", few, left, wrong)
		}
	}
}

// Private directions do not hide how large the coefficients are. A part is a sum of cosines of
// phases that the attacker does not know, but over many rows these are nearly uniform: the mean
// square of the parts is the sum of the squared coefficients, and the mean fourth power is 3/2 of
// its square + 3 a^2 b^2 for two coefficients a and b. So two are not enough. Of more coefficients
// it tells roughly the norm.
func TestAttackPartsOfTheValueTellTheSizeOfCoefficients(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	_, e, alpha := overheard(t, Hardened, 400, 2)
	large, small := e.twoSizes()
	want := sizesOf(alpha)
	slices.Sort(want)
	t.Logf("two coefficients: %.4f and %.4f, in truth %.4f and %.4f", large, small, want[1], want[0])
	if !(math.Abs(large-want[1]) <= .1*want[1]) || !(small >= want[0]/2 && small <= 2*want[0]) {
		t.Errorf("sizes %v and %v, in truth %v", large, small, want)
	}
	_, e, alpha = overheard(t, Hardened, 400, 24)
	norm, truth := math.Sqrt(squaredNorm(e.parts)/float64(len(e.parts))), math.Sqrt(squaredNorm(alpha))
	t.Logf("24 coefficients: norm %.4f, in truth %.4f", norm, truth)
	if !(math.Abs(norm-truth) <= .4*truth) {
		t.Errorf("norm %v, in truth %v", norm, truth)
	}
}

// twoSizes estimates the sizes of two coefficients by moments.
func (e eavesdropper) twoSizes() (large, small float64) {
	square, fourth := 0.0, 0.0
	for _, v := range e.parts {
		square += v * v / float64(len(e.parts))
		fourth += v * v * v * v / float64(len(e.parts))
	}
	product := max(0, (fourth-1.5*square*square)/3)
	root := math.Sqrt(max(0, square*square-4*product))
	return math.Sqrt((square + root) / 2), math.Sqrt((square - root) / 2)
}
