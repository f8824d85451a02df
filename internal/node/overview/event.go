package overview

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
)

// Kind is the kind of an event.
type Kind string

// These are the kinds of events of jobs.
const (
	Submitted  Kind = "submitted"   // a coordinator queues a job
	Accepted   Kind = "accepted"    // a party accepts a session
	Refused    Kind = "refused"     // a party refuses a session
	StageBegun Kind = "stage-begun" // a stage begins, as a coordinator sees it
	StageEnded Kind = "stage-ended"
	IsWaiting  Kind = "waiting" // a stage waits for parties
	HasResult  Kind = "result"
	HasFailed  Kind = "failed"
	Aborted    Kind = "aborted" // the coordinator's operator, or a change of the roster, aborts a job
	Closed     Kind = "closed"
)

// These are the kinds of events of members.
const (
	Connected    Kind = "connected"
	Disconnected Kind = "disconnected"
)

// These kinds are no events of the federation. They are for the reader of a stream.
const (
	Heartbeat Kind = "heartbeat" // nothing has happened for a while
	Dropped   Kind = "dropped"   // the reader was too slow, and the stream ends
)

// Kinds lists the kinds of events that a [History] counts.
func Kinds() []Kind {
	return []Kind{Submitted, Accepted, Refused, StageBegun, StageEnded, IsWaiting, HasResult, HasFailed, Aborted, Closed, Connected, Disconnected}
}

// Event is something that has happened to a job or a member. It has no free text: the reason of a failure or a
// refusal may have a number of rows, and is in the log and, at a coordinator, in the job's status.
type Event struct {
	Time    time.Time `json:"time"`
	Kind    Kind      `json:"event"`
	Job     string    `json:"job,omitempty"`
	Name    string    `json:"name,omitempty"` // name of the job
	Stage   string    `json:"stage,omitempty"`
	Parties []string  `json:"parties,omitempty"` // parties of a submitted job, or those for whom a stage waits
	Member  string    `json:"member,omitempty"`  // the member that has connected or disconnected
	State   State     `json:"state,omitempty"`   // the last state of a closed job, at a coordinator
	// Code classifies a failure or a refusal; 0 is none. Blamed is the member that has caused a failure, or "".
	Code   fault.Code `json:"exit_code,omitempty"`
	Blamed string     `json:"blamed,omitempty"`
}

// Log logs the event as one line, with more attributes if there are any.
func (e Event) Log(log *slog.Logger, level slog.Level, line string, more ...any) {
	log.Log(context.Background(), level, line, append(e.attributes(), more...)...)
}

// attributes returns the event's fields for a line of the log.
func (e Event) attributes() []any {
	var args []any
	for _, a := range []struct{ key, value string }{
		{"job", e.Job}, {"name", e.Name}, {"stage", e.Stage}, {"member", e.Member}, {"state", string(e.State)}, {"blamed", e.Blamed},
	} {
		if a.value != "" {
			args = append(args, a.key, a.value)
		}
	}
	if e.Parties != nil {
		args = append(args, "parties", e.Parties)
	}
	if e.Code != 0 {
		args = append(args, "code", int(e.Code))
	}
	return args
}

// maxWord bounds the texts of an event in bytes. Other members choose some of these texts.
const maxWord = 256

// bounded returns the event with its texts cut. Only the names in Parties keep their length.
func (e Event) bounded() Event {
	for _, word := range []*string{&e.Job, &e.Name, &e.Stage, &e.Member, &e.Blamed} {
		*word = cut(*word)
	}
	return e
}

// cut shortens a text of more than maxWord bytes to at most maxWord bytes, and adds dots.
func cut(s string) string {
	if len(s) <= maxWord {
		return s
	}
	return strings.ToValidUTF8(s[:maxWord], "") + "..."
}
