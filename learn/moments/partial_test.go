package moments

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/linalg"
)

// The sums do not depend on how rows come: at once, in blocks of any length, or as merged parts.
func TestPartialsMergeToTheSameSums(t *testing.T) {
	const n, width = 5000, 3
	x, _ := random(3, n, width, 2)
	y := Numbers{make([]float64, n), Range{-10, 30}}
	for i := range y.Values {
		y.Values[i] = -10 + 40*rand.New(rand.NewPCG(uint64(i), 1)).Float64()
	}
	m := featuresOf(1, 14, width, 0.7)
	want := NewAccumulator(m, 2)
	if err := want.Add(x, y); err != nil {
		t.Fatal(err)
	}
	if want.Rows != n || want.Power == 0 || want.Outer[0] == 0 {
		t.Fatalf("%d rows, power %d", want.Rows, want.Power)
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := []*Accumulator{NewAccumulator(m, 2), NewAccumulator(m, 2), NewAccumulator(m, 2)}
		for lo := 0; lo < n; {
			hi := min(n, lo+rapid.IntRange(1, 4000).Draw(t, "block"))
			part := parts[rapid.IntRange(0, 2).Draw(t, "part")]
			if err := part.Add(x.Panel(lo, hi), Numbers{y.Values[lo:hi], y.Range}); err != nil {
				t.Fatal(err)
			}
			lo = hi
		}
		all := NewPartial(m.Len(), 2)
		for _, p := range parts {
			if err := all.Merge(p.Partial); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(want.Partial, all); d != "" {
			t.Error(d)
		}
	})
	of, err := Summarize(m, x, y)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(of, want.Sums()); d != "" {
		t.Error(d)
	}
}

// Beyond 2^53 the sums stay exact, which float64 sums would not.
func TestSumsBeyondFloat64AreExact(t *testing.T) {
	const features, targets = 2, 1
	all, one := NewPartial(features, targets), NewPartial(features, targets)
	one.Rows = 1<<20 - 1
	for i := range one.Outer {
		one.Outer[i] = int64(one.Rows)*Bound - 1
	}
	one.Cross[0], one.Total, one.Power = -int64(one.Rows)*Bound+1, 1, int64(one.Rows)*Bound
	const times = 63
	for range times {
		if err := all.Merge(one); err != nil {
			t.Fatal(err)
		}
	}
	if got := all.Outer[2]; got != times*one.Outer[2] || int64(float64(got)) == got {
		t.Errorf("%d, which float64 holds as %d", got, int64(float64(got)))
	}
	if all.Cross[0] != times*one.Cross[0] || all.Rows != times*one.Rows || all.Power != times*one.Power || all.Total != times {
		t.Errorf("%+v", all)
	}
	if err := all.Merge(one); err != nil {
		t.Error(err)
	}
	if err := all.Merge(one); err == nil || !strings.Contains(err.Error(), "at most 67108864") {
		t.Errorf("%d rows and %d more: %v", all.Rows, one.Rows, err)
	}
}

// The largest sums of all parties fit int64.
func TestLimitsFit(t *testing.T) {
	if most := uint64(MaxTotal) * Bound; most >= 1<<63 || MaxRows > MaxTotal {
		t.Errorf("an entry may reach %d", most)
	}
	if MaxBlock*Bound >= 1<<53 {
		t.Error("the float64 sums of a block are not exact")
	}
}

func TestMergeRefusesOtherShapes(t *testing.T) {
	for name, o := range map[string]*Partial{
		"features": NewPartial(6, 2), "targets": NewPartial(4, 1),
		"few entries": {Features: 4, Targets: 2, Outer: make([]int64, 9), Cross: make([]int64, 8)},
		"few targets": {Features: 4, Targets: 2, Outer: make([]int64, 10), Cross: make([]int64, 7)},
		"rows":        {Features: 4, Targets: 2, Outer: make([]int64, 10), Cross: make([]int64, 8), Rows: -1},
	} {
		if err := NewPartial(4, 2).Merge(o); err == nil {
			t.Errorf("%s: merged", name)
		}
	}
	if err := NewAccumulator(featuresOf(1, 4, 3, 1), 2).Add(linalg.New[float64](1, 3), Unlabelled(1)); err == nil {
		t.Error("one target in place of two")
	}
}

// Rounding by an addition gives the bits of math.RoundToEven, except for the sign of zero.
func TestRoundEqualsRoundToEven(t *testing.T) {
	values := []float64{
		0, math.Copysign(0, -1), 1, -1, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, math.NaN(),
		0.5 / One, -0.5 / One, 1.5 / One, -1.5 / One, 2.5 / One, -2.5 / One, math.Nextafter(0.5/One, 0), math.Nextafter(0.5/One, 1), math.Nextafter(-1.5/One, 0), math.Nextafter(1, 0), math.Nextafter(-1, 0),
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		values = append(values, 2*r.Float64()-1, (float64(r.IntN(2*One)-One)+0.5)/One)
	}
	m := linalg.Matrix[float64]{Rows: 1, Cols: len(values), Stride: len(values), Data: slices.Clone(values)}
	round(m)
	for i, v := range values {
		if got, want := m.Data[i], math.RoundToEven(v*One)+0; math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%v is rounded to %v in place of %v", v, got, want)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	const n = 1 << 14
	x, codes := random(1, n, 20, 2)
	a := NewAccumulator(featuresOf(1, 256, 20, 0.1), 2)
	for b.Loop() {
		a.Rows = 0
		if err := a.Add(x, Classes{codes, 2}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
