// Package method declares the abilities of a method: a way to learn from data that stays in
// place.
package method

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol"
)

// Instance is a job, or a question about its model, with its participants.
type Instance struct {
	Job *job.Job
	// ID is the job's ID or, for a question, the question's own ID: sessions of two cases
	// have nothing in common.
	ID          job.ID
	Coordinator string
	Parties     []string // the first one leads: it draws what the coordinator must not know
	Limits      Limits   // what this party's operator allows; zero at the coordinator
}

// DataParties lists the data holders, the first as leader.
func (c Instance) DataParties() []protocol.Member {
	list := protocol.Members(protocol.RoleParty, c.Parties...)
	list[0].Role = protocol.RoleLeader
	return list
}

// AllMembers lists the coordinator as server and then the holders.
func (c Instance) AllMembers() []protocol.Member {
	return append(protocol.Members(protocol.RoleServer, c.Coordinator), c.DataParties()...)
}

// MembersWithoutLeader lists the coordinator as server and the parties without a leader.
func (c Instance) MembersWithoutLeader() []protocol.Member {
	list := c.AllMembers()
	list[1].Role = protocol.RoleParty
	return list
}

// check refuses a cast that no method can work with.
func (c Instance) check() error {
	if len(c.Parties) < 2 {
		return fmt.Errorf("method: a job of %d parties; name at least two", len(c.Parties))
	}
	if slices.Contains(c.Parties, c.Coordinator) {
		return fmt.Errorf("method: the coordinator %s cannot be a party of the job too", c.Coordinator)
	}
	return nil
}

// Of finds the protocol of a job, if a coordinator and its parties can run it.
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

// OfDevices finds the protocol of a job, if devices can run it: one that parties run, too, or one of
// devices. passes says that its sessions are passing, see [DevicesOf].
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

// Presented finds a result's description by its own protocol, nil for nothing. A reader of a stored
// result has no job, and asks all protocols: details that one cannot read may be another's.
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
