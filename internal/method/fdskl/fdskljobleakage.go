package fdskl

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// Leakage describes in plain words what each role learns from a job of protocol fdskl with
// the given number of common rows. Only a process that has all columns can measure the
// exposure; it is zero for others.
func Leakage(j *job.Job, rows int, e fdskl.Exposure) map[string][]string {
	parties, active := j.Parties(), j.Active()
	lines := fdskl.Leakage(fdskl.Facts{
		Mode: fdskl.Mode(j.Protocol.Mode()), Workers: len(parties), Active: len(active), Rows: rows, Directions: OwnDirections(j), Exposure: e,
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
		lines["party"] = append(lines["party"], fmt.Sprintf("It learns, as the server does, the %s of each party's own columns, to 5 %%: gamma is measured by their sum.", unitName(unit)))
	}
	if j.Data.Spread {
		addSpread(lines, active)
	}
	lines["active"] = append(lines["active"], columns.KeptScores)
	columns.Leakage(lines, j, rows)
	if j.Prediction == job.Open {
		addQuestions(lines)
	}
	lines["coalition"] = append(lines["coalition"], "Another job over the same rows that differs by one column lets the active worker compare both sums of phases; each party's release ledger holds such a job until its operator approves it.")
	return lines
}

// lotteryLabels is the measured result of the attack on labels by parts of the model's value
// (TestAttackPartsOfTheValueTellLabels).
const lotteryLabels = "104 of 146"

// addSpread rewrites the leakage of a job in which each active worker has labels of a part of
// the rows.
func addSpread(lines map[string][]string, active []string) {
	lines["active"][0] = fmt.Sprintf("The active workers are %s. Each has labels of a part of the rows and keeps the coefficients of its own directions. It learns what all together decide about the held-out rows of which it has labels, unless another one asks first.", strings.Join(active, ", "))
	lines["active"] = append(lines["active"], fmt.Sprintf("The others' parts of the model's value follow from their labels and tell some of them: of labels drawn by lot, which no data explain, %s were right after 1,024 parts, where a guess is right for one in two.", lotteryLabels),
		"Each active worker tells the others, and nobody else, how many training rows it has labels of, and the classes among its labels. It tells nobody the label of a row.")
	lines["server"][0] = "The server learns how many rows are common to all, how many columns each party has, and sums over all active workers. They count the held-out rows by class and predicted class, without the classes' names, and the labels of training rows. It learns whether each training row has exactly one label. It sees no phases, labels, decisions or coefficients, and no party's part of the sums."
	lines["party"] = append(lines["party"], "An active worker asks about rows of which it has labels, one at a time. So every party learns of each row that is asked about who has its label. Of rows that are not drawn it learns nothing, except where only one worker is left to have them.")
	lines["coalition"] = append(lines["coalition"], "The server with all active workers but one learns that one's part of the sums: its held-out rows by class and predicted class, and whether its labels complete the others'.")
}

// addQuestions adds the leakage of questions about new rows.
func addQuestions(lines map[string][]string) {
	for role, line := range map[string]string{
		"active":    "Of every new row that it asks about it learns what it has learnt of the job's rows: the distances over the other workers' columns, to those rows too.",
		"passive":   "Each keeps the key of its directions until its operator or the coordinator's has it forget (mercer job forget). Without the key of one the model says nothing.",
		"server":    "It learns who asks when, and how many rows a question is about, no id and no decision.",
		"coalition": "Whoever gets hold of the coefficients and of all keys can predict without the workers, and knows every worker's directions.",
	} {
		lines[role] = append(lines[role], line)
	}
}

// OwnDirections counts the directions that an active worker has.
func OwnDirections(j *job.Job) int {
	return keysOf(j).Directions / len(j.Active())
}

func unitName(u job.GammaUnit) string {
	if u == job.Norm {
		return "mean squared norm"
	}
	return "median squared distance"
}
