package prepare

import (
	"fmt"
	"slices"
	"strings"
)

// Type is the type of a column's cells.
type Type string

// These are the types of columns.
const (
	Number   Type = "number"
	Category Type = "category"
	Boolean  Type = "boolean"
	Date     Type = "date"
)

// Types lists the types, the default first.
func Types() []Type { return []Type{Number, Category, Boolean, Date} }

// Outside names the treatment of numbers outside a column's range.
type Outside string

// These are the treatments of numbers outside the range.
const (
	OutsideRefuse  Outside = "refuse"
	OutsideMissing Outside = "missing" // the cell counts as a gap
	OutsideClip    Outside = "clip"    // the number becomes the nearer end of the range
)

// Fill names the way in which the gaps of a column are filled.
type Fill string

// These are the ways to fill gaps.
const (
	FillError        Fill = "error" // a gap is refused
	FillMean         Fill = "mean"
	FillMedian       Fill = "median"
	FillMostFrequent Fill = "most-frequent"
	FillValue        Fill = "value"    // the schema's value fills a gap
	FillCategory     Fill = "category" // a gap is a category of its own
	FillDropRow      Fill = "drop-row"
)

// Transform is a function that is applied to the numbers of a column.
type Transform string

// These are the transforms of numbers.
const (
	Identity Transform = ""
	Log      Transform = "log"
	Log1p    Transform = "log1p"
	Sqrt     Transform = "sqrt"
)

// Unknown names the treatment of words outside the categories.
type Unknown string

// These are the treatments of words outside the categories.
const (
	UnknownError  Unknown = "error"
	UnknownIgnore Unknown = "ignore" // the word becomes zeros in all columns of the categories
	UnknownOther  Unknown = "other"  // the word belongs to a category of its own
)

// Part is the part of a date that becomes a number.
type Part string

// These are the parts of a date.
const (
	Year    Part = "year"
	Month   Part = "month"
	Weekday Part = "weekday" // 0 is Monday
	Days    Part = "days"    // days since a day that the schema gives
)

// partRanges holds the least and greatest value of the parts that have one.
var partRanges = map[Part][2]float64{Month: {1, 12}, Weekday: {0, 6}}

// Column describes a column for all parties.
type Column struct {
	Name string
	Type Type
	Unit string

	Range   [2]float64 // least and greatest value; equal ends mean no range
	Outside Outside

	Missing   Fill
	Value     string // the value that fills gaps for FillValue
	Indicator bool   // whether a second column marks the gaps
	Transform Transform

	Categories []string // categories in order; nil if the parties agree on them
	Agree      bool
	Unknown    Unknown
	Ordered    bool // whether the categories become one column of 0, 1, 2, ... instead of one column each

	True, False []string // words of a boolean column

	Format string // format of a date, in strptime's notation
	As     Part
	Since  string // day from which Days counts, as YYYY-MM-DD
}

// Schema lists the columns that a job uses, in the job's order.
type Schema []Column

// Names lists the names of the columns.
func (s Schema) Names() []string {
	names := make([]string, len(s))
	for i, c := range s {
		names[i] = c.Name
	}
	return names
}

// Index returns the index of a column, or -1.
func (s Schema) Index(name string) int {
	return slices.IndexFunc(s, func(c Column) bool { return c.Name == name })
}

// Numbers returns a schema of number columns without gaps.
func Numbers(names []string) Schema {
	s := make(Schema, len(names))
	for i, name := range names {
		s[i] = Column{Name: name, Type: Number, Missing: FillError, Outside: OutsideRefuse}
	}
	return s
}

// Ranged reports whether the column has a range.
func (c Column) Ranged() bool { return c.Range[0] != c.Range[1] }

// Scaled reports whether the column's numbers are scaled. One-hot and boolean columns are not.
func (c Column) Scaled() bool {
	return c.Type == Number || c.Type == Date || c.Type == Category && c.Ordered
}

// OneHot reports whether the column becomes one column for each category.
func (c Column) OneHot() bool { return c.Type == Category && !c.Ordered }

// Filled reports whether the schema fills the column's gaps.
func (c Column) Filled() bool { return c.filled() }

