package traffic

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Level is the significance level of all tests. A statistic whose p-value is below Level is
// suspicious.
const Level = 1e-5

// Statistic holds the value and the p-value of a statistical test.
type Statistic struct {
	Value float64
	// Chance is the p-value: the probability of a value at least this large under the null
	// hypothesis.
	Chance float64
}

// Suspicious reports whether the statistic is significant. It also returns true if there were
// too few requests to compute the p-value.
func (s Statistic) Suspicious() bool { return !(s.Chance >= Level) }

// String formats the statistic for the log of a test.
func (s Statistic) String() string { return fmt.Sprintf("%.4f (chance %.2g)", s.Value, s.Chance) }

// normal returns a statistic that is normally distributed under the null hypothesis, in standard
// deviations. Only large values are suspicious.
func normal(z float64) Statistic { return Statistic{z, math.Erfc(z/math.Sqrt2) / 2} }

// Uniform tests whether times, in fractions of a window, are uniformly distributed over [0, 1]. The
// test uses the statistic D of Kolmogorov and Smirnov. For a large number n of times, the p-value
// is at most 2 exp(-2 n D^2).
func Uniform(times []float64) Statistic {
	sorted := slices.Sorted(slices.Values(times))
	n := float64(len(sorted))
	d := 0.
	for k, x := range sorted {
		d = max(d, x-float64(k)/n, float64(k+1)/n-x)
	}
	return Statistic{d, 2 * math.Exp(-2*n*d*d)}
}

// Runs tests whether requests of the same sender follow each other too often in a series. The value
// of the statistic is the number of neighbours with the same sender, divided by the average number
// in random order (the runs of Wald and Wolfowitz, for several kinds). The p-value is that of a
// Poisson variable, whose tail is slightly heavier than the true one.
func Runs(series []int) Statistic {
	counts := map[int]int{}
	for _, s := range series {
		counts[s]++
	}
	pairs := 0
	for _, c := range counts { // the random order of the map does not matter for a sum of integers
		pairs += c * (c - 1)
	}
	same := 0
	for i := 1; i < len(series); i++ {
		if series[i] == series[i-1] {
			same++
		}
	}
	mean := float64(pairs) / float64(len(series))
	if mean == 0 {
		return Statistic{math.NaN(), math.NaN()}
	}
	return Statistic{float64(same) / mean, poisson(mean, same)}
}

// poisson returns the probability that a Poisson variable is at least k.
func poisson(mean float64, k int) float64 {
	below := 0.
	for i := range k {
		factorial, _ := math.Lgamma(float64(i + 1))
		below += math.Exp(float64(i)*math.Log(mean) - mean - factorial)
	}
	return max(0, 1-below)
}

// Independent tests whether the rows and the columns of a table of counts are independent. It
// transforms Pearson's chi-square into a normal deviate (Wilson and Hilferty). It omits rows and
// columns without a count. The expected count of every other cell should be at least 5.
func Independent(table [][]int) Statistic {
	rows, cols, n := margins(table)
	chi, freedom := 0., (filled(rows)-1)*(filled(cols)-1)
	for i, r := range table {
		for j, count := range r {
			if expected := rows[i] * cols[j] / n; expected > 0 {
				chi += (float64(count) - expected) * (float64(count) - expected) / expected
			}
		}
	}
	v := 2 / (9 * freedom)
	return normal((math.Cbrt(chi/freedom) - (1 - v)) / math.Sqrt(v))
}

func margins(table [][]int) (rows, cols []float64, n float64) {
	rows, cols = make([]float64, len(table)), make([]float64, len(table[0]))
	for i, r := range table {
		for j, count := range r {
			rows[i], cols[j], n = rows[i]+float64(count), cols[j]+float64(count), n+float64(count)
		}
	}
	return rows, cols, n
}

func filled(margin []float64) float64 {
	n := 0.
	for _, m := range margin {
		if m > 0 {
			n++
		}
	}
	return n
}

// sharedBytes is the number of consecutive bytes whose repetition is suspicious. Among a thousand
// million places of random bytes, two places share eight bytes with probability 0.03.
const sharedBytes = 8

// Repeated returns eight consecutive bytes that occur at two places of the messages, or nil if
// there are none. It ignores the bytes of each message before index start.
func Repeated(messages [][]byte, start int) []byte {
	var windows []uint64
	for _, m := range messages {
		for at := start; at+sharedBytes <= len(m); at++ {
			windows = append(windows, binary.BigEndian.Uint64(m[at:]))
		}
	}
	slices.Sort(windows)
	for i := 1; i < len(windows); i++ {
		if windows[i] == windows[i-1] {
			return binary.BigEndian.AppendUint64(nil, windows[i])
		}
	}
	return nil
}

// Prefix returns the length of the longest common prefix of all messages.
func Prefix(messages [][]byte) int {
	for n := 0; ; n++ {
		for _, m := range messages {
			if n >= len(m) || m[n] != messages[0][n] {
				return n
			}
		}
	}
}
