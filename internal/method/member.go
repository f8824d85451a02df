package method

import (
	"context"
	"io"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/protocol"
)

// Member is one side of a job: a party, or the coordinator.
type Member interface {
	// Known returns the values that the steps so far have made public.
	Known() Known
	// Machine builds the member's machine of a step of the plan. Setup.Session is the
	// session as it has followed.
	Machine(step string, s Setup) (*Run, error)
}

// Party holds the private state of one data holder in a job. Its further abilities are the
// interfaces below.
type Party interface {
	Member
	// Disclose describes the release that a step lets out, or makes a later step's release tell
	// more: a fit over the same rows, or their number. It returns false for a step that lets
	// nothing out that a ledger counts. A release that the party can describe before the first
	// session is admitted there.
	Disclose(step string) (Release, bool)
}

// Server holds the coordinator's state of a job. Its further abilities are the interfaces
// below.
type Server interface {
	Member
	// Compute runs a step without a session. It ends soon after ctx does, with an error that
	// wraps ctx's error. progress may be nil.
	Compute(ctx context.Context, step string, progress Reporter) error
	// Result returns the coordinator's knowledge of the job's result, once all steps have
	// ended. Costs and comparisons are added by others.
	Result() (*Result, error)
}

// Some servers can do more.
type (
	// Announcer has steps that depend on knowledge of the coordinator alone.
	Announcer interface {
		// Announce returns the announcement of a step to the parties, nil where there is
		// nothing to announce.
		Announce(step string) ([]byte, error)
	}
	// Observer is told how sessions ended for their parties, also after a restart.
	Observer interface {
		Ended(step string, e End)
	}
	// Decider has decided about held-out rows, at least for which classes.
	Decider interface{ Outcome() *Outcome }
	// Model has a model file.
	Model interface {
		WriteModel(w io.Writer) error
		// Private reports whether the model holds encoded rows and never leaves the
		// coordinator.
		Private() bool
	}
)

// Some parties can do more.
type (
	// Grainer tells the coordinator facts for the statement of leakage.
	Grainer interface{ Facts() Facts }
	// Ordered has the ids of its rows in the job's own order, held-out rows last; nil before
	// there is an order. A reader of the job's decisions needs it.
	Ordered interface{ Aligned() []string }
	// Judging has decisions about held-out rows of which it has the labels, and the coordinator has
	// neither; nil before the end, and without labels.
	Judging interface{ Judged() (*Judged, error) }
	// Recommender has an answer for its own person, best first; nil before the end.
	Recommender interface{ Recommended() []Recommendation }
)

// Recommendation is an item with its score.
type Recommendation struct {
	Item  string  `json:"item"`
	Score float64 `json:"score"`
}

// End describes how a session went for its parties, by their own reports.
type End struct {
	Session        protocol.SessionID
	Asked          []string                // the session's members
	Stayed         []string                // went through to the end, in the members' order
	Sent, Received uint64                  // bytes of messages of all that have reported
	Facts          Facts                   // of all parties together
	Words          map[string]learner.Word // about figures over each party's own rows
}

// Reporter receives progress; it may be nil.
type Reporter func(protocol.Progress)

// Counts is the reporter of one part of a step, for learners.
func (r Reporter) Counts(part string) func(done, total int) error {
	if r == nil {
		return nil
	}
	return func(done, total int) error {
		r(protocol.Progress{Stage: part, Done: int64(done), Total: int64(total)})
		return nil
	}
}

// Some methods have a word to say before anything runs.
type (
	// Undownloadable describes the place of a job's model that is not a file and cannot be
	// given away ("lies in parts with ..."). It returns "" for a model that is a file.
	Undownloadable interface{ Undownloadable(*job.Job) string }
	// Floored refuses a job that is below an operator's floors, before any data is read. Every
	// [Federated] method says what floors mean to it, if only that they are about rows.
	Floored interface {
		CheckFloors(Floors, *job.Job) error
	}
)
