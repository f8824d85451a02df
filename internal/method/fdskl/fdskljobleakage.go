package fdskl

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// factsOf returns the properties of a job on which its leakage depends.
func factsOf(j *job.Job, rows int, e fdskl.Exposure) fdskl.Facts {
	return fdskl.Facts{
		Mode: fdskl.Mode(j.Protocol.Mode()), Workers: len(j.Parties()), Active: len(j.Active()), Rows: rows, Directions: OwnDirections(j), Exposure: e,
	}
}

// serverSees names what stays hidden from the server.
const serverSees = "It sees no phases, labels, decisions or coefficients"

// Exposures returns how much of others' rows each role can reconstruct in a job with the given number of
// common rows.
func Exposures(j *job.Job, rows int) map[string]protocol.Exposure {
	list := fdskl.Exposures(factsOf(j, rows, fdskl.Exposure{}))
	list["server"] = protocol.Exposure{Reach: protocol.ReachNone, Why: serverSees}
	return list
}

// Leakage describes in plain words what each role learns from a job of protocol fdskl. rows is the
// number of common rows. e is the measured exposure. Only a process that has all columns can
// measure the exposure; other callers pass the zero value.
func Leakage(j *job.Job, rows int, e fdskl.Exposure) map[string][]string {
	parties, active := j.Parties(), j.Active()
	lines := fdskl.Leakage(factsOf(j, rows, e))
	who := fmt.Sprintf("The active worker is %s, which holds the labels. The model's coefficients stay there.", parties[0])
	if len(active) > 1 {
		who = fmt.Sprintf("The active workers are %s, which hold the labels. Each keeps the coefficients of its own directions. %s learns the model's decisions on the held-out rows.", strings.Join(active, ", "), active[0])
	}
	lines["active"] = append([]string{who}, lines["active"]...)
	lines["server"] = []string{
		"The server learns the number of common rows, each party's number of columns, how far the training converged, and the figures on held-out rows, which the active worker sends. " + serverSees + ".",
	}
	lines["party"] = []string{"Every party learns the number of common rows and each other party's number of columns."}
	if unit := j.Kernel.GammaUnit; unit != "" {
		lines["party"] = append(lines["party"], fmt.Sprintf("Every party and the server learn the %s of each party's own columns to within 5 %%: gamma is measured by their sum.", unitName(unit)))
	}
	if j.Data.Spread {
		addSpread(lines, active)
	}
	lines["active"] = append(lines["active"], columns.KeptScores)
	columns.Leakage(lines, j, rows)
	if j.Prediction == job.Open {
		addQuestions(lines)
	}
	lines["coalition"] = append(lines["coalition"], "From another job over the same rows that differs by one column, the active worker can compare both sums of phases. Each party's release ledger blocks such a job until the party's operator approves it.")
	return lines
}

// attackedLabels states how many labels the attack of TestAttackPartsOfTheValueTellLabels found.
const attackedLabels = "104 of 146"

// addSpread changes the leakage statement for a job in which each active worker has the labels of
// only some rows.
func addSpread(lines map[string][]string, active []string) {
	lines["active"][0] = fmt.Sprintf("The active workers are %s. Each has the labels of a part of the rows and keeps the coefficients of its own directions. It learns the model's decisions on the held-out rows whose labels it has, unless another active worker requests them first.", strings.Join(active, ", "))
	lines["active"] = append(lines["active"], fmt.Sprintf("The other active workers' parts of the model's value depend on their labels and reveal some of them: an attack on 1,024 parts found %s labels that were drawn at random, which no data explain. A guess finds one in two.", attackedLabels),
		"Each active worker sends the number of training rows whose labels it has, and the classes among its labels, to the other active workers only. It sends the label of a row to nobody.")
	lines["server"][0] = "The server learns the number of common rows, each party's number of columns, and sums over all active workers. These sums count the held-out rows by class and predicted class, without the classes' names, and the labels of training rows. The server learns whether each training row has exactly one label. " + serverSees + ", and no party's part of the sums."
	lines["party"] = append(lines["party"], "An active worker requests rows whose labels it has, one at a time. So for each requested row every party learns who has its label. It learns nothing about rows that are not drawn, unless only one worker can have their labels.")
	lines["coalition"] = append(lines["coalition"], "The server and all active workers but one together learn the remaining worker's part of the sums: its held-out rows by class and predicted class, and whether its labels complete the others'.")
}

// addQuestions adds to a leakage statement what prediction queries reveal.
func addQuestions(lines map[string][]string) {
	for role, line := range map[string]string{
		"active":    "For every new row that it queries, the active worker learns the same as for the job's rows: the distances over the other workers' columns, including the distances to those rows.",
		"passive":   "Each passive worker keeps the key of its directions until its operator or the coordinator's operator erases it (mercer job forget). Without any one of these keys the model predicts nothing.",
		"server":    "The server learns who queries, when, and how many rows each query has, but no id and no decision.",
		"coalition": "Anyone who obtains the coefficients and all keys can predict without the workers, and knows every worker's directions.",
	} {
		lines[role] = append(lines[role], line)
	}
}

// OwnDirections returns the number of directions whose coefficients each active worker keeps.
func OwnDirections(j *job.Job) int {
	return keysOf(j).Directions / len(j.Active())
}

func unitName(u job.GammaUnit) string {
	if u == job.Norm {
		return "mean squared norm"
	}
	return "median squared distance"
}
