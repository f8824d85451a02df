package prepare

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/mercer-fl/mercer/dataset"
)

// sums holds the sums of one column over all parties.
type sums struct {
	rows, gaps           int64
	raw, scaled, squares *big.Int
	bins, words          []int64
}

// Fit makes the preparation from the sum of the parties' vectors. All parties get the same
// preparation, bit for bit.
func (p *Plan) Fit(sum []int64) (*Preparation, error) {
	if err := p.Possible(sum); err != nil {
		return nil, err
	}
	out := &Preparation{schema: p.schema, columns: make([]fitted, len(p.schema))}
	all := p.split(sum)
	for j := range p.schema {
		fill, err := p.schema[j].fillOf(all[j])
		if err != nil {
			return nil, fmt.Errorf("column %s %w", dataset.Quote(p.schema[j].Name), err)
		}
		out.columns[j] = fitted{fill, p.categories[j]}
	}
	switch p.scaling {
	case Ranged:
		return out, out.scaleByRange()
	case Standard:
		out.leaveUnscaled()
		p.standardise(out, all)
	}
	return out, nil
}

// split returns the sums of each column from the sum of the vectors.
func (p *Plan) split(sum []int64) []sums {
	all := make([]sums, len(p.schema))
	limbs := make(map[entry][]int64)
	for i, e := range p.entries {
		switch e.what {
		case countRows:
			for j := range all {
				all[j].rows = sum[i]
			}
		case countGaps:
			all[e.column].gaps = sum[i]
		case countBin:
			all[e.column].bins = append(all[e.column].bins, sum[i])
		case countWord:
			all[e.column].words = append(all[e.column].words, sum[i])
		default:
			key := entry{e.what, e.column, 0}
			limbs[key] = append(limbs[key], sum[i])
		}
	}
	for key, l := range limbs {
		s := &all[key.column]
		switch key.what {
		case sumRaw:
			s.raw = fromLimbs(l)
		case sumScaled:
			s.scaled = fromLimbs(l)
		case sumSquares:
			s.squares = fromLimbs(l)
		}
	}
	return all
}

// checkEnough refuses sums over too few values.
func (s sums) checkEnough() error {
	if n := s.rows - s.gaps; n < leastSeen {
		return fmt.Errorf("has a value in only %d training rows of all parties together; at least %d are needed to fit its values", n, leastSeen)
	}
	return nil
}

// fillOf returns the code that fills the column's gaps.
func (c *Column) fillOf(s sums) (float64, error) {
	switch {
	case s.raw == nil && s.bins == nil && s.words == nil:
		if s.scaled != nil {
			if err := s.checkEnough(); err != nil {
				return 0, err
			}
		}
		return c.fill(nil, nil, nil)
	}
	if err := s.checkEnough(); err != nil {
		return 0, err
	}
	switch {
	case s.raw != nil:
		share := new(big.Rat).SetFrac(s.raw, new(big.Int).Lsh(big.NewInt(s.rows-s.gaps), fraction))
		return interpolate(c.Range[0], c.Range[1], share), nil
	case s.bins != nil:
		return c.medianOf(s.bins)
	}
	return mostFrequent(s.words)
}

// interpolate returns low + share*(high-low), computed exactly and then rounded.
func interpolate(low, high float64, share *big.Rat) float64 {
	lo, hi := new(big.Rat).SetFloat64(low), new(big.Rat).SetFloat64(high)
	span := hi.Sub(hi, lo)
	v, _ := lo.Add(lo, span.Mul(span, share)).Float64()
	return v
}

// medianOf returns the median, interpolated within the bin that holds it.
func (c *Column) medianOf(bins []int64) (float64, error) {
	var total, before int64
	for _, n := range bins {
		total += n
	}
	if total <= 0 {
		return 0, errors.New("has no value in any training row, so its gaps cannot be filled; leave the column out")
	}
	for at, n := range bins {
		if n > 0 && 2*(before+n) >= total {
			inside := big.NewRat(total-2*before, 2*n)
			place := inside.Add(inside, new(big.Rat).SetInt64(int64(at)))
			return interpolate(c.Range[0], c.Range[1], place.Quo(place, new(big.Rat).SetInt64(Bins))), nil
		}
		before += n
	}
	return c.Range[1], nil
}

