package cli

import (
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// A list says for whom a job waits, whose operator has not decided, and until when the job may take.
func TestStateOfAJob(t *testing.T) {
	at := time.Date(2026, 11, 29, 23, 2, 10, 0, time.Local)
	for want, j := range map[string]overview.Job{
		"queued":               {State: overview.Queued},
		"running, stage learn": {State: overview.Running, Stage: "learn"},
		"running, stage rows, waits for south, and for the approval of east since 23:02:10": {
			State: overview.Running, Stage: "rows", Waiting: &overview.Waiting{Parties: []string{"east", "south"}, Undecided: []string{"east"}, Since: at},
		},
		"running, stage learn, ends by 2026-11-30 11:02:10": {State: overview.Running, Stage: "learn", Deadline: at.Add(12 * time.Hour)},
	} {
		if got := (jobResult{Job: admin.Job{Job: j}}).state(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
