package rows

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
)

// Sentences of the leakage statement that say who can reconstruct rows.
const (
	rangesTell = "With scale: minmax the ends of a column's range are real values of rows: every party reads those that are not its own."
	everyTells = "What is fitted depends on every row: a party that knows all rows but one may compute values of that row."
	pairTells  = "Two parties train, and each learns the other's "
	soleTells  = "Only %s trains, and %s learns the %s of %[1]s."
	countsTell = " For a median the sums are counts: how many of the other's rows lie in each small part of the column's range."
)

// Expose adds to a result's leakage statement and exposures what the parties reconstruct of others' rows,
// because they fit values together. The parties of c are the parties that fit. The sentences in more name
// other ways to reconstruct something, and come first. If there is any sentence, the exposure of role
// party is at least ReachPart.
func Expose(c method.Instance, r *method.Result, more ...string) {
	d := &c.Job.Data
	if d.ScalesTogether() && d.Scale == job.MinMax {
		more = append(more, rangesTell)
	}
	if d.Fits() || d.Fit.Named() {
		more = append(more, fitTells(c))
	}
	for _, line := range more {
		addMissing(r.Leakage, map[string][]string{"party": {line}})
		if r.Exposures["party"].Reach == protocol.ReachNone {
			r.Exposures["party"] = protocol.Exposure{Reach: protocol.ReachPart, Why: line}
		}
	}
}

// fitTells describes what parties learn of others' rows from fitted values. If one or two parties train,
// these values tell the numbers of a single party, unless an earlier job fitted them.
func fitTells(c method.Instance) string {
	d := &c.Job.Data
	train := d.Training(c.Parties)
	if len(c.Parties) == 1 || len(train) > 2 || d.Fit.Named() || c.Job.Protocol.Demands().Continues {
		return everyTells
	}
	switch {
	case addsUp(d) && len(train) == 1:
		return fmt.Sprintf(soleTells, train[0], d.Test.Party, "sums") + medianTells(d)
	case addsUp(d):
		return pairTells + "sums by subtracting its own." + medianTells(d)
	case !d.ScalesTogether() || d.Scale != job.Standard:
		return everyTells
	case len(train) == 1:
		return fmt.Sprintf(soleTells, train[0], d.Test.Party, "means and deviations")
	}
	return pairTells + "means and deviations, or can compute them if it guesses the other's number of rows."
}

// addsUp reports whether the parties add up numbers to fit their schema.
func addsUp(d *job.Data) bool {
	plan, err := prepare.NewPlan(d.Schema, d.Fitted())
	return err == nil && plan.Entries() > 0
}

// medianTells describes the sums of a column whose gaps get a median. It is "" without such a column.
func medianTells(d *job.Data) string {
	if slices.ContainsFunc(d.Schema, func(c prepare.Column) bool { return c.Missing == prepare.FillMedian }) {
		return countsTell
	}
	return ""
}