// standardise scales each column by its mean and variance over all training rows, with the gaps
// filled.
func (p *Plan) standardise(out *Preparation, all []sums) {
	k := 0
	for j := range p.schema {
		c := &p.schema[j]
		if s := all[j]; s.scaled != nil && s.rows > 0 {
			mean, variance := c.moments(s, out.columns[j].fill)
			out.standardise(k, mean, variance, 0) // the sums are exact, so that equal numbers have variance 0
		}
		k += len(c.names(p.categories[j]))
	}
}

// moments returns the mean and variance of the transformed numbers, with the number fill in each gap. It computes
// with integers until the last step.
func (c *Column) moments(s sums, fill float64) (mean, variance float64) {
	first, second := new(big.Int).Set(s.scaled), new(big.Int).Set(s.squares)
	if s.gaps > 0 {
		x, n := c.scaledSteps(fill), big.NewInt(s.gaps)
		first.Add(first, new(big.Int).Mul(n, x))
		second.Add(second, n.Mul(n, new(big.Int).Mul(x, x)))
	}
	rows := big.NewInt(s.rows)
	// The variance over n rows is (n*second - first^2)/n^2, in squared steps of the range.
	spread := new(big.Int).Mul(rows, second)
	spread.Sub(spread, new(big.Int).Mul(first, first))
	low, high, _ := c.transformedRange() // no error, since NewPlan refuses a column without a range
	mean = interpolate(low, high, new(big.Rat).SetFrac(first, new(big.Int).Lsh(rows, fraction)))
	share, _ := new(big.Rat).SetFrac(spread, new(big.Int).Lsh(new(big.Int).Mul(rows, rows), 2*fraction)).Float64()
	return mean, float64(share*(high-low)) * (high - low)
}

// fromLimbs returns the number with the given limbs. A limb can be a sum over parties, which has
// more than limbBits bits.
func fromLimbs(limbs []int64) *big.Int {
	x := new(big.Int)
	for i := len(limbs) - 1; i >= 0; i-- {
		x.Lsh(x, limbBits)
		x.Add(x, big.NewInt(limbs[i]))
	}
	return x
}

// mostOfEntry bounds each entry of the sum of the vectors, so that adding entries does not
// overflow.
const mostOfEntry = 1 << 48

// Possible returns an error if the numbers cannot be sums over rows. A sum from a peer must pass
// this check before values are fitted on the sum.
func (p *Plan) Possible(sum []int64) error {
	if len(sum) != len(p.entries) {
		return fmt.Errorf("prepare: the sum has %d entries instead of %d", len(sum), len(p.entries))
	}
	for i, v := range sum {
		if v < 0 || v > mostOfEntry {
			return fmt.Errorf("prepare: entry %d of the sum is %d, which cannot be a sum over rows", i, v)
		}
	}
	for j, s := range p.split(sum) {
		if err := s.checkPossible(len(p.categories[j])); err != nil {
			return fmt.Errorf("prepare: column %d of the schema: %w", j+1, err)
		}
	}
	return nil
}

// checkPossible refuses contradictory sums of one column.
func (s sums) checkPossible(categories int) error {
	n := s.rows - s.gaps
	switch {
	case n < 0:
		return errors.New("there are more gaps than rows")
	case s.bins != nil && total(s.bins) != n:
		return errors.New("the counts do not add up to the number of values")
	case s.words != nil && total(s.words) > n:
		return errors.New("there are more words than values")
	case exceedsBits(s.raw, n, fraction) || exceedsBits(s.scaled, n, fraction) || exceedsBits(s.squares, n, 2*fraction):
		return errors.New("a sum is larger than its values allow")
	case s.scaled != nil && new(big.Int).Mul(s.scaled, s.scaled).Cmp(new(big.Int).Mul(big.NewInt(n), s.squares)) > 0:
		return errors.New("the sum of squares is too small for the sum")
	}
	if categories > 0 && categories < len(s.words) && total(s.words[categories:]) > 0 {
		return errors.New("words that are not categories are counted")
	}
	return nil
}

func total(counts []int64) (n int64) {
	for _, v := range counts {
		n += v
	}
	return n
}

// exceedsBits reports whether a sum is larger than n numbers of the given bits can add up to.
func exceedsBits(sum *big.Int, n int64, bits uint) bool {
	return sum != nil && sum.Cmp(new(big.Int).Lsh(big.NewInt(n), bits)) > 0
}
