package svm

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/mercer-fl/mercer/linalg"
)

func TestTrainErrors(t *testing.T) {
	x, codes := blobs(1, 12, 2, 3)
	k := rbf(1, x, x)
	abc := names(3)
	broken := func(i, j int, v float64) gram {
		g := rbf(1, x, x)
		g.Matrix.Row(i)[j], g.Matrix.Row(j)[i] = v, v
		return g
	}
	huge := rbf(1, x, x)
	for i := range huge.Data {
		huge.Data[i] = 1e300
	}
	for _, test := range []struct {
		name    string
		source  gram
		codes   []int
		classes []string
		params  Params
		want    string
	}{
		{"one class", k, make([]int, 12), []string{"a"}, Params{C: 1}, `svm: there is only the class "a": a classifier needs rows of at least two classes`},
		{"no classes", k, make([]int, 12), nil, Params{C: 1}, `svm: there are no classes: a classifier needs rows of at least two classes`},
		{"same class twice", k, codes, []string{"a", "b", "a"}, Params{C: 1}, `svm: class "a" is listed twice`},
		{"numbers for classes", k, codes, make([]string, 5000), Params{C: 1}, `svm: there are 5000 classes, at most 4096 are allowed: if the labels are numbers to predict, use a regression`},
		{"class without rows", k, codes, names(4), Params{C: 1}, `svm: class "d" has no training rows: leave it out of the classes or add rows`},
		{"more codes than rows", k, append(codes, 1), abc, Params{C: 1}, `svm: there are 13 class codes for 12 kernel rows; the numbers must be equal`},
		{"code out of range", k, append([]int{7}, codes[1:]...), abc, Params{C: 1}, `svm: row 0 has class code 7, but there are 3 classes`},
		{"C zero", k, codes, abc, Params{}, `svm: C is 0; it must be above 0`},
		{"C negative", k, codes, abc, Params{C: -1}, `svm: C is -1; it must be above 0`},
		{"C NaN", k, codes, abc, Params{C: math.NaN()}, `svm: C is NaN; it must be above 0`},
		{"tol", k, codes, abc, Params{C: 1, Tol: 2}, `svm: tol is 2; it must be above 0 and below 2`},
		{"tol NaN", k, codes, abc, Params{C: 1, Tol: math.NaN()}, `svm: tol is NaN; it must be above 0 and below 2`},
		{"cache", k, codes, abc, Params{C: 1, CacheBytes: -1}, `svm: the kernel cache is -1 bytes; it must not be negative`},
		{"max_iter", k, codes, abc, Params{C: 1, MaxIter: -1}, `svm: max_iter is -1; it must not be negative`},
		{"weight of a stranger", k, codes, abc, Params{C: 1, Weights: map[string]float64{"z": 2, "q": 1}}, `svm: there is a weight for class "q", but no training row has that class; remove the weight`},
		{"weight zero", k, codes, abc, Params{C: 1, Weights: map[string]float64{"b": 0}}, `svm: the weight of class "b" is 0; the weight and C times the weight must be finite and above 0`},
		{"weight overflows", k, codes, abc, Params{C: 1e200, Weights: map[string]float64{"b": 1e200}}, `svm: the weight of class "b" is 1e+200; the weight and C times the weight must be finite and above 0`},
		// Rows 4 and 5 are of classes b and c; the indices count in the whole kernel.
		{"kernel NaN", broken(4, 5, math.NaN()), codes, abc, Params{C: 1}, `svm: classes "b" and "c": kernel value (4, 5) is NaN: check the data and the kernel's parameters`},
		{"diagonal infinite", broken(9, 9, math.Inf(1)), codes, abc, Params{C: 1}, `svm: classes "a" and "b": kernel value (9, 9) is +Inf: check the data and the kernel's parameters`},
		{"kernel too large", huge, codes, abc, Params{C: 1e300}, `svm: classes "a" and "b": the gradient overflows: scale the data so that kernel values are near 1, or lower C if the learner has it`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := TrainSVC(test.source, test.codes, test.classes, test.params, nil)
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %v", err, test.want)
			}
		})
	}
}

