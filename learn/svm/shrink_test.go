package svm

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/linalg"
)

// shrunken returns a solver that has set coefficients aside twice.
func shrunken(t *testing.T, k gram, p problem) *solver[float64] {
	t.Helper()
	s, err := newSolver[float64](p, stopping{tol: 1e-8, iterations: 1e6}, 20*8*int64(k.Len()))
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[int]bool{}
	for range 400 {
		for range 20 {
			s.scan()
			if _, err := s.step(); err != nil {
				t.Fatal(err)
			}
		}
		s.scan()
		s.shrink()
		if sizes[len(s.coef)] = true; len(sizes) == 3 {
			return s
		}
	}
	t.Fatalf("sizes %v: the solver does not shrink twice", sizes)
	return nil
}

// TestShrink: what is active is the same problem over fewer rows, whether a
// kernel row was in the cache or is read again, and restore brings all back.
func TestShrink(t *testing.T) {
	x, codes := blobs(51, 300, 2, 2)
	k := rbf(0.3, x, x)
	p := binary(k, codes)
	weights := make([]float64, len(codes))
	for i := range weights {
		weights[i] = 0.5 + float64(i%3)
	}
	p.weigh(weights)
	s := shrunken(t, k, p)
	active := append([]int(nil), s.aside.active...)
	full := make([]float64, 300)
	copy(full, s.aside.coef)
	for a, row := range active {
		full[row] = s.coef[a]
		got, err := s.rows.row(a)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(linalg.At(k.Matrix.Row(row), active), got); d != "" {
			t.Fatalf("kernel row %d:\n%s", row, d)
		}
	}
	for a, row := range active {
		f := p.linear[row]
		for j, b := range full {
			f += k.At(row, j) * b
		}
		if math.Abs(f-s.gradient[a]) > 1e-9 {
			t.Fatalf("gradient %d is %v, want %v", row, s.gradient[a], f)
		}
	}
	if err := s.restore(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(full, s.coef); d != "" {
		t.Errorf("coefficients:\n%s", d)
	}
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	checkOptimal(t, p, k, s.solution(), 1e-8)
}

// TestShrinkNamesRows: errors number rows as the whole problem does.
func TestShrinkNamesRows(t *testing.T) {
	x, codes := blobs(51, 300, 2, 2)
	k := rbf(0.3, x, x)
	s := shrunken(t, k, binary(k, codes))
	a := len(s.aside.active) - 1
	row := s.aside.active[a]
	if a == row {
		t.Fatal("nothing is set aside before it")
	}
	k.Matrix.Row(row)[row] = math.NaN()
	s.rows.reset(s.aside.kernel) // forget what was read
	s.rows.shrink(s.kernel, s.aside.active)
	_, err := s.rows.row(a)
	want := (&valueError{row: row, col: row, value: math.NaN()}).Error()
	if err = s.numbered(err); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestShrinkInParts: nu-SVC sets aside within each class, and ends where the
// conditions hold on all rows.
func TestShrinkInParts(t *testing.T) {
	x, codes := blobs(52, 150, 2, 2)
	k := rbf(1, x, x)
	first := make([]bool, len(codes))
	for i, c := range codes {
		first[i] = c == 0
	}
	weights := slices.Repeat([]float64{1, 0.5, 2}, len(codes)/3)
	got, err := solveNuSVC(twoClasses{source: k, first: first, weights: weights}, 0.17, stopping{tol: 1e-9, iterations: 1e7}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got.iterations < 2*len(codes) {
		t.Fatalf("%d iterations, too few to shrink", got.iterations)
	}
	for i, b := range got.coef {
		bound := weights[i] / got.margin
		f, y := -got.rho, -1.0
		for j, c := range got.coef {
			f += k.At(i, j) * c
		}
		if first[i] {
			y = 1
		}
		switch margin := y * f; {
		case b == 0 && margin < 1-1e-6,
			math.Abs(b) > bound*(1-1e-12) && margin > 1+1e-6,
			b != 0 && math.Abs(b) < bound*(1-1e-12) && math.Abs(margin-1) > 1e-6:
			t.Fatalf("row %d has coefficient %v of %v and margin %v", i, b, bound, margin)
		}
	}
}
