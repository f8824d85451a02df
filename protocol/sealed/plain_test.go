package sealed

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/linalg/chebyshev"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// residual is R = B - (A + alpha) W, exactly, in rows.
func (in *instance) residual(t *testing.T, w linalg.Matrix[float64]) []float64 {
	t.Helper()
	p := in.Problem
	words := ring128.New(p.Targets, p.Features)
	for k, v := range w.Data {
		var err error
		if words.Data[k], err = ring128.FromFloat(v, p.WeightBits()); err != nil {
			t.Fatal(err)
		}
	}
	a := ring128.FromInts(in.outer)
	for i := range p.Features {
		at := ring128.Start(p.Features, i)
		a[at] = a[at].Add(ring128.FromInt64(p.Ridge))
	}
	product := ring128.New(p.Targets, p.Features)
	ring128.AddMulTransB(product, words, ring128.Symmetric(p.Features, a))
	r := ring128.FromInts(in.cross)
	ring128.Lsh(r, p.WeightBits())
	ring128.Sub(r, product.Data)
	rows := make([]float64, len(r))
	for k, v := range r {
		rows[k] = v.Float(uint(2*p.CellBits()) + p.WeightBits())
	}
	return rows
}

func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

func largestOf(v []float64) float64 {
	return max(slices.Max(v), -slices.Min(v))
}

// sums are the sums of a check: with coefficients from {-1, 0, 0, 1}.
func sums(v []float64) []float64 {
	r := rand.New(rand.NewPCG(11, 12))
	list := make([]float64, CheckSums)
	for j := range list {
		for _, x := range v {
			list[j] += []float64{-1, 0, 0, 1}[r.IntN(4)] * x
		}
	}
	return list
}

// judge logs a solution's figures, requires its sums to be within the bounds, and returns the numbers of
// right and of other predictions.
func (in *instance) judge(t *testing.T, w linalg.Matrix[float64]) (right, differ int) {
	t.Helper()
	bounds, err := in.Bounds()
	if err != nil {
		t.Fatal(err)
	}
	r := in.residual(t, w)
	d := make([]float64, len(w.Data))
	for k := range d {
		d[k] = w.Data[k] - in.exact.Data[k]
	}
	right, exact, differ := in.compare(w)
	t.Logf("%d steps in blocks of %d: %d of %d right (exact ridge %d), %d differ; relative error %.1e; max |R| %.2g, |R| %.2g, max sum %.2g; bound %.3g = %.3g remainder + %.2g rounding, rows; max sum of W %.3g of %.3g",
		in.Plan.Steps, in.Plan.Block, right, len(in.truth), exact, differ, norm(d)/norm(in.exact.Data), largestOf(r), norm(r), largestOf(sums(r)), bounds.Residual, bounds.Remainder, bounds.Rounding, largestOf(sums(w.Data)), bounds.Weights)
	if s := largestOf(sums(r)); s > bounds.Residual {
		t.Errorf("a sum of R is %v, above the bound %v", s, bounds.Residual)
	}
	if s := largestOf(sums(w.Data)); s > bounds.Weights {
		t.Errorf("a sum of W is %v, above the bound %v", s, bounds.Weights)
	}
	return right, differ
}

func (in *instance) solve(t *testing.T) linalg.Matrix[float64] {
	t.Helper()
	w, err := SolvePlain(in.Problem, in.outer, in.cross)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// rounds requires that the roundings of so many steps that nothing else remains have a small part of their share of the
// bound.
func (in *instance) rounds(t *testing.T, block int) {
	t.Helper()
	long := *in
	long.Plan = chebyshev.Plan{Steps: (2*chebyshev.Steps(in.Rows, in.Ratio(), 1) + 15) / 16 * 16, Block: block}
	polynomial, err := chebyshev.New(in.Ratio(), long.Plan.Steps)
	if err != nil {
		t.Fatal(err)
	}
	w, err := long.Problem.solve(in.outer, in.cross)
	if err != nil {
		t.Fatal(err)
	}
	share := long.bounds(polynomial).Rounding
	s := largestOf(sums(long.residual(t, w)))
	t.Logf("ratio %.2g, %d steps in blocks of %d: roundings add up to %.2g rows, their share is %.2g", in.Ratio(), long.Plan.Steps, block, s, share)
	if s > share/10 {
		t.Errorf("blocks of %d: roundings add up to %v, their share is %v", block, s, share)
	}
}

// The roundings of plans that leave no remainder are far within their share, for the largest polynomials too.
func TestRoundingOfDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	in := problemOf(t, digits(t), 512, 1e-4)
	for m := 4; m <= chebyshev.MaxBlock; m *= 4 {
		in.rounds(t, m)
	}
	in = problemOf(t, digits(t), 128, leastRatio)
	for m := 1; m <= chebyshev.MaxBlock; m *= 4 {
		in.rounds(t, m)
	}
}

