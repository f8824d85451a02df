package svm

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

func gaussian(t testing.TB, gamma float64) kernel.Kernel {
	t.Helper()
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: gamma})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestLazySameWhateverTheCache: neither the cache nor the number of cores
// changes a bit of what is trained from rows.
func TestLazySameWhateverTheCache(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	x, codes := noisy(900, 10)
	src := kernel.NewLazy(x, gaussian(t, 0.1))
	train := func(bytes int64) *Classifier {
		c, err := TrainSVC(src, codes, names(2), Params{C: 5, Tol: 1e-5, CacheBytes: bytes}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	want := train(1 << 30)
	if want.Pairs[0].Report.Iterations < 1000 {
		t.Fatalf("%d iterations, too few to shrink", want.Pairs[0].Report.Iterations)
	}
	for _, bytes := range []int64{1, 50_000, 400_000} {
		if d := cmp.Diff(want, train(bytes), cmp.AllowUnexported(Classifier{})); d != "" {
			t.Errorf("a cache of %d bytes:\n%s", bytes, d)
		}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if d := cmp.Diff(want, train(200_000), cmp.AllowUnexported(Classifier{})); d != "" {
		t.Errorf("on one core:\n%s", d)
	}
}

// TestLazyIsNearTheGram: values in float32 move the objective by less than a
// millionth, for every machine that has no copy of the rows.
func TestLazyIsNearTheGram(t *testing.T) {
	x, codes := blobs(42, 500, 5, 2)
	k := gaussian(t, 0.1)
	lazy, gram := kernel.NewLazy(x, k), kernel.Of(kernel.LinearGram(x), k)
	reports := func(src kernel.Source) []Report {
		c, err := TrainSVC(src, codes, names(2), Params{C: 3, Tol: 1e-6}, nil)
		if err != nil {
			t.Fatal(err)
		}
		nu, err := TrainNuSVC(src, codes, names(2), NuParams{Nu: 0.3, Tol: 1e-6}, nil)
		if err != nil {
			t.Fatal(err)
		}
		one, err := TrainOneClass(src, NuParams{Nu: 0.2, Tol: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		y := make([]float64, x.Rows)
		for i := range y {
			y[i] = math.Sin(x.Row(i)[0])
		}
		svr, err := TrainSVR(src, y, SVRParams{C: 1, Epsilon: 0.1, Tol: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		return []Report{c.Pairs[0].Report, nu.Pairs[0].Report, one.Report, svr.Report}
	}
	got := reports(lazy)
	for i, want := range reports(gram) {
		if math.Abs(got[i].Objective-want.Objective) > 1e-6*math.Abs(want.Objective) || got[i].Support != want.Support {
			t.Errorf("machine %d: %+v, from the Gram matrix %+v", i, got[i], want)
		}
	}
}

// TestLazyNamesRows: a value that is not finite is an error that names its rows.
func TestLazyNamesRows(t *testing.T) {
	x, codes := blobs(43, 90, 2, 3)
	x.Row(7)[0] = 1e200 // its square is no number
	_, err := TrainSVC(kernel.NewLazy(x, gaussian(t, 1)), codes, names(3), Params{C: 1}, nil)
	want := `svm: classes "a" and "b": kernel value (7, 7) is NaN: check the data and the kernel's parameters`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestCacheOfPanels asks for rows in any order, goes through many, shrinks
// and starts again: a row always equals the source's row, and the values kept
// never exceed the bound.
func TestCacheOfPanels(t *testing.T) {
	x, _ := blobs(44, 700, 3, 2)
	rng := rand.New(rand.NewPCG(44, 1))
	for _, bytes := range []int64{1, 20_000, 300_000, 1 << 24} {
		full := kernel.NewLazy(x, gaussian(t, 0.3))
		var source kernel.Source = full
		c := newCache[float32](source, bytes)
		c.next = func(taken []int, most int) []int {
			for i := range source.Len() {
				if len(taken) < most && i != taken[0] && c.slot[i] < 0 {
					taken = append(taken, i)
				}
			}
			return taken
		}
		for turn := range 300 {
			switch {
			case turn == 290:
				source = full
				c.reset(source)
			case turn%60 == 59:
				keep := keepSome(rng, source.Len())
				source = kernel.Subset(source, keep)
				c.shrink(source, keep)
			case turn%50 == 6:
				checkPass(t, c, source, rng)
			}
			i, j := skewed(rng, source.Len()), skewed(rng, source.Len())
			first, err := c.row(i)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.row(j); err != nil {
				t.Fatal(err)
			}
			sameRow(t, source, i, first)
		}
		if used := int64(4 * (len(c.slabs)*c.slabSize + c.batch*700)); used > max(bytes, 4*4*700) {
			t.Errorf("%d slabs of %d values in a cache of %d bytes", len(c.slabs), c.slabSize, bytes)
		}
	}
}

// checkPass: every row once, in order, in pairs.
func checkPass(t *testing.T, c *cache[float32], source kernel.Source, rng *rand.Rand) {
	t.Helper()
	rows := keepSome(rng, source.Len())
	var seen []int
	err := c.passPairs(rows, func(i int, x []float32, j int, y []float32) {
		sameRow(t, source, i, x)
		if seen = append(seen, i); j >= 0 {
			sameRow(t, source, j, y)
			seen = append(seen, j)
		}
	})
	if d := cmp.Diff(rows, seen); d != "" || err != nil {
		t.Fatalf("error %v, rows:\n%s", err, d)
	}
}

// skewed draws some rows more often than others.
func skewed(rng *rand.Rand, n int) int { return min(rng.IntN(n), rng.IntN(n), rng.IntN(n)) }

func keepSome(rng *rand.Rand, n int) []int {
	var keep []int
	for i := range n {
		if rng.IntN(8) > 0 {
			keep = append(keep, i)
		}
	}
	return keep
}

func sameRow(t *testing.T, source kernel.Source, i int, got []float32) {
	t.Helper()
	want := make([]float64, source.Len())
	source.Row(i, want)
	if len(got) != len(want) {
		t.Fatalf("row %d has %d values, want %d", i, len(got), len(want))
	}
	for j, v := range want {
		if got[j] != float32(v) {
			t.Fatalf("value (%d, %d) is %v, want %v", i, j, got[j], float32(v))
		}
	}
}

// TestLikely: the rows most wrong come first, but none that is there already.
func TestLikely(t *testing.T) {
	x, codes := blobs(45, 200, 3, 2)
	s, err := newSolver[float32](lazyBinary(t, x, codes), stopping{tol: 1e-3, iterations: 1e6}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		s.scan()
		if _, err := s.step(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.rows.load([]int{3}); s.rows.slot[3] < 0 || err != nil {
		t.Fatal("row 3 is not there", err)
	}
	taken := s.appendLikely([]int{5}, 12)
	if len(taken) != 12 || taken[0] != 5 {
		t.Fatalf("took %v, want 5 and 11 others", taken)
	}
	p, least := s.parts[0], math.Inf(1)
	in := map[int]bool{5: true}
	for _, row := range taken[1:] {
		if in[row] || s.rows.slot[row] >= 0 {
			t.Errorf("row %d is there already", row)
		}
		in[row], least = true, min(least, p.violation(s.gradient[row], s.allowed[row]))
	}
	for row := range 200 {
		if !in[row] && s.rows.slot[row] < 0 && p.violation(s.gradient[row], s.allowed[row]) > least {
			t.Errorf("row %d violates by %v, one that was taken by %v", row, p.violation(s.gradient[row], s.allowed[row]), least)
		}
	}
}

// noisy draws rows of two classes by a plane, a fifth of them on the wrong side.
func noisy(n, dims int) (linalg.Matrix[float64], []int) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(dims)))
	x, codes := linalg.New[float64](n, dims), make([]int, n)
	for i := range n {
		sum := 0.0
		for c := range x.Row(i) {
			x.Row(i)[c] = rng.NormFloat64()
			sum += x.Row(i)[c] * math.Cos(float64(c))
		}
		if (sum > 0) == (rng.IntN(5) > 0) {
			codes[i] = 1
		}
	}
	return x, codes
}

func lazyBinary(t testing.TB, x linalg.Matrix[float64], codes []int) problem {
	first := make([]bool, len(codes))
	for i, c := range codes {
		first[i] = c == 0
	}
	return cSVC(kernel.NewLazy(x, gaussian(t, 1/float64(x.Cols))), first, 1, 1)
}

// BenchmarkSMO trains from rows and reports what an iteration and a kernel row
// take, rows read again included.
func BenchmarkSMO(b *testing.B) {
	for _, n := range []int{2000, 8000} {
		for _, mb := range []int64{16, 256} {
			b.Run(fmt.Sprintf("%dx100/%dMB", n, mb), func(b *testing.B) {
				x, codes := noisy(n, 100)
				iterations, rows := 0, 0
				for b.Loop() {
					s, err := newSolver[float32](lazyBinary(b, x, codes), stopping{tol: 1e-3, iterations: 1e7}, mb<<20)
					if err != nil {
						b.Fatal(err)
					}
					if err := s.run(); err != nil {
						b.Fatal(err)
					}
					iterations, rows = iterations+s.iterations, rows+s.rows.misses
				}
				seconds := b.Elapsed().Seconds()
				b.ReportMetric(float64(iterations)/seconds, "iterations/s")
				b.ReportMetric(float64(rows)/seconds, "rows/s")
				b.ReportMetric(2*float64(rows)*float64(n)*100/seconds/1e9, "GFLOP/s")
			})
		}
	}
}

// TestLoadMoreThanASlab reads more rows at once than a slab has room for. Each gets memory of its
// own.
func TestLoadMoreThanASlab(t *testing.T) {
	const n = 20
	x, _ := noisy(n, 3)
	source := kernel.NewLazy(x, gaussian(t, .5))
	c := &cache[float32]{panel: 8, batch: 2, slabSize: 3 * n, most: 6}
	c.reset(source)
	rows, want := make([]int, 8), make([]float64, n)
	for a := range rows {
		rows[a] = 2 * a
	}
	if err := c.load(rows); err != nil {
		t.Fatal(err)
	}
	for _, i := range rows {
		got, err := c.row(i)
		if err != nil {
			t.Fatal(err)
		}
		source.Row(i, want)
		for j, v := range want {
			if got[j] != float32(v) {
				t.Fatalf("row %d has %v in column %d, want %v", i, got[j], j, v)
			}
		}
	}
	if c.misses != len(rows) {
		t.Errorf("%d rows were read, want %d", c.misses, len(rows))
	}
}

// TestGuessesEnd asks for rows in turn while the cache guesses others, which nobody asks for. It
// stops guessing. When its few guesses are used, it guesses at each fetch again.
func TestGuessesEnd(t *testing.T) {
	const n = 4000
	x, _ := noisy(n, 3)
	asked := 0
	c := &cache[float32]{panel: 8, batch: 2, slabSize: 10 * n, most: 2}
	c.next = func(taken []int, limit int) []int {
		for k := range limit - 1 {
			taken = append(taken, (asked+n/2+k)%n)
		}
		return taken
	}
	c.reset(kernel.NewLazy(x, gaussian(t, .5)))
	ask := func(count int) (misses int) {
		before := c.misses
		for range count {
			if _, err := c.row(asked % n); err != nil {
				t.Fatal(err)
			}
			asked++
		}
		return c.misses - before
	}
	ask(100)
	if misses := ask(1000); misses > 1300 {
		t.Errorf("1,000 rows that nobody guessed took %d misses: the cache still guesses", misses)
	}
	if c.used != 0 || c.wasted == 0 {
		t.Errorf("%d guesses were used and %d wasted", c.used, c.wasted)
	}
	c.next = func(taken []int, limit int) []int {
		for k := range limit - 1 {
			taken = append(taken, (asked+1+k)%n)
		}
		return taken
	}
	ask(1000)
	before := c.used
	ask(800)
	if used := c.used - before; used < 600 {
		t.Errorf("%d of 800 rows were guessed after guesses had become good, want most", used)
	}
}

// guessing returns a cache of n rows that has room for slots of them. It reads four rows at once: the
// one that is asked for and the next ones that it lacks.
func guessing(t *testing.T, n, slots int) (*cache[float32], kernel.Source) {
	t.Helper()
	x, _ := noisy(n, 3)
	source := kernel.NewLazy(x, gaussian(t, .5))
	c := &cache[float32]{panel: 4, batch: 2, slabSize: slots * n, most: 1}
	c.next = func(taken []int, limit int) []int {
		for k := taken[0] + 1; k < c.width && len(taken) < limit; k++ {
			if c.slot[k] < 0 {
				taken = append(taken, k)
			}
		}
		return taken
	}
	c.reset(source)
	return c, source
}

// TestRowAfterAFailedRead: a read that fails leaves no row behind, and its slots are used again.
func TestRowAfterAFailedRead(t *testing.T) {
	c, source := guessing(t, 20, 6)
	if _, err := c.row(0); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("interrupted")
	c.interrupt = func() error { return failed }
	if _, err := c.row(10); !errors.Is(err, failed) {
		t.Fatalf("error %v, want that of interrupt", err)
	}
	c.interrupt = nil
	for i := range 20 {
		if c.guessed[i] && c.slot[i] < 0 {
			t.Errorf("row %d is a guess, but the cache lacks it", i)
		}
	}
	for i := range 20 {
		row, err := c.row((i + 10) % 20)
		if err != nil {
			t.Fatal(err)
		}
		sameRow(t, source, (i+10)%20, row)
	}
	for slot, row := range c.owner {
		if row < 0 || c.slot[row] != slot {
			t.Errorf("slot %d has row %d", slot, row)
		}
	}
}

// TestShrinkKeepsGuesses: a guessed row that stays is still a guess under its new number.
func TestShrinkKeepsGuesses(t *testing.T) {
	c, source := guessing(t, 20, 6)
	if _, err := c.row(0); err != nil { // guesses 1, 2 and 3
		t.Fatal(err)
	}
	if _, err := c.row(2); err != nil {
		t.Fatal(err)
	}
	keep := []int{0, 2, 3, 5, 7}
	c.shrink(kernel.Subset(source, keep), keep)
	if want := []bool{false, false, true, false, false}; !slices.Equal(c.guessed, want) {
		t.Errorf("guesses %v, want %v", c.guessed, want)
	}
	if _, err := c.row(2); err != nil {
		t.Fatal(err)
	}
	if c.used != 2 || c.wasted != 0 || c.misses != 4 {
		t.Errorf("%d used, %d wasted, %d misses, want 2, 0 and 4", c.used, c.wasted, c.misses)
	}
}
