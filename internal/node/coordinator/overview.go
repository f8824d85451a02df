package coordinator

import (
	"context"
	"log/slog"
	"time"

	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// Broker is the federation's broker, as far as an overview shows it.
type Broker interface {
	// Connections lists the connected members.
	Connections() ([]overview.Connection, error)
	// Load returns how full the broker's queues are.
	Load() (overview.Broker, error)
}

// Overview returns what the coordinator knows about its federation now.
func (c *Coordinator) Overview() (overview.Overview, error) {
	o := overview.Overview{
		Name: c.name, Role: roster.Coordinator, Federation: c.roster().Federation, Version: c.Version, Since: c.began, Members: []overview.Member{}, Jobs: []overview.Job{},
	}
	for _, j := range c.List() {
		o.Jobs = append(o.Jobs, j.Described())
	}
	o.Awaiting = overview.Waits(o.Jobs)
	if c.Forwarding != nil {
		o.Forwarding = c.Forwarding()
	}
	if c.Broker == nil {
		return o, nil
	}
	if err := c.noteMembers(); err != nil {
		return o, err
	}
	o.Members = c.attendance.Members()
	load, err := c.Broker.Load()
	o.Broker = &load
	return o, err
}

// Described returns the job's part of an overview.
func (j Job) Described() overview.Job {
	d := overview.Job{
		ID: j.ID.String(), Name: j.Spec.Name, State: j.State, Stage: j.Stage, Parties: j.Spec.Parties(),
		Submitted: j.Submitted, Started: j.Started, StageSince: j.StageSince, Ended: j.Ended,
	}
	if j.Submitter.Member != "" {
		d.Submitter = &j.Submitter
	}
	if j.State == overview.Running {
		d.Waiting, d.Deadline = j.Waiting, j.Deadline()
	}
	return d
}

// absent returns the parties of a federation, none of which is connected.
func absent(r *roster.Roster, since time.Time) (list []overview.Member) {
	for _, name := range r.Parties() {
		list = append(list, overview.Member{Name: name, Role: roster.Party, Since: since})
	}
	return list
}

// lookEvery is the time between two looks at the members' connections.
const lookEvery = 2 * time.Second

// watchMembers records which parties connect and disconnect, until ctx ends.
func (c *Coordinator) watchMembers(ctx context.Context) {
	if c.Broker == nil {
		return
	}
	often, arrived := time.NewTicker(lookEvery), time.NewTimer(waitNotice)
	defer often.Stop()
	defer arrived.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-arrived.C:
			c.recordAbsent()
		case <-often.C:
			if err := c.noteMembers(); err != nil {
				c.complain("cannot see which members are connected", c.name, "error", err)
			}
		}
	}
}

// noteMembers compares the members' connections with those that it saw last, and records the differences.
func (c *Coordinator) noteMembers() error {
	open, err := c.Broker.Connections()
	if err != nil {
		return err
	}
	for _, m := range c.attendance.Update(open, overview.Now()) {
		c.recordMember(m)
	}
	return nil
}

// recordAbsent records the parties that have not connected since the coordinator's start.
func (c *Coordinator) recordAbsent() {
	for _, m := range c.attendance.Members() {
		if !m.Connected && m.Since.Equal(c.began) {
			c.recordMember(m)
		}
	}
}

func (c *Coordinator) recordMember(m overview.Member) {
	level, line, e := slog.LevelWarn, "a member is not connected", overview.Event{Kind: overview.Disconnected, Member: m.Name}
	if m.Connected {
		level, line, e.Kind = slog.LevelInfo, "a member is connected", overview.Connected
	}
	c.History.Record(c.Logger, level, line, e, "since", m.Since)
}
