package kernel_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// sources are all ways to read one kernel matrix, first the plainest.
func sources(t testing.TB, n int) map[string]kernel.Source {
	dot := kernel.LinearGram(noise(n, 4, 1))
	gram := kernel.Of(dot, rbf(t))
	every, backwards := make([]int, n), make([]int, n)
	for i := range n {
		every[i], backwards[i] = i, n-1-i
	}
	return map[string]kernel.Source{
		"gram":         gram,
		"materialized": kernel.Materialize(gram),
		"subset":       kernel.Subset(gram, every),
		"nested":       kernel.Subset(kernel.Subset(gram, backwards), backwards),
		"dense subset": kernel.Subset(kernel.Materialize(gram), every),
	}
}

func TestSourcesAgree(t *testing.T) {
	const n = 150 // more than one tile
	x := noise(n, 4, 1)
	dot := kernel.LinearGram(x)
	k := rbf(t)
	want := func(i, j int) float64 { return k.At(dot.Row(i)[j], dot.Row(i)[i], dot.Row(j)[j]) }
	for name, src := range sources(t, n) {
		if src.Len() != n {
			t.Fatalf("%s: length %d", name, src.Len())
		}
		row, diagonal := make([]float64, n), make([]float64, n)
		src.Diagonal(diagonal)
		for i := range n {
			src.Row(i, row)
			for j, v := range row {
				if v != want(i, j) || i == j && diagonal[i] != v {
					t.Fatalf("%s: K(%d, %d) = %g, diagonal %g, want %g", name, i, j, v, diagonal[i], want(i, j))
				}
			}
		}
		rows, cols := []int{3, 149, 3}, []int{0, 7, 7, 128}
		block := linalg.Matrix[float64]{Rows: 3, Cols: 4, Stride: 6, Data: make([]float64, 18)}
		src.Block(rows, cols, block)
		for a, i := range rows {
			for b, j := range cols {
				if got := block.Row(a)[b]; got != want(i, j) {
					t.Fatalf("%s: block (%d, %d) = %g, want %g", name, i, j, got, want(i, j))
				}
			}
			if a < 2 && (block.Data[a*6+4] != 0 || block.Data[a*6+5] != 0) {
				t.Fatalf("%s: block writes past its rows", name)
			}
		}
	}
}

// A subset of a subset is the subset of the composed rows; rows may repeat.
func TestSubsetsCompose(t *testing.T) {
	src := sources(t, 30)["gram"]
	whole := kernel.Materialize(src).K
	rapid.Check(t, func(r *rapid.T) {
		first := rapid.SliceOfN(rapid.IntRange(0, 29), 1, 40).Draw(r, "first")
		second := rapid.SliceOfN(rapid.IntRange(0, len(first)-1), 1, 40).Draw(r, "second")
		view := kernel.Materialize(kernel.Subset(kernel.Subset(src, first), second)).K
		for i, a := range second {
			for j, b := range second {
				if got, want := view.Row(i)[j], whole.Row(first[a])[first[b]]; got != want {
					r.Fatalf("(%d, %d): %g, want %g", i, j, got, want)
				}
			}
		}
	})
}

func TestSourcesAreSafeForConcurrentReads(t *testing.T) {
	for name, src := range sources(t, 60) {
		want := kernel.Materialize(src).K
		linalg.For(60, 1, func(i, _ int) { // meaningful under -race
			row := make([]float64, 60)
			src.Row(i, row)
			if !slices.Equal(row, want.Row(i)) {
				t.Errorf("%s: row %d differs when read at the same time as others", name, i)
			}
		})
	}
}

func TestCrossEqualsGram(t *testing.T) {
	x := noise(100, 9, 3)
	test, train := x.Panel(0, 30), x.Panel(30, 100)
	for _, k := range all(t) {
		whole := kernel.Materialize(kernel.Of(kernel.LinearGram(x), k)).K
		cross := kernel.CrossGram(test, train)
		kernel.Cross(k, cross, kernel.SquaredNorms(test), kernel.SquaredNorms(train))
		for i := range 30 {
			if !slices.Equal(cross.Row(i), whole.Row(i)[30:]) {
				t.Fatalf("%s: row %d of the cross kernel is not that of the whole", k.Name(), i)
			}
		}
	}
}

func TestNormalize(t *testing.T) {
	x := noise(50, 9, 4)
	k := mustNew(t, kernel.Spec{Name: "polynomial", Gamma: 1, Coef0: 1})
	gram := kernel.Materialize(kernel.Of(kernel.LinearGram(x), k)).K
	before := slices.Clone(gram.Data)
	kernel.Normalize(gram)
	for i := range 50 {
		if got := gram.Row(i)[i]; got != 1 {
			t.Errorf("K(%d, %d) = %.17g", i, i, got)
		}
		for j, v := range gram.Row(i) {
			want := before[i*50+j] / math.Sqrt(before[i*51]) / math.Sqrt(before[j*51])
			if math.Abs(v-want) > 1e-15 {
				t.Fatalf("K(%d, %d) = %g, want %g", i, j, v, want)
			}
		}
	}
	if low, _ := spectrum(t, gram); low < -1e-9 {
		t.Errorf("smallest eigenvalue %g", low)
	}
}