func TestNotConverged(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	x, codes := blobs(2, 60, 3, 3)
	k := rbf(1, x, x)
	_, err := TrainSVC(k, codes, names(3), Params{C: 10, MaxIter: 5}, nil)
	if !errors.Is(err, ErrNotConverged) {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{`svm: classes "a" and "b": not converged: the gap is `, " after 5 iterations, but tol is 0.001: raise tol, scale the data, or lower C if the learner has it"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
	// No float64 gradient of sums this large has a gap of 1e-18.
	_, err = TrainSVC(rbf(1e-3, x, x), codes, names(3), Params{C: 1e4, Tol: 1e-18, MaxIter: 100_000}, nil)
	if !errors.Is(err, ErrNotConverged) {
		t.Fatalf("got %v", err)
	}
}

// TestNoNumberBetween: where rounding swallows every move, the solver stops at
// once instead of using up its iterations.
func TestNoNumberBetween(t *testing.T) {
	zero := gram{Matrix: linalg.New[float64](2, 2)}
	p := problem{
		kernel: zero, linear: []float64{-1, 1}, start: []float64{1e30, -1e30},
		lower: []float64{0, -1e31}, upper: []float64{1e31, 0},
	}
	_, err := solve(p, stopping{tol: 1e-3, iterations: 1e6}, 0)
	want := "not converged: the gap is 2 after 1 iterations, but tol is 0.001: raise tol, scale the data, or lower C if the learner has it"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestDriftMatters starts from a gradient that rounding has spoilt: the solver
// must not believe it.
func TestDriftMatters(t *testing.T) {
	x, codes := blobs(5, 80, 2, 2)
	first := make([]bool, len(codes))
	for i, c := range codes {
		first[i] = c == 0
	}
	k := rbf(1, x, x)
	p := cSVC(k, first, 5, 5)
	s, err := newSolver[float64](p, stopping{tol: 1e-8, iterations: 1e6}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		s.scan()
		if _, err := s.step(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range s.gradient {
		s.gradient[i] += 1e-5 * float64(i%7)
	}
	s.distance += 1e-5 / epsilon // what it took
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	checkOptimal(t, p, k, s.solution(), 1e-8)
}

// TestSameWhateverTheCache: the cache changes which rows are read again, and
// nothing else; so does the number of cores.
func TestSameWhateverTheCache(t *testing.T) {
	x, codes := blobs(4, 150, 3, 4)
	k := rbf(0.5, x, x)
	train := func(bytes int64) *Classifier {
		c := MustSVC(t, k, codes, names(4), Params{C: 10, Tol: 1e-6, CacheBytes: bytes})
		return c
	}
	two := mustSolve(t, binary(k, codes), k, stopping{tol: 1e-6, iterations: 1e6}, 1)
	reads := 0
	all := mustSolve(t, binary(gram{k.Matrix, &reads}, codes), k, stopping{tol: 1e-6, iterations: 1e6}, 1<<20)
	if d := cmp.Diff(two, all, cmp.AllowUnexported(solution{})); d != "" {
		t.Errorf("two rows or all rows in the cache:\n%s", d)
	}
	if reads > k.Len() {
		t.Errorf("%d rows read although all %d fit", reads, k.Len())
	}
	many := train(0)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if d := cmp.Diff(train(1), many, cmp.AllowUnexported(Classifier{})); d != "" {
		t.Errorf("small cache on one core, or large cache on all:\n%s", d)
	}
}

// binary is a problem of class 0 against all others.
func binary(k gram, codes []int) problem {
	first := make([]bool, len(codes))
	for i, c := range codes {
		first[i] = c == 0
	}
	return cSVC(k, first, 10, 10)
}

func TestCacheKeepsWhatIsUsed(t *testing.T) {
	x, _ := blobs(6, 10, 2, 2)
	k := rbf(1, x, x)
	c := newCache[float64](k, 3*8*10)
	for _, i := range []int{0, 1, 2, 0, 3, 0, 1} { // 1 gives way to 3, 2 to 1
		row, err := c.row(i)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(k.Matrix.Row(i), row); d != "" {
			t.Fatalf("row %d:\n%s", i, d)
		}
	}
	if c.misses != 5 || len(c.owner) != 3 {
		t.Errorf("%d misses with %d slots, want 5 with 3", c.misses, len(c.owner))
	}
}

// TestPermutedRows: the order of the rows is no information.
func TestPermutedRows(t *testing.T) {
	x, codes := blobs(8, 120, 3, 3)
	tests, _ := blobs(9, 30, 3, 3)
	decide := func(order []int) linalg.Matrix[float64] {
		permuted, c := take(x, order), make([]int, len(order))
		for i, r := range order {
			c[i] = codes[r]
		}
		m := MustSVC(t, rbf(0.5, permuted, permuted), c, names(3), Params{C: 3, Tol: 1e-9})
		return m.Decisions(rbf(0.5, tests, take(permuted, m.Support())).Matrix)
	}
	order := make([]int, len(codes))
	for i := range order {
		order[i] = i
	}
	want := decide(order)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		if d := cmp.Diff(want.Data, decide(order).Data, cmpopts.EquateApprox(0, 1e-7)); d != "" {
			t.Fatal(d)
		}
	}
}

// TestNegativeCurvature: on a negated kernel every move has negative curvature;
// the solver still ends where the optimality conditions hold.
func TestNegativeCurvature(t *testing.T) {
	x, codes := blobs(11, 50, 2, 2)
	k := rbf(1, x, x)
	for i := range k.Data {
		k.Data[i] = -k.Data[i]
	}
	p := binary(k, codes)
	mustSolve(t, p, k, stopping{tol: 1e-6, iterations: 1e6}, 0)
}

// TestRhoWithoutFree: with C this small all coefficients are at the bound, the
// gradient is -7C x - y, and rho lies between -1 and 1 - 35C.
func TestRhoWithoutFree(t *testing.T) {
	const c = 0x1p-10
	k := gram{Matrix: linalg.New[float64](4, 4)}
	x := []float64{0, 1, 3, 5}
	for i := range x {
		for j := range x {
			k.Matrix.Row(i)[j] = x[i] * x[j]
		}
	}
	s := mustSolve(t, cSVC(k, []bool{true, true, false, false}, c, c), k, stopping{tol: 1e-6, iterations: 1000}, 0)
	if d := cmp.Diff([]float64{c, c, -c, -c}, s.coef); d != "" {
		t.Error(d)
	}
	if s.rho != -17.5*c || s.gap != 0 {
		t.Errorf("rho %v, want %v; gap %v", s.rho, -17.5*c, s.gap)
	}
}

// TestSnap: rounding neither keeps a coefficient off its bound nor swallows a
// small one in a wide box.
func TestSnap(t *testing.T) {
	s := solver[float64]{problem: problem{lower: []float64{0, -1, 0}, upper: []float64{0.3, 0, 1e10}}}
	x := 0.1 // not a constant: constants do not round
	for _, test := range []struct {
		t              int
		b, delta, want float64
	}{
		{0, 3 * x, -0.3, 0},
		{0, x, 0.3 - x - 0x1p-55, 0.3},
		{1, -3 * x, 0.3, 0},
		{1, -0.5, 0.25, -0.25},
		{2, 2e-6, -1e-6, 1e-6},
		{2, 0, 1e-300, 1e-300},
	} {
		if got := s.snap(test.t, test.b, test.b+test.delta); got != test.want {
			t.Errorf("%v %+v in [%v, %v] is %v, want %v", test.b, test.delta, s.lower[test.t], s.upper[test.t], got, test.want)
		}
	}
}

func TestProgressAndReport(t *testing.T) {
	x, codes := blobs(12, 80, 2, 4)
	k := rbf(1, x, x)
	var seen []int
	c, err := TrainSVC(k, codes, names(4), Params{C: 2}, func(done, total int) error {
		if total != 6 {
			t.Errorf("total %d, want 6", total)
		}
		seen = append(seen, done)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int{1, 2, 3, 4, 5, 6}, seen); d != "" {
		t.Error(d)
	}
	for i, p := range c.Pairs {
		bounded := 0
		for _, v := range p.Coef {
			if math.Abs(v) == 2 {
				bounded++
			}
		}
		r := p.Report
		if r.Support != len(p.Coef) || r.Bounded != bounded || r.Iterations == 0 || r.Gap > 1e-3 || r.Objective >= 0 {
			t.Errorf("pair %d: %+v with %d coefficients, %d at the bound", i, r, len(p.Coef), bounded)
		}
	}
}

// An error of progress ends the training: no pair begins after it, and nothing is
// told again.
func TestProgressEndsTraining(t *testing.T) {
	x, codes := blobs(12, 80, 2, 4)
	enough, told := errors.New("enough"), 0
	c, err := TrainSVC(rbf(1, x, x), codes, names(4), Params{C: 2}, func(done, _ int) error {
		if told++; done == 2 {
			return enough
		}
		return nil
	})
	if c != nil || !errors.Is(err, enough) || told != 2 {
		t.Errorf("%v, %v after %d pairs", c, err, told)
	}
}

func BenchmarkSolve(b *testing.B) {
	for _, n := range []int{500, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x, codes := blobs(1, n, 10, 2)
			p := binary(rbf(0.1, x, x), codes)
			iterations := 0
			for b.Loop() {
				s, err := solve(p, stopping{tol: 1e-3, iterations: 1e7}, DefaultCacheBytes)
				if err != nil {
					b.Fatal(err)
				}
				iterations += s.iterations
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(iterations*n), "ns/iteration/row")
		})
	}
}
