package lattice_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/attack/lattice"
	"github.com/mercer-fl/mercer/linalg"
)

// digits are n of the bundled images, 64 pixels from 0 to 16 in a row.
func digits(t testing.TB, n int) linalg.Matrix[float64] {
	t.Helper()
	set, err := bundled.Load("digits")
	if err != nil {
		t.Fatal(err)
	}
	x := linalg.New[float64](n, set.X.Cols())
	for i := range n {
		set.X.Row(i, x.Row(i))
	}
	return x
}

// gram hides the rows as a server of OKRA has them: an isometry into 64 more
// dimensions, rounded to float32 or not.
func gram(x linalg.Matrix[float64], single bool) linalg.Matrix[float64] {
	y := linalg.New[float64](x.Rows, x.Cols+64)
	linalg.MulTransB(y, x, isometry(x.Cols+64, x.Cols))
	if single {
		for i, v := range y.Data {
			y.Data[i] = float64(float32(v))
		}
	}
	g := linalg.New[float64](x.Rows, x.Rows)
	linalg.Syrk(g, y)
	return g
}

// isometry returns orthonormal columns.
func isometry(rows, cols int) linalg.Matrix[float64] {
	rng := rand.New(rand.NewPCG(1, 2))
	q, out := linalg.New[float64](cols, rows), linalg.New[float64](rows, cols)
	for k := range cols {
		v := q.Row(k)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		for range 2 {
			for l := range k {
				axpy(v, -dot(v, q.Row(l)), q.Row(l))
			}
		}
		norm := math.Sqrt(dot(v, v))
		for i := range v {
			out.Row(i)[k] = v[i] / norm
			v[i] /= norm
		}
	}
	return out
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func axpy(dst []float64, a float64, x []float64) {
	for i, v := range x {
		dst[i] += a * v
	}
}

// scaled applies (v - shift) / by to each column.
func scaled(x linalg.Matrix[float64], measure func(column []float64) (shift, by float64)) linalg.Matrix[float64] {
	out := linalg.New[float64](x.Rows, x.Cols)
	column := make([]float64, x.Rows)
	for j := range x.Cols {
		for i := range column {
			column[i] = x.Row(i)[j]
		}
		shift, by := measure(column)
		if by == 0 {
			by = 1
		}
		for i, v := range column {
			out.Row(i)[j] = (v - shift) / by
		}
	}
	return out
}

func minmax(column []float64) (shift, by float64) {
	return slices.Min(column), slices.Max(column) - slices.Min(column)
}

func standard(column []float64) (mean, deviation float64) {
	for _, v := range column {
		mean += v / float64(len(column))
	}
	for _, v := range column {
		deviation += (v - mean) * (v - mean) / float64(len(column))
	}
	return mean, math.Sqrt(deviation)
}

func varying(x linalg.Matrix[float64]) (columns []int) {
	for j := range x.Cols {
		for i := range x.Rows {
			if x.Row(i)[j] != x.Row(0)[j] {
				columns = append(columns, j)
				break
			}
		}
	}
	return columns
}

// TestReadsDigits: 150 images are enough, for any scaling, through float32.
func TestReadsDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	x := digits(t, 150)
	want := varying(x)
	if len(want) != 53 {
		t.Fatalf("%d pixels vary", len(want))
	}
	t.Run("minmax", func(t *testing.T) {
		x := scaled(x, minmax)
		check(t, lattice.Read(gram(x, true)), x, want)
	})
	t.Run("standardised", func(t *testing.T) {
		x := scaled(x, standard)
		r := lattice.Read(lattice.Differences(gram(x, true)))
		check(t, r, scaled(x, func(column []float64) (float64, float64) { return column[0], 1 }), want)
	})
	t.Run("one step", func(t *testing.T) {
		x := scaled(x, func([]float64) (float64, float64) { return 0, 16 })
		check(t, lattice.Read(gram(x, true)), x, want)
		check(t, lattice.ReadExact(gram(x, true), 1./16), x, want)
	})
}

// check wants exactly the given columns of x, each once, and nothing else.
func check(t *testing.T, r lattice.Reading, x linalg.Matrix[float64], want []int) {
	t.Helper()
	if got := r.Recovered(x, .01); !slices.Equal(got, want) || r.Rank != len(want) || len(r.Columns) != len(want) {
		t.Errorf("rank %d, %d columns, among them %v; want %v", r.Rank, len(r.Columns), got, want)
	}
}

