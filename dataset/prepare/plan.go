package prepare

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
)

// Plan lists the integers that parties add up to fit a preparation. Each party's vector is
// [Plan.Vector], and every party makes the same preparation from the sum.
//
// A number of a column with a range becomes a multiple of 2^-52 of the range, so that sums are
// exact and do not depend on the order of rows or parties. A sum is written in limbs of 32 bits.
type Plan struct {
	schema     Schema
	categories [][]string // categories of each column
	scaling    Scaling
	entries    []entry
}

// quantity names the count or sum in an entry of a vector.
type quantity int

const (
	countRows  quantity = iota
	countGaps           // number of a column's gaps
	sumRaw              // one limb of the sum of a column's numbers
	sumScaled           // one limb of the sum of a column's transformed numbers
	sumSquares          // one limb of the sum of the squared transformed numbers
	countBin            // number of a column's cells in one part of the range
	countWord           // number of a column's cells of one category
)

// entry identifies one number of the vector.
type entry struct {
	what   quantity
	column int
	part   int // index of the limb, the bin or the category
}

// These numbers set the sizes of the integers in a vector.
const (
	fraction  = 52 // bits of a number's distance from the low end of its range
	limbBits  = 32
	rawLimbs  = 3               // limbs of a sum of up to 2^32 numbers of 52 bits
	powLimbs  = 5               // limbs of a sum of up to 2^32 squares of 104 bits
	Bins      = 1024            // number of equal parts of a range, for a median
	EntryTop  = 1<<limbBits - 1 // largest entry of one party's vector
	leastSeen = 100             // least number of a column's values, over all parties together, for a fit
)

// Least is the number of training rows in which a word must occur before a party reveals the word.
// Only the party's own rows count. A party must also have at least Least values in a column before
// it releases sums of the column.
const Least = 10

// MaxUnited bounds the agreed categories of a column over all parties.
const MaxUnited = 1 << 10

// NewPlan plans the sums for a schema. The vector's length follows from the schema and the scaling alone.
func NewPlan(s Schema, scaling Scaling) (*Plan, error) {
	if err := s.CheckScaling(scaling); err != nil {
		return nil, err
	}
	p := &Plan{schema: s, categories: make([][]string, len(s)), scaling: scaling}
	for j := range s {
		p.categories[j] = s[j].Categories
		if err := p.plan(j); err != nil {
			return nil, fmt.Errorf("column %s %w", dataset.Quote(s[j].Name), err)
		}
	}
	if p.entries != nil {
		p.entries = append([]entry{{what: countRows}}, p.entries...)
	}
	return p, nil
}

// With returns the plan with the categories that the parties have agreed on, in the order of
// [Schema.Agrees].
func (p *Plan) With(agreed [][]string) (*Plan, error) {
	places := p.schema.Agrees()
	if len(agreed) != len(places) {
		return nil, fmt.Errorf("prepare: there are categories for %d columns, but %d columns have agreed categories", len(agreed), len(places))
	}
	with := *p
	with.categories = slices.Clone(p.categories)
	for i, j := range places {
		c := p.schema[j]
		c.Categories = agreed[i]
		if n := len(c.Categories); n > MaxUnited {
			return nil, fmt.Errorf("column %s has %d categories over all parties together; at most %d can be agreed on: list the categories in the schema", dataset.Quote(c.Name), n, MaxUnited)
		}
		if len(c.Categories) == 0 {
			return nil, fmt.Errorf("column %s has no word that occurs in %d training rows of a party; list its categories, or leave the column out", dataset.Quote(c.Name), Least)
		}
		if err := c.checkCategories(); err != nil {
			return nil, fmt.Errorf("column %s: %w", dataset.Quote(c.Name), err)
		}
		with.categories[j] = agreed[i]
	}
	return &with, p.schema.checkDistinct(with.categories)
}

// Fits reports whether the preparation needs values that are fitted on rows.
func (p *Plan) Fits() bool { return len(p.entries) > 0 || len(p.schema.Agrees()) > 0 }

