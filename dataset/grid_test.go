package dataset

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/linalg"
)

func TestGridColumn(t *testing.T) {
	s := newStream(1, 0)
	random := func(n int, f func(u float64) float64) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = f(s.uniform())
		}
		return v
	}
	pixels := random(500, func(u float64) float64 { return math.Floor(u * 256) })
	scaled := func(v []float64, by, plus float64) []float64 {
		w := make([]float64, len(v))
		for i := range v {
			w[i] = v[i]*by + plus
		}
		return w
	}
	tests := []struct {
		name   string
		values []float64
		levels int // 0 constant, -1 no grid
	}{
		{"constant", []float64{3, 3, 3}, 0},
		{"one row", []float64{3}, 0},
		{"constant up to rounding", []float64{0.3, 0.1 + 0.2}, 0},
		{"two values", []float64{-1.7, 2.9, 2.9}, 1},
		{"one-hot", []float64{0, 1, 0, 0}, 1},
		{"integers", []float64{5, 7, 12, 1000}, 995},
		{"even integers", []float64{4, 2, 10}, 4},
		{"two far integers", []float64{0, 1, 65536}, 65536},
		{"too many levels", []float64{0, 1, 65537}, -1},
		{"pixels", pixels, 255},
		{"pixels by 1/255", scaled(pixels, 1.0/255, 0), 255},
		{"pixels by min-max", scaled(pixels, 0.7310585786300049, -0.1234567890123), 255},
		{"pixels, float32 noise", scaled(random(500, func(u float64) float64 { return math.Floor(u*256) + 1e-6*s.normal() }), 1, 0), -1},
		{"two decimals", []float64{17.99, 20.57, 19.69, 11.42, 20.29}, 915},
		{"two decimals far from zero", []float64{1e7 + .01, 1e7 + .07, 1e7 + .12, 1e7 + .23}, 22},
		{"tenths that are not exact", []float64{.1, .2, .3, .7, .1 + .2}, 6},
		{"three arbitrary values", []float64{0, math.Sqrt2, math.Pi}, -1},
		{"four arbitrary values", []float64{0, math.Sqrt2, math.E, math.Pi}, -1},
		{"uniform", random(300, func(u float64) float64 { return u }), -1},
		{"normal", random(20, func(float64) float64 { return s.normal() }), -1},
		{"largest floats", []float64{-math.MaxFloat64, 1, math.MaxFloat64}, -1},
		{"smallest floats", []float64{0, 5e-324}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows := make([][]float64, len(tt.values))
			for i, v := range tt.values {
				rows[i] = []float64{v}
			}
			a := measureAll(denseOf(rows))[0]
			if a.levels != tt.levels {
				t.Fatalf("levels %d, want %d", a.levels, tt.levels)
			}
			if got := measureAll(sparseOf(denseOf(rows)))[0]; got != a {
				t.Errorf("sparse: %+v, dense: %+v", got, a)
			}
		})
	}
}

// Columns of few arbitrary values fit some grid more easily than columns of
// many: they must not be called grids for that.
func TestGridRarelySeesWhatIsNotThere(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	s := newStream(2, 0)
	const tries = 300
	for _, distinct := range []int{3, 4, 5, 8, 20} {
		wrong := 0
		for range tries {
			column := make([]float64, distinct)
			for i := range column {
				column[i] = s.normal()
			}
			if measure(column).levels != noGrid {
				wrong++
			}
		}
		if wrong > 1 {
			t.Errorf("%d distinct values: %d of %d continuous columns on a grid", distinct, wrong, tries)
		}
	}
}

func TestGridSurvivesScaling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		levels := rapid.IntRange(1, gridLevels).Draw(t, "levels")
		inner := rapid.SliceOfN(rapid.IntRange(0, levels), 0, 30).Draw(t, "multiples")
		by := rapid.Float64Range(1e-6, 1e6).Draw(t, "by")
		plus := rapid.Float64Range(-1, 1).Draw(t, "plus") * by
		column := []float64{plus, float64(levels)*by + plus}
		for _, k := range inner {
			column = append(column, float64(k)*by+plus)
		}
		got := measure(column)
		if got.levels <= 0 || levels%got.levels != 0 {
			t.Fatalf("%d levels by %v plus %v: found %+v", levels, by, plus, got)
		}
		if ratio := got.step * float64(got.levels) / (float64(levels) * by); math.Abs(ratio-1) > 1e-9 {
			t.Fatalf("step %v is wrong", got.step)
		}
	})
}

