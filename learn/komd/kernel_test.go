package komd_test

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/learn/komd"
	"github.com/mercer-fl/mercer/linalg"
)

// likedBy is users by the set of items that they liked, as bits.
func likedBy(users, items int) []uint {
	rng := rand.New(rand.NewPCG(1, 2))
	list := make([]uint, users)
	for u := range list {
		likes := rng.Perm(items - 1)[:rng.IntN(items-1)] // nobody likes the last item
		for _, i := range likes {
			list[u] |= 1 << i
		}
	}
	return list
}

func profiles(users []uint, items int) [][]int {
	list := make([][]int, len(users))
	for u, set := range users {
		for i := range items {
			if set>>i&1 == 1 {
				list[u] = append(list[u], i)
			}
		}
	}
	return list
}

// formulas counts the sets of formulas by trying them all: an item is the set
// of formulas that are true of it.
func conjunctions(items []uint, universe, d int) (out []uint, size int) {
	return combine(items, universe, d, func(chosen, item uint) bool { return chosen&item == chosen })
}

func disjunctions(items []uint, universe, d int) (out []uint, size int) {
	return combine(items, universe, d, func(chosen, item uint) bool { return chosen&item != 0 })
}

func combine(items []uint, universe, d int, holds func(chosen, item uint) bool) (out []uint, size int) {
	out = make([]uint, len(items))
	for chosen := range uint(1) << universe {
		if bits.OnesCount(chosen) != d {
			continue
		}
		for i, item := range items {
			if holds(chosen, item) {
				out[i] |= 1 << size
			}
		}
		size++
	}
	return out, size
}

// raters turns users' sets of items into items' sets of users.
func raters(users []uint, items int) []uint {
	list := make([]uint, items)
	for u, set := range users {
		for i := range items {
			list[i] |= set >> i & 1 << u
		}
	}
	return list
}

func TestBooleanKernelsAgainstCountingAll(t *testing.T) {
	const users, items = 5, 7
	people := likedBy(users, items)
	counts := komd.CountsOf(items, profiles(people, items))
	sets := raters(people, items)
	and := func(d int) ([]uint, int) { return conjunctions(sets, users, d) }
	or := func(d int) ([]uint, int) { return disjunctions(sets, users, d) }
	for _, tt := range []struct {
		spec komd.Spec
		want func() ([]uint, int)
	}{
		{komd.Spec{Name: komd.Conjunctive, Degree: 1}, func() ([]uint, int) { return and(1) }},
		{komd.Spec{Name: komd.Conjunctive, Degree: 2}, func() ([]uint, int) { return and(2) }},
		{komd.Spec{Name: komd.Disjunctive, Degree: 1}, func() ([]uint, int) { return or(1) }},
		{komd.Spec{Name: komd.Disjunctive, Degree: 3}, func() ([]uint, int) { return or(3) }},
		{komd.Spec{Name: komd.DNF, Degree: 2, Clause: 2}, func() ([]uint, int) { s, n := and(2); return disjunctions(s, n, 2) }},
		{komd.Spec{Name: komd.CNF, Degree: 2, Clause: 2}, func() ([]uint, int) { s, n := or(2); return conjunctions(s, n, 2) }},
	} {
		k, err := tt.spec.Kernel(counts)
		if err != nil {
			t.Fatal(err)
		}
		formulas, size := tt.want()
		if size > 64 {
			t.Fatalf("%d formulas do not fit", size)
		}
		for i := range items {
			for j := range items {
				ii, jj := bits.OnesCount(formulas[i]), bits.OnesCount(formulas[j])
				want := 0.0
				if ii > 0 && jj > 0 {
					want = float64(bits.OnesCount(formulas[i]&formulas[j])) / math.Sqrt(float64(ii)*float64(jj))
				}
				if got := k.Row(i)[j]; math.Abs(got-want) > 1e-12 {
					t.Errorf("%+v: item %d and %d: %v, want %v", tt.spec, i, j, got, want)
				}
			}
		}
	}
}

