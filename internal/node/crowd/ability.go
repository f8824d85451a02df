package crowd

import (
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// What a crowd asks of some methods beside [method.Federated], found by type assertion.
type (
	// Crowded is a method that runs some jobs among the devices of a crowd, and not between the
	// parties of a coordinator.
	Crowded interface {
		// Crowd returns the method as a crowd runs it, or the reason why no crowd can run the job.
		Crowd(*job.Job) (method.Federated, error)
	}
	// Passing is a method of whose sessions none needs an earlier one. A device that is missing
	// from one takes part in the next, and everybody erases a session once the next has begun.
	// Its server is a Resumer.
	Passing interface{ Passing() }
	// Resumer is a server that goes on from its state before a step, without the sessions of
	// earlier steps.
	Resumer interface {
		// Snapshot returns the state, for Restore in another process.
		Snapshot() ([]byte, error)
		Restore(snapshot []byte) error
	}
	// Drawer is a party that draws something for the job, and the same after a restart.
	Drawer interface {
		// Draw takes the device's secrets of this job, by labels.
		Draw(secret func(label string) [32]byte) error
	}
)

// methodOf finds the method of a job, if a crowd can run it.
func methodOf(j *job.Job) (method.Federated, error) {
	m, own := j.Protocol.Kind.(Crowded)
	if !own {
		if err := j.Deployable(); err != nil {
			return nil, fault.BadInput(err)
		}
		return method.Of(j)
	}
	if err := j.Unsimulated(); err != nil {
		return nil, fault.BadInput(err)
	}
	return m.Crowd(j)
}

// passes reports whether a method's sessions are passing.
func passes(m method.Federated) bool {
	_, is := m.(Passing)
	return is
}
