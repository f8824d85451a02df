package prepare

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/linalg"
)

// Scaling names the method by which prepared columns are scaled.
type Scaling string

// These are the scalings that a preparation can apply itself.
const (
	Unscaled Scaling = ""
	Standard Scaling = "standard" // scales to mean 0 and variance 1 over the training rows, with gaps filled
	Ranged   Scaling = "range"    // scales the schema's range to [0, 1]; needs no rows
)

// FitAlone fits a preparation to the given training rows without sums from other parties. Unlike
// [Plan.Fit], FitAlone rounds no numbers to steps of the range and groups none into bins. No data leave the process.
func FitAlone(f *Frame, rows []int, scaling Scaling) (*Preparation, error) {
	if len(rows) == 0 {
		return nil, fmt.Errorf("prepare: there are no training rows; give at least one")
	}
	p := &Preparation{schema: f.schema, columns: make([]fitted, len(f.schema))}
	for j := range f.schema {
		if err := p.fitColumn(f, rows, j); err != nil {
			return nil, fmt.Errorf("column %s %w", dataset.Quote(f.schema[j].Name), err)
		}
	}
	return p, p.scaleAlone(f, rows, scaling)
}

// fitColumn fits the categories of a column and the code that fills its gaps.
func (p *Preparation) fitColumn(f *Frame, rows []int, j int) (err error) {
	c, fit := &p.schema[j], &p.columns[j]
	fit.fill, fit.categories = gap, c.Categories
	if c.Agree {
		if fit.categories, err = f.Proposal(rows, j, 1); err != nil {
			return err
		}
	}
	if fit.fill, err = c.fill(f.values(rows, j), fit.categories, f.words[j]); err == nil && math.IsInf(fit.fill, 0) {
		return errLarge
	}
	if c.Ranged() && !isGap(fit.fill) { // rounding can move a mean out of the range
		fit.fill = min(max(fit.fill, c.Range[0]), c.Range[1])
	}
	return err
}

var errLarge = errors.New("has numbers that are too large to be summed; give it a range, or a larger unit")

// fill returns the code that fills the column's gaps.
func (c *Column) fill(values []float64, categories, words []string) (float64, error) {
	if c.Missing == FillValue {
		return c.parse(c.Value, pointed, nil)
	}
	if !c.filled() || c.Missing == FillCategory {
		return gap, nil
	}
	if len(values) == 0 {
		return 0, fmt.Errorf("has no value in any training row, so its gaps cannot be filled; leave the column out")
	}
	switch c.Missing {
	case FillMean:
		return mean(values), nil
	case FillMedian:
		return median(values), nil
	}
	counts := make([]int64, max(len(categories), 2))
	if c.Agree {
		codes := places(words, categories)
		for i, v := range values {
			values[i] = codes[int(v)]
		}
	}
	for _, v := range values {
		if v >= 0 {
			counts[int(v)]++
		}
	}
	return mostFrequent(counts)
}

// mean returns the mean by a compensated (Kahan) sum.
func mean(values []float64) float64 {
	sum, lost := 0.0, 0.0
	for _, v := range values {
		y := v - lost
		t := sum + y
		lost = (t - sum) - y
		sum = t
	}
	return sum / float64(len(values))
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}

// mostFrequent returns the index of the largest count, or the first index among equal counts.
func mostFrequent(counts []int64) (float64, error) {
	at := 0
	for i, n := range counts {
		if n > counts[at] {
			at = i
		}
	}
	if counts[at] == 0 {
		return 0, fmt.Errorf("has none of its categories in any training row, so its gaps cannot be filled; leave the column out")
	}
	return float64(at), nil
}

