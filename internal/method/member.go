package method

import (
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/protocol"
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
