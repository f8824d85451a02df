package traffic

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Level is the chance below which a statistic is no coincidence.
const Level = 1e-5

// Statistic is the result of a test.
type Statistic struct {
	Value float64
	// Chance is the p-value: the probability of a value at least this large under the null hypothesis.
	Chance float64
}

// Suspicious reports whether the statistic is significant, or there were too few requests to
// tell.
func (s Statistic) Suspicious() bool { return !(s.Chance >= Level) }

// String formats the statistic for the log of a test.
func (s Statistic) String() string { return fmt.Sprintf("%.4f (chance %.2g)", s.Value, s.Chance) }

// normal is a statistic in standard deviations; only large values are suspicious.
func normal(z float64) Statistic { return Statistic{z, math.Erfc(z/math.Sqrt2) / 2} }

// Uniform compares times, as parts of a window, with the uniform distribution over [0, 1]: the
// statistic D of Kolmogorov and Smirnov, whose chance is at most 2 exp(-2 n D^2) for a large
// number n of times.
func Uniform(times []float64) Statistic {
	sorted := slices.Sorted(slices.Values(times))
	n := float64(len(sorted))
	d := 0.
	for k, x := range sorted {
		d = max(d, x-float64(k)/n, float64(k+1)/n-x)
	}
	return Statistic{d, 2 * math.Exp(-2*n*d*d)}
}

// Runs looks for senders whose requests follow each other: it counts the neighbours in a series
// with the same sender, as a multiple of their average number in random order (the runs of Wald
// and Wolfowitz, for several kinds). The p-value is a Poisson variable's, whose tail is
// slightly heavier than the true one.
func Runs(series []int) Statistic {
	counts := map[int]int{}
	for _, s := range series {
		counts[s]++
	}
	pairs := 0
	for _, c := range counts { // integers: the order does not matter
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

// poisson is the chance that a Poisson variable is at least k.
func poisson(mean float64, k int) float64 {
	below := 0.
	for i := range k {
		factorial, _ := math.Lgamma(float64(i + 1))
		below += math.Exp(float64(i)*math.Log(mean) - mean - factorial)
	}
	return max(0, 1-below)
}

// Independent looks for an association between the rows and the columns of a table of counts:
// Pearson's chi-square, as a normal deviate (Wilson and Hilferty). Rows and columns without a
// count are omitted; the others should expect 5 in a cell.
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

// shared is the number of consecutive bytes that are no coincidence: among a thousand million
// places of random bytes, two have eight in common with chance 0.03.
const shared = 8

// Repeated looks for eight consecutive bytes that occur at two places of the messages, from byte
// number from on, and returns them; nil if there are none.
func Repeated(messages [][]byte, from int) []byte {
	var windows []uint64
	for _, m := range messages {
		for at := from; at+shared <= len(m); at++ {
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

// Prefix returns the number of bytes with which all messages begin.
func Prefix(messages [][]byte) int {
	for n := 0; ; n++ {
		for _, m := range messages {
			if n >= len(m) || m[n] != messages[0][n] {
				return n
			}
		}
	}
}
