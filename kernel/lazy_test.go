package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// scattered returns rows of which few entries are not 0, dense and sparse.
func scattered(n, f int, seed uint64) (linalg.Matrix[float64], *dataset.CSR) {
	src := rand.New(rand.NewPCG(seed, 5))
	x := linalg.New[float64](n, f)
	indptr, indices, values := []int{0}, []int32(nil), []float64(nil)
	for i := range n {
		for j := range f {
			if src.IntN(8) == 0 {
				x.Row(i)[j] = src.NormFloat64()
				indices, values = append(indices, int32(j)), append(values, x.Row(i)[j])
			}
		}
		indptr = append(indptr, len(indices))
	}
	csr, err := dataset.NewCSR(f, indptr, indices, values)
	if err != nil {
		panic(err)
	}
	return x, csr
}

func lazySpecs() []kernel.Spec {
	return []kernel.Spec{{Name: "linear"}, {Name: "rbf", Gamma: 0.3}, {Name: "polynomial", Gamma: 0.5, Coef0: 1, Degree: 2}, {Name: "tanimoto"}}
}

func made(t testing.TB, s kernel.Spec) kernel.Kernel {
	t.Helper()
	k, err := kernel.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestLazyIsTheGram: dense rows in float64 and float32 give bit for bit the
// matrix that is computed at once; sparse rows give it up to rounding.
func TestLazyIsTheGram(t *testing.T) {
	for _, shape := range [][2]int{{1, 1}, {5, 0}, {37, 11}, {300, 300}, {1500, 19}} {
		x, csr := scattered(shape[0], shape[1], 1)
		narrow, wide := linalg.New[float32](shape[0], shape[1]), linalg.New[float64](shape[0], shape[1])
		for i, v := range x.Data {
			narrow.Data[i], wide.Data[i] = float32(v), float64(float32(v))
		}
		for _, spec := range lazySpecs() {
			k, what := made(t, spec), fmt.Sprint(spec.Name, shape)
			checkSource(t, what, kernel.NewLazy(x, k), kernel.Of(kernel.LinearGram(x), k), 0)
			checkSource(t, what+" float32", kernel.NewLazy(narrow, k), kernel.Of(kernel.LinearGram(wide), k), 0)
			checkSource(t, what+" sparse", kernel.NewLazySparse(csr, k), kernel.Of(kernel.LinearGram(x), k), 1e-12)
		}
	}
}

// checkSource compares everything that a Lazy can be asked, and what its
// subsets can.
func checkSource(t *testing.T, what string, got *kernel.Lazy, want kernel.Source, tolerance float64) {
	t.Helper()
	n := want.Len()
	if got.Len() != n {
		t.Fatalf("%s: %d rows, want %d", what, got.Len(), n)
	}
	near := func(part string, g, w []float64) {
		t.Helper()
		for i := range w {
			if !(math.Abs(g[i]-w[i]) <= tolerance*(1+math.Abs(w[i]))) {
				t.Fatalf("%s: %s: entry %d is %v, want %v", what, part, i, g[i], w[i])
			}
		}
	}
	g, w := make([]float64, n), make([]float64, n)
	got.Diagonal(g)
	want.Diagonal(w)
	near("diagonal", g, w)
	for _, i := range []int{0, n / 2, n - 1} {
		got.Row(i, g)
		want.Row(i, w)
		near("row", g, w)
	}
	rows, cols := []int{n - 1, 0, n / 2, 0}, []int{n / 3, n - 1, 0}
	gb, wb := linalg.New[float64](4, 3), linalg.New[float64](4, 3)
	got.Block(rows, cols, gb)
	want.Block(rows, cols, wb)
	near("block", gb.Data, wb.Data)
	got.Block(rows, nil, linalg.New[float64](4, 0))
	checkPanel(t, what, got, rows)

	which := []int{n - 1, n / 2, n / 2, n / 4}
	sub, twice := kernel.Subset(got, which), kernel.Subset(kernel.Subset(got, which), []int{3, 0})
	wantSub, wantTwice := kernel.Subset(want, which), kernel.Subset(want, []int{n / 4, n - 1})
	g, w = make([]float64, 4), make([]float64, 4)
	sub.Diagonal(g)
	wantSub.Diagonal(w)
	near("diagonal of a subset", g, w)
	sub.Row(1, g)
	wantSub.Row(1, w)
	near("row of a subset", g, w)
	twice.Row(0, g[:2])
	wantTwice.Row(0, w[:2])
	near("row of a subset's subset", g[:2], w[:2])
	sub.Block([]int{2}, []int{3}, linalg.Matrix[float64]{Rows: 1, Cols: 1, Stride: 1, Data: g})
	wantSub.Block([]int{2}, []int{3}, linalg.Matrix[float64]{Rows: 1, Cols: 1, Stride: 1, Data: w})
	near("block of a subset", g[:1], w[:1])
	checkPanel(t, what, sub.(kernel.Panels), []int{1, 3})
	if none := kernel.Subset(got, nil); none.Len() != 0 {
		t.Fatalf("%s: a subset of no rows has %d", what, none.Len())
	}
}

// checkPanel: a panel is the rows, rounded.
func checkPanel(t *testing.T, what string, s kernel.Panels, rows []int) {
	t.Helper()
	panel, row := make([][]float32, len(rows)), make([]float64, s.Len())
	for a := range panel {
		panel[a] = make([]float32, s.Len())
	}
	s.Panel(rows, panel)
	for a, i := range rows {
		s.Row(i, row)
		for j, v := range row {
			if panel[a][j] != float32(v) {
				t.Fatalf("%s: panel of row %d, column %d is %v, want %v", what, i, j, panel[a][j], v)
			}
		}
	}
}

// TestLazySparseIsSymmetric: bit for bit, with a distance of exactly 0 to
// itself, whatever rows a value is computed with.
func TestLazySparseIsSymmetric(t *testing.T) {
	_, csr := scattered(150, 40, 2)
	l := kernel.NewLazySparse(csr, made(t, kernel.Spec{Name: "rbf", Gamma: 2}))
	k := kernel.Materialize(l).K
	row := make([]float64, 150)
	for i := range 150 {
		l.Row(i, row)
		if d := cmp.Diff(k.Row(i), row); d != "" {
			t.Fatalf("row %d:\n%s", i, d)
		}
		if row[i] != 1 {
			t.Errorf("K(%d, %d) is %v", i, i, row[i])
		}
	}
	transposed := linalg.New[float64](150, 150)
	for i := range 150 {
		for j := range 150 {
			transposed.Row(j)[i] = k.Row(i)[j]
		}
	}
	if d := cmp.Diff(k.Data, transposed.Data); d != "" {
		t.Error(d)
	}
}

func TestLazyRefusesOtherShapes(t *testing.T) {
	x, _ := scattered(4, 3, 3)
	l := kernel.NewLazy(x, made(t, kernel.Spec{Name: "linear"}))
	defer func() {
		if recover() == nil {
			t.Error("no panic for a panel of other height")
		}
	}()
	l.Panel([]int{0, 1}, make([][]float32, 1))
}

func BenchmarkLazyPanel(b *testing.B) {
	k := made(b, kernel.Spec{Name: "rbf", Gamma: 0.01})
	x, csr := scattered(20_000, 100, 1)
	for _, s := range []struct {
		name string
		lazy *kernel.Lazy
	}{{"dense", kernel.NewLazy(x, k)}, {"sparse", kernel.NewLazySparse(csr, k)}} {
		for _, height := range []int{1, 16, 64, 256} {
			b.Run(fmt.Sprint(s.name, height), func(b *testing.B) {
				which, dst := make([]int, height), make([][]float32, height)
				for a := range which {
					which[a], dst[a] = 7*a, make([]float32, x.Rows)
				}
				s.lazy.Panel(which, dst)
				for b.Loop() {
					s.lazy.Panel(which, dst)
				}
				b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N*height), "us/row")
				b.ReportMetric(float64(b.N)*float64(height)*2*20_000*100/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
