package prepare

import (
	"fmt"
	"slices"
	"strings"
)

// Type names the meaning of a column's cells.
type Type string

// The types.
const (
	Number   Type = "number"
	Category Type = "category"
	Boolean  Type = "boolean"
	Date     Type = "date"
)

// Types lists the types, the default first.
func Types() []Type { return []Type{Number, Category, Boolean, Date} }

// Outside names what becomes of a number outside its column's range.
type Outside string

// The choices.
const (
	OutsideRefuse  Outside = "refuse"
	OutsideMissing Outside = "missing" // the cell counts as a gap
	OutsideClip    Outside = "clip"    // to the nearer end of the range
)

// Fill names how the gaps of a column are filled.
type Fill string

// The choices.
const (
	FillError        Fill = "error" // a gap is refused
	FillMean         Fill = "mean"
	FillMedian       Fill = "median"
	FillMostFrequent Fill = "most-frequent"
	FillValue        Fill = "value"    // of the schema
	FillCategory     Fill = "category" // a gap is a category of its own
	FillDropRow      Fill = "drop-row"
)

// Transform names a function of the numbers of a column.
type Transform string

// The functions.
const (
	Identity Transform = ""
	Log      Transform = "log"
	Log1p    Transform = "log1p"
	Sqrt     Transform = "sqrt"
)

// Unknown names what becomes of a word that is none of the categories.
type Unknown string

// The choices.
const (
	UnknownError  Unknown = "error"
	UnknownIgnore Unknown = "ignore" // zeros in all columns of the categories
	UnknownOther  Unknown = "other"  // a category of its own
)

// Part names the number that is taken of a date.
type Part string

// The parts.
const (
	Year    Part = "year"
	Month   Part = "month"
	Weekday Part = "weekday" // 0 is Monday
	Days    Part = "days"    // since a day of the schema
)

// Column describes a column to all parties.
type Column struct {
	Name string
	Type Type
	Unit string

	Range   [2]float64 // least and greatest value; equal for none
	Outside Outside

	Missing   Fill
	Value     string // of FillValue
	Indicator bool   // whether a second column says where the gaps were
	Transform Transform

	Categories []string // nil where the parties agree on them
	Agree      bool
	Unknown    Unknown
	Ordered    bool // one column of 0, 1, 2, ... in place of one for each category

	True, False []string // words of a boolean

	Format string // of a date, as strptime has it
	As     Part
	Since  string // of Days, as YYYY-MM-DD
}

// Schema lists the columns that a job uses, in its order.
type Schema []Column

// Names lists the names of the columns.
func (s Schema) Names() []string {
	names := make([]string, len(s))
	for i, c := range s {
		names[i] = c.Name
	}
	return names
}

// Index returns the place of a column, or -1.
func (s Schema) Index(name string) int {
	return slices.IndexFunc(s, func(c Column) bool { return c.Name == name })
}

// Numbers returns the schema of columns that all hold numbers without gaps.
func Numbers(names []string) Schema {
	s := make(Schema, len(names))
	for i, name := range names {
		s[i] = Column{Name: name, Type: Number, Missing: FillError, Outside: OutsideRefuse}
	}
	return s
}

// Ranged reports whether a range is given.
func (c Column) Ranged() bool { return c.Range[0] != c.Range[1] }

// Scaled reports whether the column's numbers are scaled: one-hot and boolean columns are
// not scaled.
func (c Column) Scaled() bool {
	return c.Type == Number || c.Type == Date || c.Type == Category && c.Ordered
}

// OneHot reports whether the column becomes one column for each category.
func (c Column) OneHot() bool { return c.Type == Category && !c.Ordered }

// Filled reports whether the schema fills the column's gaps.
func (c Column) Filled() bool { return c.filled() }

// Filters names the choice by which the column's values decide which rows take part, or which
// numbers count as they are; "" without one.
func (c Column) Filters() string {
	switch {
	case c.Missing == FillDropRow:
		return "missing: " + string(FillDropRow)
	case c.Ranged() && c.Outside != "" && c.Outside != OutsideRefuse:
		return "outside: " + string(c.Outside)
	}
	return ""
}

// filled reports whether gaps may stand in a frame's cells.
func (c Column) filled() bool { return c.Missing != FillError && c.Missing != FillDropRow }

// Agrees lists the places of the columns whose categories the parties agree on.
func (s Schema) Agrees() (places []int) {
	for i, c := range s {
		if c.Agree {
			places = append(places, i)
		}
	}
	return places
}

// suffixes of prepared columns.
const (
	missingName = "missing"
	otherName   = "other"
)

// Describe returns a line for each column: what its cells may hold, and what becomes of them.
// The fills and agreed categories in it are fitted on training rows.
func (p *Preparation) Describe() []string {
	lines := make([]string, len(p.schema))
	for j := range p.schema {
		c, fit := &p.schema[j], p.columns[j]
		parts := []string{c.cells(fit.categories)}
		for _, part := range []string{c.others(), c.beyond(), c.gaps(fit), string(c.Transform)} {
			if part != "" {
				parts = append(parts, part)
			}
		}
		lines[j] = c.Name + ": " + strings.Join(parts, "; ")
	}
	return lines
}

// cells describes the cells of a column.
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
		text = fmt.Sprintf("days since %s of a date such as %s", c.Since, c.Format)
	case c.Type == Date:
		text = fmt.Sprintf("%s of a date such as %s", c.As, c.Format)
	}
	if c.Unit != "" {
		text += " in " + c.Unit
	}
	if c.Ranged() {
		text += fmt.Sprintf(" from %v to %v", c.Range[0], c.Range[1])
	}
	return text
}

// others names the fate of words that are none of the categories.
func (c *Column) others() string {
	if c.Type != Category {
		return ""
	}
	return map[Unknown]string{UnknownError: "other words are refused", UnknownIgnore: "other words are zeros", UnknownOther: "other words are a category"}[c.Unknown]
}

// beyond names the fate of numbers outside the range.
func (c *Column) beyond() string {
	if !c.Ranged() {
		return ""
	}
	return map[Outside]string{OutsideRefuse: "others are refused", OutsideMissing: "others are gaps", OutsideClip: "others become the nearer end"}[c.Outside]
}

// gaps names the fate of empty cells.
func (c *Column) gaps(fit fitted) string {
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

// word is the most frequent one.
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
