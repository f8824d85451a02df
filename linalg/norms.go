package linalg

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/simd"
)

// SquaredNorms sets dst[i] to the inner product of row i of a with itself,
// bit for bit the diagonal that Syrk (SyrkWide for float32) computes. It
// panics unless dst is as long as a has rows.
func SquaredNorms[T Float](dst []float64, a Matrix[T]) { squaredNorms(best[float64](), dst, a) }

func squaredNorms[T Float](m simd.Micro[float64], dst []float64, a Matrix[T]) {
	if len(dst) != a.Rows {
		panic(fmt.Sprintf("linalg: %d squared norms of %d rows", len(dst), a.Rows))
	}
	four := fourSquares[T]
	if m.Fused {
		four = fourSquaresFused[T]
	}
	clear(dst)
	For((a.Rows+3)/4, max(1, 1<<12/max(1, a.Cols)), func(lo, hi int) {
		for i := 4 * lo; i < min(4*hi, a.Rows); i += 4 {
			last := a.Rows - 1 // what is missing is computed again and dropped
			r0, r1, r2, r3 := a.Row(i), a.Row(min(i+1, last)), a.Row(min(i+2, last)), a.Row(min(i+3, last))
			for k := 0; k < a.Cols; k += depth {
				kEnd := min(k+depth, a.Cols)
				s := four(r0[k:kEnd], r1[k:kEnd], r2[k:kEnd], r3[k:kEnd])
				for r := range dst[i:min(i+4, a.Rows)] {
					dst[i+r] += s[r]
				}
			}
		}
	})
}

// fourSquares returns the squared norms of four rows: four chains of
// additions, so that each can wait for itself.
func fourSquares[T Float](r0, r1, r2, r3 []T) (s [4]float64) {
	r1, r2, r3 = r1[:len(r0)], r2[:len(r0)], r3[:len(r0)]
	var s0, s1, s2, s3 float64
	for k, v := range r0 {
		v0, v1, v2, v3 := float64(v), float64(r1[k]), float64(r2[k]), float64(r3[k])
		s0, s1, s2, s3 = s0+float64(v0*v0), s1+float64(v1*v1), s2+float64(v2*v2), s3+float64(v3*v3)
	}
	return [4]float64{s0, s1, s2, s3}
}

// fourSquaresFused rounds as the vector kernels do.
func fourSquaresFused[T Float](r0, r1, r2, r3 []T) (s [4]float64) {
	r1, r2, r3 = r1[:len(r0)], r2[:len(r0)], r3[:len(r0)]
	var s0, s1, s2, s3 float64
	for k, v := range r0 {
		v0, v1, v2, v3 := float64(v), float64(r1[k]), float64(r2[k]), float64(r3[k])
		s0, s1, s2, s3 = math.FMA(v0, v0, s0), math.FMA(v1, v1, s1), math.FMA(v2, v2, s2), math.FMA(v3, v3, s3)
	}
	return [4]float64{s0, s1, s2, s3}
}
