package dataset

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

// ByRows gives each party at least these numbers of rows and classes, because a party with fewer cannot
// learn alone. ByRowsPlain gives each party at least leastRows rows.
const (
	leastRows    = 10
	leastClasses = 2
)

// These numbers bound the Dirichlet concentration. A partition beyond a bound cannot be
// distinguished from one at the bound.
const (
	leastSkew = 1e-3
	mostSkew  = 1e6
)

const draws = 100

// ByRows deals rows to parties and returns each party's rows in ascending order. With skew 0 the shares are
// stratified, and their sizes differ by one row at most. A skew > 0 is the concentration alpha of the usual
// Dirichlet label skew (Yurochkin et al., arXiv 1905.12022, section 4): the rows of each class are divided in
// proportions drawn from Dirichlet(alpha, ..., alpha), so that a smaller alpha gives more uneven parties; 0.3
// is strongly skewed, 100 nearly even.
//
// Every party gets at least 10 rows and 2 classes. A draw that fails is repeated, up to 100 draws
// in all from the one seed; then ByRows returns an error.
func ByRows(labels []string, parties int, skew float64, seed uint64) ([][]int, error) {
	if skew != 0 && !(skew >= leastSkew && skew <= mostSkew) {
		return nil, fmt.Errorf("dataset: the label skew is %v; choose 0 (even) or %v (uneven) to %v (nearly even)", skew, leastSkew, float64(mostSkew))
	}
	if err := checkParties(len(labels), parties); err != nil {
		return nil, err
	}
	classes := rowsByClass(labels)
	if len(classes) < leastClasses {
		return nil, fmt.Errorf("dataset: all %d rows have the same label, %s; a classifier needs two classes or more", len(labels), quote(labels[0]))
	}
	if places := placesOf(classes, parties); places < leastClasses*parties {
		return nil, fmt.Errorf("dataset: %d classes are too few or too small to give each of %d parties rows of %d classes; use fewer parties", len(classes), parties, leastClasses)
	}
	s := newStream(seed, streamRows)
	if skew == 0 {
		return s.deal(classes, parties), nil
	}
	_, codes := Classes(labels)
	for range draws {
		shares := s.skewed(classes, parties, skew)
		if enough(shares, codes) {
			return shares, nil
		}
	}
	return nil, fmt.Errorf("dataset: %d draws with skew %v gave no partition in which each of %d parties has %d rows and %d classes; raise the skew or use fewer parties",
		draws, skew, parties, leastRows, leastClasses)
}

// ByRowsPlain deals n rows without classes to parties, in shares of at least 10 rows whose sizes differ by
// one row at most. It refuses too few rows.
func ByRowsPlain(n, parties int, seed uint64) ([][]int, error) {
	if err := checkParties(n, parties); err != nil {
		return nil, err
	}
	return newStream(seed, streamRows).deal([][]int{linalg.Range(0, n)}, parties), nil
}

func checkParties(rows, parties int) error {
	if parties < 1 {
		return fmt.Errorf("dataset: the partition has %d parties; choose at least one", parties)
	}
	if rows/leastRows < parties {
		return fmt.Errorf("dataset: %d rows are too few for %d parties with at least %d each; use fewer parties", rows, parties, leastRows)
	}
	return nil
}

// placesOf counts the pairs of a party and a class if each class goes to as many parties as
// possible.
func placesOf(classes [][]int, parties int) int {
	places := 0
	for _, rows := range classes {
		places += min(len(rows), parties)
	}
	return places
}

// skewed divides the rows of each class in randomly drawn proportions.
func (s *stream) skewed(classes [][]int, parties int, alpha float64) [][]int {
	shares := make([][]int, parties)
	for _, rows := range classes {
		s.shuffle(rows)
		cumulated, from := 0.0, 0
		for p, share := range s.dirichlet(parties, alpha) {
			cumulated += share
			to := min(int(math.Round(cumulated*float64(len(rows)))), len(rows))
			if p == parties-1 {
				to = len(rows)
			}
			shares[p] = append(shares[p], rows[from:to]...)
			from = to
		}
	}
	for _, share := range shares {
		slices.Sort(share)
	}
	return shares
}

