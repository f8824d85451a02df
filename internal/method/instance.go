// Package method binds protocols to learners. Each method is a way to learn from data that stays in
// place.
package method

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/protocol"
)

// Instance is a job, or a query to a job's model, together with the members.
type Instance struct {
	Job *job.Job
	// ID is the job's ID or, for a query, the query's own ID. Sessions of two instances therefore have
	// different IDs.
	ID          job.ID
	Coordinator string
	Parties     []string // in sessions with a leader, the first party leads: it draws the secrets that the coordinator must not know
	Limits      Limits   // limits that this party's operator sets; zero at the coordinator
	// Workers computes parts of a grid for the coordinator; nil at parties, and if the coordinator
	// computes everything itself.
	Workers learner.Workers
}

// DataParties lists the data holders. The first has the role of leader.
func (c Instance) DataParties() []protocol.Member {
	list := protocol.Members(protocol.RoleParty, c.Parties...)
	list[0].Role = protocol.RoleLeader
	return list
}

// AllMembers lists the coordinator as server, followed by the data holders.
func (c Instance) AllMembers() []protocol.Member {
	return append(protocol.Members(protocol.RoleServer, c.Coordinator), c.DataParties()...)
}

// MembersWithoutLeader lists the coordinator as server and the parties without a leader.
func (c Instance) MembersWithoutLeader() []protocol.Member {
	list := c.AllMembers()
	list[1].Role = protocol.RoleParty
	return list
}

// check refuses a job with fewer than two parties or with the coordinator as a party.
func (c Instance) check() error {
	if len(c.Parties) < 2 {
		return fmt.Errorf("method: the job has %d parties; name at least two", len(c.Parties))
	}
	if slices.Contains(c.Parties, c.Coordinator) {
		return fmt.Errorf("method: the coordinator %s cannot be a party of the job too", c.Coordinator)
	}
	return nil
}

// Of returns the protocol of a job. It returns an error if a coordinator and its parties cannot run the
// protocol.
func Of(j *job.Job) (*Protocol, error) {
	if Federated(j) {
		return j.Protocol.Kind.(*Protocol), nil
	}
	return nil, fmt.Errorf("method: protocol %q cannot be run by a federation", j.Protocol.Name())
}

// Federated reports whether a coordinator and its parties can run the job's protocol.
func Federated(j *job.Job) bool {
	m, ok := j.Protocol.Kind.(*Protocol)
	return ok && m.devices == nil
}

// OfDevices returns the protocol of a job if devices can run it. Parties can run the protocol too,
// or only devices can. passes reports the protocol's Passing, see [DevicesOf].
func OfDevices(j *job.Job) (m *Protocol, passes bool, err error) {
	m, ok := j.Protocol.Kind.(*Protocol)
	if !ok || m.devices == nil {
		if err = j.Deployable(); err == nil {
			m, err = Of(j)
		}
		return m, false, err
	}
	if err = j.Unsimulated(); err == nil {
		err = m.devices.Serves(j)
	}
	return m, m.devices.Passing, err
}

// Presented returns the description of a result by the result's protocol. It returns nil if the result
// has no details.
// For a stored result without a job it tries all protocols, because details that one protocol
// cannot read can belong to another.
func Presented(list []job.Protocol, j *job.Job, r *Result) (*Presentation, error) {
	if r.Details == nil {
		return nil, nil
	}
	var unread error
	for _, k := range list {
		m, federated := k.(*Protocol)
		if !federated || j != nil && j.Protocol.Name() != m.Name() {
			continue
		}
		shown, err := m.Present(j, r)
		if shown != nil {
			return shown, nil
		}
		unread = cmp.Or(unread, err)
	}
	return nil, unread
}
