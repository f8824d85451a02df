package linalg_test

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mercer-fl/mercer/linalg"
)

// flops reports the speed of one operation of n floating-point operations.
func flops(b *testing.B, n float64) {
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// traffic reports the speed of one operation that must move n bytes.
func traffic(b *testing.B, n float64) {
	b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
}

// dense is noise without zeros, which gonum skips.
func dense[T linalg.Float](rows, cols int, seed uint64) linalg.Matrix[T] {
	m := noise[T](rows, cols, seed)
	for i, v := range m.Data {
		if v == 0 {
			m.Data[i] = 1
		}
	}
	return m
}

func BenchmarkMulTransB(b *testing.B) {
	for _, s := range [][3]int{{1024, 1024, 1024}, {1, 1024, 100}, {512, 1200, 4096}} {
		x, z := dense[float64](s[0], s[2], 1), dense[float64](s[1], s[2], 2)
		dst := linalg.New[float64](s[0], s[1])
		b.Run(fmt.Sprintf("float64/%dx%dx%d", s[0], s[1], s[2]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				linalg.MulTransB(dst, x, z)
			}
			flops(b, 2*float64(s[0])*float64(s[1])*float64(s[2]))
		})
	}
	x, dst := dense[float32](1024, 1024, 1), linalg.New[float32](1024, 1024)
	b.Run("float32/1024x1024x1024", func(b *testing.B) {
		for b.Loop() {
			linalg.MulTransB(dst, x, x)
		}
		flops(b, 2<<30)
	})
}

// BenchmarkGonum is gonum's own a b^T, to compare BenchmarkMulTransB with.
func BenchmarkGonum(b *testing.B) {
	x, z := gonum(dense[float64](1024, 1024, 1)), gonum(dense[float64](1024, 1024, 2))
	dst := mat.NewDense(1024, 1024, nil)
	for b.Loop() {
		dst.Mul(x, z.T())
	}
	flops(b, 2<<30)
}

func BenchmarkSyrk(b *testing.B) {
	for _, s := range [][2]int{{1024, 1024}, {1200, 64}, {100, 65536}} {
		x, dst := dense[float64](s[0], s[1], 1), linalg.New[float64](s[0], s[0])
		b.Run(fmt.Sprintf("float64/%dx%d", s[0], s[1]), func(b *testing.B) {
			for b.Loop() {
				linalg.Syrk(dst, x)
			}
			flops(b, float64(s[0])*float64(s[0]+1)*float64(s[1]))
		})
	}
	x, dst := dense[float32](1024, 1024, 1), linalg.New[float64](1024, 1024)
	b.Run("wide/1024x1024", func(b *testing.B) {
		for b.Loop() {
			linalg.SyrkWide(dst, x)
		}
		flops(b, 1024*1025*1024)
	})
}

func BenchmarkSquaredNorms(b *testing.B) {
	x := dense[float64](1024, 1024, 1)
	dst := make([]float64, 1024)
	b.ReportAllocs()
	for b.Loop() {
		linalg.SquaredNorms(dst, x)
	}
	traffic(b, 8<<20)
}

func BenchmarkFWHT(b *testing.B) {
	for _, n := range []int{1 << 6, 1 << 10, 1 << 12, 1 << 18} {
		b.Run(fmt.Sprintf("float64/%d", n), func(b *testing.B) { benchmarkFWHT[float64](b, n, 8) })
	}
	b.Run("float32/262144", func(b *testing.B) { benchmarkFWHT[float32](b, 1<<18, 4) })
}

// benchmarkFWHT transforms zeros: sums of anything else would overflow soon,
// and additions take as long.
func benchmarkFWHT[T linalg.Float](b *testing.B, n int, size float64) {
	x := make([]T, n)
	levels := 0
	for 1<<levels < n {
		levels++
	}
	for b.Loop() {
		linalg.FWHT(x)
	}
	flops(b, float64(n*levels))
	traffic(b, 2*size*float64(n))
}

func BenchmarkFor(b *testing.B) {
	for b.Loop() {
		linalg.For(64, 1, func(lo, hi int) {})
	}
}
