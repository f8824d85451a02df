package rows

import (
	"slices"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
)

// Sentences of the leakage statement that say who can reconstruct rows.
const (
	rangesTell = "With scale: minmax the ends of a column's range are real values of rows: every party reads those that are not its own."
	fitTells   = "What is fitted depends on every row: a party that knows all rows but one may compute values of that row."
	pairTells  = "The two parties fit values together, and each learns the other's sums by subtracting its own."
	countsTell = " For a median the sums are counts: how many of the other's rows lie in each small part of the column's range."
)

// Expose adds to a result's statement and exposures what the parties reconstruct of others' rows,
// because they fit values together. The sentences in more name what else they reconstruct, and come
// first. A party's exposure is then at least in part.
func Expose(j *job.Job, r *method.Result, more ...string) {
	if j.Data.ScalesTogether() && j.Data.Scale == job.MinMax {
		more = append(more, rangesTell)
	}
	switch fits := j.Data.Fits() || j.Data.Fit.Named(); {
	case fits && len(j.Parties()) == 2 && slices.ContainsFunc(j.Data.Schema, fitsMedian):
		more = append(more, pairTells+countsTell)
	case fits && len(j.Parties()) == 2:
		more = append(more, pairTells)
	case fits:
		more = append(more, fitTells)
	}
	for _, line := range more {
		addMissing(r.Leakage, map[string][]string{"party": {line}})
		if r.Exposures["party"].Reach == protocol.ReachNone {
			r.Exposures["party"] = protocol.Exposure{Reach: protocol.ReachPart, Why: line}
		}
	}
}

// fitsMedian reports whether gaps of the column get a median, which the parties find by counting.
func fitsMedian(c prepare.Column) bool { return c.Missing == prepare.FillMedian }
