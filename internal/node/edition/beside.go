package edition

import "slices"

// Beside lists the changes since an earlier edition of the same table and dictionary that concern
// only one to nine people. Both editions together reveal these changes.
type Beside struct {
	ID     string `json:"id"` // ID of the earlier edition
	Number int    `json:"number"`
	Rows   Few    `json:"rows,omitzero"` // changes over all people, which released rows reveal
	Sums   Few    `json:"sums,omitzero"` // changes over people in training and people held out, which released sums reveal
	// Classes lists, for each label, the columns that have changed for few people of a class. ""
	// means all columns: few people came to a class, left the table from it or moved from it to one
	// other. Numbers does the same for people whose number is not the most frequent one among those
	// who changed.
	Classes map[string][]string `json:"classes,omitempty"`
	Numbers map[string][]string `json:"numbers,omitempty"`
	// HeldOut holds the same as Classes, but for the held-out people.
	HeldOut map[string][]string `json:"held_out,omitempty"`
	// Compared says how the newer edition was compared. If it is nil, the comparison clears
	// nothing.
	Compared *Compared `json:"-"`
}

// Compared records the rule, the columns and the labels with which an edition was compared with
// earlier editions. Whether others have changed is unknown.
type Compared struct {
	Rule    int      `json:"rule"`
	Columns []string `json:"columns"` // names in ascending order
	Labels  []string `json:"labels"`
}

// Rule is the number of the rule by which editions are compared. Editions that an earlier rule found
// clear may reveal something about few people.
const Rule = 2

// Outdated reports whether the editions were compared under another rule, or not at all. If so, the
// comparison clears nothing.
func (b Beside) Outdated() bool { return b.Compared == nil || b.Compared.Rule != Rule }

// knows reports whether the comparison covers the given columns and the given label ("" for none).
func (c *Compared) knows(columns []string, label string) bool {
	if label != "" && !slices.Contains(c.Labels, label) {
		return false
	}
	return !slices.ContainsFunc(columns, func(name string) bool {
		_, known := slices.BinarySearch(c.Columns, name)
		return !known
	})
}

// Few lists the columns and labels that have changed for one to nine people.
type Few struct {
	// Any is true if few people came or went and sums are released. In a table without ids it is
	// also true if rows came and rows went, because some of them may differ in one column.
	Any     bool     `json:"any,omitempty"`
	Columns []string `json:"columns,omitempty"` // names of columns; "" means all columns
	Labels  []string `json:"labels,omitempty"`
}

// Touch reports whether f lists one of the given columns, or the given label ("" for none).
func (f Few) Touch(columns []string, label string) bool {
	return f.Any || slices.Contains(f.Labels, label) || touch(f.Columns, columns)
}

// or returns the union of two lists of changes.
func (f Few) or(o Few) Few {
	return Few{f.Any || o.Any, union(f.Columns, o.Columns), union(f.Labels, o.Labels)}
}

func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

func touch(few, columns []string) bool {
	return slices.ContainsFunc(few, func(c string) bool { return c == "" || slices.Contains(columns, c) })
}

// ClearRows reports whether rows of some columns may be released from both editions. The rows
// include the given label, unless it is "".
func (b Beside) ClearRows(columns []string, label string) bool {
	return !b.Outdated() && b.Compared.knows(columns, label) && !b.Rows.Touch(columns, label)
}

// ClearSums reports whether sums over some columns may be released from both editions.
func (b Beside) ClearSums(columns []string) bool { return b.clearSums(columns, "") }

// ClearClasses reports whether sums over some columns for each class of a label may be released
// from both editions.
func (b Beside) ClearClasses(columns []string, label string) bool {
	return b.clearSums(columns, label) && !touch(b.Classes[label], columns)
}

// ClearNumbers reports whether sums over some columns and a numeric label may be released from both
// editions.
func (b Beside) ClearNumbers(columns []string, label string) bool {
	return b.clearSums(columns, label) && !touch(b.Numbers[label], columns)
}

// ClearHeldOutClasses reports whether counts or errors of the held-out people may be released from
// both editions, for each class of a label.
func (b Beside) ClearHeldOutClasses(columns []string, label string) bool {
	return b.clearSums(columns, label) && !touch(b.HeldOut[label], columns)
}

// clearSums reports whether sums over some columns and a label may be released from both editions.
// The label is "" if the sums have none.
func (b Beside) clearSums(columns []string, label string) bool {
	return !b.Outdated() && b.Compared.knows(columns, label) && !b.Sums.Touch(columns, label)
}
