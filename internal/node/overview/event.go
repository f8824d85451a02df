package overview

import "time"

// Kind is the kind of an event.
type Kind string

// These are the kinds of events of jobs.
const (
	Submitted  Kind = "submitted"   // at a coordinator
	Accepted   Kind = "accepted"    // a party accepts a session
	Refused    Kind = "refused"     // a party refuses a session
	StageBegun Kind = "stage-begun" // at a coordinator
	StageEnded Kind = "stage-ended"
	IsWaiting  Kind = "waiting" // a stage waits for parties
	HasResult  Kind = "result"
	HasFailed  Kind = "failed"
	Aborted    Kind = "aborted" // by the coordinator's operator
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

// Event is something that has happened to a job or a member.
type Event struct {
	Time    time.Time `json:"time"`
	Kind    Kind      `json:"event"`
	Job     string    `json:"job,omitempty"`
	Name    string    `json:"name,omitempty"` // name of the job
	Stage   string    `json:"stage,omitempty"`
	Parties []string  `json:"parties,omitempty"` // parties of a submitted job, or those for whom a stage waits
	Member  string    `json:"member,omitempty"`  // the member that has connected or disconnected
	// Text is the reason of a failure or a refusal, as all members of the job may read it.
	Text string `json:"text,omitempty"`
}

// LogAttrs returns the event's fields for a line of the log. It omits the reason, because the log has it in
// full.
func (e Event) LogAttrs() []any {
	var args []any
	for _, a := range []struct{ key, value string }{{"job", e.Job}, {"name", e.Name}, {"stage", e.Stage}, {"member", e.Member}} {
		if a.value != "" {
			args = append(args, a.key, a.value)
		}
	}
	if e.Parties != nil {
		args = append(args, "parties", e.Parties)
	}
	return args
}

// Limits of the texts of an event in bytes. Other members choose some of these texts.
const (
	maxText = 1 << 10
	maxWord = 256
)

// bounded returns the event with texts of limited length.
func (e Event) bounded() Event {
	e.Job, e.Name, e.Stage, e.Member = cut(e.Job, maxWord), cut(e.Name, maxWord), cut(e.Stage, maxWord), cut(e.Member, maxWord)
	e.Text = cut(e.Text, maxText)
	return e
}
