package simd_test

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/simd"
)

func TestPathsEndWithPortable(t *testing.T) {
	paths := simd.Paths()
	if paths[len(paths)-1] != simd.Portable || !slices.IsSortedFunc(paths, func(a, b simd.Path) int { return int(b - a) }) {
		t.Errorf("paths %v", paths)
	}
}

// twins are kernels that give the same bits on all paths. Each works on x, of 1024 values, and
// some read y.
var twins = map[string]func(p simd.Path, x, y []float64, signs []int8, places []uint32){
	"rows are turned": func(p simd.Path, x, _ []float64, signs []int8, _ []uint32) {
		simd.InterleavedOf(p).Turn(64, x, signs, 0.5)
	},
	"strips are copied": func(p simd.Path, x, y []float64, _ []int8, _ []uint32) {
		simd.InterleavedOf(p).AskStrips(7, y, 72)
		simd.InterleavedOf(p).CopyStrips(7, x, 64, y, 72)
	},
	"rows are sent to their places": func(p simd.Path, x, y []float64, _ []int8, places []uint32) {
		simd.InterleavedOf(p).Scatter(64, x, y, 0, places, 0.5)
	},
	"eighths are sent to their places": func(p simd.Path, x, y []float64, _ []int8, places []uint32) {
		simd.InterleavedOf(p).ScatterEighths(8, x, y, 8, places, 0.5)
	},
	"parts of a transform of columns": func(p simd.Path, x, _ []float64, _ []int8, _ []uint32) {
		simd.InterleavedOf(p).Parts(simd.Butterflies64(p), x[:512], 64, 8)
	},
	"a transform in passes": func(p simd.Path, x, _ []float64, signs []int8, _ []uint32) {
		simd.ButterfliesOf[float64](p).Passes(x[:512], append(signs, make([]int8, 448)...), 0.5)
	},
	"three levels of strips": func(p simd.Path, x, y []float64, _ []int8, _ []uint32) {
		simd.ButterfliesOf[float64](p).Eighths(32, x, 64, y, 40)
	},
	"polynomials": func(p simd.Path, x, y []float64, _ []int8, _ []uint32) {
		simd.ElementwiseOf[float64](p).Polynomial(512, x, y, 0.5, 1, 5)
	},
}

// The kernels of a path do the work of their twins in plain Go, bit for bit, and write
// nothing else.
func TestKernelsEqualTheirTwins(t *testing.T) {
	signs, places := make([]int8, 64), make([]uint32, 64)
	for i := range signs {
		signs[i] = int8(1 - 2*(i*i/3%2))
		places[i] = uint32(i*37%64) | uint32(i%3/2)<<31
	}
	onEachPath(t, func(t *testing.T, p simd.Path) {
		for name, kernel := range twins {
			before := noise[float64](1024, 1)
			got, want := slices.Clone(before), slices.Clone(before)
			kernel(p, got, noise[float64](1024, 2), signs, places)
			kernel(simd.Portable, want, noise[float64](1024, 2), signs, places)
			if !slices.Equal(got, want) {
				t.Errorf("%s: not equal to the twin", name)
			}
			if slices.Equal(got, before) {
				t.Errorf("%s: nothing is done", name)
			}
		}
	})
}
