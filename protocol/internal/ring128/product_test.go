package ring128

import (
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

func randomMatrix(r *rand.Rand, rows, cols int) Matrix {
	return Matrix{rows, cols, random(r, rows*cols)}
}

// inner is the inner product by big integers.
func inner(x, y []Word) Word {
	sum := new(big.Int)
	for k := range x {
		sum.Add(sum, new(big.Int).Mul(x[k].Big(), y[k].Big()))
	}
	w, err := FromBig(signed(sum))
	if err != nil {
		panic(err)
	}
	return w
}

// Products equal those of big integers and are added to the words that were there, for sizes around the blocks.
func TestProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	for _, s := range [][3]int{{1, 1, 1}, {1, 3, 5}, {2, 70, 4}, {10, 65, 33}, {17, 1, 2}, {33, 130, 3}, {3, 5, depth + 1}, {2, 2, 2*depth + 7}, {0, 4, 4}, {4, 4, 0}} {
		a, b, dst := randomMatrix(r, s[0], s[2]), randomMatrix(r, s[1], s[2]), randomMatrix(r, s[0], s[1])
		copy(a.Data, edges)
		before := slices.Clone(dst.Data)
		AddMulTransB(dst, a, b)
		for i := range a.Rows {
			for j := range b.Rows {
				if want := before[i*b.Rows+j].Add(inner(a.Row(i), b.Row(j))); dst.Row(i)[j] != want {
					t.Fatalf("%v: entry %d, %d is %v, want %v", s, i, j, dst.Row(i)[j], want)
				}
			}
		}
	}
}

// The triangles are those of the products, row after row.
func TestTriangles(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, s := range [][2]int{{1, 1}, {2, 3}, {15, 4}, {16, 2}, {17, 5}, {40, 40}, {3, depth + 2}, {0, 3}} {
		n := s[0]
		a, b := randomMatrix(r, n, s[1]), randomMatrix(r, n, s[1])
		square, both := random(r, Triangle(n)), random(r, Triangle(n))
		wantSquare, wantBoth := slices.Clone(square), slices.Clone(both)
		for i := range n {
			for j := i; j < n; j++ {
				at := Start(n, i) + j - i
				wantSquare[at] = wantSquare[at].Add(inner(a.Row(i), a.Row(j)))
				wantBoth[at] = wantBoth[at].Add(inner(a.Row(i), b.Row(j))).Add(inner(b.Row(i), a.Row(j)))
			}
		}
		AddSyrk(square, a)
		AddSyr2k(both, a, b)
		if !slices.Equal(square, wantSquare) || !slices.Equal(both, wantBoth) {
			t.Errorf("%v: another triangle than the products'", s)
		}
		full := Symmetric(n, square)
		for i := range n {
			for j := range n {
				if full.Row(i)[j] != square[Start(n, min(i, j))+max(i, j)-min(i, j)] {
					t.Fatalf("entry %d, %d of the symmetric matrix", i, j)
				}
			}
		}
	}
}

// Parts by rows add up to the whole, and leave all other words as they were.
func TestProductsByRows(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for _, n := range []int{1, 15, 40, 3*stripe + 5} {
		a, b, v := randomMatrix(r, n, 7), randomMatrix(r, n, 7), randomMatrix(r, 19, 7)
		var whole, sum [2][]Word
		for k := range whole {
			whole[k], sum[k] = make([]Word, Triangle(n)), make([]Word, Triangle(n))
		}
		product, columns := New(v.Rows, n), New(v.Rows, n)
		AddSyrk(whole[0], a)
		AddSyr2k(whole[1], a, b)
		AddMulTransB(product, v, a)
		symmetric := New(n, n)
		for lo := 0; lo < n; {
			hi := lo + r.IntN(min(2*panel, n-lo)+1)
			var before [2][]Word
			for k := range sum {
				before[k] = slices.Clone(sum[k])
			}
			AddSyrkRows(sum[0], a, lo, hi)
			AddSyr2kRows(sum[1], a, b, lo, hi)
			AddMulTransBRows(columns, v, a, lo, hi)
			SetSymmetric(symmetric, whole[0], lo, hi)
			for k := range sum {
				from, to := Start(n, lo), Start(n, hi)
				if !slices.Equal(sum[k][:from], before[k][:from]) || !slices.Equal(sum[k][to:], before[k][to:]) || !slices.Equal(sum[k][from:to], whole[k][from:to]) {
					t.Fatalf("rows %d to %d of %d, triangle %d", lo, hi, n, k)
				}
			}
			lo = hi
		}
		for i, w := range symmetric.Data {
			if r, c := min(i/n, i%n), max(i/n, i%n); w != whole[0][Start(n, r)+c-r] {
				t.Fatalf("word %d of the symmetric matrix of %d rows", i, n)
			}
		}
		if !slices.Equal(columns.Data, product.Data) {
			t.Errorf("%d columns by parts differ from the product", n)
		}
	}
}

