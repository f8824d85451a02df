package coordinator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol"
)

// Each wait of a session has a time of its own: timeout.join until all parties have joined, timeout.round for each
// message of a member, or a multiple of it for a slow one. The deadline bounds the stages of a job as a whole.

// errDeadline ends a job that has not ended in time.
var errDeadline = errors.New("the job has reached its deadline")

// Deadline returns the time at which the coordinator ends a job that has begun. It is zero for a job that has no time
// limit, or has not begun.
func (j Job) Deadline() time.Time {
	if j.Spec.Timeout.Job == 0 || j.Started.IsZero() {
		return time.Time{}
	}
	return j.Started.Add(j.Spec.Timeout.Job)
}

// resumeTime is the least time that parties have to answer a resumed job, even if its deadline has passed. So the job's
// error names only parties that do not answer.
const resumeTime = 5 * time.Second

// startDeadline stops a job at its deadline. The time counts from the job's first stage, also while no coordinator
// runs. The returned function ends the wait.
func (c *Coordinator) startDeadline(id job.ID, stop context.CancelCauseFunc) (cancel func()) {
	j, err := c.get(id)
	if err != nil || j.Spec.Timeout.Job == 0 {
		return func() {} // a job without a deadline; takeNext has just seen the job
	}
	left := j.Spec.Timeout.Job
	if at := j.Deadline(); !at.IsZero() {
		left = max(time.Until(at), resumeTime)
	}
	t := time.AfterFunc(left, func() { stop(protocol.Blame(c.name, protocol.KindAborted, errDeadline)) })
	return func() { t.Stop() }
}

// late reports whether a job's deadline has caused an error.
func late(ctx context.Context, err error) bool {
	return errors.Is(context.Cause(ctx), errDeadline) && (errors.Is(err, errDeadline) || errors.Is(err, context.Canceled))
}

// explain adds to a session's error the members for whom the session waited: a member that reported that it cannot
// continue, and at the job's deadline all members that have not acted. It does not blame a member that has not acted,
// because this member may wait for another member, or may have been asked a moment ago.
func (c *Coordinator) explain(ctx context.Context, d *conducted, err error, w awaited) error {
	if !late(ctx, err) {
		return d.stalls.Explain(err, "", time.Now(), w.within)
	}
	why := &fault.Error{Code: fault.CodeTimedOut, Err: fmt.Errorf("no %s from %s", w.what, strings.Join(w.members, ", "))}
	return overdue(d.job, d.step, d.stalls.Explain(why, "", time.Now(), w.within))
}

// awaited says for whom a session waits.
type awaited struct {
	members []string
	what    string        // what the members have not sent
	within  time.Duration // trouble that ended less than this long ago still explains a member's silence
}

// awaitsJoining returns the parties that have not accepted a session.
func (c *Coordinator) awaitsJoining(d *conducted) awaited {
	return awaited{members: c.missingParties(d), what: "acceptance"}
}

// awaitsReports returns the members that have not finished a session. One of them may wait for another.
func (c *Coordinator) awaitsReports(d *conducted) awaited {
	w := awaited{what: "report", within: d.job.Spec.Timeout.Round}
	for _, name := range c.otherMembers(d) {
		if d.reports[name] == nil {
			w.members = append(w.members, name)
		}
	}
	return w
}

// overdue returns the error of a job that has not ended in time. The error names the stage, and says why the stage had
// not ended.
func overdue(j *Job, stage string, why error) error {
	text := fmt.Sprintf("the job did not end within %v (timeout.job): %v", j.Spec.Timeout.Job, why)
	e := &fault.Error{Code: fault.CodeOf(why), Err: errors.New(text), Public: "stage " + stage + ": " + text}
	var coded *fault.Error
	if errors.As(why, &coded) {
		e.Blamed = coded.Blamed
	}
	return e
}
