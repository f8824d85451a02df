package linalg_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// reflections returns c vectors of n, n-1, ... coordinates.
func reflections(n, c int) (signs []int8, vectors [][]float64, beta []float64) {
	x := noise[float64](max(c, 1), n, 11)
	for j := range c {
		v := x.Row(j)[j:]
		v[0]++
		squares := 0.0
		for _, e := range v {
			squares += e * e
		}
		signs, vectors, beta = append(signs, int8(1-2*(j*j/3%2))), append(vectors, v), append(beta, 2/squares)
	}
	return signs, vectors, beta
}

// reflected is the definition, one vector and one reflection at a time.
func reflected(x []float64, signs []int8, vectors [][]float64, beta []float64) []float64 {
	x = slices.Clone(x)
	clear(x[len(signs):])
	for j, s := range signs {
		x[j] *= float64(s)
	}
	for j := len(vectors) - 1; j >= 0; j-- {
		along := 0.0
		for k, v := range vectors[j] {
			along += v * x[j+k]
		}
		for k, v := range vectors[j] {
			x[j+k] -= beta[j] * along * v
		}
	}
	return x
}

func TestReflectEqualsTwin(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for _, s := range [][3]int{{1, 1, 1}, {1, 1, 0}, {16, 2, 2}, {17, 3, 2}, {15, 7, 7}, {33, 20, 13}, {5, 115, 100}, {50, 64, 1}, {0, 4, 2}} {
			m, n := s[0], s[1]
			signs, vectors, beta := reflections(n, s[2])
			x := noise[float64](m, n, 12)
			if m > 4 {
				x.Row(3)[0] = math.NaN() // spoils its own row only
			}
			got := linalg.Matrix[float64]{Rows: m, Cols: n, Stride: x.Stride, Data: slices.Clone(x.Data)}
			linalg.ReflectOn(p, got, signs, vectors, beta)
			for i := range m {
				want := reflected(x.Row(i), signs, vectors, beta)
				for k, w := range want {
					if v := got.Row(i)[k]; !(math.Abs(v-w) <= 1e-13*(1+math.Abs(w)) || v != v && w != w) {
						t.Fatalf("%v: entry %d of row %d is %v, want %v", s, k, i, v, w)
					}
				}
				alone := linalg.Matrix[float64]{Rows: 1, Cols: n, Stride: n, Data: slices.Clone(x.Row(i))}
				linalg.ReflectOn(p, alone, signs, vectors, beta)
				if !slices.EqualFunc(alone.Row(0), got.Row(i), alike[float64]) {
					t.Fatalf("%v: row %d depends on its neighbours", s, i)
				}
			}
			for i := range m {
				if !slices.Equal(got.Data[i*got.Stride+n:(i+1)*got.Stride], x.Data[i*x.Stride+n:(i+1)*x.Stride]) {
					t.Fatalf("%v: wrote past the end of row %d", s, i)
				}
			}
		}
	})
}

func TestReflectRefusesOtherLengths(t *testing.T) {
	m := linalg.New[float64](2, 3)
	for name, f := range map[string]func(){
		"factors":  func() { linalg.Reflect(m, []int8{1}, [][]float64{{1, 2, 3}}, nil) },
		"signs":    func() { linalg.Reflect(m, nil, [][]float64{{1, 2, 3}}, []float64{1}) },
		"a vector": func() { linalg.Reflect(m, []int8{1}, [][]float64{{1, 2}}, []float64{1}) },
		"one vector": func() {
			linalg.Reflect(m, make([]int8, 4), [][]float64{{1, 2, 3}, {1, 2}, {1}, {}}, []float64{1, 1, 1, 1})
		},
	} {
		if recovered(f) == nil {
			t.Errorf("%s: no panic", name)
		}
	}
}

func BenchmarkReflect(b *testing.B) {
	const m, n, c = 400, 115, 100
	signs, vectors, beta := reflections(n, c)
	x := noise[float64](m, n, 1)
	for _, p := range linalg.Paths() {
		b.Run(fmt.Sprint(p), func(b *testing.B) {
			for b.Loop() {
				linalg.ReflectOn(p, x, signs, vectors, beta)
			}
			flops(b, 2*m*n*c) // as the product
		})
	}
}
