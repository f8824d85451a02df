package coordinator

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol"
)

// errAborted ends the sessions of a job that the operator has aborted.
var errAborted = errors.New("the operator aborted the job")

// Abort ends a job that is queued or running; it fails, and the next one begins
// when everything that belonged to it is destroyed. The word is on disk when
// Abort returns, before the parties hear it: no crash brings the job back. A
// job that has its outcome keeps it, and is an error.
//
// A local computation soon ends by itself. Until then it is left alone, and its
// memory is not free.
func (c *Coordinator) Abort(id job.ID) error {
	c.mu.Lock()
	j, known := c.jobs[id]
	c.mu.Unlock()
	if !known {
		return fmt.Errorf("coordinator: %w: %v", ErrNoJob, id)
	}
	if err := c.set(j, c.abort(id)); err != nil {
		return err
	}
	c.Logger.Warn("the operator aborted a job", "job", id.String())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == id {
		c.stop(protocol.Blame(c.name, protocol.KindAborted, errAborted))
	}
	return nil
}

// abort is the change of status. A queued job has nothing to destroy.
func (c *Coordinator) abort(id job.ID) func(*Status) error {
	return func(s *Status) error {
		switch s.State {
		case Queued:
			s.State = Failed
		case Running:
		default:
			return fault.BadInputf("coordinator: job %v is %s; only a job that is queued or running can be aborted", id, s.State)
		}
		why := fmt.Sprintf("aborted by the operator of %s", c.name)
		s.Failure = &Failure{Code: fault.CodeFailed, Message: why, Told: why}
		return nil
	}
}
