package secvm

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
)

// Bin returns the bin of a name under hash number k, counted from 0. As in the published client,
// the bin is bytes 4 to 7 of SHA-256(name || decimal k), little-endian, modulo bins.
func Bin(name string, k, bins int) int {
	sum := sha256.Sum256([]byte(name + strconv.Itoa(k)))
	return int(binary.LittleEndian.Uint32(sum[4:]) % uint32(bins))
}

// Entry holds a bin and how often a record has it.
type Entry struct{ Bin, Count int }

// Vector holds the features of a record as entries for bins or columns. Bins ascend, and counts are
// at least 1.
type Vector []Entry

// Vector hashes names into bins. The counts of names in one bin add up. In a model without hashing,
// Vector ignores names that are not columns; see [Params.CheckNames].
func (p Params) Vector(names []string) Vector {
	bins := make([]int, 0, len(names)*max(1, p.spec.Hashes))
	for _, name := range names {
		if bin, ok := p.column(name); ok {
			bins = append(bins, bin)
		}
		for k := range p.spec.Hashes {
			bins = append(bins, Bin(name, k, p.spec.Bins))
		}
	}
	return countBins(bins)
}

// column returns the bin of a feature that is not hashed, and whether the name is a column.
func (p Params) column(name string) (bin int, ok bool) {
	n, err := strconv.Atoi(name)
	ok = p.spec.Columns && err == nil && n >= 1 && n <= p.spec.Bins && strconv.Itoa(n) == name
	return n - 1, ok
}

// CheckNames returns an error if a model without hashing has no column for one of the names. A
// model with hashing has a bin for every name.
func (p Params) CheckNames(names []string) error {
	for _, name := range names {
		if _, ok := p.column(name); !ok && p.spec.Columns {
			return fmt.Errorf("secvm: feature %q is not a column of model %s, which does not hash names; name features by their columns' numbers, 1 to %d", name, p.spec.Name, p.spec.Bins)
		}
	}
	return nil
}

// countBins sorts bins and returns one entry for each different bin.
func countBins(bins []int) Vector {
	slices.Sort(bins)
	var v Vector
	for _, b := range bins {
		if n := len(v); n > 0 && v[n-1].Bin == b {
			v[n-1].Count++
			continue
		}
		v = append(v, Entry{b, 1})
	}
	return v
}

// Units returns the sum of all counts. It is the number of packages that carry the features.
func (v Vector) Units() int {
	n := 0
	for _, e := range v {
		n += e.Count
	}
	return n
}

// Sample returns a random part of v whose counts add up to at most units. Each unit of a count is
// equally likely to be drawn, without replacement. A device must draw once and keep the result. New
// samples in every window would reveal the whole record after many windows.
func (v Vector) Sample(units int, r Random) Vector {
	if v.Units() <= units {
		return slices.Clone(v)
	}
	var all []int
	for _, e := range v {
		for range e.Count {
			all = append(all, e.Bin)
		}
	}
	for i := range units {
		j := i + pick(r, len(all)-i)
		all[i], all[j] = all[j], all[i]
	}
	return countBins(all[:units])
}

// Random is a source of unpredictable numbers.
type Random interface {
	Uint64n(n uint64) uint64 // returns a number that is uniform in 0 to n-1
}

func pick(r Random, n int) int { return int(r.Uint64n(uint64(n))) }

// Score returns the inner product of w and v plus the bias, w's last weight.
func (v Vector) Score(w []float64) float64 {
	s := w[len(w)-1]
	for _, e := range v {
		s += w[e.Bin] * float64(e.Count)
	}
	return s
}
