package partition

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
)

// Withheld lists the parties that would keep figures over their own held-out rows back although
// their policies allow them: with the usual floors these rows are too few. a has the figures of a
// job that one process plays.
func Withheld(j *job.Job, shares []Share, a *learner.Assessment) (list []string, err error) {
	if !method.Federated(j) || a == nil || a.ByParty == nil {
		return nil, nil
	}
	splits, err := Splits(j, shares)
	if err != nil {
		return nil, err
	}
	for i, s := range splits {
		if len(s.Rows(true)) == 0 && j.Data.Test != (job.Test{}) {
			continue
		}
		if err := rows.CheckOwnFigures(method.DefaultFloors(), j, s); err != nil {
			list = append(list, fmt.Sprintf("%s: %v", shares[i].Party, err))
		}
	}
	return list, nil
}