// dirichlet draws n shares that sum to 1 from Dirichlet(alpha, ..., alpha). The last bits of
// math.Log can differ between processors. They change a partition only if a proportion of a class falls that
// close to half a row, or a number drawn in logGamma that close to the bound of acceptance.
func (s *stream) dirichlet(n int, alpha float64) []float64 {
	shares := make([]float64, n)
	top := math.Inf(-1)
	for i := range shares {
		shares[i] = s.logGamma(alpha)
		top = max(top, shares[i])
	}
	sum := 0.0
	for i, g := range shares {
		shares[i] = math.Exp(g - top)
		sum += shares[i]
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}

func enough(shares [][]int, codes []int) bool {
	for _, share := range shares {
		seen := make(map[int]bool)
		for _, i := range share {
			seen[codes[i]] = true
		}
		if len(share) < leastRows || len(seen) < leastClasses {
			return false
		}
	}
	return true
}

// ByColumns gives each party a run of neighbouring columns. The numbers of columns differ by one
// at most. It refuses more parties than columns.
func ByColumns(cols, parties int) ([][]int, error) {
	if parties < 1 {
		return nil, fmt.Errorf("dataset: the partition has %d parties; choose at least one", parties)
	}
	ratio := make([]float64, parties)
	for p := range ratio {
		ratio[p] = 1
	}
	return ByColumnRatio(cols, ratio)
}

// ByColumnRatio gives each party p a run of neighbouring columns in proportion to ratio[p]. The
// number is rounded and at least 1. ByColumnRatio refuses ratios that are not finite and above 0, and
// more parties than columns.
func ByColumnRatio(cols int, ratio []float64) ([][]int, error) {
	if len(ratio) == 0 || cols < len(ratio) {
		return nil, fmt.Errorf("dataset: %d columns cannot be divided among %d parties; use fewer parties", cols, len(ratio))
	}
	sum := 0.0
	for p, r := range ratio {
		if !(r > 0) || math.IsInf(r, 0) {
			return nil, fmt.Errorf("dataset: the column ratio of party %d (from 0) is %v; choose a finite number above 0", p, r)
		}
		sum += r
	}
	shares := make([][]int, len(ratio))
	all := linalg.Range(0, cols)
	cumulated, from := 0.0, 0
	for p, r := range ratio {
		cumulated += r
		// Ceil gives the remainder to the first parties. Each later party still gets at least one
		// column.
		to := int(math.Ceil(float64(float64(cols)*(cumulated/sum)) - 1e-9))
		to = min(max(to, from+1), cols-(len(ratio)-1-p))
		shares[p], from = all[from:to:to], to
	}
	return shares, nil
}

// Cover returns a random share of n rows in random order, at least one row. They are the rows of
// party p in a partition by columns in which parties do not cover all rows. Cover refuses shares
// outside (0, 1].
func Cover(n int, share float64, p int, seed uint64) ([]int, error) {
	if n < 1 || p < 0 || !(share > 0 && share <= 1) {
		return nil, fmt.Errorf("dataset: the share is %v of %d rows for party %d; choose a share above 0 and up to 1", share, n, p)
	}
	rows := newStream(seed, streamCover+uint64(p)).permutation(n)
	return rows[:max(int(math.Round(share*float64(n))), 1)], nil
}

// stream draws the random numbers of splits and partitions. Only the PCG generator is from the
// standard library, since it is a fixed algorithm; the library's methods over it (Shuffle, IntN,
// NormFloat64) can change with the Go version.
type stream struct{ source *rand.PCG }

// Each use of a seed has its own stream, so that the split reveals nothing about the partition
// that is drawn with the same seed.
const (
	streamSplit uint64 = iota + 1
	streamFolds
	streamRows
	streamCover // party p uses streamCover+p
)

func newStream(seed, use uint64) *stream { return &stream{source: rand.NewPCG(seed, use)} }

// uniformBelow returns a uniform integer in [0, n), n > 0, without bias (Lemire, "Fast random
// integer generation in an interval", algorithm 5).
func (s *stream) uniformBelow(n int) int {
	bound := uint64(n)
	hi, lo := bits.Mul64(s.source.Uint64(), bound)
	for threshold := -bound % bound; lo < threshold; {
		hi, lo = bits.Mul64(s.source.Uint64(), bound)
	}
	return int(hi)
}

// shuffle permutes rows at random in place, by the algorithm of Fisher and Yates.
func (s *stream) shuffle(rows []int) {
	for i := len(rows) - 1; i > 0; i-- {
		j := s.uniformBelow(i + 1)
		rows[i], rows[j] = rows[j], rows[i]
	}
}

// permutation returns 0 to n-1 in random order.
func (s *stream) permutation(n int) []int {
	rows := linalg.Range(0, n)
	s.shuffle(rows)
	return rows
}

// uniform returns a number in the open interval (0, 1).
func (s *stream) uniform() float64 {
	return (float64(s.source.Uint64()>>11) + 0.5) / (1 << 53)
}

// normal returns a standard normal number by Marsaglia's polar method.
func (s *stream) normal() float64 {
	for {
		u, v := 2*s.uniform()-1, 2*s.uniform()-1
		if r := float64(u*u) + float64(v*v); r > 0 && r < 1 {
			return u * math.Sqrt(-2*math.Log(r)/r)
		}
	}
}

// logGamma draws the logarithm of a Gamma(alpha, 1) number (Marsaglia and Tsang, "A simple method
// for generating gamma variables", sections 2 and 6). For small alpha the number itself would
// underflow.
func (s *stream) logGamma(alpha float64) float64 {
	if alpha < 1 {
		return s.logGamma(alpha+1) + math.Log(s.uniform())/alpha
	}
	d := alpha - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.normal()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(s.uniform()) < x*x/2+d-d*v+d*math.Log(v) {
			return math.Log(d * v)
		}
	}
}
