package prepare

import (
	"errors"
	"fmt"
	"math/big"
)

// mostOfEntry bounds an entry of a sum over all parties, so that sums of entries are numbers.
const mostOfEntry = 1 << 48

// Possible refuses numbers that no rows can have as their sums. What a peer tells passes here
// before anything is fitted on it.
func (p *Plan) Possible(sum []int64) error {
	if len(sum) != len(p.entries) {
		return fmt.Errorf("prepare: a sum of %d numbers, and %d were planned", len(sum), len(p.entries))
	}
	for i, v := range sum {
		if v < 0 || v > mostOfEntry {
			return fmt.Errorf("prepare: number %d of a sum is %d, which no rows have", i, v)
		}
	}
	for j, s := range p.split(sum) {
		if err := s.possible(len(p.categories[j])); err != nil {
			return fmt.Errorf("prepare: column %d of the schema: %w", j+1, err)
		}
	}
	return nil
}

// possible refuses sums of one column that contradict each other.
func (s sums) possible(categories int) error {
	n := s.rows - s.gaps
	switch {
	case n < 0:
		return errors.New("more gaps than rows")
	case s.bins != nil && total(s.bins) != n:
		return errors.New("counts of another number of values")
	case s.words != nil && total(s.words) > n:
		return errors.New("more words than values")
	case above(s.raw, n, fraction) || above(s.scaled, n, fraction) || above(s.squares, n, 2*fraction):
		return errors.New("a sum that is larger than its values can be")
	case s.scaled != nil && new(big.Int).Mul(s.scaled, s.scaled).Cmp(new(big.Int).Mul(big.NewInt(n), s.squares)) > 0:
		return errors.New("squares that are smaller than their sum")
	}
	if categories > 0 && categories < len(s.words) && total(s.words[categories:]) > 0 {
		return errors.New("counts of words that are no category")
	}
	return nil
}

func total(counts []int64) (n int64) {
	for _, v := range counts {
		n += v
	}
	return n
}

// above reports whether a sum of n numbers of that many bits is too large.
func above(sum *big.Int, n int64, bits uint) bool {
	return sum != nil && sum.Cmp(new(big.Int).Lsh(big.NewInt(n), bits)) > 0
}
