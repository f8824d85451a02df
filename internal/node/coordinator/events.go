package coordinator

import (
	"log/slog"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/overview"
)

// An operator reads the course of a job in the log and by mercer job logs: each event of a job has one line, with
// the job's id and name.

// Events returns the latest events of jobs and members.
func (c *Coordinator) Events() *overview.History { return c.History }

// record logs an event of a job, and keeps it. A prediction query that several parties help to answer only has lines
// in the log, because a party may ask as many as it likes.
func (c *Coordinator) record(j *Job, level slog.Level, line string, e overview.Event, more ...any) {
	e.Job, e.Name = j.ID.String(), j.Spec.Name
	if j.inquiry != nil {
		e.Log(c.Logger, level, line, more...)
		return
	}
	c.History.Record(c.Logger, level, line, e, more...)
}

// recordSubmitted records that a job is in the queue.
func (c *Coordinator) recordSubmitted(j *Job) {
	c.record(j, slog.LevelInfo, "a job is submitted", overview.Event{Kind: overview.Submitted, Parties: j.Spec.Parties()}, "protocol", j.Spec.Protocol.Name())
}

// recordChange records the event that a change of a job's status means.
func (c *Coordinator) recordChange(j *Job, before *Status) {
	if j.Stage != "" && j.Stage != before.Stage {
		c.record(j, slog.LevelInfo, "a stage begins", overview.Event{Kind: overview.StageBegun, Stage: j.Stage})
	}
	if j.State == before.State {
		return
	}
	switch f := j.Failure; {
	case j.State == overview.Closing && f != nil:
		c.record(j, slog.LevelError, "a job failed", overview.Event{Kind: overview.HasFailed, Code: f.Code, Blamed: f.Blamed}, "error", f.Message)
	case j.State == overview.Closing:
		c.record(j, slog.LevelInfo, "a job has its result", overview.Event{Kind: overview.HasResult})
	case j.Over():
		c.record(j, slog.LevelInfo, "a job is closed", overview.Event{Kind: overview.Closed, State: j.State}, "submitted", j.Submitted)
	}
}

// recordWaiting records for whose consent a session waits.
func (c *Coordinator) recordWaiting(d *conducted, w *overview.Waiting) {
	c.record(d.job, slog.LevelWarn, "a stage waits for parties", overview.Event{Kind: overview.IsWaiting, Stage: d.step, Parties: w.Parties}, "undecided", w.Undecided, "since", w.Since)
}

const (
	// waitNotice is how long a session waits for its parties, and a new coordinator for its members, before the log
	// names them.
	waitNotice = 5 * time.Second
	// waitAgain is the time from one line of the log about the parties for which a session waits to the next.
	waitAgain = time.Minute
)

// missingParties lists the parties for whose consent a session waits.
func (c *Coordinator) missingParties(d *conducted) []string {
	return slices.DeleteFunc(c.otherMembers(d), func(name string) bool {
		_, here := d.accepted[name]
		return here || slices.Contains(d.leftEarlier, name)
	})
}

// waiting returns for whom a session waits.
func (c *Coordinator) waiting(d *conducted, since time.Time) *overview.Waiting {
	w := &overview.Waiting{Parties: c.missingParties(d), Since: since}
	for _, name := range w.Parties {
		if d.stalls.Has(name, fault.Approval) {
			w.Undecided = append(w.Undecided, name)
		}
	}
	return w
}

// setWaiting records the parties for whose consent a job's session waits. If w is nil, the session waits for nobody.
func (c *Coordinator) setWaiting(j *Job, w *overview.Waiting) {
	c.mu.Lock()
	defer c.mu.Unlock()
	j.Waiting = w
}
