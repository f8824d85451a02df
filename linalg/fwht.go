package linalg

import "fmt"

// leaf is the longest transform done as passes over the whole vector: 32 KiB
// of float64, the first-level cache.
const leaf = 1 << 12

// FWHT multiplies x in place by the Walsh-Hadamard matrix of its size, in
// natural (Sylvester) order and without a scale: entry (i, j) of the matrix is
// -1 to the number of ones in i AND j, so that applying FWHT twice multiplies
// by len(x). It takes len(x) log2 len(x) additions, and is exact on integers
// as long as the sums of absolute values fit the mantissa. It runs on one
// core; use it inside For. It panics unless len(x) is a power of two.
func FWHT[T Float](x []T) {
	if len(x) == 0 || len(x)&(len(x)-1) != 0 {
		panic(fmt.Sprintf("linalg: FWHT of %d values; pad to a power of two", len(x)))
	}
	transform(butterfliesOf[T](Paths()[0]), x)
}

// butterflies are ways to do the two highest levels of a vector of 4q values
// and the three highest of 8q values.
type butterflies[T Float] struct {
	least             int // they are for q of at least this
	quarters, eighths func(q int, x []T)
}

func butterfliesOf[T Float](p Path) butterflies[T] {
	var zero T
	if _, single := any(zero).(float32); single {
		return any(butterflies32(p)).(butterflies[T])
	}
	return any(butterflies64(p)).(butterflies[T])
}

// transform is depth first: two levels over the whole vector, then each
// quarter to its end while it is in the cache (Frigo, Leiserson, Prokop,
// Ramachandran 1999, cache-oblivious algorithms).
func transform[T Float](b butterflies[T], x []T) {
	if len(x) <= leaf {
		passes(b, x)
		return
	}
	q := len(x) / 4
	b.quarters(q, x)
	for i := 0; i < len(x); i += q {
		transform(b, x[i:i+q])
	}
}

// passes does all levels of a short transform, three at a time where it can.
func passes[T Float](b butterflies[T], x []T) {
	n := len(x)
	for ; n >= 64 || n == 8; n /= 8 {
		eighths := eighths[T]
		if n/8 >= b.least {
			eighths = b.eighths
		}
		for i := 0; i < len(x); i += n {
			eighths(n/8, x[i:i+n])
		}
	}
	for ; n >= 4; n /= 4 {
		quarters := quarters[T]
		if n/4 >= b.least {
			quarters = b.quarters
		}
		for i := 0; i < len(x); i += n {
			quarters(n/4, x[i:i+n])
		}
	}
	if n == 2 {
		pairs(x)
	}
}

// pairs does the last level.
func pairs[T Float](x []T) {
	for i := 0; i+1 < len(x); i += 2 {
		x[i], x[i+1] = x[i]+x[i+1], x[i]-x[i+1]
	}
}

// quarters does the two highest levels of a vector of 4q values.
func quarters[T Float](q int, x []T) {
	x0, x1, x2, x3 := x[:q], x[q:][:q], x[2*q:][:q], x[3*q:][:q]
	for i := range x0 {
		a, b, c, d := x0[i], x1[i], x2[i], x3[i]
		a, c = a+c, a-c
		b, d = b+d, b-d
		x0[i], x1[i], x2[i], x3[i] = a+b, a-b, c+d, c-d
	}
}

// eighths does the three highest levels of a vector of 8q values.
func eighths[T Float](q int, x []T) {
	x0, x1, x2, x3 := x[:q], x[q:][:q], x[2*q:][:q], x[3*q:][:q]
	x4, x5, x6, x7 := x[4*q:][:q], x[5*q:][:q], x[6*q:][:q], x[7*q:][:q]
	for i := range x0 {
		a, b, c, d, e, f, g, h := x0[i], x1[i], x2[i], x3[i], x4[i], x5[i], x6[i], x7[i]
		a, e = a+e, a-e
		b, f = b+f, b-f
		c, g = c+g, c-g
		d, h = d+h, d-h
		a, c = a+c, a-c
		b, d = b+d, b-d
		e, g = e+g, e-g
		f, h = f+h, f-h
		x0[i], x1[i], x2[i], x3[i] = a+b, a-b, c+d, c-d
		x4[i], x5[i], x6[i], x7[i] = e+f, e-f, g+h, g-h
	}
}