func TestOtherKernels(t *testing.T) {
	// Item 0 was liked by 4 users, item 1 by 2, both by 1; item 2 by nobody.
	c := komd.Counts{Users: 5, C: linalg.Matrix[float64]{Rows: 3, Cols: 3, Stride: 3, Data: []float64{4, 1, 0, 1, 2, 0, 0, 0, 0}}}
	for _, tt := range []struct {
		spec komd.Spec
		want float64
	}{
		{komd.Spec{Name: komd.Linear}, 1 / math.Sqrt(8)},
		{komd.Spec{Name: komd.Tanimoto}, 1. / 5},
		{komd.Spec{Name: komd.RBF, Gamma: 0.5}, math.Exp(-0.5 * 4)},
		{komd.Spec{Name: komd.Polynomial, Degree: 2, Coef0: 3}, 7 / math.Sqrt(40*16)},
		{komd.Spec{Name: komd.Polynomial, Degree: 3}, 1 / math.Sqrt(64*8)},
		{komd.Spec{Name: komd.DotProduct, Coefficients: []float64{7, 1, 2, .5}}, 3.5 / math.Sqrt((4+2*16+.5*64)*(2+2*4+.5*8))},
	} {
		k, err := tt.spec.Kernel(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := k.Row(0)[1]; math.Abs(got-tt.want) > 1e-15 || k.Row(1)[0] != got {
			t.Errorf("%+v: %v, want %v", tt.spec, got, tt.want)
		}
		if k.Row(0)[0] != 1 || k.Row(1)[1] != 1 || k.Row(2)[2] != 0 || k.Row(0)[2] != 0 {
			t.Errorf("%+v: diagonal or unseen item: %v", tt.spec, k.Data)
		}
	}
}

// Many people and a high degree stay finite, and an item is like itself.
func TestKernelsOfManyPeople(t *testing.T) {
	c := komd.Counts{Users: 1e6, C: linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: []float64{30, 25, 25, 9e5}}}
	for _, name := range []komd.Name{komd.Conjunctive, komd.Disjunctive, komd.DNF, komd.CNF} {
		k, err := komd.Spec{Name: name, Degree: komd.MaxDegree, Clause: 2}.Kernel(c)
		if err != nil {
			t.Fatal(err)
		}
		if v := k.Row(0)[1]; !(v >= 0 && v < 1) || k.Row(0)[0] != 1 {
			t.Errorf("%s: %v", name, k.Data)
		}
	}
}

func TestKernelRefuses(t *testing.T) {
	good := komd.CountsOf(2, [][]int{{0, 1}, {0}})
	with := func(values ...float64) komd.Counts {
		return komd.Counts{Users: 2, C: linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: values}}
	}
	for _, tt := range []struct {
		name   string
		spec   komd.Spec
		counts komd.Counts
		want   string
	}{
		{"name", komd.Spec{Name: "gauss"}, good, `kernel "gauss" is not known`},
		{"degree", komd.Spec{Name: komd.Conjunctive}, good, "degree is 0"},
		{"clause", komd.Spec{Name: komd.DNF, Degree: 1, Clause: 21}, good, "clause is 21"},
		{"gamma", komd.Spec{Name: komd.RBF}, good, "gamma is 0"},
		{"coef0", komd.Spec{Name: komd.Polynomial, Degree: 2, Coef0: math.NaN()}, good, "coef0 is NaN"},
		{"coefficient", komd.Spec{Name: komd.DotProduct, Coefficients: []float64{0, -1, 1}}, good, "a coefficient is -1"},
		{"coefficients", komd.Spec{Name: komd.DotProduct, Coefficients: []float64{1, 2, 0}}, good, "the last coefficient is 0"},
		{"more than all", komd.Spec{Name: komd.Linear}, with(3, 1, 1, 1), "item 0 cannot be liked by 3 of 2 users"},
		{"both more than one", komd.Spec{Name: komd.Linear}, with(2, 2, 2, 1), "items 1 and 0"},
		{"asymmetric", komd.Spec{Name: komd.Linear}, with(2, 0, 1, 1), "has 1 in row 1, column 0, but 0 in row 0, column 1"},
		{"NaN", komd.Spec{Name: komd.Linear}, with(math.NaN(), 0, 0, 0), "item 0"},
		{"negative", komd.Spec{Name: komd.Linear}, with(1, -1, -1, 1), "items 1 and 0"},
	} {
		if _, err := tt.spec.Kernel(tt.counts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
}
