package svm

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/linalg"
)

// columns returns the columns of m that a machine needs.
func columns(m linalg.Matrix[float64], cols []int) linalg.Matrix[float64] {
	out := linalg.New[float64](m.Rows, len(cols))
	for i := range m.Rows {
		for a, c := range cols {
			out.Row(i)[a] = m.Row(i)[c]
		}
	}
	return out
}

// wave draws n points on a noisy curve.
func wave(seed uint64, n int) (linalg.Matrix[float64], []float64) {
	x, _ := blobs(seed, n, 2, 1)
	y := make([]float64, n)
	for i := range y {
		y[i] = 3*math.Sin(x.Row(i)[0]) + x.Row(i)[1]
	}
	return x, y
}

// TestSVROptimality checks what the Lagrangian demands of each row: no
// coefficient inside the tube, C outside of it, anything between on its edge.
func TestSVROptimality(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	draws, discarded := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(t, "n")
		x, y := wave(rapid.Uint64().Draw(t, "seed"), n)
		k := rbf(0.5, x, x)
		p := SVRParams{
			C:       math.Exp(rapid.Float64Range(-3, 5).Draw(t, "log C")),
			Epsilon: rapid.SampledFrom([]float64{0, 0.01, 0.3, 2, 100}).Draw(t, "epsilon"),
			Tol:     1e-7,
			MaxIter: 300_000, // a tube of no width and a large C would take many times as many
		}
		m, err := TrainSVR(k, y, p)
		draws++
		if errors.Is(err, ErrNotConverged) {
			discarded++
			t.Skip("not converged: what it returns promises nothing")
		}
		if err != nil {
			t.Fatal(err)
		}
		CheckSVR(t, k, y, p, m)
		coef, sum := make([]float64, n), 0.0
		for a, r := range m.Support {
			coef[r] = m.Coef[a]
			sum += m.Coef[a]
		}
		if math.Abs(sum) > 1e-9*p.C {
			t.Fatalf("the coefficients add up to %v", sum)
		}
		predicted := m.Decisions(columns(k.Matrix, m.Support))
		if len(m.Support) == 0 {
			return // rho is free in an interval then
		}
		for i, b := range coef {
			short := y[i] - predicted[i] // of the target
			switch tol := 2 * p.Tol; {
			case b == 0 && math.Abs(short) > p.Epsilon+tol:
				t.Fatalf("row %d is %v off and has no coefficient", i, short)
			case b > 0 && b < p.C && math.Abs(short-p.Epsilon) > tol && p.Epsilon > 0:
				t.Fatalf("row %d is %v below, its coefficient is %v", i, short, b)
			case b < 0 && b > -p.C && math.Abs(short+p.Epsilon) > tol && p.Epsilon > 0:
				t.Fatalf("row %d is %v above, its coefficient is %v", i, -short, b)
			case b == p.C && short < p.Epsilon-tol, b == -p.C && short > -p.Epsilon+tol, math.Abs(b) > p.C:
				t.Fatalf("row %d is %v off, its coefficient is %v", i, short, b)
			}
		}
	})
	t.Logf("%d of %d draws discarded, which take more than 300,000 steps", discarded, draws)
	if 3*discarded > draws {
		t.Errorf("%d of %d draws discarded; the rest proves too little", discarded, draws)
	}
}

// TestWideTube: a tube that holds all targets needs no support vector, and
// predicts its middle.
func TestWideTube(t *testing.T) {
	x, _ := wave(1, 5)
	m := MustSVR(t, rbf(1, x, x), []float64{1, 2, 3, 4, 5}, SVRParams{C: 1, Epsilon: 10})
	if len(m.Support) != 0 || m.Rho != -3 {
		t.Errorf("%d support vectors, rho %v, want none and -3", len(m.Support), m.Rho)
	}
}

