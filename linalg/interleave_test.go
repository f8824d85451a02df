package linalg_test

import (
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// signsOf returns a sign for each of n rows.
func signsOf(n int) []int8 {
	signs := make([]int8, n)
	for i := range signs {
		signs[i] = int8(1 - 2*(i*i/3%2))
	}
	return signs
}

func TestSignRows(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		signs := signsOf(40)
		for _, n := range []int{0, 1, 5, 40} {
			x := noise[float64](1, linalg.Interleaved*n+1, 4).Row(0)
			want := slices.Clone(x)
			for i := range linalg.Interleaved * n {
				want[i] *= .7 * float64(signs[i/linalg.Interleaved])
			}
			if linalg.SignRowsOn(p, x, signs[:n], .7); !slices.Equal(x, want) {
				t.Errorf("n = %d: got %v, want %v", n, x, want)
			}
		}
	})
}

// Whole lines and others, from wherever rows begin.
func TestInterleaveAndDeinterleave(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for _, s := range [][2]int{{1, 1}, {3, 5}, {8, 64}, {7, 100}, {8, 3}, {8, 21}} {
			for first := range 2 {
				standAndFallIn(t, p, s[0], s[1], first)
			}
		}
	})
}

func standAndFallIn(t *testing.T, p linalg.Path, rows, cols, first int) {
	t.Helper()
	m := noise[float64](rows, cols, 6)
	to := noise[float64](1, linalg.Interleaved*cols, 7).Row(0)
	linalg.Interleave(to, m)
	for i, v := range to {
		r, c, want := i%linalg.Interleaved, i/linalg.Interleaved, 0.
		if r < m.Rows {
			want = m.Row(r)[c]
		}
		if v != want {
			t.Fatalf("%d x %d: value %d of coordinate %d is %v, want %v", rows, cols, r, c, v, want)
		}
	}
	back := linalg.New[float64](rows+1, cols+cols%2+8)
	inside := linalg.Matrix[float64]{Rows: rows, Cols: cols, Stride: back.Stride, Data: back.Data[first:]}
	linalg.DeinterleaveOn(p, inside, to)
	var sum, want float64
	for i := range rows {
		if !slices.Equal(inside.Row(i), m.Row(i)) {
			t.Errorf("%d x %d: row %d does not come back", rows, cols, i)
		}
		want += sumOf(m.Row(i))
	}
	if sum = sumOf(back.Data); math.Abs(sum-want) > 1e-12 {
		t.Errorf("%d x %d: something is written beside the rows", rows, cols)
	}
}

func sumOf(x []float64) (sum float64) {
	for _, v := range x {
		sum += math.Abs(v)
	}
	return sum
}

func TestFWHTColumns(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for n := 1; n <= 1<<13; n *= 2 {
			for _, q := range []int{linalg.Interleaved, linalg.Strip} {
				if n*q <= 1<<15 {
					columnsByLevels(t, p, n, q)
				}
			}
		}
	})
}

func columnsByLevels(t *testing.T, p linalg.Path, n, q int) {
	t.Helper()
	from := noise[float64](1, n*q, 8).Row(0)
	got := append(slices.Clone(from), 0)
	linalg.FWHTColumnsOn(p, got[:n*q], q)
	want := make([]float64, n)
	for c := range q {
		for i := range want {
			want[i] = from[i*q+c]
		}
		byLevels(want)
		for i, w := range want {
			if math.Abs(got[i*q+c]-w) > 1e-12 {
				t.Fatalf("%d x %d: entry (%d, %d) is %v, want %v", n, q, i, c, got[i*q+c], w)
			}
		}
	}
	if got[n*q] != 0 {
		t.Errorf("%d x %d: wrote behind the matrix", n, q)
	}
}

func TestInterleaveRefuses(t *testing.T) {
	rows := make([]float64, 100*linalg.Interleaved)
	for name, f := range map[string]func(){
		"few rows to turn":   func() { linalg.SignRows(rows[:15], make([]int8, 2), 1) },
		"odd columns":        func() { linalg.FWHTColumns(rows[:12], 12) },
		"no power of two":    func() { linalg.FWHTColumns(rows[:24], 8) },
		"no rows":            func() { linalg.FWHTColumns(nil, 8) },
		"half a row":         func() { linalg.FWHTColumns(rows[:20], 8) },
		"nine to stand":      func() { linalg.Interleave(rows, linalg.New[float64](9, 2)) },
		"nine to fall in":    func() { linalg.Deinterleave(linalg.New[float64](9, 2), rows) },
		"few to fall in":     func() { linalg.Deinterleave(linalg.New[float64](8, 16), rows[:127]) },
		"too many to fit in": func() { linalg.Interleave(rows[:8], linalg.New[float64](2, 2)) },
	} {
		if recovered(f) == nil {
			t.Errorf("%s: no panic", name)
		}
	}
}
