package linalg

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/simd"
)

const (
	// leaf is the longest vector that is transformed in passes over the whole vector.
	// It is 32 KiB of float64, which fit the first-level cache.
	leaf = 1 << 12
	// strips is the number of parts into which a longer vector is cut. strip is the number of
	// consecutive values of each part that are transformed at a time.
	strips = 64
	strip  = 32
)

// FWHT multiplies x in place by the Walsh-Hadamard matrix H of its size, in natural (Sylvester)
// order and without a scale. Entry (i, j) of H is -1 to the power of the number of ones in i AND j,
// so that applying FWHT twice multiplies by len(x). It takes len(x) log2 len(x) additions. It is
// exact on integers if the sums of absolute values fit into the mantissa. It runs on one core; use
// it inside For. It panics unless len(x) is a power of two.
func FWHT[T Float](x []T) { SignedFWHT(x, nil, 1) }

// SignedFWHT multiplies x in place by scale H D, where D flips the sign of value i if signs[i] is
// below 0. If signs is nil, D flips no signs. The result has the same bits as flipping signs, FWHT
// and multiplying by scale in sequence, but takes less time. It panics if there are fewer signs
// than values.
func SignedFWHT[T Float](x []T, signs []int8, scale T) {
	fwhtOn(Paths()[0], x, signs, scale)
}

func fwhtOn[T Float](p Path, x []T, signs []int8, scale T) {
	if len(x) == 0 || len(x)&(len(x)-1) != 0 {
		panic(fmt.Sprintf("linalg: FWHT of %d values; pad to a power of two", len(x)))
	}
	if signs != nil && len(signs) < len(x) {
		panic(fmt.Sprintf("linalg: FWHT of %d values with %d signs", len(x), len(signs)))
	}
	transform(simd.ButterfliesOf[T](p), x, signs, scale)
}

// Flip flips the sign of x[i] if signs[i] is below 0. It runs on one core; use it inside For. It
// panics if there are fewer signs than values.
func Flip[T Float](x []T, signs []int8) {
	if len(signs) < len(x) {
		panic(fmt.Sprintf("linalg: %d signs of %d values", len(signs), len(x)))
	}
	simd.Flip(Paths()[0], x, signs)
}

// transform computes the six highest levels of a long vector in one pass over memory. It then
// computes all levels of each of the 64 parts. A part of at most leaf values stays in the cache meanwhile
// (as Bailey 1990, FFTs in external or hierarchical memory).
func transform[T Float](b simd.Butterflies[T], x []T, signs []int8, scale T) {
	if len(x) <= leaf {
		b.Passes(x, signs, scale)
		return
	}
	part := len(x) / strips
	w := take[T](strips*strip, 0)
	defer w.leave()
	for at := 0; at < part; at += strip {
		if signs != nil {
			for i := at; i < len(x); i += part {
				b.Flip(strip, x[i:], signs[i:])
			}
		}
		highest(b, x[at:], w.left, part)
	}
	for i := 0; i < len(x); i += part {
		transform(b, x[i:i+part], nil, scale)
	}
}

// highest computes the six highest levels of a transform for one strip of each part of x. The
// strips are adjacent in room, which stays in the first-level cache.
func highest[T Float](b simd.Butterflies[T], x, room []T, part int) {
	for i := range 8 {
		b.Eighths(strip, room[i*strip:], 8*strip, x[i*part:], 8*part)
	}
	for i := range 8 {
		b.Eighths(strip, x[8*i*part:], part, room[8*i*strip:], strip)
	}
}
