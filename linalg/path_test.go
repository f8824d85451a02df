package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/linalg"
)

// onEachPath runs a test for all paths of this machine.
func onEachPath(t *testing.T, f func(t *testing.T, p linalg.Path)) {
	for _, p := range linalg.Paths() {
		t.Run(p.String(), func(t *testing.T) { f(t, p) })
	}
}

// whole returns small whole numbers, whose products all paths add exactly.
func whole[T linalg.Float](rows, cols int, seed uint64) linalg.Matrix[T] {
	src := rand.New(rand.NewPCG(seed, 1))
	m := linalg.Matrix[T]{Rows: rows, Cols: cols, Stride: cols + 5, Data: make([]T, rows*(cols+5))}
	for i := range m.Data {
		m.Data[i] = T(src.IntN(17) - 8)
	}
	return m
}

// gapped returns a matrix of NaN whose rows lie apart, so that tests see what
// is not written and what is written past a row's end.
func gapped[T linalg.Float](rows, cols int) linalg.Matrix[T] {
	m := linalg.Matrix[T]{Rows: rows, Cols: cols, Stride: cols + 7, Data: make([]T, rows*(cols+7))}
	spoil(m)
	return m
}

func gapsUntouched[T linalg.Float](t *testing.T, what string, m linalg.Matrix[T]) {
	t.Helper()
	for i := range m.Rows {
		for _, v := range m.Data[i*m.Stride+m.Cols : (i+1)*m.Stride] {
			if v == v {
				t.Fatalf("%s: row %d: wrote %v past its end", what, i, v)
			}
		}
	}
}

// oddShapes has tails in each dimension of each path's register tile, in the
// unrolled columns, in tiles and in partial sums.
func oddShapes() [][3]int {
	shapes := [][3]int{{0, 5, 3}, {5, 0, 3}, {5, 7, 0}, {1, 1, 1}, {397, 211, 13}, {193, 197, 257}}
	for _, m := range []int{1, 3, 4, 5, 7, 8, 9, 17} {
		for _, n := range []int{1, 11, 12, 13, 23, 24, 25, 47, 48, 49, 101} {
			shapes = append(shapes, [3]int{m, n, 1 + (7*m+5*n)%11})
		}
	}
	for _, k := range []int{1, 2, 3, 4, 5, 31, 255, 256, 257, 259, 511, 512, 513, 773} {
		shapes = append(shapes, [3]int{19, 53, k})
	}
	return shapes
}

func TestPathsEqualTwinOnWholeNumbers(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for _, s := range oddShapes() {
			exact[float64](t, p, s)
			exact[float32](t, p, s)
			a, b := whole[float32](s[0], s[2], 3), whole[float32](s[1], s[2], 4)
			wide := gapped[float64](s[0], s[1])
			linalg.MulTransBWideOn(p, wide, a, b)
			same(t, fmt.Sprint("wide ", s), wide, product(a, b))
			gram := gapped[float64](s[0], s[0])
			linalg.SyrkWideOn(p, gram, a)
			same(t, fmt.Sprint("wide Gram ", s), gram, product(a, a))
		}
	})
}

// exact compares one precision of one path with the dumb twin and with the
// portable path.
func exact[T linalg.Float](t *testing.T, p linalg.Path, s [3]int) {
	t.Helper()
	a, b := whole[T](s[0], s[2], 1), whole[T](s[1], s[2], 2)
	got, portable, gram := gapped[T](s[0], s[1]), gapped[T](s[0], s[1]), gapped[T](s[0], s[0])
	linalg.MulTransBOn(p, got, a, b)
	linalg.MulTransBOn(linalg.Portable, portable, a, b)
	linalg.SyrkOn(p, gram, a)
	same(t, fmt.Sprintf("%T %v, portable", got, s), got, portable)
	same(t, fmt.Sprintf("%T %v", got, s), doubled(got), product(a, b))
	same(t, fmt.Sprintf("Gram %T %v", got, s), doubled(gram), product(a, a))
	gapsUntouched(t, fmt.Sprint(s), got)
	gapsUntouched(t, fmt.Sprint(s), gram)
}