// A column with a gap lies on no grid, and is measured in an instant.
func TestGridOfGaps(t *testing.T) {
	for _, column := range [][]float64{{0, 1, math.NaN()}, {math.NaN(), math.NaN()}} {
		if got := measure(column); got.levels != noGrid {
			t.Errorf("%v: %+v", column, got)
		}
	}
}

func TestGridStep(t *testing.T) {
	tests := []struct {
		name            string
		rows            [][]float64
		step            float64
		ok              bool
		onGrid, varying int
	}{
		{"one step for all", [][]float64{{0, 5, 1}, {1, 9, 1}, {16, 11, 1}}, 1, true, 2, 2},
		{"a divisor of the steps", [][]float64{{0, 0}, {.5, .75}}, .25, true, 2, 2},
		{"steps that share none", [][]float64{{0, 0}, {1, math.Pi}}, 0, true, 2, 2},
		{"shared step with too many levels", [][]float64{{0, 0}, {1, 0.00001}}, 0, true, 2, 2},
		{"one column off", [][]float64{{0, 0}, {1, 1}, {2, 1.2345678901234}, {0, math.Pi}}, 0, false, 1, 2},
		{"constants", [][]float64{{1, 2}, {1, 2}}, 0, true, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			step, ok := GridStep(denseOf(tt.rows))
			if math.Abs(step-tt.step) > 1e-12 || ok != tt.ok {
				t.Errorf("step %v, %v; want %v, %v", step, ok, tt.step, tt.ok)
			}
			onGrid, varying := GridColumns(denseOf(tt.rows))
			if onGrid != tt.onGrid || varying != tt.varying {
				t.Errorf("%d of %d columns on a grid, want %d of %d", onGrid, varying, tt.onGrid, tt.varying)
			}
		})
	}
}

func TestSummarize(t *testing.T) {
	d := denseOf([][]float64{{0, 2, 5}, {4, 0, 5}})
	want := Summary{Name: "s", Rows: 2, Cols: 3, Sparsity: 1.0 / 3, Classes: []Class{{"-1", 1}, {"2", 1}}, Min: 0, Max: 5, Varying: 2, OnGrid: 2, Step: 2}
	for _, x := range []Table{d, sparseOf(d)} {
		got := Summarize(&Set{Name: "s", X: x, Labels: []string{"2", "-1"}})
		got.Sparsity = math.Round(got.Sparsity*1e12) / 1e12
		want.Sparsity = math.Round(want.Sparsity*1e12) / 1e12
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%T (-want +got):\n%s", x, diff)
		}
	}
	sparse := Summarize(&Set{X: sparseOf(denseOf([][]float64{{3, 0}, {4, 5}}))})
	if sparse.Min != 0 || sparse.Max != 5 || sparse.Classes != nil {
		t.Errorf("%+v, want minimum 0, maximum 5, no classes", sparse)
	}
	if zero := Summarize(&Set{X: denseOf([][]float64{{math.Copysign(0, -1)}})}); math.Signbit(zero.Min) || math.Signbit(zero.Max) {
		t.Errorf("from %v to %v", zero.Min, zero.Max)
	}
	if empty := Summarize(&Set{X: d.Subset(nil)}); empty.Min != 0 || empty.Max != 0 || empty.Sparsity != 0 {
		t.Errorf("a table without rows has %+v", empty)
	}
}

// TestGridOfAnyTable wants one answer for a table in all three forms, with more
// columns than are gathered at once, and for pixels the way of other numbers.
func TestGridOfAnyTable(t *testing.T) {
	m := linalg.New[float64](40, 45)
	half := linalg.New[float32](40, 45)
	r := newStream(1, streamRows)
	for i := range m.Data {
		m.Data[i] = float64(r.uniformBelow(5+i%45) * (1 + i%45%7))
		half.Data[i] = float32(m.Data[i])
	}
	m.Data[7], half.Data[7] = 0.5, 0.5
	m.Data[8], half.Data[8] = -3, -3
	dense := NewDense(m)
	want := make([]axis, m.Cols)
	for j := range want {
		column := make([]float64, m.Rows)
		for i := range column {
			column[i] = m.Row(i)[j]
		}
		want[j] = measure(column)
	}
	for name, table := range map[string]Table{"dense": dense, "float32": NewDense32(half), "sparse": sparseOf(dense)} {
		if diff := cmp.Diff(want, measureAll(table), cmp.AllowUnexported(axis{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
