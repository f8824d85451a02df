package prepare

import (
	"fmt"
	"strings"
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
