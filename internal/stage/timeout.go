package stage

import (
	"time"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdskl"
	"github.com/mercer-fl/mercer/protocol/okra"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// receiptRounds is how many rounds a party waits that has nothing to do itself:
// for the slowest other party, and for the work of who learns from all rows.
const receiptRounds = 24

// Timeout is how long a machine's timer lasts in a job.
func Timeout(j *job.Job, t protocol.Timer) time.Duration {
	// Where others may vanish, the server waits a round for each that does.
	patient := t == secagg.TimerServer && j.Protocol.Name == job.FedCFK
	if t == okra.TimerReceipt || t == fdskl.TimerRequest || patient {
		return receiptRounds * j.Timeout.Round
	}
	return j.Timeout.Round
}