func doubled[T linalg.Float](m linalg.Matrix[T]) linalg.Matrix[float64] {
	to := linalg.New[float64](m.Rows, m.Cols)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			to.Row(i)[j] = float64(v)
		}
	}
	return to
}

// The vector paths add one chain of fused multiply-adds per 256 columns, and
// nothing else: bit for bit.
func TestOrderOfAdditionsIsAsDocumented(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for _, k := range []int{1, 5, 256, 257, 700} {
			a, b := noise[float64](29, k, 1), noise[float64](75, k, 2)
			got := linalg.New[float64](29, 75)
			linalg.MulTransBOn(p, got, a, b)
			same(t, fmt.Sprint(k, " columns"), got, chains(a, b, p != linalg.Portable))
		}
	})
}

// chains is the package comment as a program.
func chains(a, b linalg.Matrix[float64], fused bool) linalg.Matrix[float64] {
	dst := linalg.New[float64](a.Rows, b.Rows)
	for i := range a.Rows {
		for j := range b.Rows {
			for lo := 0; lo < a.Cols; lo += 256 {
				var sum float64
				for k := lo; k < min(lo+256, a.Cols); k++ {
					if fused {
						sum = math.FMA(a.Row(i)[k], b.Row(j)[k], sum)
					} else {
						sum += float64(a.Row(i)[k] * b.Row(j)[k])
					}
				}
				dst.Row(i)[j] += sum
			}
		}
	}
	return dst
}

func TestPathsNearTwin(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for _, s := range [][3]int{{37, 131, 300}, {200, 50, 1000}} {
			a, b := noise[float64](s[0], s[2], 1), noise[float64](s[1], s[2], 2)
			got := linalg.New[float64](s[0], s[1])
			linalg.MulTransBOn(p, got, a, b)
			near(t, fmt.Sprint(s), got, product(a, b), 1e-13)
			a32, b32 := noise[float32](s[0], s[2], 1), noise[float32](s[1], s[2], 2)
			narrow := linalg.New[float32](s[0], s[1])
			linalg.MulTransBOn(p, narrow, a32, b32)
			near(t, fmt.Sprint(s, " float32"), narrow, product(a32, b32), 1e-4)
		}
	})
}

// What is not finite spoils what IEEE 754 says and no more: the padding of the
// kernels never shows.
func TestPathsWithNaNAndInf(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		rapid.Check(t, func(r *rapid.T) {
			m, n, k := rapid.IntRange(1, 30).Draw(r, "m"), rapid.IntRange(1, 60).Draw(r, "n"), rapid.IntRange(1, 300).Draw(r, "k")
			a, b := whole[float64](m, k, 5), whole[float64](n, k, 6)
			odd := rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0})
			for range rapid.IntRange(1, 4).Draw(r, "count") {
				a.Row(rapid.IntRange(0, m-1).Draw(r, "i"))[rapid.IntRange(0, k-1).Draw(r, "k")] = odd.Draw(r, "a")
				b.Row(rapid.IntRange(0, n-1).Draw(r, "j"))[rapid.IntRange(0, k-1).Draw(r, "k")] = odd.Draw(r, "b")
			}
			got, narrow := linalg.New[float64](m, n), linalg.New[float32](m, n)
			linalg.MulTransBOn(p, got, a, b)
			linalg.MulTransBOn(p, narrow, halved(a), halved(b))
			for i, w := range product(a, b).Data {
				for _, g := range []float64{got.Data[i], float64(narrow.Data[i])} {
					if g != w && !(math.IsNaN(g) && math.IsNaN(w)) {
						r.Fatalf("entry (%d, %d) is %g, want %g", i/n, i%n, g, w)
					}
				}
			}
		})
	})
}