// Centring in the feature space of the linear kernel is centring the rows.
func TestCenterIsCentringTheRows(t *testing.T) {
	x := noise(60, 5, 5)
	train, test := x.Panel(0, 45), x.Panel(45, 60)
	gram, cross := kernel.LinearGram(train), kernel.CrossGram(test, train)
	centring := kernel.Center(gram)
	centring.Apply(cross)

	origin := make([]float64, 5)
	for i := range 45 {
		for c, v := range train.Row(i) {
			origin[c] += v / 45
		}
	}
	moved := linalg.New[float64](60, 5)
	for i := range 60 {
		for c, v := range x.Row(i) {
			moved.Row(i)[c] = v - origin[c]
		}
	}
	near(t, "train", gram, kernel.LinearGram(moved.Panel(0, 45)))
	near(t, "test", cross, kernel.CrossGram(moved.Panel(45, 60), moved.Panel(0, 45)))
}

func near(t *testing.T, what string, got, want linalg.Matrix[float64]) {
	t.Helper()
	for i := range want.Rows {
		for j, w := range want.Row(i) {
			if math.Abs(got.Row(i)[j]-w) > 1e-14 {
				t.Fatalf("%s: (%d, %d) is %g, want %g", what, i, j, got.Row(i)[j], w)
			}
		}
	}
}

// By hand: means 2 and 4, total 3.
func TestCenterGoldenValues(t *testing.T) {
	k := linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, 3, 3, 5}}
	c := kernel.Center(k)
	if !slices.Equal(k.Data, []float64{0, 0, 0, 0}) || !slices.Equal(c.Means, []float64{2, 4}) || c.Mean != 3 {
		t.Errorf("centred %v, %v", k.Data, c)
	}
	cross := linalg.Matrix[float64]{Rows: 1, Cols: 2, Stride: 2, Data: []float64{1, 7}} // row mean 4
	if c.Apply(cross); !slices.Equal(cross.Data, []float64{-2, 2}) {
		t.Errorf("cross %v", cross.Data)
	}
}

func TestCenteredGramStaysSymmetricWithZeroMeans(t *testing.T) {
	gram := kernel.Materialize(sources(t, 80)["gram"]).K
	kernel.Center(gram)
	if low, _ := spectrum(t, gram); low < -1e-9 {
		t.Errorf("smallest eigenvalue %g", low)
	}
	for i, m := range kernel.Center(gram).Means {
		if math.Abs(m) > 1e-15 {
			t.Errorf("row %d has mean %g after centring", i, m)
		}
	}
}

// A wrong shape is called so before anything is read or written.
func TestWrongShapesPanic(t *testing.T) {
	wide, square := linalg.New[float64](2, 3), linalg.New[float64](2, 2)
	two, three := make([]float64, 2), make([]float64, 3)
	for name, f := range map[string]func(){
		"gram":           func() { kernel.Of(wide, rbf(t)) },
		"normalize":      func() { kernel.Normalize(wide) },
		"center":         func() { kernel.Center(wide) },
		"center nothing": func() { kernel.Center(linalg.New[float64](0, 0)) },
		"apply":          func() { kernel.Centring{Means: two}.Apply(wide) },
		"norms of rows":  func() { kernel.Cross(rbf(t), wide, three, three) },
		"norms of columns": func() {
			kernel.Cross(rbf(t), wide, two, two)
		},
		"subset":       func() { kernel.Subset(kernel.Dense{K: square}, []int{2}) },
		"negative row": func() { kernel.Subset(kernel.Dense{K: square}, []int{-1}) },
		"room":         func() { kernel.MaterializeIn(wide, kernel.Dense{K: square}) },
		"wide room":    func() { kernel.MaterializeIn(wide, kernel.Dense{K: linalg.New[float64](3, 3)}) },
	} {
		if said, _ := recovered(f).(string); !strings.HasPrefix(said, "kernel: ") {
			t.Errorf("%s: panics with %q", name, said)
		}
	}
	narrow := func() { sources(t, 5)["gram"].Block([]int{0}, []int{1, 2}, linalg.New[float64](1, 1)) }
	if recovered(narrow) == nil {
		t.Error("a block of two values fits into one")
	}
}

func ExampleNew() {
	x := linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, 2, 3, 1}}
	k, err := kernel.New(kernel.Spec{Name: "polynomial", Gamma: 1, Coef0: 1, Degree: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	row := make([]float64, 2)
	kernel.Of(kernel.LinearGram(x), k).Row(0, row)
	fmt.Println(row)
	// Output: [36 36]
}

// Memory that held another kernel, with a stride of its own, makes no
// difference.
func TestMaterializeIn(t *testing.T) {
	const n = 150
	dot := kernel.LinearGram(noise(n, 4, 1))
	want := kernel.Materialize(kernel.Of(dot, rbf(t)))
	room := linalg.Matrix[float64]{Rows: n, Cols: n, Stride: n + 3, Data: make([]float64, n*(n+3))}
	for i := range room.Data {
		room.Data[i] = math.NaN()
	}
	got := kernel.MaterializeIn(room, kernel.Of(dot, rbf(t)))
	for i := range n {
		if !slices.Equal(got.K.Row(i), want.K.Row(i)) {
			t.Fatalf("row %d differs", i)
		}
	}
}

// A Gram that is no longer used is gone after one collection: the next job's
// matrix needs its memory.
func TestGramIsCollected(t *testing.T) {
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 1})
	if err != nil {
		t.Fatal(err)
	}
	used := func() weak.Pointer[kernel.Gram] {
		g := kernel.Of(linalg.New[float64](4, 4), k)
		g.Block([]int{1}, []int{2, 3}, linalg.New[float64](1, 2))
		return weak.Make(g)
	}()
	if runtime.GC(); used.Value() != nil {
		t.Error("a Gram that nobody uses survives a collection")
	}
}