// plan adds the entries of a column.
func (p *Plan) plan(j int) error {
	c := &p.schema[j]
	scaled := p.scaling == Standard && c.Scaled()
	add := func(w quantity, parts int) {
		for part := range parts {
			p.entries = append(p.entries, entry{w, j, part})
		}
	}
	if (scaled || c.Missing == FillMean || c.Missing == FillMedian) && !c.Ranged() && !c.Ordered {
		return errors.New("has no range, without which its numbers cannot be summed over parties; add \"range: [least, greatest]\"")
	}
	before := len(p.entries)
	switch c.Missing {
	case FillMean:
		add(sumRaw, rawLimbs)
	case FillMedian:
		add(countBin, Bins)
	case FillMostFrequent:
		add(countWord, p.words(j))
	}
	if scaled {
		add(sumScaled, rawLimbs)
		add(sumSquares, powLimbs)
	}
	if len(p.entries) > before && c.filled() {
		add(countGaps, 1)
	}
	return nil
}

// words returns the number of entries that count a column's words.
func (p *Plan) words(j int) int {
	if p.schema[j].Agree {
		return MaxUnited
	}
	return max(2, len(p.schema[j].Categories))
}

// Entries returns the length of a vector. It is 0 if parties have nothing to add up.
func (p *Plan) Entries() int { return len(p.entries) }

// Vector returns a party's entries over its training rows. If a word occurs in fewer than [Least] rows, it is
// counted as the commonest word or, as a part of "other", not at all. Fewer than Least deviating numbers of an
// otherwise constant column are counted as its commonest number. Vector refuses a column in which the party has
// too few values.
func (p *Plan) Vector(f *Frame, rows []int) ([]int64, error) {
	cells := p.masks(f, rows)
	v := make([]int64, len(p.entries))
	for at := 0; at < len(v); {
		e := p.entries[at]
		end := at + 1
		for end < len(v) && p.entries[end].what == e.what && p.entries[end].column == e.column {
			end++
		}
		if err := p.measure(f, rows, e, &cells[e.column], v[at:end]); err != nil {
			return nil, fmt.Errorf("column %s %w", dataset.Quote(p.schema[e.column].Name), err)
		}
		at = end
	}
	return v, nil
}

// measure computes all entries of one quantity of a column, such as the limbs of a sum.
func (p *Plan) measure(f *Frame, rows []int, e entry, cells *mask, dst []int64) error {
	if e.what == countRows {
		dst[0] = int64(len(rows))
		return nil
	}
	c := &p.schema[e.column]
	sum, seen := new(big.Int), 0
	for _, i := range rows {
		own := f.row(i)[e.column]
		if !isGap(own) {
			seen++
		}
		v := cells.cell(own)
		switch {
		case !isGap(v):
			c.count(e.what, v, sum, dst)
		case e.what == countGaps:
			dst[0]++
		}
	}
	switch e.what {
	case sumRaw, sumScaled, sumSquares:
		toLimbs(sum, dst)
	case countBin:
		foldEnds(dst)
	}
	if e.what != countGaps && seen < Least {
		return fmt.Errorf("has a value in only %d of this party's training rows; at least %d are needed before its sums are released", seen, Least)
	}
	return nil
}

// count adds one value to a sum or a count.
func (c *Column) count(w quantity, v float64, sum *big.Int, dst []int64) {
	switch w {
	case sumRaw:
		sum.Add(sum, c.steps(v, c.Range[0], c.Range[1]))
	case sumScaled:
		sum.Add(sum, c.scaledSteps(v))
	case sumSquares:
		x := c.scaledSteps(v)
		sum.Add(sum, x.Mul(x, x))
	case countBin:
		dst[c.bin(v)]++
	case countWord:
		if v >= 0 {
			dst[int(v)]++
		}
	}
}

