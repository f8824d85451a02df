package dataset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/fuzzymatch"
)

// ColumnsError names the columns in which two tables differ.
type ColumnsError struct {
	Table   string
	Whose   string   // name of the other table
	Missing []string // columns of the other table that this table lacks
	Surplus []string // columns of this table that the other table lacks
}

// Error lists the missing and the surplus columns. It pairs a missing with a surplus column if their names differ
// only by case, blanks or Unicode form.
func (e *ColumnsError) Error() string {
	var parts []string
	surplus := slices.Clone(e.Surplus)
	var missing []string
	for _, name := range e.Missing {
		i := slices.IndexFunc(surplus, func(s string) bool { return fuzzymatch.Differs(name, s) })
		if i < 0 {
			missing = append(missing, name)
			continue
		}
		want, got := fuzzymatch.Quote(name, surplus[i])
		parts = append(parts, fmt.Sprintf("it has %s where %s has %s, which differ only by case, blanks or Unicode form: rename one", got, e.Whose, want))
		surplus = slices.Delete(surplus, i, i+1)
	}
	if len(missing) > 0 {
		parts = append(parts, fmt.Sprintf("it has no %s %s, which %s has", plural("column", missing), list(missing), e.Whose))
	}
	if len(surplus) > 0 {
		parts = append(parts, fmt.Sprintf("its %s %s, not in %s, must be left out", plural("column", surplus), list(surplus), e.Whose))
	}
	return fmt.Sprintf("%s has other columns than %s: %s", e.Table, e.Whose, strings.Join(parts, "; "))
}

func plural(word string, names []string) string {
	if len(names) == 1 {
		return word
	}
	return word + "s"
}

// Arrange returns the set with its columns in the order of another table's columns. Error messages
// call the other table otherName. Columns are matched by name. If a column is missing or
// superfluous, the error is a *[ColumnsError]. If either table has no column names, columns
// are matched by position, and the set must have width columns.
func (s *Set) Arrange(otherName string, width int, columns []string) (*Set, error) {
	if s.Columns == nil || columns == nil {
		if s.X.Cols() != width {
			return nil, fmt.Errorf("%s has %d columns, but %s has %d", title(s), s.X.Cols(), otherName, width)
		}
		return s, nil
	}
	if slices.Equal(s.Columns, columns) {
		return s, nil
	}
	at := make(map[string]int, len(s.Columns))
	for i, name := range s.Columns {
		at[name] = i
	}
	e := &ColumnsError{Table: title(s), Whose: otherName}
	order := make([]int, len(columns))
	for place, name := range columns {
		i, known := at[name]
		if !known {
			e.Missing = append(e.Missing, name)
		}
		order[place] = i
		delete(at, name)
	}
	for _, name := range s.Columns {
		if _, left := at[name]; left {
			e.Surplus = append(e.Surplus, name)
		}
	}
	if len(e.Missing) > 0 || len(e.Surplus) > 0 {
		return nil, e
	}
	return s.SelectColumns(order), nil
}

// CheckSpelling returns an error if two classes differ only by case, blanks or Unicode form. A
// learner would take them for two classes. The error quotes both spellings.
func CheckSpelling(classes []string) error {
	one, other, found := fuzzymatch.Clash(classes)
	if !found {
		return nil
	}
	one, other = fuzzymatch.Quote(one, other)
	return fmt.Errorf("the classes %s and %s differ only by case, blanks or Unicode form; use one spelling everywhere", one, other)
}