// TestNuSVCEqualsCSVC: the C-SVC whose C is the largest coefficient of a nu-SVC
// has the same solution (LIBSVM section 2.2, after equation 5).
func TestNuSVCEqualsCSVC(t *testing.T) {
	x, codes := blobs(31, 120, 2, 3)
	k := rbf(0.7, x, x)
	tests, _ := blobs(32, 40, 2, 3)
	cross := rbf(0.7, tests, x).Matrix
	for _, nu := range []float64{0.1, 0.3, 0.5} {
		c := MustNuSVC(t, k, codes, names(3), NuParams{Nu: nu, Tol: 1e-9})
		for i, p := range c.Pairs {
			bound := 0.0
			for _, b := range p.Coef {
				bound = max(bound, math.Abs(b))
			}
			if p.Report.Bounded == 0 {
				t.Fatalf("nu %v, pair %d: nothing at the bound, the test proves nothing", nu, i)
			}
			if share := float64(p.Report.Bounded) / 80; share > nu {
				t.Errorf("nu %v, pair %d: a share of %v is at the bound", nu, i, share)
			}
			if share := float64(p.Report.Support) / 80; share < nu {
				t.Errorf("nu %v, pair %d: a share of %v are support vectors", nu, i, share)
			}
			other := MustSVC(t, k, codes, names(3), Params{C: bound, Tol: 1e-9})
			got, want := c.Decisions(columns(cross, c.Support())), other.Decisions(columns(cross, other.Support()))
			largest := 1.0
			for r := range tests.Rows {
				largest = max(largest, math.Abs(want.Row(r)[i]))
			}
			for r := range tests.Rows {
				if math.Abs(got.Row(r)[i]-want.Row(r)[i]) > 1e-5*largest {
					t.Fatalf("nu %v, pair %d: decision %v, C-SVC has %v", nu, i, got.Row(r)[i], want.Row(r)[i])
				}
			}
		}
	}
}

// TestOneClass: the share of rows outside is at most nu, the share of support vectors
// is at least nu, and the conditions hold.
func TestOneClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 80).Draw(t, "n")
		x, _ := blobs(rapid.Uint64().Draw(t, "seed"), n, 2, 2)
		k := rbf(0.5, x, x)
		nu := rapid.Float64Range(0.02, 1).Draw(t, "nu")
		m := MustOneClass(t, k, NuParams{Nu: nu, Tol: 1e-9})
		sum, outside := 0.0, 0
		for _, b := range m.Coef {
			sum += b
		}
		for _, f := range m.Decisions(columns(k.Matrix, m.Support)) {
			if f < -1e-7 {
				outside++
			}
		}
		if math.Abs(sum-nu*float64(n)) > 1e-9 {
			t.Errorf("the coefficients add up to %v, nu n is %v", sum, nu*float64(n))
		}
		if float64(outside) > nu*float64(n)+1e-9 || float64(len(m.Support)) < nu*float64(n)-1e-9 {
			t.Errorf("%d outside, %d support vectors, nu n is %v", outside, len(m.Support), nu*float64(n))
		}
	})
}

// With fewer than one outlier allowed, the coefficients add up to 2e-5, and no row is outside by more
// than the tolerance times this sum.
func TestOneClassOfTinyNu(t *testing.T) {
	x, _ := blobs(1, 20, 2, 2)
	k := rbf(0.5, x, x)
	m := MustOneClass(t, k, NuParams{Nu: 1e-6})
	for i, f := range m.Decisions(columns(k.Matrix, m.Support)) {
		if f < -DefaultTol*2e-5 {
			t.Errorf("row %d is outside by %g; the offset is %g", i, f, m.Rho)
		}
	}
}