// Filters returns the schema's setting that drops rows or changes numbers, such as "missing:
// drop-row". Without such a setting it returns "".
func (c Column) Filters() string {
	switch {
	case c.Missing == FillDropRow:
		return "missing: " + string(FillDropRow)
	case c.Ranged() && c.Outside != "" && c.Outside != OutsideRefuse:
		return "outside: " + string(c.Outside)
	}
	return ""
}

// filled reports whether a frame can have gaps in the column.
func (c Column) filled() bool { return c.Missing != FillError && c.Missing != FillDropRow }

// Agrees lists the indices of the columns whose categories the parties agree on.
func (s Schema) Agrees() (places []int) {
	for i, c := range s {
		if c.Agree {
			places = append(places, i)
		}
	}
	return places
}

// These are the suffixes of the names of prepared columns.
const (
	missingName = "missing"
	otherName   = "other"
)

// Describe returns a line for each column about the allowed cells and their preparation. The lines contain
// fills and categories, also those that are fitted on training rows.
func (p *Preparation) Describe() []string {
	lines := make([]string, len(p.schema))
	for j := range p.schema {
		c, fit := &p.schema[j], p.columns[j]
		parts := []string{c.cells(fit.categories)}
		for _, part := range []string{c.describeOthers(), c.describeOutside(), c.describeGaps(fit), string(c.Transform)} {
			if part != "" {
				parts = append(parts, part)
			}
		}
		lines[j] = c.Name + ": " + strings.Join(parts, "; ")
	}
	return lines
}

// suchAs names the form of a date column's dates. It returns "" if each table has its own form.
func (c *Column) suchAs() string {
	if c.Format == "" {
		return ""
	}
	return " such as " + c.Format
}

// cells describes in words which cells a column allows.
func (c *Column) cells(categories []string) string {
	text := string(Number)
	switch {
	case c.Type == Category && c.Ordered:
		return "0, 1, .. for " + strings.Join(categories, ", ")
	case c.Type == Category:
		return "one of " + strings.Join(categories, ", ")
	case c.Type == Boolean:
		return fmt.Sprintf("true: %s; false: %s", strings.Join(c.True, ", "), strings.Join(c.False, ", "))
	case c.Type == Date && c.As == Days:
		text = fmt.Sprintf("days since %s of a date%s", c.Since, c.suchAs())
	case c.Type == Date:
		text = fmt.Sprintf("%s of a date%s", c.As, c.suchAs())
	}
	if c.Unit != "" {
		text += " in " + c.Unit
	}
	if c.Ranged() {
		text += fmt.Sprintf(" from %v to %v", c.Range[0], c.Range[1])
	}
	return text
}

// describeOthers describes the treatment of words outside the categories.
func (c *Column) describeOthers() string {
	if c.Type != Category {
		return ""
	}
	return map[Unknown]string{UnknownError: "other words are refused", UnknownIgnore: "other words are zeros", UnknownOther: "other words are a category"}[c.Unknown]
}

// describeOutside describes the treatment of numbers outside the range.
func (c *Column) describeOutside() string {
	if !c.Ranged() {
		return ""
	}
	return map[Outside]string{OutsideRefuse: "others are refused", OutsideMissing: "others are gaps", OutsideClip: "others become the nearer end"}[c.Outside]
}

// describeGaps describes the treatment of empty cells.
func (c *Column) describeGaps(fit fitted) string {
	text := ""
	switch c.Missing {
	case FillError:
		return "gaps are refused"
	case FillDropRow:
		return "rows with gaps are left out"
	case FillCategory:
		return "gaps are a category"
	case FillValue:
		text = "gaps become " + c.Value
	case FillMostFrequent:
		text = fmt.Sprintf("gaps become %s (%s)", c.word(fit), c.Missing)
	default:
		text = fmt.Sprintf("gaps become %.6g (%s)", fit.fill, c.Missing)
	}
	if c.Indicator {
		text += ", marked in " + c.prepared(missingName)
	}
	return text
}

// word returns the most frequent word, which fills the column's gaps.
func (c *Column) word(fit fitted) string {
	at := int(fit.fill)
	switch {
	case c.Type == Boolean && at == 1:
		return c.True[0]
	case c.Type == Boolean:
		return c.False[0]
	}
	return fit.categories[at]
}