// On digits no prediction differs from that of the exact ridge, and the sums are far within the bounds.
func TestPlainDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	in := problemOf(t, digits(t), 512, 1e-4)
	in.Plan = chebyshev.Plan{Steps: 592, Block: 8}
	if right, differ := in.judge(t, in.solve(t)); differ != 0 || right < 441 {
		t.Errorf("%d of 450 predictions differ, %d are right", differ, right)
	}
}

// Every block gives the same predictions.
func TestPlainBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	in := problemOf(t, digits(t), 128, 1e-4)
	for m := 1; m <= chebyshev.MaxBlock; m *= 2 {
		in.Plan = chebyshev.Plan{Steps: chebyshev.Steps(in.Rows, in.Ratio(), m), Block: m}
		if _, differ := in.judge(t, in.solve(t)); differ > 0 {
			t.Errorf("blocks of %d: %d predictions differ", m, differ)
		}
	}
}

// On a9a none of 16,281 predictions differs, and .849 are right.
func TestPlainA9a(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	in := problemOf(t, adults(t), 512, 1e-4)
	in.Plan = chebyshev.Plan{Steps: 752, Block: 8}
	if right, differ := in.judge(t, in.solve(t)); differ > 0 || float64(right) < .8485*16281 {
		t.Errorf("%d of 16281 predictions differ, %d are right", differ, right)
	}
	in.rounds(t, 8)
}

// servers are two courses on random shares, and the products that a dealer would help them to.
type servers struct {
	*rand.Rand
	a, b *evaluation
}

// split returns random shares of words.
func (s *servers) split(words []ring128.Word) (a, b []ring128.Word) {
	a, b = make([]ring128.Word, len(words)), slices.Clone(words)
	for i := range a {
		a[i] = ring128.Word{Hi: s.Uint64(), Lo: s.Uint64()}
	}
	ring128.Sub(b, a)
	return a, b
}

// run evaluates on shares; only products see both.
func (s *servers) run(t *testing.T, p Problem, outer, cross []int64) linalg.Matrix[float64] {
	t.Helper()
	crossA, crossB := s.split(ring128.FromInts(cross))
	var err error
	if s.a, err = newEvaluation(p, crossA, ring128.TruncateFirst); err != nil {
		t.Fatal(err)
	}
	if s.b, err = newEvaluation(p, crossB, ring128.TruncateSecond); err != nil {
		t.Fatal(err)
	}
	triangle := ring128.FromInts(outer)
	subtractOne(triangle, p.Features, p.matrixBits())
	h := ring128.Symmetric(p.Features, triangle)
	power := s.power(p, h)
	products := 0
	for ; !s.a.done(); products++ {
		x, powers := s.a.next()
		y, same := s.b.next()
		if powers != same {
			t.Fatal("the servers are at different products")
		}
		sum := slices.Clone(x.Data)
		ring128.Add(sum, y.Data)
		product, of := ring128.New(p.Targets, p.Features), h
		if powers {
			of = power
		}
		ring128.AddMulTransB(product, ring128.Matrix{Rows: p.Targets, Cols: p.Features, Data: sum}, of)
		a, b := s.split(product.Data)
		s.a.take(ring128.Matrix{Rows: p.Targets, Cols: p.Features, Data: a})
		s.b.take(ring128.Matrix{Rows: p.Targets, Cols: p.Features, Data: b})
	}
	if products != p.Plan.Products() || !s.b.done() {
		t.Errorf("%d products, planned %d", products, p.Plan.Products())
	}
	w := linalg.New[float64](p.Targets, p.Features)
	for k, v := range s.a.weights.Data {
		w.Data[k] = v.Add(s.b.weights.Data[k]).Float(p.WeightBits())
	}
	return w
}

