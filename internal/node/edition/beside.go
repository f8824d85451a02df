package edition

import "slices"

// Beside lists the changes of one to nine people since an earlier edition of the same table. Both
// editions have the same dictionary, and together they reveal these changes.
type Beside struct {
	ID     string `json:"id"` // ID of the earlier edition
	Number int    `json:"number"`
	Rows   Few    `json:"rows,omitzero"` // changes that released rows of all people reveal
	Sums   Few    `json:"sums,omitzero"` // changes that released sums over training or held-out people reveal
	// Classes lists, for each label, the columns that have changed for few people of a class. The
	// name "" stands for all columns. It is listed if few people came to the table in one class,
	// left it from one class, or moved from one class to another. Numbers is the counterpart for
	// numbers: it considers the people whose number is not the most frequent one among those who
	// changed.
	Classes map[string][]string `json:"classes,omitempty"`
	Numbers map[string][]string `json:"numbers,omitempty"`
	// HeldOut is the counterpart of Classes for the held-out people.
	HeldOut map[string][]string `json:"held_out,omitempty"`
	// Compared records the rule, the columns and the labels of the comparison. If Compared is nil,
	// every function whose name begins with Clear returns false.
	Compared *Compared `json:"-"`
}

// Compared records the rule, the columns and the labels with which an edition was compared with
// earlier editions. Whether other columns and labels have changed is unknown.
type Compared struct {
	Rule    int      `json:"rule"`
	Columns []string `json:"columns"` // names in ascending order
	Labels  []string `json:"labels"`
}

// Rule is the number of the rule by which editions are compared. Editions that an earlier rule
// found clear may reveal something about few people.
const Rule = 2

// Outdated reports whether the comparison of the two editions is missing or follows an old rule. If
// so, the comparison clears nothing.
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
	// The field Any makes Touch report true for all columns and labels. It is set for sums if few
	// people came or went. In a table without ids it is also set if rows came and rows went, because a
	// row that went and a row that came may differ in one column only.
	Any     bool     `json:"any,omitempty"`
	Columns []string `json:"columns,omitempty"` // names of columns; "" means all columns
	Labels  []string `json:"labels,omitempty"`
}

// Touch reports whether f lists one of the given columns, or the given label ("" for none).
func (f Few) Touch(columns []string, label string) bool {
	return f.Any || slices.Contains(f.Labels, label) || touch(f.Columns, columns)
}

// plus returns all changes that f or o lists.
func (f Few) plus(o Few) Few {
	return Few{f.Any || o.Any, union(f.Columns, o.Columns), union(f.Labels, o.Labels)}
}

func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

func touch(few, columns []string) bool {
	return slices.ContainsFunc(few, func(c string) bool { return c == "" || slices.Contains(columns, c) })
}

// ClearRows reports whether both editions' rows of the given columns together reveal no change that
// concerns few people. The rows include the given label, unless it is "".
func (b Beside) ClearRows(columns []string, label string) bool {
	return !b.Outdated() && b.Compared.knows(columns, label) && !b.Rows.Touch(columns, label)
}

// ClearSums reports whether both editions' sums over the given columns together reveal no change
// that concerns few people.
func (b Beside) ClearSums(columns []string) bool { return b.clearSums(columns, "") }

// ClearClasses reports whether both editions' sums for each class together reveal no change that
// concerns few people. The sums are over the given columns, and the classes are those of the label.
func (b Beside) ClearClasses(columns []string, label string) bool {
	return b.clearSums(columns, label) && !touch(b.Classes[label], columns)
}

// ClearNumbers reports whether both editions' sums with a numeric label together reveal no change
// that concerns few people. The sums are over the given columns and the label.
func (b Beside) ClearNumbers(columns []string, label string) bool {
	return b.clearSums(columns, label) && !touch(b.Numbers[label], columns)
}

// ClearHeldOutClasses reports whether both editions' held-out results together reveal no change
// that concerns few people. The results are counts or errors for each class of the label.
func (b Beside) ClearHeldOutClasses(columns []string, label string) bool {
	return b.clearSums(columns, label) && !touch(b.HeldOut[label], columns)
}

// clearSums extends ClearSums to sums that include the given label ("" for none).
func (b Beside) clearSums(columns []string, label string) bool {
	return !b.Outdated() && b.Compared.knows(columns, label) && !b.Sums.Touch(columns, label)
}
