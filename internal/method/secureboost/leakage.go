package secureboost

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol/secureboost"
)

// Leakage describes in plain words what each role learns from a job with the given number of
// common rows.
func Leakage(j *job.Job, rows int) map[string][]string {
	parties, trees := j.Parties(), learner.TreesOf(j)
	lines := secureboost.Leakage(secureboost.Facts{
		Encryption: keysOf(j).HE, Rows: rows, Rounds: trees.Rounds, Depth: trees.Depth, Bins: trees.Bins,
	})
	lines["active"] = append([]string{fmt.Sprintf("The active party is %s, who holds the labels. The leaves of the trees stay there; each party keeps the cuts of its own columns.", parties[0])}, append(lines["active"], columns.KeptScores)...)
	lines["server"] = []string{
		"The server learns how many rows are common to all, how many columns each party has, and the figures on held-out rows that the active party tells it. It sees no sums, labels, decisions or trees.",
	}
	lines["party"] = []string{"Every party learns how many rows are common to all and how many columns each other party has."}
	columns.Leakage(lines, j, rows)
	return lines
}