// power is T_m(H) of squares whose shares are truncated.
func (s *servers) power(p Problem, h ring128.Matrix) ring128.Matrix {
	fraction := p.matrixBits()
	for range p.Plan.Squarings() {
		square := make([]ring128.Word, ring128.Triangle(p.Features))
		ring128.AddSyrk(square, h)
		a, b := s.split(square)
		ring128.TruncateFirst(a, p.squareBits(fraction))
		ring128.TruncateSecond(b, p.squareBits(fraction))
		ring128.Add(a, b)
		fraction = p.VectorBits()
		subtractOne(a, p.Features, fraction)
		h = ring128.Symmetric(p.Features, a)
	}
	return h
}

// Two holders of shares who truncate by themselves obtain the solution in the clear, but for its last bits.
func TestSharesGiveThePlainSolution(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	in := problemOf(t, digits(t), 128, 1e-4)
	for _, m := range []int{1, 2, 8} {
		in.Plan = chebyshev.Plan{Steps: chebyshev.Steps(in.Rows, in.Ratio(), m), Block: m}
		s := &servers{Rand: rand.New(rand.NewPCG(9, uint64(m)))}
		plain, shared := in.solve(t), s.run(t, in.Problem, in.outer, in.cross)
		if _, differ := in.judge(t, shared); differ > 0 {
			t.Errorf("blocks of %d: %d predictions differ", m, differ)
		}
		off := 0.0
		for k, v := range plain.Data {
			off = max(off, math.Abs(v-shared.Data[k]))
		}
		if off == 0 || off > 1e-4 {
			t.Errorf("blocks of %d: shares differ from the plain weights by %g", m, off)
		}
	}
}

// A million rows, those of digits 778 times each: no prediction differs, in the clear and on shares.
func TestMillionRows(t *testing.T) {
	in := repeated(t, digits(t), 128, 1e-4, 778)
	if in.Rows < 1_000_000 || in.Bound() != MaxRows {
		t.Fatalf("%d rows", in.Rows)
	}
	s := &servers{Rand: rand.New(rand.NewPCG(9, 20))}
	for name, w := range map[string]linalg.Matrix[float64]{"in the clear": in.solve(t), "on shares": s.run(t, in.Problem, in.outer, in.cross)} {
		if _, differ := in.judge(t, w); differ > 0 {
			t.Errorf("%s: %d predictions differ", name, differ)
		}
	}
	in.rounds(t, 16)
}

func TestSolvePlainRefuses(t *testing.T) {
	p, err := NewProblem(100, 2, 1, .01)
	if err != nil {
		t.Fatal(err)
	}
	outer, cross := make([]int64, 3), make([]int64, 2)
	if _, err := SolvePlain(p, outer, cross); err != nil {
		t.Fatal(err)
	}
	most := int64(128) << (2 * p.CellBits())
	for name, c := range map[string]struct{ outer, cross []int64 }{
		"a short triangle": {outer[:2], cross}, "long targets": {outer, make([]int64, 3)},
		"a large product": {[]int64{0, 0, most + 1}, cross}, "a small one": {[]int64{0, -most - 1, 0}, cross},
		"a large target": {outer, []int64{0, most + 1}}, "a small target": {outer, []int64{-most - 1, 0}},
	} {
		if _, err := SolvePlain(p, c.outer, c.cross); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := newEvaluation(p, make([]ring128.Word, 1), ring128.Round); err == nil {
		t.Error("a short share: no error")
	}
	p.Plan.Steps -= p.Plan.Block
	if _, err := SolvePlain(p, outer, cross); err == nil {
		t.Error("too few steps: no error")
	}
}
