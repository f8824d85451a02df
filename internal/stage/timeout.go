package stage

import (
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol"
)

// receiptRounds is how many rounds a party waits that has nothing to do itself:
// for the slowest other party, and for the work of who learns from all rows.
const receiptRounds = 24

// Timeout returns how long a timer of the session's machines lasts in a job.
func (s *Session) Timeout(j *job.Job, t protocol.Timer) time.Duration {
	if slices.Contains(s.Patient, t) {
		return receiptRounds * j.Timeout.Round
	}
	return j.Timeout.Round
}
