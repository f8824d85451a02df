package stage

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// FDSKLLeakage says in plain words what each role of a job of protocol fdskl
// over so many common rows learns. Only a process that has all columns can
// measure the exposure; it is zero for others.
func FDSKLLeakage(j *job.Job, rows int, e fdskl.Exposure) map[string][]string {
	parties, active := j.Parties(), j.Active()
	lines := fdskl.Leakage(fdskl.Facts{
		Mode: fdskl.Mode(j.Protocol.Mode()), Workers: len(parties), Active: len(active), Rows: rows, Directions: ownDirections(j), Exposure: e,
	})
	who := fmt.Sprintf("The active worker is %s, who holds the labels. The model's coefficients stay there.", parties[0])
	if len(active) > 1 {
		who = fmt.Sprintf("The active workers are %s, who hold the labels. Each keeps the coefficients of its own directions; %s learns what all together decide about the held-out rows.", strings.Join(active, ", "), active[0])
	}
	lines["active"] = append([]string{who}, lines["active"]...)
	lines["server"] = []string{
		"The server learns how many rows are common to all, how many columns each party has, the figures on held-out rows that the active worker tells it, and how near its training came to an end. It sees no phases, labels, decisions or coefficients.",
	}
	lines["party"] = []string{"Every party learns how many rows are common to all and how many columns each other party has."}
	if unit := j.Kernel.GammaUnit; unit != "" {
		lines["party"] = append(lines["party"], fmt.Sprintf("It learns, as the server does, the %s of each party's own columns, to 5 %%: gamma is measured by their sum.", spreadName(unit)))
	}
	for role, more := range alignLeakage(j, len(parties), rows) {
		lines[role] = append(lines[role], more...)
	}
	addInquiries(lines, j, 0, 0)
	lines["coalition"] = append(lines["coalition"], "Another job over the same rows that differs by one column lets the active worker compare both sums of phases; each party's release ledger holds such a job until its operator approves it.")
	return lines
}

// ownDirections is how many directions an active worker has.
func ownDirections(j *job.Job) int {
	return job.As[*fdsklKeys](j.Protocol).Directions / len(j.Active())
}

func spreadName(u job.GammaUnit) string {
	if u == job.Norm {
		return "mean squared norm"
	}
	return "median squared distance"
}
