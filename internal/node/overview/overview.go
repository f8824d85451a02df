// Package overview describes what a daemon knows about its federation: which members are connected, which
// jobs there are, what waits for whom, and how full the broker's queues are. It also keeps the daemon's
// latest events. The control socket, the web page, the metrics and the commands all show these facts by this
// description.
//
// A description names members, jobs, releases and those who submitted jobs. It holds no value of a row, and no
// number of rows.
package overview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// Overview is what a daemon knows about its federation at one moment.
type Overview struct {
	Name       string      `json:"name"` // name of the daemon's own member
	Role       roster.Role `json:"role"`
	Federation string      `json:"federation"`
	Version    string      `json:"version,omitempty"`
	Since      time.Time   `json:"since"` // start of the daemon
	// Members lists the other members with which this daemon exchanges messages: at a coordinator all
	// parties, at a party the coordinator.
	Members  []Member   `json:"members"`
	Jobs     []Job      `json:"jobs"`
	Awaiting []Awaiting `json:"awaiting"`
	Broker   *Broker    `json:"broker,omitempty"` // nil at a party
	// Forwarding is nil unless the daemon sends its audit record to a syslog server.
	Forwarding *Forwarding `json:"audit_forwarding,omitempty"`
}

// Forwarding describes how a daemon sends its audit record to a syslog server.
type Forwarding struct {
	Failing bool   `json:"failing"` // true if the last attempt has failed
	Sent    uint64 `json:"sent"`    // number of lines that were sent since the daemon's start
}

// Now returns the time in UTC, in whole seconds.
func Now() time.Time { return time.Now().UTC().Truncate(time.Second) }

// Source provides the description and the events of a daemon. It is safe for concurrent use.
type Source interface {
	Overview() (Overview, error)
	Events() *History
}

// Member is another member of the federation.
type Member struct {
	Name      string      `json:"name"`
	Role      roster.Role `json:"role"`
	Connected bool        `json:"connected"`
	// Since is the time of the connection, or of its loss. A member that was never connected is absent
	// since the start of the daemon, or since a later roster has it.
	Since time.Time `json:"since"`
	// Version is the version that the member's program last gave, or "". Nobody verifies it.
	Version string `json:"version,omitempty"`
}

// State says how far a job has come between its submission and its end.
type State string

// These are the states of a job at a coordinator. A job in the state closing has its outcome, and the
// coordinator is asking the parties to destroy its secrets.
const (
	Queued  State = "queued"
	Running State = "running"
	Closing State = "closing"
	Done    State = "done"
	Failed  State = "failed"
	// Unreadable is the state of a job whose file, status or result this program cannot read. It is
	// kept as it is.
	Unreadable State = "unreadable"
)

// These are the states of a job at a party.
const (
	AwaitsApproval State = "awaiting approval" // the party's operator has not decided about the job
	Open           State = "open"              // the party has not yet received the end of the job from the coordinator
	Retained       State = "retained"          // the job has ended, and the party still holds something that the job left
)

// States returns the states of jobs at a member with a role.
func States(of roster.Role) []State {
	if of == roster.Party {
		return []State{AwaitsApproval, Open, Retained}
	}
	return []State{Queued, Running, Closing, Done, Failed, Unreadable}
}

// Over reports whether a job has reached its last state.
func (s State) Over() bool {
	return s == Done || s == Failed || s == Unreadable || s == Retained
}

// Job describes a job.
type Job struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	State State  `json:"state"`
	Stage string `json:"stage,omitempty"`
	// Waiting is nil unless the stage waits for parties.
	Waiting *Waiting `json:"waiting,omitempty"`
	// A time is zero if it has not come, or if the daemon does not know it. At a party, Submitted is the time
	// at which a job began to await approval, Started that of the first session, and Ended that of the closing.
	Submitted  time.Time `json:"submitted,omitzero"`
	Started    time.Time `json:"started,omitzero"`
	StageSince time.Time `json:"stage_since,omitzero"`
	Ended      time.Time `json:"ended,omitzero"`
	// Deadline is the time at which a coordinator ends a running job. It is zero for a job without a time
	// limit, and at a party.
	Deadline time.Time `json:"deadline,omitzero"`
	Parties  []string  `json:"parties"`
	// Submitter is who submitted the job, as its coordinator says; nil if that is not known.
	Submitter *access.Person `json:"submitter,omitempty"`
}

