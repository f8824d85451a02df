package rows

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/spell"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol/heading"
)

// Alike reports, by name, a difference that would keep the parties' tables from being trained
// on together. It serves a process that owns all of them. Names are the parties'.
func Alike(j *job.Job, names []string, sets []*dataset.Set) error {
	first := sets[0]
	classes := make(map[string]string) // who has each
	for i, set := range sets {
		if (set.Columns == nil) != (first.Columns == nil) {
			return fmt.Errorf("the columns of %s have names and the columns of %s have none; give every party the same columns, under the same names", withNames(names[0], names[i], first), withNames(names[i], names[0], first))
		}
		if err := widths(names[i], set, names[0], first); err != nil {
			return err
		}
		if _, err := set.Arrange(names[0]+"'s table", first.X.Cols(), first.Columns); err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		for _, class := range headingOf(j, set).Classes {
			if _, known := classes[class]; !known {
				classes[class] = names[i]
			}
		}
	}
	return spellings(classes)
}

// withNames returns one if the first table's columns have names, and other if they have none.
func withNames(one, other string, first *dataset.Set) string {
	if first.Columns != nil {
		return one
	}
	return other
}

// widths refuses tables without names whose widths differ.
func widths(party string, set *dataset.Set, leader string, first *dataset.Set) error {
	if set.Columns != nil || set.X.Cols() == first.X.Cols() {
		return nil
	}
	advice := "give every party the same columns"
	if _, sparse := set.X.(*dataset.CSR); sparse {
		advice = fmt.Sprintf("give every party the same columns; where a file names none of the last ones, say how many there are: features: %d", max(set.X.Cols(), first.X.Cols()))
	}
	return fmt.Errorf("%s has %d features and %s has %d; %s", party, set.X.Cols(), leader, first.X.Cols(), advice)
}

// spellings refuses classes of several parties that differ only by case, blanks or
// Unicode form.
func spellings(who map[string]string) error {
	classes := make([]string, 0, len(who))
	for class := range who {
		classes = append(classes, class)
	}
	slices.Sort(classes)
	one, other, clash := spell.Clash(classes)
	if !clash {
		return nil
	}
	return &heading.ClassError{Class: one, Member: who[one], OtherClass: other, OtherMember: who[other]}
}
