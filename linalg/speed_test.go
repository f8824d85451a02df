package linalg_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/linalg"
)

// BenchmarkLimit measures products beside the rate of fused multiply-adds of
// the same path on as many cores, in turns, and reports the best of five of
// each and their ratio.
func BenchmarkLimit(b *testing.B) {
	for _, path := range linalg.Paths() {
		for _, cores := range []int{1, 2} {
			limits[float64](b, fmt.Sprintf("%v/float64/cores=%d", path, cores), path, cores)
			limits[float32](b, fmt.Sprintf("%v/float32/cores=%d", path, cores), path, cores)
		}
	}
}

func limits[T linalg.Float](b *testing.B, name string, path linalg.Path, cores int) {
	shapes := [][3]int{{4096, 4096, 4096}, {2000, 2000, 16384}, {4096, 4096, 100}, {512, 1200, 4096}, {64, 4096, 784}}
	if path == linalg.Portable {
		shapes = [][3]int{{512, 512, 512}}
	}
	for _, s := range shapes {
		m, n, k := s[0], s[1], s[2]
		b.Run(fmt.Sprintf("%s/gemm/%dx%dx%d", name, m, n, k), func(b *testing.B) {
			x, y, dst := dense[T](m, k, 1), dense[T](n, k, 2), linalg.New[T](m, n)
			limit[T](b, path, cores, 2*float64(m)*float64(n)*float64(k), func() { linalg.MulTransBOn(path, dst, x, y) })
		})
		if m == n {
			b.Run(fmt.Sprintf("%s/syrk/%dx%d", name, m, k), func(b *testing.B) {
				x, dst := dense[T](m, k, 1), linalg.New[T](m, m)
				limit[T](b, path, cores, float64(m)*float64(m+1)*float64(k), func() { linalg.SyrkOn(path, dst, x) })
			})
		}
	}
}

func limit[T linalg.Float](b *testing.B, path linalg.Path, cores int, flops float64, f func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	turns := int(flops/linalg.FMA[T](path, cores, 1)) + 1 // as long as the product, so that other load hits both
	var speed, peak float64
	for b.Loop() {
		for range 5 {
			begin := time.Now()
			n := linalg.FMA[T](path, cores, turns)
			peak = max(peak, n/time.Since(begin).Seconds())
			begin = time.Now()
			f()
			speed = max(speed, flops/time.Since(begin).Seconds())
		}
	}
	b.ReportMetric(speed/1e9, "GFLOP/s")
	b.ReportMetric(peak/1e9, "peak-GFLOP/s")
	b.ReportMetric(speed/peak, "of-peak")
}
