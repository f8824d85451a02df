package prepare

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
)

// These bounds limit the distance of a party's own median from the median of all parties.
const (
	leastRatio    = 0.2
	mostRatio     = 5
	mostDeviation = 2 // largest distance, in standard deviations of all parties' rows
)

// middle is the median or mean of a column's numbers, computed from the sums of all parties.
type middle struct {
	name        string // "median" or "mean"
	value       float64
	deviation   float64 // standard deviation; 0 if the sums do not give it
	transformed bool    // whether value and deviation are of the transformed numbers
}

// Notices compares each number column's median over a party's own rows with the median over all
// parties' training rows. If the sums give no median, it compares with the mean of all parties. It
// returns a sentence for each column in which the two differ much. It also returns a sentence for
// each word that differs from an agreed category only in spelling, and for each column with words
// outside the agreed categories. The sentences quote numbers and words of the party, so they are
// for the party's own operator only.
func (p *Plan) Notices(sum []int64, f *Frame, rows []int) []string {
	var list []string
	for _, m := range f.merged(rows, p.categories) {
		list = append(list, fmt.Sprintf("column %s: %d of this party's %d training rows hold words that no party has in at least %d training rows; they count as %s", dataset.Quote(m.Column), m.Rows, len(rows), Least, m.CountAs))
	}
	for j, s := range p.split(sum) {
		c := &p.schema[j]
		if c.Agree {
			list = append(list, f.misspelled(rows, j, p.categories[j])...)
		}
		values := f.values(rows, j)
		common, told := c.middleOf(s)
		if !told || len(values) < Least {
			continue
		}
		own := median(values)
		if common.isFar(c, own) {
			list = append(list, fmt.Sprintf("column %s: the median of this party's training rows is %.4g, and the %s over all parties is %.4g; check the column's unit, and \"times\" in the catalogue",
				dataset.Quote(c.Name), common.onScale(c, own), common.named(), common.value))
		}
	}
	return list
}

// misspelled returns a sentence for each word that is almost spelled like a category. Such a word
// differs from the category only by case, blanks or Unicode form.
func (f *Frame) misspelled(rows []int, j int, categories []string) (list []string) {
	counts, folded := make([]int, len(f.words[j])), foldCategories(categories)
	for _, i := range rows {
		if v := f.row(i)[j]; !isGap(v) {
			counts[int(v)]++
		}
	}
	for code, n := range counts {
		word := f.words[j][code]
		if category, spelled := folded[fuzzymatch.Fold(word)]; n > 0 && spelled && category != word {
			list = append(list, fmt.Sprintf("column %s: %d of this party's training rows hold %q, which differs from the agreed category %q only by case, blanks or Unicode form; write values: {%q: %q} for the column in the catalogue",
				dataset.Quote(f.schema[j].Name), n, word, category, word, category))
		}
	}
	return list
}

// values returns the cells of a column that are not gaps.
func (f *Frame) values(rows []int, j int) []float64 {
	var values []float64
	for _, i := range rows {
		if v := f.row(i)[j]; !isGap(v) {
			values = append(values, v)
		}
	}
	return values
}

// middleOf returns the median or mean of a column of numbers, from its sums.
func (c *Column) middleOf(s sums) (middle, bool) {
	switch {
	case c.Type != Number || s.rows == 0 || s.rows <= s.gaps:
		return middle{}, false
	case s.bins != nil:
		value, err := c.medianOf(s.bins)
		return middle{"median", value, c.spreadOf(s.bins), false}, err == nil
	case s.scaled != nil:
		s.rows, s.gaps = s.rows-s.gaps, 0 // rows without a value are excluded
		mean, variance := c.moments(s, 0)
		return middle{"mean", mean, math.Sqrt(variance), c.Transform != Identity}, true
	case s.raw != nil:
		value, err := c.fillOf(s)
		return middle{"mean", value, 0, false}, err == nil
	}
	return middle{}, false
}

// spreadOf returns the standard deviation of the numbers, as if each were at the centre of its bin.
func (c *Column) spreadOf(bins []int64) float64 {
	width := (c.Range[1] - c.Range[0]) / Bins
	n, mean, squares := float64(total(bins)), 0.0, 0.0
	for at, count := range bins {
		mean += float64(count) / n * (float64(at) + 0.5)
	}
	for at, count := range bins {
		d := float64(at) + 0.5 - mean
		squares += float64(count) / n * d * d
	}
	return width * math.Sqrt(squares)
}

// isFar reports whether a party's own median is far from the middle.
func (m middle) isFar(c *Column, own float64) bool {
	if m.deviation > 0 && math.Abs(m.onScale(c, own)-m.value) > mostDeviation*m.deviation {
		return true
	}
	if m.transformed || c.Range[0] < 0 || m.value <= 0 {
		return false
	}
	ratio := own / m.value
	return ratio < leastRatio || ratio > mostRatio
}

// onScale transforms a number if the middle was computed from transformed numbers.
func (m middle) onScale(c *Column, v float64) float64 {
	if m.transformed {
		return c.transformed(v)
	}
	return v
}

func (m middle) named() string {
	if m.transformed {
		return m.name + " (transformed)"
	}
	return m.name
}
