package linalg

import (
	"fmt"
	"math"
)

// Cos sets dst[i] to the cosine of x[i]: within 2.5 units in the last place up to
// |x| = 2^40 (float32: everywhere). Beyond, and in plain Go, it is math.Cos,
// which is slower and, close to a zero of the cosine, only within 2^-53. The
// cosine of what is not finite is NaN. It runs on one core; use it inside For.
// It panics unless dst is as long as x; dst may be x.
func Cos[T Float](dst, x []T) { cosOn(Paths()[0], dst, x) }

func cosOn[T Float](p Path, dst, x []T) {
	if len(dst) != len(x) {
		panic(fmt.Sprintf("linalg: %d cosines of %d values", len(dst), len(x)))
	}
	e := elementwiseOf[T](p)
	fill(e.vector, dst, x, func(n int, dst, x []T) {
		for done := e.cos(n, dst, x); done < n; done += e.cos(n-done, dst[done:], x[done:]) {
			e.cosEach(dst[done:][:e.vector], x[done:][:e.vector])
			done += e.vector
		}
	})
}

// cosEach does one vector some of whose entries are too large for cos. The
// others must not depend on these.
func (e elementwise[T]) cosEach(dst, x []T) {
	for i, v := range x {
		var alone [widest]T
		alone[0] = v
		if e.cos(e.vector, alone[:], alone[:]) == 0 {
			alone[0] = T(math.Cos(float64(v)))
		}
		dst[i] = alone[0]
	}
}
