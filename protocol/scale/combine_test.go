package scale

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// The scaling of a federation equals the scaling of the pooled rows to the last bit,
// for every leader.
func TestMinMaxEqualsPooled(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := rapid.IntRange(1, 70).Draw(rt, "columns")
		value := rapid.OneOf(rapid.Float64Range(-1e140, 1e140), rapid.Float64Range(-1, 1), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, 1e-320}))
		var tables []linalg.Matrix[float64]
		for range rapid.IntRange(2, 4).Draw(rt, "parties") {
			m := linalg.New[float64](rapid.IntRange(1, 5).Draw(rt, "rows"), f)
			for i := range m.Data {
				m.Data[i] = value.Draw(rt, "x")
			}
			tables = append(tables, m)
		}
		want := pooledMinMax(pool(tables...))
		for j, factor := range want.Factor { // the documented exception
			if math.IsInf(factor, 0) {
				want.Factor[j] = 0
			}
		}
		lead := rapid.IntRange(0, len(tables)-1).Draw(rt, "leader")
		for i, got := range agree(t, MinMax, lead, sizing{chunk: 32, batch: 1}, tables...) {
			if !equal(got, want) {
				rt.Fatalf("p%d: %v, want %v", i, got, want)
			}
		}
	})
}

// A party without rows, leader or not, changes nothing in the others' scaling, and receives
// it.
func TestPartyWithoutRows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	rows := []linalg.Matrix[float64]{random(r, 5, 40, 2), random(r, 7, 40, -1)}
	for _, method := range []Method{MinMax, Standard} {
		alone := agree(t, method, 0, sizing{chunk: 32, batch: 1}, rows...)
		for empty := range 3 {
			for lead := range 3 {
				all := slices.Insert([]Statistics{summary(t, rows[0], method), summary(t, rows[1], method)}, empty, Nothing(40, method))
				s := session(t, descriptor(method, 3, lead))
				run, err := sim.Run(sim.Config{Session: s, Nodes: nodes(s, all, sizing{chunk: 32, batch: 1})})
				if err == nil {
					err = run.Err()
				}
				if err != nil {
					t.Fatal(err)
				}
				for i, o := range run.Nodes {
					if got := result(o.Machine); !equal(got, alone[0]) {
						t.Errorf("%s, p%d without rows, p%d leads: p%d scales by %v, want %v", method, empty, lead, i, got, alone[0])
					}
				}
			}
		}
	}
	s := session(t, descriptor(MinMax, 2, 0))
	run, err := sim.Run(sim.Config{Session: s, Nodes: nodes(s, []Statistics{Nothing(3, MinMax), Nothing(3, MinMax)}, bulk())})
	if err == nil {
		err = run.Err()
	}
	if err == nil || !strings.Contains(err.Error(), "no party has training rows for the scaling") {
		t.Errorf("nobody has rows: %v", err)
	}
}

// exactMoments computes the mean and the standard deviation of column j with
// 300 bits.
func exactMoments(all linalg.Matrix[float64], j int) (mean, deviation float64) {
	number := func() *big.Float { return new(big.Float).SetPrec(300) }
	n := number().SetInt64(int64(all.Rows))
	m, s := number(), number()
	for i := range all.Rows {
		m.Add(m, number().SetFloat64(all.Row(i)[j]))
	}
	m.Quo(m, n)
	for i := range all.Rows {
		d := number().SetFloat64(all.Row(i)[j])
		d.Sub(d, m)
		s.Add(s, d.Mul(d, d))
	}
	mean, _ = m.Float64()
	deviation, _ = s.Sqrt(s.Quo(s, n)).Float64()
	return mean, deviation
}

func TestStandardEqualsPooled(t *testing.T) {
	tests := []struct {
		mean, tolerance float64
		rows            []int
	}{
		{0, 1e-12, []int{5, 7, 4}},
		{1, 1e-12, []int{1, 1, 1}},
		{1, 1e-12, []int{700, 1, 256}},
		{3, 1e-12, []int{2000, 513}},
		{1e4, 1e-10, []int{300, 10, 40}},
		{1e8, 1e-6, []int{300, 10, 40}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("mean %g rows %v", tt.mean, tt.rows), func(t *testing.T) {
			var tables []linalg.Matrix[float64]
			for i, n := range tt.rows {
				tables = append(tables, random(rand.New(rand.NewPCG(uint64(n), uint64(i))), n, 5, tt.mean+float64(i)))
			}
			all := pool(tables...)
			for i, got := range agree(t, Standard, len(tables)-1, bulk(), tables...) {
				for j := range all.Cols {
					mean, deviation := exactMoments(all, j)
					if math.Abs(got.Offset[j]-mean) > tt.tolerance*deviation || math.Abs(got.Factor[j]*deviation-1) > tt.tolerance {
						t.Errorf("p%d, column %d: offset %v, factor %v; the pooled rows have mean %v, 1/deviation %v", i, j, got.Offset[j], got.Factor[j], mean, 1/deviation)
					}
				}
			}
		})
	}
}