// scaleAlone sets the scaling. Standard takes it from the mean and variance of the prepared training rows.
func (p *Preparation) scaleAlone(f *Frame, rows []int, scaling Scaling) error {
	if scaling == Unscaled {
		return nil
	}
	if scaling == Ranged {
		return p.scaleByRange()
	}
	table, err := p.Apply(f.Subset(rows).(*Frame))
	if err != nil {
		return err
	}
	p.leaveUnscaled()
	m := table.Matrix()
	for _, k := range p.Numbers() {
		values := make([]float64, m.Rows)
		for i := range values {
			values[i] = m.Row(i)[k]
		}
		centre := mean(values)
		for i, v := range values {
			values[i] = (v - centre) * (v - centre)
		}
		variance := mean(values)
		if !isFinite(centre) || !isFinite(variance) {
			return fmt.Errorf("column %s %w", dataset.Quote(p.Names()[k]), errLarge)
		}
		p.standardise(k, centre, variance, linalg.RoundingDeviation(m.Rows, centre))
	}
	return nil
}

// leaveUnscaled sets the scaling that leaves all numbers unchanged.
func (p *Preparation) leaveUnscaled() {
	n := p.Width()
	p.Offset, p.Factor = make([]float64, n), make([]float64, n)
	for k := range p.Factor {
		p.Factor[k] = 1
	}
}

// standardise sets the scaling of a column to mean 0 and variance 1. A column whose standard
// deviation is at most the given rounding error keeps the factor 1, as by scikit-learn's
// StandardScaler.
func (p *Preparation) standardise(k int, mean, variance, rounding float64) {
	p.Offset[k] = mean
	if deviation := math.Sqrt(variance); deviation > rounding {
		p.Factor[k] = 1 / deviation
	}
}

// scaleByRange sets the scaling of each column's range to [0, 1].
func (p *Preparation) scaleByRange() error {
	p.leaveUnscaled()
	k := 0
	for j := range p.schema {
		c := &p.schema[j]
		n := len(c.names(p.columns[j].categories))
		low, high, err := c.transformedRange()
		switch {
		case !c.Scaled():
		case err != nil:
			return fmt.Errorf("column %s %w", dataset.Quote(c.Name), err)
		default:
			p.Offset[k], p.Factor[k] = low, 1/(high-low)
		}
		k += n
	}
	return nil
}

// transformedRange returns the least and greatest value of a cell after the column's transform.
func (c *Column) transformedRange() (low, high float64, err error) {
	switch {
	case c.Ordered:
		return 0, float64(max(1, len(c.Categories)-1)), nil
	case !c.Ranged():
		return 0, 0, errors.New("has no range to scale by; add \"range: [least, greatest]\", or use another \"scale\"")
	}
	return c.transformed(c.Range[0]), c.transformed(c.Range[1]), nil
}

// Proposal returns the words that a party proposes as categories of a column, sorted. A word must
// occur in at least minRows of the given rows. Of more than [MaxAgreed] such words, Proposal
// returns the most frequent. It refuses a column with more different words than half of its cells with
// a word, because such words are no categories, a word of more than [MaxWord] bytes, and words that no category can
// be called.
func (f *Frame) Proposal(rows []int, column, minRows int) ([]string, error) {
	counts := make([]int, len(f.words[column]))
	total, different := 0, 0
	for _, i := range rows {
		if v := f.row(i)[column]; !isGap(v) {
			if n := len(f.words[column][int(v)]); n > MaxWord {
				return nil, fmt.Errorf("holds a word of %d bytes, and a category has at most %d; leave the column out of the schema", n, MaxWord)
			}
			if counts[int(v)] == 0 {
				different++
			}
			counts[int(v)]++
			total++
		}
	}
	if different > 1 && 2*different > total {
		return nil, fmt.Errorf("has %d different words in %d training rows, too many for a category; list the categories, or leave the column out of the schema", different, total)
	}
	codes := make([]int, 0, len(counts))
	for code, n := range counts {
		if n >= minRows {
			codes = append(codes, code)
		}
	}
	word := f.words[column]
	slices.SortFunc(codes, func(a, b int) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(word[a], word[b]))
	})
	var agreed []string
	for _, code := range codes[:min(len(codes), MaxAgreed)] {
		agreed = append(agreed, word[code])
	}
	slices.Sort(agreed)
	c := f.schema[column]
	c.Categories = agreed
	if err := c.checkWordsOf(); err != nil {
		return nil, fmt.Errorf("has words that parties cannot agree on: %w", err)
	}
	return agreed, nil
}
