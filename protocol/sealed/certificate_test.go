package sealed

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// certified are parties with random rows, the sums of each, and the model of all.
type certified struct {
	Certificate
	testing.TB
	homes   []*Sums
	weights linalg.Matrix[float64]
}

// certifiedOf deals 120 rows to each party. Two targets of a row depend on its features.
func certifiedOf(t testing.TB, parties int) *certified {
	t.Helper()
	const features, targets, rows = 24, 2, 120
	p, err := NewProblem(rows*parties, features, targets, 1e-3)
	if err != nil {
		t.Fatal(err)
	}
	c := &certified{TB: t}
	if c.Certificate, err = NewCertificate(p, parties); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	all := &Sums{Outer: make([]int64, features*(features+1)/2), Cross: make([]int64, features*targets)}
	for range parties {
		a, err := NewAccumulator(p)
		if err != nil {
			t.Fatal(err)
		}
		phi, y := linalg.New[float64](features, rows), linalg.New[float64](targets, rows)
		for i := range rows {
			for k := range features / 2 {
				angle := 6 * r.Float64()
				phi.Row(k)[i], phi.Row(features/2 + k)[i] = math.Cos(angle)/math.Sqrt(features/2), math.Sin(angle)/math.Sqrt(features/2)
			}
			y.Row(0)[i], y.Row(1)[i] = phi.Row(0)[i], -phi.Row(features - 1)[i]
		}
		if err := a.Add(phi, y); err != nil {
			t.Fatal(err)
		}
		own := new(Sums)
		own.Outer, own.Cross = a.Sums()
		c.homes = append(c.homes, own)
		all.add(own)
	}
	if c.weights, err = SolvePlain(p, all.Outer, all.Cross); err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *Sums) add(more *Sums) {
	for i, v := range more.Outer {
		s.Outer[i] += v
	}
	for i, v := range more.Cross {
		s.Cross[i] += v
	}
}

// summands are those of a party, whose roundings a number decides.
func (c *certified) summands(w linalg.Matrix[float64], index int, number byte) []int64 {
	c.Helper()
	list, err := c.Certificate.Summands(w, c.homes[index], index, [32]byte{number, byte(index)})
	if err != nil {
		c.Fatal(err)
	}
	for _, v := range list {
		if most := c.Most(); v > most || v < -most {
			c.Errorf("a summand is %d, above %d", v, most)
		}
	}
	return list
}

// total adds up the summands of all parties for weights.
func (c *certified) total(w linalg.Matrix[float64], number byte) []int64 {
	c.Helper()
	all := make([]int64, CheckSums)
	for i := range c.homes {
		for j, v := range c.summands(w, i, number) {
			all[j] += v
		}
	}
	return all
}

// changed are the weights with units of their last bit added to some words.
func (c *certified) changed(units float64, words ...int) linalg.Matrix[float64] {
	w := linalg.New[float64](c.weights.Rows, c.weights.Cols)
	copy(w.Data, c.weights.Data)
	for _, i := range words {
		w.Data[i] += math.Ldexp(units, -int(c.problem.WeightBits()))
	}
	return w
}

// An honest model has its certificate for any number of parties and any roundings, with room: no sum exceeds the bound of
// R and the roundings.
func TestCertificateOfAnHonestModel(t *testing.T) {
	for _, parties := range []int{1, 2, 3, 7} {
		c := certifiedOf(t, parties)
		for number := range byte(40) {
			if largest, holds := c.Largest(c.total(c.weights, number)); !holds {
				t.Errorf("%d parties: a sum is %d units, and %d are accepted", parties, largest, c.Tolerance())
			}
		}
		norm := float64(c.problem.Bound()) * (1 + 2*c.bounds.Weights) * math.Sqrt(48) // of 24 x 2 words
		if most := float64(c.Most()) * c.Unit(); most < norm || most > 2*norm {
			t.Errorf("%d parties: a summand may have %v rows, and the words' norm is at most %v", parties, most, norm)
		}
		if beta, most := c.bounds.Residual, float64(c.Tolerance())*c.Unit(); most < beta || most > 3*beta {
			t.Errorf("%d parties: %v rows are accepted, and the bound of the residual is %v", parties, most, beta)
		}
	}
}