// Waiting holds the parties for whose consent a stage waits.
type Waiting struct {
	Parties []string `json:"parties"`
	// Undecided holds those of the parties that have reported that their operators have not decided about
	// the job.
	Undecided []string  `json:"undecided,omitempty"`
	Since     time.Time `json:"since"`
}

// String names the parties in a phrase that follows the word "for".
func (w Waiting) String() string { return waitsFor(w.Parties, w.Undecided) }

// waitsFor names members in a phrase that follows the word "for". It says of which members the approval is
// awaited.
func waitsFor(members, undecided []string) string {
	others := slices.DeleteFunc(slices.Clone(members), func(name string) bool { return slices.Contains(undecided, name) })
	var parts []string
	if len(others) > 0 {
		parts = append(parts, strings.Join(others, ", "))
	}
	if len(undecided) > 0 {
		parts = append(parts, "the approval of "+strings.Join(undecided, ", "))
	}
	return strings.Join(parts, ", and for ")
}

// Awaiting is something that waits for members: at a coordinator a job's stage for the consent of parties, at
// a party a job, or a release of the party's data, for the approval of the party's operator.
type Awaiting struct {
	Job     string   `json:"job,omitempty"`     // id of the job; "" for a release, which more than one job can need
	Name    string   `json:"name"`              // name of the job
	Stage   string   `json:"stage,omitempty"`   // "" for a job and for a release
	Release string   `json:"release,omitempty"` // id of the release; "" for a stage and for a job
	Members []string `json:"members"`           // the members that have to act
	// Undecided holds those of a stage's members that have reported that their operators have not decided.
	Undecided []string  `json:"undecided,omitempty"`
	Since     time.Time `json:"since"`
}

// Broker describes the broker in a coordinator's process.
type Broker struct {
	Accepts  bool   `json:"accepts"` // true if members can connect
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
	Limit    uint64 `json:"limit_bytes"` // size in bytes that the queues may reach
	Free     uint64 `json:"free_bytes"`  // free space in bytes of the queues' disk
}

// Ready returns nil if the daemon can take part in jobs: a coordinator whose broker accepts connections,
// a party that is connected to its coordinator.
func (o Overview) Ready() error {
	if o.Role == roster.Coordinator {
		if o.Broker == nil || !o.Broker.Accepts {
			return fmt.Errorf("the broker of %s accepts no connection", o.Name)
		}
		return nil
	}
	for _, m := range o.Members {
		if !m.Connected {
			return fmt.Errorf("%s has no connection to %s since %s", o.Name, m.Name, m.Since.UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// Awaited returns the number of stages, jobs and releases that wait for a member.
func (o Overview) Awaited(member string) (n int) {
	for _, a := range o.Awaiting {
		if slices.Contains(a.Members, member) {
			n++
		}
	}
	return n
}

// Waits lists the stages that wait for parties.
func Waits(jobs []Job) []Awaiting {
	list := []Awaiting{}
	for _, j := range jobs {
		if w := j.Waiting; w != nil {
			list = append(list, Awaiting{Job: j.ID, Name: j.Name, Stage: j.Stage, Members: w.Parties, Undecided: w.Undecided, Since: w.Since})
		}
	}
	return list
}

// String describes in a phrase what waits for whom.
func (a Awaiting) String() string {
	members := strings.Join(a.Members, ", ")
	switch {
	case a.Release != "":
		return fmt.Sprintf("release %s of job %s waits for %s", a.Release, a.Name, members)
	case a.Stage == "":
		return fmt.Sprintf("job %s (%s) waits for the approval of %s", a.Name, a.Job, members)
	}
	return fmt.Sprintf("stage %s of job %s (%s) waits for %s", a.Stage, a.Name, a.Job, waitsFor(a.Members, a.Undecided))
}