// The order of the members determines the order of additions; the leader and the sizes of
// messages do not.
func TestStandardDependsOnMemberOrderOnly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tables := []linalg.Matrix[float64]{random(r, 9, 150, 2), random(r, 4, 150, -1), random(r, 30, 150, 0.1)}
	want := agree(t, Standard, 0, bulk(), tables...)[0]
	for lead := range tables {
		for i, got := range agree(t, Standard, lead, sizing{chunk: 64, batch: 1}, tables...) {
			if !equal(got, want) {
				t.Errorf("p%d leads: p%d has another scaling than with p0 leading", lead, i)
			}
		}
	}
}

func TestConstantColumns(t *testing.T) {
	// Column 0 is constant everywhere, 1 in each party alone, 2 spreads too little for a
	// division, 3 holds one value besides zeros.
	a := table([]float64{0.1, 1, 0, 0}, []float64{0.1, 1, 5e-324, 0}, []float64{0.1, 1, 0, 0})
	b := table([]float64{0.1, 3, 0, 4})
	want := map[Method]Scaling{
		MinMax:   {Offset: []float64{0.1, 1, 0, 0}, Factor: []float64{0, 0.5, 0, 0.25}},
		Standard: {Offset: []float64{0.1, 1.5, 0, 1}, Factor: []float64{0, 1 / math.Sqrt(0.75), 0, 1 / math.Sqrt(3)}},
	}
	for method, want := range want {
		for _, got := range agree(t, method, 0, bulk(), a, b) {
			if !equal(got, want) {
				t.Errorf("%s: %v, want %v", method, got, want)
			}
			scaled := scaledBy(got, pool(a, b))
			for i := range scaled.Rows {
				if scaled.Row(i)[0] != 0 {
					t.Errorf("%s: the constant column becomes %v, want 0", method, scaled.Row(i)[0])
				}
			}
		}
	}
}

// Columns 0 to 2 differ only by rounding, as when one party writes 97.262 and another converts
// 1.1 x 88.42. Column 3 varies by more than rounding at the same magnitude.
func TestRoundingIsNoSpread(t *testing.T) {
	a := table([]float64{97.262, 1e9, 0.1, 1e9}, []float64{97.26200000000001, 1e9 + 1e-7, 0.1 + 1e-17, 1e9 + 1})
	b := table([]float64{97.262, 1e9 - 1e-7, 0.1, 1e9}, []float64{97.26200000000001, 1e9, 0.1 - 1e-17, 1e9 + 1})
	for _, method := range []Method{MinMax, Standard} {
		for _, got := range agree(t, method, 0, bulk(), a, b) {
			if f := got.Factor; f[0] != 0 || f[1] != 0 || f[2] != 0 || f[3] < 1 {
				t.Errorf("%s: factors %v, want 0, 0, 0 and at least 1", method, f)
			}
		}
	}
}

func TestNegativeZeroIsZero(t *testing.T) {
	zero := math.Copysign(0, -1)
	s := summary(t, table([]float64{zero}), MinMax)
	if math.Signbit(s.First[0]) || math.Signbit(s.Second[0]) {
		t.Error("-0 stays -0: the scaling would depend on the order of rows")
	}
}

// scaledBy returns a copy of m, scaled.
func scaledBy(s Scaling, m linalg.Matrix[float64]) linalg.Matrix[float64] {
	out := linalg.New[float64](m.Rows, m.Cols)
	linalg.Gather(out, s.Rows(m), 0)
	return out
}

