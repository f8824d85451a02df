package linalg

import "fmt"

// Exp sets dst[i] to e^x[i], within 2 units in the last place. Overflow is
// +Inf, underflow goes through the subnormal numbers to 0. It runs on one core;
// use it inside For. It panics unless dst is as long as x; dst may be x.
func Exp[T Float](dst, x []T) { expOn(Paths()[0], dst, x) }

func expOn[T Float](p Path, dst, x []T) {
	if len(dst) != len(x) {
		panic(fmt.Sprintf("linalg: %d exponentials of %d values", len(dst), len(x)))
	}
	e := elementwiseOf[T](p)
	fill(e.vector, dst, x, e.exp)
}
