package stage

import (
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// receiptRounds is how many rounds a party that has sent everything waits: for
// the slowest other party's upload, and for the server's work on all rows.
const receiptRounds = 24

// Timeout is how long a machine's timer lasts in a job.
func Timeout(j *job.Job, t protocol.Timer) time.Duration {
	if t == okra.TimerReceipt {
		return receiptRounds * j.Timeout.Round
	}
	return j.Timeout.Round
}