// Another W than that of all rows has no certificate: one word a little off, all words, the model of a larger alpha, that
// of the other parties alone, and weights that no rows make.
func TestCertificateOfAnotherModel(t *testing.T) {
	c := certifiedOf(t, 3)
	every := make([]int, len(c.weights.Data))
	for i := range every {
		every[i] = i
	}
	diagonal := float64(c.problem.Bound()) / 24 // about any entry on A's diagonal
	off := math.Ldexp(20*c.bounds.Residual/diagonal, int(c.problem.WeightBits()))
	two := &Sums{Outer: slices.Clone(c.homes[0].Outer), Cross: slices.Clone(c.homes[0].Cross)}
	two.add(c.homes[1])
	without, err := c.problem.solve(two.Outer, two.Cross)
	if err != nil {
		t.Fatal(err)
	}
	larger := c.problem
	larger.Ridge *= 10
	all := &Sums{Outer: slices.Clone(two.Outer), Cross: slices.Clone(two.Cross)}
	all.add(c.homes[2])
	shrunk, err := larger.solve(all.Outer, all.Cross)
	if err != nil {
		t.Fatal(err)
	}
	for name, w := range map[string]linalg.Matrix[float64]{
		"one word": c.changed(math.Round(off), 17), "all words": c.changed(math.Round(off), every...), "without a party": without, "another alpha": shrunk,
	} {
		if largest, holds := c.Largest(c.total(w, 1)); holds {
			t.Errorf("%s: holds, with a largest sum of %d units of %d", name, largest, c.Tolerance())
		}
	}
	for _, v := range []float64{1e6, math.NaN(), math.Inf(-1), 1e300} {
		w := c.changed(0)
		w.Data[3] = v
		if _, err := c.Certificate.Summands(w, c.homes[0], 0, [32]byte{}); !errors.Is(err, ErrLargeWeights) {
			t.Errorf("a weight of %v: %v", v, err)
		}
	}
	// Parties to whom two keepers open different weights have different coins.
	all40 := make([]int64, CheckSums)
	for i, w := range []linalg.Matrix[float64]{c.weights, c.weights, c.changed(1, 0)} {
		for j, v := range c.summands(w, i, 1) {
			all40[j] += v
		}
	}
	if _, holds := c.Largest(all40); holds {
		t.Error("holds, though a party has other weights than the others")
	}
}

// A party that knows all sums, such as one of two keepers, makes up for another W in its own summands. This succeeds: that
// W is the model of sums that the party could have shared.
func TestTwoKeepersWithRowsMakeUp(t *testing.T) {
	c := certifiedOf(t, 3)
	w := c.changed(1<<20, 3, 4, 5)
	if _, holds := c.Largest(c.total(w, 1)); holds {
		t.Fatal("the other weights pass by themselves")
	}
	made := make([]int64, CheckSums)
	for i := range 2 {
		for j, v := range c.summands(w, i, 1) {
			made[j] -= v // what party 2, which knows their sums, adds up for itself
		}
	}
	total := slices.Clone(made)
	for i := range 2 {
		for j, v := range c.summands(w, i, 9) {
			total[j] += v
		}
	}
	if _, holds := c.Largest(total); !holds {
		t.Error("a party that knows all sums cannot make up for another model")
	}
}

// A summand says no more than its rounding: over many roundings it is the exact sum on average, and of one sum there are
// two values. The party's parts of alpha add up to alpha.
func TestRoundingOfACertificate(t *testing.T) {
	c := certifiedOf(t, 3)
	seen, mean := map[int64]int{}, 0.
	const tries = 2000
	for k := range tries {
		list, err := c.Certificate.Summands(c.weights, c.homes[1], 1, [32]byte{byte(k), byte(k >> 8), 3})
		if err != nil {
			t.Fatal(err)
		}
		seen[list[0]]++
		mean += float64(list[0]) / tries
	}
	w, err := c.words(c.weights)
	if err != nil {
		t.Fatal(err)
	}
	exact := coins{seedOf(w), len(w.Data)}.sums(c.residual(w, c.homes[1], 1))[0].Float(c.drop)
	if len(seen) != 2 || math.Abs(mean-exact) > .05 {
		t.Errorf("%v; on average %v units, and the sum is %v", seen, mean, exact)
	}
	for parties := 1; parties < 10; parties++ {
		sum, of := int64(0), Certificate{problem: c.problem, parties: parties}
		for i := range parties {
			sum += of.ridge(i)
		}
		if sum != c.problem.Ridge {
			t.Errorf("%d parties' parts of alpha add up to %d of %d", parties, sum, c.problem.Ridge)
		}
	}
}

// Sums that no parties have, and fewer sums, do not hold.
func TestLargestOfACertificate(t *testing.T) {
	c := certifiedOf(t, 2)
	sums := make([]int64, CheckSums)
	for _, tt := range []struct {
		last  int64
		holds bool
	}{{0, true}, {c.Tolerance(), true}, {-c.Tolerance(), true}, {c.Tolerance() + 1, false}, {-c.Tolerance() - 1, false}, {math.MinInt64, false}} {
		sums[CheckSums-1] = tt.last
		if _, holds := c.Largest(sums); holds != tt.holds {
			t.Errorf("%d of %d units: %v", tt.last, c.Tolerance(), holds)
		}
	}
	if _, holds := c.Largest(make([]int64, CheckSums-1)); holds {
		t.Error("39 sums hold")
	}
	if _, err := NewCertificate(c.problem, 0); err == nil {
		t.Error("a certificate of no party")
	}
	for _, wrong := range []linalg.Matrix[float64]{linalg.New[float64](1, 24), linalg.New[float64](2, 23)} {
		if _, err := c.Certificate.Summands(wrong, c.homes[0], 0, [32]byte{}); err == nil {
			t.Errorf("weights of %s", fmt.Sprint(wrong.Rows, wrong.Cols))
		}
	}
	if _, err := c.Certificate.Summands(c.weights, new(Sums), 0, [32]byte{}); err == nil {
		t.Error("sums of another size")
	}
}
