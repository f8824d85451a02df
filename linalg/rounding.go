package linalg

import "math"

// mostRounded is the number of rows from which RoundingDeviation grows no more. Compensated sums
// lose no more precision with more rows.
const mostRounded = 1024

// RoundingDeviation returns the standard deviation up to which n numbers of the given mean are
// equal but for rounding. The bound n epsilon |mean| is that of scikit-learn's StandardScaler;
// here n counts as at most 1,024.
func RoundingDeviation(n int, mean float64) float64 {
	return float64(min(n, mostRounded)) * epsilon * math.Abs(mean)
}

// RoundingRange returns the difference up to which the numbers low and high are equal but for
// rounding: four units in the last place of the larger magnitude.
func RoundingRange(low, high float64) float64 {
	return 4 * epsilon * max(math.Abs(low), math.Abs(high))
}
