package learner

import (
	"slices"

	"github.com/mercer-fl/mercer/learn/metrics"
)

// Titled returns a copy of the assessment for people, in which named replaces the names of classes.
func (a *Assessment) Titled(named func(class string) string) *Assessment {
	if a == nil {
		return nil
	}
	t := *a
	t.Classes, t.PerClass = TitledCounts(a.Classes, named), titledFigures(a.PerClass, named)
	t.ClassIntervals = titled(a.ClassIntervals, func(i *ClassIntervals) *string { return &i.Class }, named)
	if a.Positive != "" {
		t.Positive = named(a.Positive)
	}
	if a.Confusion != nil {
		t.Confusion = &Confusion{make([]string, len(a.Confusion.Classes)), a.Confusion.Matrix}
		for i, class := range a.Confusion.Classes {
			t.Confusion.Classes[i] = named(class)
		}
	}
	t.Curves, t.ByParty = slices.Clone(a.Curves), slices.Clone(a.ByParty)
	for i := range t.Curves {
		t.Curves[i].Class = named(t.Curves[i].Class)
	}
	for i := range t.ByParty {
		t.ByParty[i].PerClass = titledFigures(t.ByParty[i].PerClass, named)
	}
	return &t
}

// TitledCounts returns a copy of the counts, in which named replaces the names of classes.
func TitledCounts(list []ClassCount, named func(class string) string) []ClassCount {
	return titled(list, func(c *ClassCount) *string { return &c.Class }, named)
}

func titledFigures(list []metrics.ClassFigures, named func(class string) string) []metrics.ClassFigures {
	return titled(list, func(f *metrics.ClassFigures) *string { return &f.Class }, named)
}

// titled returns a copy of a list in which named replaces the class of each element.
func titled[T any](list []T, class func(*T) *string, named func(class string) string) []T {
	copied := slices.Clone(list)
	for i := range copied {
		name := class(&copied[i])
		*name = named(*name)
	}
	return copied
}