// TestHowManyRows: below the number of pixels that vary nothing is read, not
// even a column that is none; one row more is enough where all share a step,
// although the rows are still fewer than the pixels.
func TestHowManyRows(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct{ rows, varying, read, exact int }{
		{45, 51, 0, 0},
		{51, 51, 0, 0},
		{52, 51, 0, 51},
		{75, 52, 52, 52},
	} {
		t.Run(fmt.Sprint(c.rows), func(t *testing.T) {
			x := digits(t, c.rows)
			if v := len(varying(x)); v != c.varying {
				t.Fatalf("%d pixels vary", v)
			}
			each, one := scaled(x, minmax), scaled(x, func([]float64) (float64, float64) { return 0, 16 })
			for _, single := range []bool{false, true} {
				if r := lattice.Read(gram(each, single)); len(r.Columns) != c.read || len(r.Recovered(each, .01)) != c.read {
					t.Errorf("float32 %v: %d columns read, %d of them right, want %d", single, len(r.Columns), len(r.Recovered(each, .01)), c.read)
				}
			}
			if r := lattice.ReadExact(gram(one, true), 1./16); len(r.Columns) != c.exact || len(r.Recovered(one, .01)) != c.exact {
				t.Errorf("exact: %d columns read, %d of them right, want %d", len(r.Columns), len(r.Recovered(one, .01)), c.exact)
			}
		})
	}
}

// TestOneDifference: two rows that are a step of one feature apart give that
// feature of all rows away, however few rows there are.
func TestOneDifference(t *testing.T) {
	x := digits(t, 30)
	copy(x.Row(29), x.Row(3))
	x.Row(29)[20]++
	r := lattice.ReadExact(gram(x, true), 1)
	if got := r.Recovered(x, .1); !slices.Equal(got, []int{20}) {
		t.Errorf("columns %v read", got)
	}
}

// TestBesideOtherFeatures: a feature on no grid, beside those that are on one,
// does not protect them.
func TestBesideOtherFeatures(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	x := scaled(digits(t, 300), minmax)
	want := varying(x)
	rng := rand.New(rand.NewPCG(1, 5))
	for i := range x.Rows {
		x.Row(i)[0] = rng.Float64() // in the place of a pixel that is always 0
	}
	r := lattice.Read(gram(x, true))
	got := r.Recovered(x, .01)
	if r.Rank != len(want)+1 || len(got) < 50 || len(r.Columns) != len(got) { // measured: 54 of 56
		t.Errorf("rank %d; %d columns read, %d of them right, of %d", r.Rank, len(r.Columns), len(got), len(want))
	}
}

// TestOneHot: the features of codes are read as differences of two features of one
// code, of which a row has the one, the other or neither.
func TestOneHot(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	x := linalg.New[float64](500, 60)
	for i := range x.Rows {
		at := 0
		for _, n := range []int{2, 3, 5, 10, 40} {
			x.Row(i)[at+rng.IntN(n)] = 1
			at += n
		}
	}
	read := make(map[int]bool)
	for _, c := range lattice.Read(gram(x, true)).Columns {
		for j := range x.Cols {
			for _, sign := range []int64{1, -1} {
				if has(x, j, c, sign) {
					read[j] = true
				}
			}
		}
	}
	if len(read) < 55 { // measured: 58
		t.Errorf("%d of 60 features read", len(read))
	}
}

// has reports whether the rows with feature j are those where c has the sign.
func has(x linalg.Matrix[float64], j int, c lattice.Column, sign int64) bool {
	for i, v := range c.Values {
		if (v*sign > 0) != (x.Row(i)[j] == 1) {
			return false
		}
	}
	return true
}

func TestEmptyAndZero(t *testing.T) {
	for n := range 3 {
		g := linalg.New[float64](n, n)
		for _, r := range []lattice.Reading{lattice.Read(g), lattice.ReadExact(g, 1)} {
			if r.Rank != 0 || len(r.Columns) != 0 {
				t.Errorf("%d rows of zeros: %+v", n, r)
			}
		}
	}
}

func ExampleRead() {
	x := linalg.Matrix[float64]{Rows: 6, Cols: 2, Stride: 2, Data: []float64{1, .75, 3, 0, 2, .25, 5, .5, 0, 1, 1, 1}}
	g := linalg.New[float64](6, 6)
	linalg.Syrk(g, x)
	for _, c := range lattice.Read(g).Columns {
		fmt.Printf("%.2f x %v\n", c.Step, c.Values)
	}
	// Output:
	// 0.25 x [3 0 1 2 4 4]
	// 1.00 x [1 3 2 5 0 1]
}