func halved(m linalg.Matrix[float64]) linalg.Matrix[float32] {
	to := linalg.New[float32](m.Rows, m.Cols)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			to.Row(i)[j] = float32(v)
		}
	}
	return to
}

func TestEqualitiesOnEachPath(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for _, s := range [][2]int{{1, 1}, {61, 300}, {307, 19}, {200, 513}} {
			what := fmt.Sprint(s)
			x, norms := noise[float64](s[0], s[1], 3), make([]float64, s[0])
			gram, full := linalg.New[float64](s[0], s[0]), linalg.New[float64](s[0], s[0])
			linalg.SyrkOn(p, gram, x)
			linalg.MulTransBOn(p, full, x, x)
			same(t, what, gram, full)
			linalg.SquaredNormsOn(p, norms, x)
			diagonal(t, what, gram, norms)
			lo := s[0] / 3
			panel := linalg.New[float64](s[0]-lo, s[0])
			linalg.MulTransBOn(p, panel, x.Panel(lo, s[0]), x)
			same(t, what, panel, full.Panel(lo, s[0]))

			x32 := noise[float32](s[0], s[1], 3)
			linalg.SyrkWideOn(p, gram, x32)
			linalg.MulTransBWideOn(p, full, x32, x32)
			same(t, what, gram, full)
			linalg.SquaredNormsOn(p, norms, x32)
			diagonal(t, what, gram, norms)
			narrow, again := linalg.New[float32](s[0], s[0]), linalg.New[float32](s[0], s[0])
			linalg.SyrkOn(p, narrow, x32)
			linalg.MulTransBOn(p, again, x32, x32)
			same(t, what, narrow, again)
		}
	})
}

// More rows than are packed at a time.
func TestManyBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	x, few := whole[float32](4099, 2, 1), whole[float32](9, 2, 2)
	tall, wide, gram := linalg.New[float32](4099, 9), linalg.New[float32](9, 4099), linalg.New[float32](4099, 4099)
	linalg.MulTransB(tall, x, few)
	linalg.MulTransB(wide, few, x)
	linalg.Syrk(gram, x)
	same(t, "tall", doubled(tall), product(x, few))
	same(t, "wide", doubled(wide), product(few, x))
	for i := range x.Rows {
		for j, g := range gram.Row(i) {
			if want := x.Row(i)[0]*x.Row(j)[0] + x.Row(i)[1]*x.Row(j)[1]; g != want {
				t.Fatalf("entry (%d, %d) is %g, want %g", i, j, g, want)
			}
		}
	}
}

// Products at the same time do not share what they pack.
func TestProductsAtTheSameTime(t *testing.T) {
	var group sync.WaitGroup
	for seed := range uint64(6) {
		group.Go(func() {
			x := whole[float64](60+int(seed), 300, seed)
			want := product(x, x)
			for range 5 {
				got := linalg.New[float64](x.Rows, x.Rows)
				linalg.Syrk(got, x)
				for i, w := range want.Data {
					if got.Data[i] != w {
						t.Errorf("entry %d of product %d is %g, want %g", i, seed, got.Data[i], w)
						return
					}
				}
			}
		})
	}
	group.Wait()
}

func TestPathsEndWithPortable(t *testing.T) {
	paths := linalg.Paths()
	if paths[len(paths)-1] != linalg.Portable {
		t.Errorf("paths %v lack the portable one", paths)
	}
	m := linalg.New[float64](2, 2)
	if recovered(func() { linalg.SyrkOn(linalg.Path(99), m, m) }) == nil {
		t.Error("no panic for a path that does not exist")
	}
}

func TestFMACountsOperations(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		once, more := linalg.FMA[float64](p, 1, 10), linalg.FMA[float64](p, 3, 20)
		if once <= 0 || more != 6*once {
			t.Errorf("%g operations, then %g, want six times as many", once, more)
		}
		if p != linalg.Portable && linalg.FMA[float32](p, 1, 10) != 2*once {
			t.Errorf("float32 does not do twice as many as float64")
		}
	})
}
