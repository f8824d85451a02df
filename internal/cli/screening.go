package cli

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/metrics"
)

// screeningTable returns the clinical figures of a test for the positive class, such as
// sensitivity, with counts and 95 % intervals. It returns nil unless there are two classes.
func screeningTable(a *learner.Assessment, named func(class string) string) *titledTable {
	if a == nil || a.Positive == "" || a.Confusion == nil || len(a.Confusion.Classes) != 2 {
		return nil
	}
	p := slices.Index(a.Confusion.Classes, a.Positive)
	if p < 0 {
		return nil
	}
	m := a.Confusion.Matrix
	hit, missed, alarm, clear := m[p][p], m[p][1-p], m[1-p][p], m[1-p][1-p]
	positive, negative := named(a.Positive), named(a.Confusion.Classes[1-p])
	t := &tableOf{header: []string{"figure", "value", "95 % interval", "rows"}}
	for _, one := range []struct {
		name        string
		part, whole int
	}{
		{"prevalence: share of " + positive, hit + missed, hit + missed + alarm + clear},
		{"sensitivity: found among " + positive, hit, hit + missed},
		{"specificity: cleared among " + negative, clear, clear + alarm},
		{"PPV: " + positive + " among the answers " + positive, hit, hit + alarm},
		{"NPV: " + negative + " among the answers " + negative, clear, clear + missed},
	} {
		t.add(screeningRow(one.name, one.part, one.whole)...)
	}
	return &titledTable{title: fmt.Sprintf("As a test for %s, at the model's own threshold: the answer is the class with the higher score", positive), table: t}
}

// screeningRow formats a proportion with its interval and counts.
func screeningRow(name string, part, whole int) []any {
	if whole == 0 {
		return []any{name, "-", "-", "0"}
	}
	in := metrics.Wilson(part, whole)
	return []any{name, fmt.Sprintf("%.2f", float64(part)/float64(whole)), fmt.Sprintf("%.2f to %.2f", in.Low, in.High), fmt.Sprintf("%d of %d", part, whole)}
}

// className returns the name of a class for a page. A class that is a number has no meaning by
// itself, so the name of the label column is added.
func className(j *job.Job, class string) string {
	if _, err := strconv.ParseFloat(class, 64); err != nil || j == nil || j.Data.Label == "" || j.Data.Label == job.NoLabel {
		return class
	}
	return fmt.Sprintf("%s = %s", j.Data.Label, class)
}
