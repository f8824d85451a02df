package edition

import "slices"

// Beside names what has changed for one to nine people since an earlier edition of the same dictionary and table: both
// editions together tell of them.
type Beside struct {
	ID     string `json:"id"` // of the earlier edition
	Number int    `json:"number"`
	Rows   Few    `json:"rows,omitzero"` // of all people, told row by row
	Sums   Few    `json:"sums,omitzero"` // of those in training, and of those held out, in sums
	// Classes are, by label, the columns that have changed for few of a class; "", for all, where few came to a class,
	// left the table from it or went from it to one other. Numbers are the same of those whose number is not the commonest
	// among them.
	Classes map[string][]string `json:"classes,omitempty"`
	Numbers map[string][]string `json:"numbers,omitempty"`
	// HeldOut are as Classes, of those held out.
	HeldOut map[string][]string `json:"held_out,omitempty"`
	// Compared is the edition's. Where there is none, nothing is clear.
	Compared *Compared `json:"-"`
}

// Compared says by which rule an edition was compared with those before, and in which columns and labels. Of others
// nobody knows whether they have changed.
type Compared struct {
	Rule    int      `json:"rule"`
	Columns []string `json:"columns"` // ascending
	Labels  []string `json:"labels"`
}

// Rule is the number of the rule by which editions are compared. What an earlier one found clear may tell of few.
const Rule = 2

// Outdated reports whether another program compared them: nothing is clear.
func (b Beside) Outdated() bool { return b.Compared == nil || b.Compared.Rule != Rule }

// knows reports whether it is about some columns, and a label; "" for none.
func (c *Compared) knows(columns []string, label string) bool {
	if label != "" && !slices.Contains(c.Labels, label) {
		return false
	}
	return !slices.ContainsFunc(columns, func(name string) bool {
		_, known := slices.BinarySearch(c.Columns, name)
		return !known
	})
}

// Few names the columns and labels that have changed for one to nine people.
type Few struct {
	// Any is set where few came or went into sums; or, in a table without ids, where rows came and rows went, of which
	// some may differ in one column.
	Any     bool     `json:"any,omitempty"`
	Columns []string `json:"columns,omitempty"` // "" for all
	Labels  []string `json:"labels,omitempty"`
}

// Touch reports whether it is about some columns, or a label; "" for none.
func (f Few) Touch(columns []string, label string) bool {
	return f.Any || slices.Contains(f.Labels, label) || touch(f.Columns, columns)
}

// or names what one of two names.
func (f Few) or(o Few) Few {
	return Few{f.Any || o.Any, union(f.Columns, o.Columns), union(f.Labels, o.Labels)}
}

func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

func touch(few, columns []string) bool {
	return slices.ContainsFunc(few, func(c string) bool { return c == "" || slices.Contains(columns, c) })
}

// ClearRows reports whether rows of some columns may be told of both editions, with the label or without: "".
func (b Beside) ClearRows(columns []string, label string) bool {
	return !b.Outdated() && b.Compared.knows(columns, label) && !b.Rows.Touch(columns, label)
}

// ClearSums reports whether sums over some columns may be told of both editions.
func (b Beside) ClearSums(columns []string) bool { return b.clearSums(columns, "") }

// ClearClasses reports whether sums for each class of a label may.
func (b Beside) ClearClasses(columns []string, label string) bool {
	return b.clearSums(columns, label) && !touch(b.Classes[label], columns)
}

// ClearNumbers reports whether sums with a label that is a number may.
func (b Beside) ClearNumbers(columns []string, label string) bool {
	return b.clearSums(columns, label) && !touch(b.Numbers[label], columns)
}

// ClearHeldOutClasses reports whether counts or errors for each class of those held out may.
func (b Beside) ClearHeldOutClasses(columns []string, label string) bool {
	return b.clearSums(columns, label) && !touch(b.HeldOut[label], columns)
}

// clearSums is [Beside.ClearSums] of sums with a label, which somebody with another label changes, too.
func (b Beside) clearSums(columns []string, label string) bool {
	return !b.Outdated() && b.Compared.knows(columns, label) && !b.Sums.Touch(columns, label)
}
