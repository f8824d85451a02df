package linalg

import "math"

// mostRounded is the number of rows beyond which RoundingDeviation does not grow. Compensated sums
// lose no more precision with more rows.
const mostRounded = 1024

// RoundingDeviation returns a bound for the standard deviation of n numbers with the given mean. If
// their deviation is not above the bound, the numbers are equal except for rounding. The bound n
// epsilon |mean| is the main term of that of scikit-learn's StandardScaler, but n counts as at most 1,024.
func RoundingDeviation(n int, mean float64) float64 {
	return float64(min(n, mostRounded)) * epsilon * math.Abs(mean)
}

// RoundingRange returns a bound for high - low. If the difference is not above the bound, the two
// numbers are equal except for rounding. The bound is four to eight units in the last place of the larger
// magnitude.
func RoundingRange(low, high float64) float64 {
	return 4 * epsilon * max(math.Abs(low), math.Abs(high))
}
