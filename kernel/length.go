package kernel

import (
	"math"
	"sync"

	"github.com/mercer-fl/mercer/linalg"
)

// MedianSquaredDistance returns the median of the squared distances between the given rows of dot,
// a linear Gram matrix (n x n). Like numpy.median, it returns the mean of both middle values for an
// even number of pairs. A gamma of 1 divided by this median suits many RBF kernels (the median
// heuristic). The result is exact, does not depend on the number of cores, and is NaN for fewer
// than two rows.
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

// MeanSquaredNorm returns the mean of the squared norms x.x of the given rows of dot, a linear Gram
// matrix (n x n). It returns NaN for no rows. With a gamma of 1 divided by this mean, the term
// gamma x.z of a polynomial kernel is of the order of 1.
func MeanSquaredNorm(dot linalg.Matrix[float64], rows []int) float64 {
	sum := 0.0
	for _, r := range rows {
		sum += dot.Row(r)[r]
	}
	return sum / float64(len(rows))
}

// digitBits is the number of bits that each pass over all pairs adds to the wanted distance.
const digitBits = 11

// nthDistance returns the squared distance with index n in ascending order, from 0. Numbers that
// are not negative have the order of their bits. So nthDistance needs no list of all distances: it
// finds the bits one digit after the other, by counting the values of the digit.
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

// digits counts the squared distances by one digit of their bits. The digit begins at bit shift. It
// counts only distances whose higher bits equal the higher bits of prefix.
func digits(dot linalg.Matrix[float64], rows []int, prefix uint64, shift int) (total [1 << digitBits]int) {
	var mu sync.Mutex
	linalg.For(len(rows), 128, func(lo, hi int) {
		var counts [1 << digitBits]int
		for a := lo; a < hi; a++ {
			row := dot.Row(rows[a])
			xx := row[rows[a]]
			for _, j := range rows[:a] {
				bits := math.Float64bits(squaredDistance(row[j], xx, dot.Data[j*dot.Stride+j]))
				if bits>>(shift+digitBits) == prefix>>(shift+digitBits) {
					counts[bits>>shift&(1<<digitBits-1)]++
				}
			}
		}
		mu.Lock() // integer sums do not depend on the order of cores
		defer mu.Unlock()
		for d, c := range counts {
			total[d] += c
		}
	})
	return total
}

// squaredDistance returns |x - z|^2, given the inner products. The result is at least 0: rounding
// could make the sum negative for near-duplicates.
func squaredDistance(xz, xx, zz float64) float64 { return max(0, xx+zz-2*xz) }