func TestProductsPanicOnShapes(t *testing.T) {
	for name, f := range map[string]func(){
		"columns":    func() { AddMulTransB(New(2, 2), New(2, 3), New(2, 4)) },
		"rows":       func() { AddMulTransB(New(3, 2), New(2, 3), New(2, 3)) },
		"width":      func() { AddMulTransB(New(2, 3), New(2, 3), New(2, 3)) },
		"triangle":   func() { AddSyrk(make([]Word, 4), New(2, 2)) },
		"two rows":   func() { AddSyr2k(make([]Word, 3), New(2, 2), New(3, 2)) },
		"two cols":   func() { AddSyr2k(make([]Word, 3), New(2, 2), New(2, 3)) },
		"symmetric":  func() { Symmetric(2, make([]Word, 4)) },
		"not square": func() { SetSymmetric(New(2, 3), make([]Word, 3), 0, 2) },
		"row below":  func() { AddSyrkRows(make([]Word, 3), New(2, 2), -1, 1) },
		"row above":  func() { AddMulTransBRows(New(2, 2), New(2, 2), New(2, 2), 1, 3) },
		"no order":   func() { AddSyr2kRows(make([]Word, 3), New(2, 2), New(2, 2), 2, 1) },
	} {
		if !panics(f) {
			t.Errorf("%s: no panic", name)
		}
	}
}

// BenchmarkProducts reports nanoseconds a multiply-add, beside those of the three multiplications alone.
func BenchmarkProducts(b *testing.B) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, n := range []int{512, 2048} {
		x := randomMatrix(r, n, n)
		y := randomMatrix(r, n, n)
		for _, columns := range []int{1, 10} {
			v, dst := randomMatrix(r, columns, n), New(columns, n)
			measure(b, fmt.Sprintf("vectors/%dx%d", n, columns), n*n*columns, func() { AddMulTransB(dst, v, x) })
		}
		if n > 512 {
			continue
		}
		dst := make([]Word, Triangle(n))
		measure(b, fmt.Sprintf("syrk/%d", n), n*n*(n+1)/2, func() { AddSyrk(dst, x) })
		measure(b, fmt.Sprintf("syr2k/%d", n), n*n*(n+1), func() { AddSyr2k(dst, x, y) })
	}
	x, y := random(r, 512), random(r, 512)
	measure(b, "multiplications", 512, func() { kept += multiplications(x, y) })
}

var kept uint64

func measure(b *testing.B, name string, multiplyAdds int, f func()) {
	b.Run(name, func(b *testing.B) {
		for b.Loop() {
			f()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(multiplyAdds), "ns/multiply-add")
	})
}

// multiplications does what a multiply-add cannot do without: one product in 128 bits and two in 64.
func multiplications(x, y []Word) (sum uint64) {
	y = y[:len(x)]
	for k := range x {
		h, l := bits.Mul64(x[k].Lo, y[k].Lo)
		sum += h + l + x[k].Lo*y[k].Hi + x[k].Hi*y[k].Lo
	}
	return sum
}
