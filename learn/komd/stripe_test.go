package komd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/linalg"
)

// symmetric returns a random form with the given share of a definite one.
func symmetric(rng *rand.Rand, n int, definite float64) linalg.Matrix[float64] {
	x, p := linalg.New[float64](n, n+3), linalg.New[float64](n, n)
	for i := range x.Data {
		x.Data[i] = max(0, rng.NormFloat64())
	}
	linalg.Syrk(p, x)
	for i := range n {
		for j := range i + 1 {
			v := definite*p.Row(i)[j] + (1-definite)*rng.NormFloat64()
			p.Row(i)[j], p.Row(j)[i] = v, v
		}
		p.Row(i)[i] += 0.1
	}
	return p
}

func linear(rng *rand.Rand, n int) []float64 {
	q := make([]float64, n)
	for i := range q {
		q[i] = rng.Float64()
	}
	return q
}

func TestDescendAgainstSimplex(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for trial := range 40 {
		n := 1 + trial
		p, q := symmetric(rng, n, 1), linear(rng, n)
		want, err := komd.Simplex(p, q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := komd.Descend(p, q)
		if err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprint("weights of form ", trial), got, want, 1e-6)
	}
}

// At a stationary point all positive weights have one slope, and no other item
// a smaller one; and it is below where the descent began.
func TestDescendWhereNothingIsConvex(t *testing.T) {
	rng, saddles := rand.New(rand.NewPCG(7, 8)), 0
	for trial := range 60 {
		n := 2 + trial
		p, q := symmetric(rng, n, 0), linear(rng, n)
		if _, err := komd.Simplex(p, q); err != nil {
			saddles++
		}
		a, err := komd.Descend(p, q)
		if err != nil {
			t.Fatal(err)
		}
		even, total, least := make([]float64, n), 0.0, math.Inf(1)
		slopes := make([]float64, n)
		for i := range n {
			even[i] = 1 / float64(n)
			total += a[i]
			slopes[i] = -q[i]
			for j, v := range p.Row(i) {
				slopes[i] += v * a[j]
			}
			least = min(least, slopes[i])
		}
		for i, weight := range a {
			if weight < 0 || weight > 1e-9 && slopes[i] > least+1e-5 {
				t.Errorf("form %d: weight %v where the slope is %v above the least", trial, weight, slopes[i]-least)
			}
		}
		if math.Abs(total-1) > 1e-12 || objective(p, q, a) > objective(p, q, even)+1e-12 {
			t.Errorf("form %d: weights of sum %v, objective %v from %v", trial, total, objective(p, q, a), objective(p, q, even))
		}
	}
	if saddles < 50 {
		t.Errorf("%d of 60 forms are not convex: the test does not test it", saddles)
	}
}

func TestDescendRefuses(t *testing.T) {
	for name, v := range map[string]float64{"NaN": math.NaN(), "infinite": math.Inf(1)} {
		p := linalg.Matrix[float64]{Rows: 1, Cols: 1, Stride: 1, Data: []float64{v}}
		if _, err := komd.Descend(p, []float64{1}); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := komd.Descend(linalg.New[float64](2, 2), []float64{1}); err == nil {
		t.Error("other lengths are accepted")
	}
}

// With rows of a whole kernel a stripe knows as much as the model.
func TestStripe(t *testing.T) {
	people := profiles(likedBy(40, 9), 9)
	k, err := komd.Spec{Name: komd.Linear}.Kernel(komd.CountsOf(9, people))
	if err != nil {
		t.Fatal(err)
	}
	m, liked := komd.New(k), []int{5, 0, 3}
	s := komd.Stripe{Liked: liked, Rows: linalg.New[float64](3, 9), Mean: m.Mean()}
	for r, i := range liked {
		copy(s.Rows.Row(r), k.Row(i))
	}
	want, err := m.Scores(liked, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	got, convex, err := s.Scores(0.1)
	if err != nil || !convex {
		t.Fatalf("convex %v, %v", convex, err)
	}
	near(t, "scores of a stripe", got, want, 0)

	s.Rows.Row(0)[0], s.Rows.Row(1)[5] = 2, 2 // more alike than an item is to itself
	if _, convex, err := s.Scores(0.1); err != nil || convex {
		t.Errorf("a form with a saddle: convex %v, %v", convex, err)
	}
}

func TestStripeRefuses(t *testing.T) {
	good := func() komd.Stripe {
		return komd.Stripe{Liked: []int{0, 2}, Rows: linalg.New[float64](2, 3), Mean: make([]float64, 3)}
	}
	for want, spoil := range map[string]func(*komd.Stripe){
		"2 x 3 kernel values for 1 liked": func(s *komd.Stripe) { s.Liked = s.Liked[:1] },
		"items of 2":                      func(s *komd.Stripe) { s.Mean = s.Mean[:2] },
		"item 3 is not in the catalogue":  func(s *komd.Stripe) { s.Liked[1] = 3 },
		"item 0 is liked twice":           func(s *komd.Stripe) { s.Liked[1] = 0 },
	} {
		s := good()
		spoil(&s)
		if _, _, err := s.Scores(0.1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, _, err := good().Scores(0); err == nil {
		t.Error("lambda 0 is accepted")
	}
}
