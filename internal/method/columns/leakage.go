package columns

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol/psi"
)

// KeptScores states for the active role where the scores of held-out rows stay that a party with
// labels has judged.
const KeptScores = "The scores of held-out rows, with ids, figures and curves, stay with the party that has their labels, until it forgets the job."

// Leakage adds to the statement of a job's leakage what each role learns by the alignment of
// the given number of common rows and, where predictions are open, by the alignment of
// questions.
func Leakage(lines map[string][]string, j *job.Job, rows int) {
	for role, more := range alignmentLeakage(j, len(j.Parties()), rows) {
		lines[role] = append(lines[role], more...)
	}
	if j.Prediction == job.Open {
		lines["party"] = append(lines["party"],
			"Predictions are open: for every question the rows are aligned again, so that each party learns how many rows are asked about, and which of its own are among them.",
		)
	}
}

func alignmentLeakage(j *job.Job, parties, rows int) map[string][]string {
	if !j.Data.Partition.Aligned {
		return psi.Leakage(psi.Facts{Parties: parties, Common: rows, MaxIDs: j.Protocol.Limit("max_ids")})
	}
	server := "Two parties compare their tables by themselves; the server takes no part in it."
	if parties > 2 {
		server = "The server learns which parties have the same ids in the same order, and no id."
	}
	return map[string][]string{
		"server": {server},
		"party":  {fmt.Sprintf("Every party knows that all others have its %d ids, in its order: the job says so, and it was checked. A party that brings another list learns whether all others have that one, and no more.", rows)},
		"broker": {"The broker sees who sends to whom, when and how much; from that follows nothing about ids."},
	}
}

// Undownloadable describes where a model by columns lies: no single file holds it.
func Undownloadable(j *job.Job) string {
	return fmt.Sprintf("lies in parts with its parties (protocol %s), and no file predicts without them", j.Protocol.Name())
}
