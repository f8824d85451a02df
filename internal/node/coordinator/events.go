package coordinator

import (
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/job"
)

// An operator reads the course of a job in the log: each event has one line, with the job's id and
// name.

// logChange logs the event that a change of a job's status means.
func (c *Coordinator) logChange(j *Job, before *Status) {
	log := c.Logger.With("job", j.ID.String(), "name", j.Spec.Name)
	if j.Stage != "" && j.Stage != before.Stage {
		log.Info("a stage begins", "stage", j.Stage)
	}
	if j.State == before.State {
		return
	}
	switch f := j.Failure; {
	case j.State == Closing && f != nil:
		log.Error("a job failed", "code", int(f.Code), "blamed", f.Blamed, "error", f.Message)
	case j.State == Closing:
		log.Info("a job has its result")
	case j.Over():
		log.Info("a job is closed", "state", string(j.State), "submitted", j.Submitted)
	}
}

// present returns the time in whole seconds, as a job's status has it.
func present() time.Time { return time.Now().UTC().Truncate(time.Second) }

// Waiting holds the parties for whose consent a running job's session waits. It is not kept on disk.
type Waiting struct {
	Parties []string
	Since   time.Time
}

const (
	// waitNotice is how long a session waits for its parties before the log names them.
	waitNotice = 5 * time.Second
	// waitAgain is the time between two further lines about the same parties.
	waitAgain = time.Minute
)

// missingParties lists the parties for whose consent a session waits.
func (c *Coordinator) missingParties(d *conducted) []string {
	return slices.DeleteFunc(c.otherMembers(d), func(name string) bool {
		_, here := d.accepted[name]
		return here || slices.Contains(d.leftEarlier, name)
	})
}

// setWaiting records the parties for whose consent a job's session waits, or nil.
func (c *Coordinator) setWaiting(j *Job, w *Waiting) {
	c.mu.Lock()
	defer c.mu.Unlock()
	j.Waiting = w
}

// remind logs the parties for whose consent a session waits.
func (c *Coordinator) remind(d *conducted, w *Waiting) {
	c.Logger.Warn("a stage waits for parties", "job", d.job.ID.String(), "name", d.job.Spec.Name, "stage", d.step, "parties", w.Parties, "since", w.Since)
}

// logSubmitted logs that a job is in the queue.
func (c *Coordinator) logSubmitted(id job.ID, spec *job.Job) {
	c.Logger.Info("a job is submitted", "job", id.String(), "name", spec.Name, "protocol", spec.Protocol.Name(), "parties", spec.Parties())
}
