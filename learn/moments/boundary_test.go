package moments

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// pool is three parties' held-out rows, of class 0 or 1 by chance.
type pool struct {
	rows  []linalg.Matrix[float64]
	codes [][]int
	jobs  byte // the number of jobs that have been run
}

const poolWidth, poolFeatures = 8, 64

// answer returns the sum that one job tells a server. solution makes the server's
// solution from the job's features, which are new in each job.
func (c *pool) answer(t *testing.T, solution func(feature.Map) Solution) (sum int64) {
	t.Helper()
	c.jobs++
	m := featuresOf(c.jobs, poolFeatures, poolWidth, 1e-8) // the job's choice: features are all but linear
	s := solution(m)
	for i, rows := range c.rows {
		n, err := Correct(m, s, rows, c.codes[i])
		if err != nil {
			t.Fatal(err)
		}
		sum += RoundShare(n, rows.Rows)
	}
	return sum
}

// halfSpace gives class 0 to rows whose first column is above a threshold, and class 2
// to all others, which no row has. By the sines of tiny angles the column is exact.
func halfSpace(t *testing.T, m feature.Map, threshold float64) Solution {
	t.Helper()
	s := Solution{Weights: linalg.New[float64](3, m.Len()), Offset: []float64{-threshold, -1, 0}}
	first := mat.NewVecDense(poolWidth, nil)
	first.SetVec(0, 1)
	var sines mat.VecDense
	if err := sines.SolveVec(mat.NewDense(m.Len()/2, poolWidth, m.Directions.Data).T(), first); err != nil {
		t.Fatal(err)
	}
	copy(s.Weights.Row(0)[m.Len()/2:], sines.RawVector().Data)
	return s
}

// point gives class 1 to one row as well, and to no other.
func point(m feature.Map, s Solution, row linalg.Matrix[float64]) Solution {
	const steep, near = 1e15, 1e-12
	phi := linalg.New[float64](1, m.Len())
	m.Rows(phi, row)
	for k, v := range phi.Data {
		s.Weights.Row(1)[k] = steep * v * 2 / float64(m.Len())
	}
	s.Offset[1] = -steep * (1 - near)
	return s
}

// drawRows draws rows of class 0 or 1.
func drawRows(r *rand.Rand, n int) (linalg.Matrix[float64], []int) {
	x, codes := linalg.New[float64](n, poolWidth), make([]int, n)
	for k := range x.Data {
		x.Data[k] = r.NormFloat64()
	}
	for i := range codes {
		codes[i] = r.IntN(2)
	}
	return x, codes
}

// drawPool draws parties that hold out some rows each.
func drawPool(r *rand.Rand, sizes ...int) *pool {
	c := &pool{}
	for _, n := range sizes {
		x, codes := drawRows(r, n)
		c.rows, c.codes = append(c.rows, x), append(c.codes, codes)
	}
	return c
}

// boundary halves a part of a column, in ten jobs, until few rows lie between its ends of which one tips the rounding. It
// returns the ends, what the upper one counts, and by how much the lower one counts more.
func (c *pool) boundary(t *testing.T, from, to float64) (lo, hi float64, high, jump int64) {
	t.Helper()
	base := func(threshold float64) int64 {
		return c.answer(t, func(m feature.Map) Solution { return halfSpace(t, m, threshold) })
	}
	lo, hi = from, to
	low, high := base(lo), base(hi)
	for range 8 {
		middle := (lo + hi) / 2
		if v := base(middle); v != high {
			lo, low = middle, v
		} else {
			hi = middle
		}
	}
	return lo, hi, high, low - high
}

// One held-out row is less than half of five, or of a thousandth of many, and rounds to
// nothing. The strongest server, with twenty jobs over the same rows, does not know
// where a count comes to be rounded up, but finds out: it halves a set of rows until one
// row more makes the figure jump, and then asks about people beside that set. The size
// of the jump is the number of rows that a party holds out, and so says whose they are.
// It knows nobody's row for that, but about how many rows lie near a threshold.
func TestAttackBoundaryOfRounding(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	r := rand.New(rand.NewPCG(3, 1))
	const trials, allowed, people = 10, 20, 10
	alone, right, seen, most := 0, 0, 0, 0
	for range trials {
		sizes := []int{5003, 5010, 5017}
		c := drawPool(r, sizes...)
		from := 2*r.Float64() - 1
		_, hi, high, jump := c.boundary(t, from, from+0.01) // some ten rows of each party: the server knows how many are in training
		party := slices.Index(sizes, int(jump))             // a thousandth of its rows
		if party < 0 {
			t.Logf("the jump is of %d: more than one row", jump)
			continue
		}
		most = max(most, int(c.jobs)+people)
		seen++
		outside, _ := drawRows(r, people/2)
		for i := range people {
			row, in := outside.Panel(i/2, i/2+1), i%2 == 0
			if in { // anybody of class 1
				at := slices.Index(c.codes[party][100*i:], 1) + 100*i
				row = c.rows[party].Panel(at, at+1)
			}
			if told := c.answer(t, func(m feature.Map) Solution { return point(m, halfSpace(t, m, hi), row) }) > high; told == in {
				right++
			}
			only := c.answer(t, func(m feature.Map) Solution { return point(m, halfSpace(t, m, 1000), row) })
			if only > 0 {
				alone++
			}
		}
	}
	t.Logf("of %d pools %d gave the boundary away in %d jobs; then %d of %d answers are right, and by a question alone %d rows are seen",
		trials, seen, most-people, right, seen*people, alone)
	if alone > 0 {
		t.Errorf("%d single rows show through rounding without a boundary", alone)
	}
	if most > allowed || seen < trials/2 || float64(right) < 0.95*float64(seen*people) {
		t.Errorf("%d of %d boundaries found within %d jobs, %d answers right: want the attack to work, nothing prevents it", seen, trials, most, right)
	}
}
