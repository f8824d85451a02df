package kernel

import (
	"math"
	"sync"

	"github.com/mercer-fl/mercer/linalg"
)

// MedianSquaredDistance returns the median of the squared distances between any two of the given
// rows of a linear Gram matrix (n x n), as numpy.median does: the mean of both middle values for
// an even number of pairs. A gamma of 1 over it suits many RBF kernels (the median heuristic).
// The result is exact, does not depend on the number of cores, and is NaN for fewer than two
// rows.
func MedianSquaredDistance(dot linalg.Matrix[float64], rows []int) float64 {
	pairs := len(rows) * (len(rows) - 1) / 2
	if pairs == 0 {
		return math.NaN()
	}
	upper := nthDistance(dot, rows, pairs/2)
	if pairs%2 == 1 {
		return upper
	}
	return (nthDistance(dot, rows, pairs/2-1) + upper) / 2
}

// MeanSquaredNorm returns the mean of x.x over the given rows of a linear Gram matrix (n x n);
// NaN for no rows. A gamma of 1 over it scales the gamma x.z of a polynomial kernel to the order
// of 1.
func MeanSquaredNorm(dot linalg.Matrix[float64], rows []int) float64 {
	sum := 0.0
	for _, r := range rows {
		sum += dot.Row(r)[r]
	}
	return sum / float64(len(rows))
}

// digitBits is the number of bits of the searched distance that one pass over all pairs
// determines.
const digitBits = 11

// nthDistance returns the squared distance that follows n pairs in ascending order. Numbers that
// are not negative are ordered like their bits, so counting the values of one digit after the
// other finds it without a list of all.
func nthDistance(dot linalg.Matrix[float64], rows []int, n int) float64 {
	var found uint64
	for shift := 55; shift >= 0; shift -= digitBits {
		counts := digits(dot, rows, found, shift)
		digit := 0
		for n >= counts[digit] {
			n -= counts[digit]
			digit++
		}
		found |= uint64(digit) << shift
	}
	return math.Float64frombits(found)
}

// digits counts the squared distances by the digit at shift, only those whose higher bits equal
// found's.
func digits(dot linalg.Matrix[float64], rows []int, found uint64, shift int) (total [1 << digitBits]int) {
	var mu sync.Mutex
	linalg.For(len(rows), 128, func(lo, hi int) {
		var counts [1 << digitBits]int
		for a := lo; a < hi; a++ {
			row := dot.Row(rows[a])
			xx := row[rows[a]]
			for _, j := range rows[:a] {
				bits := math.Float64bits(squaredDistance(row[j], xx, dot.Data[j*dot.Stride+j]))
				if bits>>(shift+digitBits) == found>>(shift+digitBits) {
					counts[bits>>shift&(1<<digitBits-1)]++
				}
			}
		}
		mu.Lock() // integer sums do not depend on the order
		defer mu.Unlock()
		for d, c := range counts {
			total[d] += c
		}
	})
	return total
}

// squaredDistance is |x - z|^2. Rounding would make it negative for near-duplicates.
func squaredDistance(xz, xx, zz float64) float64 { return max(0, xx+zz-2*xz) }