// TestOneClassOnACircle has a solution to be had by hand: all coefficients are
// equal by symmetry.
func TestOneClassOnACircle(t *testing.T) {
	x := linalg.New[float64](8, 2)
	for i := range x.Rows {
		a := 2 * math.Pi * float64(i) / 8
		copy(x.Row(i), []float64{math.Cos(a), math.Sin(a)})
	}
	k := rbf(1, x, x)
	m := MustOneClass(t, k, NuParams{Nu: 0.5, Tol: 1e-12})
	sum := 0.0
	for _, v := range k.Matrix.Row(0) {
		sum += v
	}
	if math.Abs(m.Rho-sum/2) > 1e-9 {
		t.Errorf("rho %v, want %v", m.Rho, sum/2)
	}
	want := []float64{.5, .5, .5, .5, .5, .5, .5, .5}
	if d := cmp.Diff(want, m.Coef, cmpopts.EquateApprox(0, 1e-6)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(m.Decisions(k.Matrix), make([]float64, 8), cmpopts.EquateApprox(0, 1e-9)); d != "" {
		t.Error(d)
	}
}

func TestMachineErrors(t *testing.T) {
	nan := math.NaN()
	x, codes := blobs(1, 12, 2, 3)
	k, y := rbf(1, x, x), make([]float64, 12)
	broken := rbf(1, x, x)
	broken.Matrix.Row(4)[5], broken.Matrix.Row(5)[4] = nan, nan
	y[4], y[5] = 9, -9
	svr := func(k gram, y []float64, p SVRParams) error { _, err := TrainSVR(k, y, p); return err }
	one := func(k gram, p NuParams) error { _, err := TrainOneClass(k, p); return err }
	nu := func(k gram, codes []int, p NuParams) error {
		_, err := TrainNuSVC(k, codes, names(3), p, nil)
		return err
	}
	uneven := []int{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2}
	late := rbf(1, x, x)
	late.Matrix.Row(7)[10], late.Matrix.Row(10)[7] = nan, nan // both of class b
	tiny := gram{Matrix: linalg.New[float64](12, 12)}
	for i := range 12 {
		tiny.Matrix.Row(i)[i] = 1e-308
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{svr(k, y, SVRParams{}), "svm: C is 0; it must be above 0"},
		{svr(k, y, SVRParams{C: 1, Epsilon: -1}), "svm: epsilon is -1; it must be finite and at least 0"},
		{svr(k, y, SVRParams{C: 1, Tol: nan}), "svm: tol is NaN; it must be a finite number above 0"},
		{svr(k, y, SVRParams{C: 1, CacheBytes: -1}), "svm: the kernel cache is -1 bytes; it must not be negative"},
		{svr(k, y, SVRParams{C: 1, MaxIter: -1}), "svm: max_iter is -1; it must not be negative"},
		{svr(k, y[1:], SVRParams{C: 1}), "svm: there are 11 targets for 12 kernel rows; the numbers must be equal"},
		{svr(k, append([]float64{nan}, y[1:]...), SVRParams{C: 1}), "svm: target 0 is NaN; it must be finite"},
		{svr(broken, y, SVRParams{C: 1}), "svm: kernel value (4, 5) is NaN: check the data and the kernel's parameters"},
		{one(k, NuParams{}), "svm: nu is 0; it must be above 0 and at most 1"},
		{one(k, NuParams{Nu: nan}), "svm: nu is NaN; it must be above 0 and at most 1"},
		{one(broken, NuParams{Nu: 1}), "svm: kernel value (4, 5) is NaN: check the data and the kernel's parameters"},
		{one(gram{}, NuParams{Nu: 1}), "svm: there are no rows to learn from"},
		{nu(k, codes, NuParams{Nu: 2}), "svm: nu is 2; it must be above 0 and at most 1"},
		{nu(k, codes[1:], NuParams{Nu: 1}), "svm: there are 11 class codes for 12 kernel rows; the numbers must be equal"},
		{nu(k, uneven, NuParams{Nu: 0.5}), `svm: classes "a" and "b": nu is 0.5; with 2 of 10 rows in the smaller class, nu can be at most 0.4`},
		{nu(tiny, codes, NuParams{Nu: 0.5}), `svm: classes "a" and "b": the margin between the classes is 5e-309, which is too small; use a larger nu, or scale the data so that kernel values are near 1`},
		{nu(late, codes, NuParams{Nu: 1}), `svm: classes "a" and "b": kernel value (7, 10) is NaN: check the data and the kernel's parameters`},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", test.err, test.want)
		}
	}
}