func TestScaledRows(t *testing.T) {
	m := linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 3, Data: []float64{1, 2, 9, 3, 4, 9}}
	got := scaledBy(Scaling{Offset: []float64{1, 2}, Factor: []float64{2, 10}}, m)
	if want := []float64{0, 0, 4, 20}; !slices.Equal(got.Data, want) {
		t.Errorf("scaled to %v, want %v", got.Data, want)
	}
	if want := []float64{1, 2, 9, 3, 4, 9}; !slices.Equal(m.Data, want) {
		t.Errorf("scaling changed the rows to %v", m.Data)
	}
	defer func() {
		if recover() == nil {
			t.Error("a scaling of another width is applied")
		}
	}()
	Scaling{Offset: []float64{1}, Factor: []float64{1}}.Rows(m)
}

// Rows in float32 have the statistics of the same numbers in float64.
func TestSummarizeInEitherPrecision(t *testing.T) {
	single := linalg.New[float32](300, 5) // more rows than a panel
	double := linalg.New[float64](300, 5)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range single.Data {
		single.Data[i] = r.Float32()
		double.Data[i] = float64(single.Data[i])
	}
	for _, method := range []Method{MinMax, Standard} {
		got, err := Summarize(single, method)
		if err != nil {
			t.Fatal(err)
		}
		if want := summary(t, double, method); got.Hash() != want.Hash() {
			t.Errorf("%s: %v, want %v", method, got, want)
		}
	}
}

func TestScaledRowsFillTheirRange(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	tables := []linalg.Matrix[float64]{random(r, 50, 20, 7), random(r, 80, 20, -7)}
	all := scaledBy(agree(t, MinMax, 0, bulk(), tables...)[1], pool(tables...))
	s := summary(t, all, MinMax)
	for j := range all.Cols {
		if s.First[j] != 0 || s.Second[j] > 1 || s.Second[j] < 1-1e-15 {
			t.Errorf("column %d spans %v to %v, want 0 to 1", j, s.First[j], s.Second[j])
		}
	}
}

// Many messages of full size, more than a step may send.
func TestWideTable(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const f = 1<<19 + 3
	r := rand.New(rand.NewPCG(5, 6))
	tables := []linalg.Matrix[float64]{random(r, 2, f, 0), random(r, 1, f, 1)}
	want := pooledMinMax(pool(tables...))
	for i, got := range agree(t, MinMax, 1, bulk(), tables...) {
		if !equal(got, want) {
			t.Errorf("p%d: another scaling than of the pooled rows", i)
		}
	}
}

func TestSummarizeRefuses(t *testing.T) {
	tests := []struct {
		name, want string
		rows       linalg.Matrix[float64]
		method     Method
	}{
		{"method", `method "log" is unknown; choose "minmax" or "standard"`, table([]float64{1}), "log"},
		{"no rows", "there are no rows to summarise", linalg.Matrix[float64]{Cols: 3}, MinMax},
		{"no columns", "0 columns; 1 to 16777216", linalg.Matrix[float64]{Rows: 3}, MinMax},
		{"too many columns", "16777217 columns", linalg.Matrix[float64]{Rows: 1, Cols: MaxColumns + 1}, MinMax},
		{"NaN", "row 2, column 1 (from 1) holds NaN", table([]float64{1, 2}, []float64{math.NaN(), 0}), MinMax},
		{"infinite", "row 1, column 2 (from 1) holds -Inf", table([]float64{1, math.Inf(-1)}), Standard},
		{"huge", "row 1, column 1 (from 1) holds 1e+141", table([]float64{1e141}), Standard},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Summarize(tt.rows, tt.method); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func TestHashCoversEverything(t *testing.T) {
	base := Statistics{Method: MinMax, Rows: 3, First: []float64{1, 2}, Second: []float64{3, 4}}
	others := []Statistics{
		{Standard, 3, []float64{1, 2}, []float64{3, 4}},
		{MinMax, 4, []float64{1, 2}, []float64{3, 4}},
		{MinMax, 3, []float64{1, 5}, []float64{3, 4}},
		{MinMax, 3, []float64{1, 2}, []float64{3, 5}},
		{MinMax, 3, []float64{1, 2, 3}, []float64{4}},
	}
	for _, o := range others {
		if o.Hash() == base.Hash() {
			t.Errorf("%v has the hash of %v", o, base)
		}
	}
	if base.Hash() != (Statistics{MinMax, 3, []float64{1, 2}, []float64{3, 4}}).Hash() {
		t.Error("equal statistics have different hashes")
	}
}
