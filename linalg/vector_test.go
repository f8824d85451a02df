package linalg_test

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

func TestDotAndAxpy(t *testing.T) {
	testVectors[float64](t, 1e-14)
	testVectors[float32](t, 1e-5)
}

func testVectors[T linalg.Float](t *testing.T, off float64) {
	for _, n := range []int{0, 1, 7, 64, 1001} {
		a, b := noise[T](1, n, 1).Data[:n], noise[T](1, n, 2).Data[:n]
		want := 0.0
		for i, v := range a {
			want += float64(v) * float64(b[i])
		}
		if got := float64(linalg.Dot(a, b)); math.Abs(got-want) > off*float64(n) {
			t.Errorf("the inner product of %d values is %v, want %v", n, got, want)
		}
		sum := append([]T(nil), b...)
		linalg.Axpy(3, a, sum)
		for i, v := range sum {
			if want := float64(3*a[i]) + float64(b[i]); math.Abs(float64(v)-want) > off*10 {
				t.Errorf("%d values: sum %d is %v, want %v", n, i, v, want)
			}
		}
	}
}

func TestVectorLengths(t *testing.T) {
	for name, f := range map[string]func(){
		"dot":  func() { linalg.Dot(make([]float32, 2), make([]float32, 3)) },
		"axpy": func() { linalg.Axpy(1, make([]float64, 3), make([]float64, 2)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}
