package rows

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/protocol"
)

// Sentences of the leakage statement that say who can reconstruct rows.
const (
	rangesTell = "With scale: minmax the ends of a column's range are real values of rows: every party reads those that are not its own."
	fitTells   = "What is fitted depends on every row: a party that knows all rows but one may compute values of that row."
)

// Expose adds to a result's statement and exposures what the parties reconstruct of others' rows,
// because they fit values together. The sentences in more name what else they reconstruct, and come
// first. A party's exposure is then at least in part.
func Expose(j *job.Job, r *method.Result, more ...string) {
	if j.Data.ScalesTogether() && j.Data.Scale == job.MinMax {
		more = append(more, rangesTell)
	}
	if j.Data.Fits() || j.Data.Fit.Named() {
		more = append(more, fitTells)
	}
	for _, line := range more {
		addMissing(r.Leakage, map[string][]string{"party": {line}})
		if r.Exposures["party"].Reach == protocol.ReachNone {
			r.Exposures["party"] = protocol.Exposure{Reach: protocol.ReachPart, Why: line}
		}
	}
}