// foldEnds adds small counts at both ends to the next bins inwards, until the first and the last
// nonzero counts are at least [Least]. Otherwise the last nonzero bin could reveal the number of a
// single row. The median stays in its bin unless a party has fewer than Least rows on one side of
// the median.
func foldEnds(bins []int64) {
	low := foldUp(bins, func(i int) int { return i })
	foldUp(bins[low:], func(i int) int { return len(bins[low:]) - 1 - i })
}

// foldUp adds small counts to the next bin, in the given order, until a bin counts at least Least
// values. The last bin can count fewer. foldUp returns the place of that bin in the order.
func foldUp(bins []int64, at func(i int) int) int {
	carried := int64(0)
	for i := range bins {
		own := &bins[at(i)]
		if carried += *own; carried >= Least || i == len(bins)-1 {
			*own = carried
			return i
		}
		*own = 0
	}
	return 0
}

// scale52 is the number of steps into which a range is divided.
const scale52 = 1 << fraction

// steps returns the distance of a number from the low end of a range, in whole steps.
func (c *Column) steps(v, low, high float64) *big.Int {
	share := min(max((v-low)/(high-low), 0), 1) // rounding can put a transformed number outside the range
	return big.NewInt(int64(math.Round(share * scale52)))
}

// scaledSteps transforms a number and returns its distance from the low end of the transformed
// range.
func (c *Column) scaledSteps(v float64) *big.Int {
	low, high, _ := c.transformedRange() // no error, since NewPlan refuses a column without a range
	return c.steps(c.transformed(v), low, high)
}

// bin returns the index of the bin that contains a number. The bins divide the range equally.
func (c *Column) bin(v float64) int {
	at := int((v - c.Range[0]) / (c.Range[1] - c.Range[0]) * Bins)
	return min(max(at, 0), Bins-1)
}

// toLimbs splits a number that is not negative into limbs.
func toLimbs(x *big.Int, dst []int64) {
	rest, mask := new(big.Int).Set(x), big.NewInt(EntryTop)
	for i := range dst {
		dst[i] = new(big.Int).And(rest, mask).Int64()
		rest.Rsh(rest, limbBits)
	}
}

// Told lists the sums of each column, one column a line. These sums are known to everyone who
// receives the sum of the vectors.
func (p *Plan) Told() []string {
	var lines []string
	for j := range p.schema {
		if parts := p.toldOf(j); len(parts) > 0 {
			lines = append(lines, fmt.Sprintf("%s (%s)", p.schema[j].Name, strings.Join(parts, ", ")))
		}
	}
	return lines
}

// toldOf returns the names of the sums of one column.
func (p *Plan) toldOf(j int) []string {
	words := map[quantity]string{
		countGaps: "number of gaps", sumRaw: "sum", countBin: fmt.Sprintf("counts in %d parts of its range", Bins),
		countWord: "count of each category", sumScaled: "sum of the transformed numbers", sumSquares: "sum of their squares",
	}
	var parts []string
	for _, e := range p.entries {
		if e.what != countRows && e.column == j && e.part == 0 {
			parts = append(parts, words[e.what])
		}
	}
	return parts
}

// Holds lists the fitted values of each column, one column a line. These values are known to
// everyone who receives the preparation.
func (p *Plan) Holds() []string {
	var lines []string
	for j, c := range p.schema {
		var parts []string
		switch c.Missing {
		case FillMean, FillMedian:
			parts = append(parts, string(c.Missing))
		case FillMostFrequent:
			parts = append(parts, "most frequent word")
		}
		if c.Agree {
			parts = append(parts, "agreed categories")
		}
		if p.scaling == Standard && c.Scaled() {
			parts = append(parts, "mean and deviation for the scaling")
		}
		if parts != nil {
			lines = append(lines, fmt.Sprintf("%s (%s)", p.schema[j].Name, strings.Join(parts, ", ")))
		}
	}
	return lines
}

// Agreed lists the names of the columns whose categories the parties agree on.
func (s Schema) Agreed() []string {
	var names []string
	for _, j := range s.Agrees() {
		names = append(names, s[j].Name)
	}
	return names
}
