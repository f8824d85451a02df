package prepare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
)

// These numbers bound the size of a schema.
const (
	MaxColumns    = 1 << 14
	MaxCategories = 1 << 12 // largest number of categories that a schema lists for a column
	MaxAgreed     = 100     // largest number of categories that one party proposes for a column
)

// Check fills in the defaults of a column and refuses contradictory keys. The errors do not name
// the column.
func (c *Column) Check() error {
	c.fallBack()
	for _, check := range []func() error{c.checkType, c.checkRange, c.checkTransform, c.checkMissing, c.checkCategories, c.checkDate, c.checkWords} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (c *Column) fallBack() {
	if c.Type == "" {
		c.Type = Number
	}
	if c.Missing == "" {
		c.Missing = FillError
	}
	if c.Outside == "" {
		c.Outside = OutsideRefuse
	}
	if c.Type == Date && !c.Ranged() {
		c.Range = partRanges[c.As]
	}
	switch {
	case c.Type == Category && c.Unknown == "" && c.Agree:
		c.Unknown = UnknownOther
	case c.Type == Category && c.Unknown == "":
		c.Unknown = UnknownError
	case c.Type == Boolean && c.True == nil && c.False == nil:
		c.True, c.False = []string{"true", "yes", "1"}, []string{"false", "no", "0"}
	}
}

// checkType refuses keys that belong to another type of column.
func (c *Column) checkType() error {
	for _, key := range []struct {
		name  string
		given bool
		types []Type
	}{
		{"unit", c.Unit != "", []Type{Number}},
		{"range", c.Ranged(), []Type{Number, Date}},
		{"outside", c.Outside != OutsideRefuse, []Type{Number, Date}},
		{"transform", c.Transform != Identity, []Type{Number, Date}},
		{"categories", c.Categories != nil || c.Agree, []Type{Category}},
		{"unknown", c.Unknown != "", []Type{Category}},
		{"ordered", c.Ordered, []Type{Category}},
		{"true", c.True != nil, []Type{Boolean}},
		{"false", c.False != nil, []Type{Boolean}},
		{"format", c.Format != "", []Type{Date}},
		{"as", c.As != "", []Type{Date}},
		{"since", c.Since != "", []Type{Date}},
	} {
		if key.given && !slices.Contains(key.types, c.Type) {
			return fmt.Errorf("a %s column cannot have the key %q; remove the key, or write \"type: %s\"", c.Type, key.name, key.types[0])
		}
	}
	return nil
}

func (c *Column) checkRange() error {
	switch {
	case !isFinite(c.Range[0]) || !isFinite(c.Range[1]):
		return errors.New("the range has an end that is not a finite number; write two numbers such as [0, 100]")
	case c.Range[0] > c.Range[1]:
		return fmt.Errorf("the range begins with %g and ends with %g; write the smaller number first", c.Range[0], c.Range[1])
	case c.Range[0] == c.Range[1] && c.Range[0] != 0:
		return fmt.Errorf("the range begins and ends with %g, so the column has one value only; write a wider range, or leave the column out", c.Range[0])
	case !c.Ranged():
	case c.Range[1]-c.Range[0] > widest:
		return errors.New("the range is too wide for 64-bit numbers; write a narrower one")
	case c.Range[1]-c.Range[0] < 1/widest:
		return errors.New("the range is too narrow for 64-bit numbers; write a wider one")
	}
	switch {
	case c.Outside != OutsideRefuse && !c.Ranged():
		return errors.New("the key \"outside\" needs a range; add \"range: [least, greatest]\", or remove \"outside\"")
	}
	return nil
}

func (c *Column) checkTransform() error {
	low := map[Transform]struct {
		bound  float64
		strict bool
	}{Log: {0, true}, Log1p: {-1, true}, Sqrt: {0, false}}
	l, known := low[c.Transform]
	if !known || !c.Ranged() {
		return nil
	}
	if c.Range[0] < l.bound || l.strict && c.Range[0] == l.bound {
		return fmt.Errorf("the range begins with %g, which has no %s; begin it above %g", c.Range[0], c.Transform, l.bound)
	}
	if c.transformed(c.Range[1])-c.transformed(c.Range[0]) < 1/widest {
		return fmt.Errorf("the range is too narrow for %s, which is the same at both ends; write a wider one", c.Transform)
	}
	return nil
}

// widest is the greatest width of a range, and 1/widest is the least width. The squares of both are
// still 64-bit numbers.
const widest = 1e150

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (c *Column) checkMissing() error {
	switch {
	case c.Missing == FillMostFrequent && c.Type != Category && c.Type != Boolean:
		return fmt.Errorf("\"missing: most-frequent\" requires a category or boolean column; write \"mean\", \"median\" or a number for a %s column", c.Type)
	case (c.Missing == FillMean || c.Missing == FillMedian) && c.Type != Number && c.Type != Date:
		return fmt.Errorf("\"missing: %s\" requires numbers; write \"most-frequent\", \"category\" or one of the categories", c.Missing)
	case c.Missing == FillCategory && !c.OneHot():
		return fmt.Errorf("\"missing: category\" adds a column for gaps, but this %s column becomes a single column; write another value of \"missing\"", c.kind())
	case c.Indicator && !c.filled():
		return errors.New("the key \"indicator\" marks filled gaps, but this column's gaps are not filled; add the key \"missing\" with a fill, or remove \"indicator\"")
	case c.Missing == FillValue && c.Agree:
		return errors.New("the key \"missing\" names a category, but with \"categories: agree\" the categories are fixed only later; write \"missing: most-frequent\" or \"missing: category\"")
	case c.Missing != FillValue:
		return nil
	}
	return c.checkValue()
}

// checkValue refuses a fill value that the column cannot hold.
func (c *Column) checkValue() error {
	v, err := c.parse(c.Value, pointed, nil)
	if err == nil && (c.Type == Number || c.Type == Date) {
		v, err = c.checkNumber(v)
	}
	switch {
	case err != nil:
		why, _, _ := strings.Cut(err.Error(), ";") // the text after the semicolon is advice about cells
		return fmt.Errorf("the key \"missing\" is %s, which %s; write a way to fill gaps, or a value that the column can have", dataset.Quote(c.Value), why)
	case isGap(v) || v == unseen:
		return fmt.Errorf("the key \"missing\" is %s, which the column cannot hold; write one of its values", dataset.Quote(c.Value))
	}
	return nil
}

// kind returns the name of the column's type for messages.
func (c *Column) kind() string {
	if c.Ordered {
		return "ordered"
	}
	return string(c.Type)
}

func (c *Column) checkCategories() error {
	switch {
	case c.Type != Category:
		return nil
	case c.Categories == nil && !c.Agree:
		return errors.New("a category column needs its categories; add \"categories: [F, M]\" or \"categories: agree\"")
	case c.Agree && c.Ordered:
		return errors.New("\"ordered: true\" needs listed categories; replace \"agree\" by the list of categories from the lowest to the highest")
	case c.Ordered && c.Unknown != UnknownError:
		return fmt.Errorf("ordered categories do not allow \"unknown: %s\", because other words have no rank; remove the key \"unknown\"", c.Unknown)
	case c.Agree && c.Unknown == UnknownError:
		return errors.New("\"categories: agree\" needs \"unknown: other\" or \"unknown: ignore\", because a party never proposes a word that too few of its rows have")
	case len(c.Categories) > MaxCategories:
		return fmt.Errorf("%d categories are listed; list at most %d", len(c.Categories), MaxCategories)
	}
	return c.checkWordsOf()
}

// checkWordsOf refuses categories with reserved names or with almost the same spelling.
func (c *Column) checkWordsOf() error {
	for _, reserved := range c.reservedNames() {
		if slices.Contains(c.Categories, reserved) {
			return fmt.Errorf("category %q is reserved for %s; rename it by \"values\" in the catalogue", reserved, map[string]string{missingName: "gaps", otherName: "other values"}[reserved])
		}
	}
	return checkSpelling(c.Categories)
}

// reservedNames lists the names that a category must not have. Prepared columns use these names.
func (c *Column) reservedNames() (names []string) {
	if c.Missing == FillCategory || c.Indicator {
		names = append(names, missingName)
	}
	if c.Unknown == UnknownOther {
		names = append(names, otherName)
	}
	return names
}

// checkSpelling refuses words that differ only by case, blanks or Unicode form.
func checkSpelling(words []string) error {
	one, other, found := fuzzymatch.Clash(words)
	if !found {
		return nil
	}
	one, other = fuzzymatch.Quote(one, other)
	return fmt.Errorf("the categories %s and %s differ only by case, blanks or Unicode form; keep one, and map the other by \"values\" in the catalogue", one, other)
}

func (c *Column) checkDate() error {
	switch {
	case c.Type != Date:
		return nil
	case c.As == "":
		return errors.New("a date column needs the key \"as\", which names the number made from the date; write \"year\", \"month\", \"weekday\" or \"days\"")
	case (c.As == Days) != (c.Since != ""):
		return errors.New("\"as: days\" and the key \"since\" require each other; write both, as in \"as: days, since: 2020-01-01\", or neither")
	}
	if c.Format != "" { // without a format, each table names its own
		if err := checkFormat(c.Format); err != nil {
			return err
		}
	}
	if c.As != Days {
		return nil
	}
	if _, err := parseDate(c.Since, isoDate); err != nil {
		return fmt.Errorf("the key \"since\" is %s, which %w", dataset.Quote(c.Since), err)
	}
	return nil
}

func (c *Column) checkWords() error {
	if c.Type != Boolean {
		return nil
	}
	if len(c.True) == 0 || len(c.False) == 0 {
		return errors.New("a boolean column needs words for both values; write \"true: [yes, 1]\" and \"false: [no, 0]\"")
	}
	for _, word := range c.True {
		if slices.Contains(c.False, word) {
			return fmt.Errorf("%s is listed as a word for true and for false; keep one of the two", dataset.Quote(word))
		}
	}
	return nil
}

// CheckScaling returns an error if the scaling needs a range that a column does not have.
func (s Schema) CheckScaling(scaling Scaling) error {
	for j := range s {
		if scaling != Ranged || !s[j].Scaled() {
			continue
		}
		if _, _, err := s[j].transformedRange(); err != nil {
			return fmt.Errorf("column %s %w", dataset.Quote(s[j].Name), err)
		}
	}
	return nil
}

// Check refuses a schema whose columns contradict each other.
func (s Schema) Check() error {
	if len(s) == 0 || len(s) > MaxColumns {
		return fmt.Errorf("the schema has %d columns; give 1 to %d", len(s), MaxColumns)
	}
	if one, other, found := fuzzymatch.Clash(s.Names()); found {
		one, other = fuzzymatch.Quote(one, other)
		return fmt.Errorf("columns %s and %s differ only by case, blanks or Unicode form; rename one", one, other)
	}
	listed := make([][]string, len(s))
	for j := range s {
		listed[j] = s[j].Categories
	}
	return s.checkDistinct(listed)
}

// checkDistinct refuses a schema that gives two prepared columns the same name.
func (s Schema) checkDistinct(categories [][]string) error {
	owner := make(map[string]string)
	for j, c := range s {
		for _, name := range c.names(categories[j]) {
			if first, taken := owner[name]; taken {
				return fmt.Errorf("columns %s and %s both make a column called %s; rename one", dataset.Quote(first), dataset.Quote(c.Name), dataset.Quote(name))
			}
			owner[name] = c.Name
		}
	}
	return nil
}
