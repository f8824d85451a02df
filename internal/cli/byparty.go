package cli

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/learn/metrics"
)

// byPartyTables returns tables with the figures over each party's own held-out rows. For two
// classes they show sensitivity and specificity; for more classes, a second table shows each party's
// classes, if it has at most byPartyShown rows.
func byPartyTables(m learner.Metrics, a *learner.Assessment, format func(float64) string) []titledTable {
	if !slices.ContainsFunc(a.ByParty, func(one learner.PartyFigures) bool { return one.Withheld != learner.DeniedText }) {
		return nil // no party is allowed to show its own figures, or the job has no parties
	}
	list := []titledTable{{title: "By party: figures over each party's own held-out rows", table: partyTable(tableNames(m), a, format)}}
	classes := 0
	for _, one := range a.ByParty {
		classes += len(one.PerClass)
	}
	if a.Positive == "" && classes > 0 && classes <= byPartyShown {
		list = append(list, titledTable{title: "By party: each class against the rest", table: classesByParty(a.ByParty)})
	}
	return list
}

// partyTable has a row for each party. If a party has no figures, a column says why.
func partyTable(names []string, a *learner.Assessment, format func(float64) string) *tableOf {
	t := &tableOf{header: append([]string{"party", "held out"}, names...)}
	if a.Positive != "" {
		t.header = append(t.header, "sensitivity", "specificity")
	}
	if slices.ContainsFunc(a.ByParty, func(one learner.PartyFigures) bool { return one.Withheld != "" }) {
		t.header = append(t.header, "withheld")
	}
	for _, one := range a.ByParty {
		cells := make([]any, 0, len(t.header))
		if one.Withheld == "" {
			cells = append(append(cells, one.Party, one.HeldOut), formatted(one.Metrics, names, format)...)
			if c := ofClass(one.PerClass, a.Positive); a.Positive != "" {
				cells = append(cells, inRange(c.Recall, nil), inRange(c.Specificity, nil))
			}
		} else {
			cells = append(cells, one.Party)
		}
		for len(cells) < len(t.header) {
			cells = append(cells, "")
		}
		if one.Withheld != "" {
			cells[len(cells)-1] = one.Withheld
		}
		t.add(cells...)
	}
	return t
}

// byPartyShown is the largest number of rows that the table of parties' classes shows.
const byPartyShown = 60

// ofClass returns the figures of a class. They are empty if the party has no row of the class.
func ofClass(list []metrics.ClassFigures, class string) metrics.ClassFigures {
	for _, c := range list {
		if c.Class == class {
			return c
		}
	}
	return metrics.ClassFigures{}
}

func classesByParty(list []learner.PartyFigures) *tableOf {
	t := &tableOf{header: []string{"party", "class", "held out", "precision", "sensitivity", "specificity", "f1"}}
	for _, one := range list {
		for _, c := range one.PerClass {
			t.add(one.Party, c.Class, c.Rows, inRange(c.Precision, nil), inRange(c.Recall, nil), inRange(c.Specificity, nil), inRange(c.F1, nil))
		}
	}
	return t
}
