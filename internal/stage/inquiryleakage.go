package stage

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
)

// addInquiries adds to the leakage of a job by columns what predictions tell if they
// are open, with so many of the training rows in the model.
func addInquiries(lines map[string][]string, j *job.Job, model, training int) {
	if j.Prediction != job.Open {
		return
	}
	add := func(role string, more ...string) { lines[role] = append(lines[role], more...) }
	add("party",
		"Predictions are open: for every question the rows are aligned again, so that each party learns how many rows are asked about, and which of its own are among them.",
	)
	if is[*fdsklKeys](j) {
		add("active", "Of every new row that it asks about it learns what it has learnt of the job's rows: the distances over the other workers' columns, to those rows too.")
		add("passive", "Each keeps the key of its directions until its operator or the coordinator's has it forget (mercer job forget). Without the key of one the model says nothing.")
		add("server", "It learns who asks when, and how many rows a question is about, no id and no decision.")
		add("coalition", "Whoever gets hold of the coefficients and of all keys can predict without the workers, and knows every worker's directions.")
		return
	}
	add("server", fmt.Sprintf("Of every new row that somebody asks about it learns the products with the model's %d rows and with itself, and what the model says.", model))
	add("party",
		fmt.Sprintf("Every party learns which training rows are in the model, %d of %d: of a support vector machine those at the border between classes. It keeps its own columns of them until its operator or the coordinator's has it forget (mercer job forget).", model, training),
		"Who asks learns what the model says, and from enough answers something of the others' columns of these rows.",
	)
}
