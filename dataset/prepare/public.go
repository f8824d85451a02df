package prepare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
)

// CheckPublic returns an error that names the first column whose preparation depends on other rows, or that
// refuses gaps, numbers outside its range or words outside its categories. Differential privacy admits
// neither: a value that parties fit on rows, and a refused table, tell about one row.
func (s Schema) CheckPublic() error {
	for j := range s {
		if err := s[j].checkPublic(); err != nil {
			return fmt.Errorf("column %s %w", dataset.Quote(s[j].Name), err)
		}
	}
	return nil
}

func (c *Column) checkPublic() error {
	numbers := c.Type == Number || c.Type == Date
	switch {
	case c.Agree:
		return errors.New("has categories on which the parties agree; list its categories")
	case c.fillsByRows():
		return fmt.Errorf("fills gaps with a value that is computed from the rows (%s); write a usual value that nobody computes from rows, such as \"missing: 80\"", c.Missing)
	case c.Missing == FillError || c.Missing == FillDropRow:
		return errors.New("has no value for gaps; write a usual one, such as \"missing: 80\", which is used only if there is a gap")
	case numbers && !c.Ranged():
		return errors.New("has no range; add \"range: [least, greatest]\", from general knowledge and not from the data")
	case numbers && c.Outside == OutsideRefuse && !c.withinAlways():
		return errors.New("refuses numbers outside its range; write \"outside: clip\"")
	case c.Type == Category && c.Unknown == UnknownError:
		return errors.New("refuses words outside its categories; write \"unknown: other\"")
	}
	return nil
}

// fillsByRows reports whether training rows decide what fills the column's gaps.
func (c *Column) fillsByRows() bool {
	return c.Missing == FillMean || c.Missing == FillMedian || c.Missing == FillMostFrequent
}

// DecidedByRows reports whether training rows decide the fill or the categories of any column.
func (s Schema) DecidedByRows() bool {
	return slices.ContainsFunc(s, func(c Column) bool { return c.Agree || c.fillsByRows() })
}

// ScaledByRange reports whether the scaling follows from the schema's ranges, and from no row.
func (p *Preparation) ScaledByRange() bool {
	public := &Preparation{schema: p.schema, columns: p.columns}
	return public.scaleByRange() == nil && slices.Equal(p.Offset, public.Offset) && slices.Equal(p.Factor, public.Factor)
}

// withinAlways reports whether the column's range has every month, or every weekday.
func (c *Column) withinAlways() bool {
	all, limited := partRanges[c.As]
	return c.Type == Date && limited && c.Range[0] <= all[0] && all[1] <= c.Range[1]
}

// Longest returns an upper bound of the Euclidean length of a prepared row, which follows from the
// schema and the scaling alone. The scaling is Unscaled or Ranged, and every number must have a range; see
// [Schema.CheckPublic].
func (s Schema) Longest(scaling Scaling) (float64, error) {
	squares := 0.0
	for j := range s {
		most, err := s[j].longest(scaling)
		if err != nil {
			return 0, fmt.Errorf("column %s %w", dataset.Quote(s[j].Name), err)
		}
		squares += most * most
		if s[j].Indicator {
			squares++
		}
	}
	return math.Sqrt(squares), nil
}

// longest returns the greatest length of the prepared columns of one column, without its indicator.
func (c *Column) longest(scaling Scaling) (float64, error) {
	if !c.Scaled() || scaling == Ranged {
		return 1, nil
	}
	low, high, err := c.transformedRange()
	return max(math.Abs(low), math.Abs(high)), err
}
