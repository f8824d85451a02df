// Package method declares the abilities of a method: a way to learn from data that stays in
// place.
package method

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol"
)

// Method is one way to learn, which a job names, with the keys of its settings. Its further
// abilities are the interfaces below and in package job, found by type assertion.
type Method = job.Kind

// Federated is a Method that a coordinator and parties run in sessions.
type Federated interface {
	Method
	Floored
	// Plan returns the steps of a job, in order. It is public and pure: every member
	// computes it from the job.
	Plan(Case) ([]Step, error)
	// Party prepares a party's table for a job. Errors are faults of the data and tell the
	// party what to do. They may quote the data, and are for the party's own log.
	Party(c Case, self string, t Table) (Party, error)
	Server(Case) (Server, error)
}

// Case is a job, or a question about its model, with its participants.
type Case struct {
	Job *job.Job
	// ID is the job's ID or, for a question, the question's own ID: sessions of two cases
	// have nothing in common.
	ID          job.ID
	Coordinator string
	Parties     []string // the first one leads: it draws what the coordinator must not know
	Limits      Limits   // what this party's operator allows; zero at the coordinator
}

// Limits hold the settings that a party's operator allows where the job leaves them open.
type Limits struct {
	Directions int // random features of which sums may be made; 0 for any number
	Floors     Floors
}

// Holders lists the data holders, the first as leader.
func (c Case) Holders() []protocol.Member {
	list := protocol.Members(protocol.RoleParty, c.Parties...)
	list[0].Role = protocol.RoleLeader
	return list
}

// Everybody lists the coordinator as server and then the holders.
func (c Case) Everybody() []protocol.Member {
	return append(protocol.Members(protocol.RoleServer, c.Coordinator), c.Holders()...)
}

// Crowd lists the coordinator as server and the parties without a leader.
func (c Case) Crowd() []protocol.Member {
	list := c.Everybody()
	list[1].Role = protocol.RoleParty
	return list
}

// check refuses a cast that no method can work with.
func (c Case) check() error {
	if len(c.Parties) < 2 {
		return fmt.Errorf("method: a job of %d parties; name at least two", len(c.Parties))
	}
	if slices.Contains(c.Parties, c.Coordinator) {
		return fmt.Errorf("method: the coordinator %s cannot be a party of the job too", c.Coordinator)
	}
	return nil
}

// Of finds the method of a job, if a federation can run it.
func Of(j *job.Job) (Federated, error) {
	if m, ok := j.Protocol.Kind.(Federated); ok {
		return m, nil
	}
	return nil, fmt.Errorf("method: protocol %q cannot be run by a federation", j.Protocol.Name())
}

// Plan returns the steps of a job, if its cast is one.
func Plan(m Federated, c Case) ([]Step, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return m.Plan(c)
}
