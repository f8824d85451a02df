package daemon

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/mercer-fl/mercer/internal/node/disclosure"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// partyWatch describes a party's federation to its operator. It also answers while the party does not
// run because the party has no connection yet or its disk is full.
type partyWatch struct {
	self        overview.Overview // without members, jobs, and the jobs and releases that await approval
	coordinator *overview.Attendance
	history     *overview.History
	releases    disclosure.Ledger
	forwarding  func() *overview.Forwarding
	party       atomic.Pointer[party.Party] // nil while the party does not run
}

// newPartyWatch returns the watch of a party whose daemon starts now.
func newPartyWatch(h Home, name string, members *roster.Roster, o Options) *partyWatch {
	began := overview.Now()
	boss := members.Coordinator()
	return &partyWatch{
		self:        overview.Overview{Name: name, Role: roster.Party, Federation: members.Federation, Version: o.Version, Since: began},
		coordinator: overview.NewAttendance(overview.Member{Name: boss.Name, Role: boss.Role, Since: began}),
		history:     overview.NewHistory(),
		releases:    h.Releases(),
		forwarding:  func() *overview.Forwarding { return nil },
	}
}

// connected records that the connection to the coordinator has been opened or lost.
func (w *partyWatch) connected(is bool) {
	var open []overview.Connection
	if is {
		open = []overview.Connection{{Member: w.coordinator.Members()[0].Name, Since: overview.Now()}}
	}
	for _, m := range w.coordinator.Update(open, overview.Now()) {
		e := overview.Event{Kind: overview.Disconnected, Member: m.Name}
		if m.Connected {
			e.Kind = overview.Connected
		}
		w.history.Add(e) // the connection itself has logged it
	}
}

// Events returns the latest events at the party.
func (w *partyWatch) Events() *overview.History { return w.history }

// Overview returns what the daemon knows now. Without a running party it knows no jobs.
func (w *partyWatch) Overview() (overview.Overview, error) {
	o := w.self
	o.Members, o.Jobs, o.Awaiting = w.coordinator.Members(), []overview.Job{}, []overview.Awaiting{}
	o.Forwarding = w.forwarding()
	var err error
	if p := w.party.Load(); p != nil {
		if o.Jobs, err = p.Jobs(); err != nil {
			return o, err
		}
	}
	for _, j := range o.Jobs {
		if j.State == overview.AwaitsApproval {
			o.Awaiting = append(o.Awaiting, overview.Awaiting{Job: j.ID, Name: j.Name, Members: []string{o.Name}, Since: j.Submitted})
		}
	}
	held, err := w.releases.Awaiting()
	for _, n := range held {
		o.Awaiting = append(o.Awaiting, overview.Awaiting{Name: n.Job, Release: n.ID, Members: []string{o.Name}, Since: n.Since.UTC()})
	}
	return o, err
}

// Party returns the party, or an error that says why it does not run.
func (w *partyWatch) Party() (*party.Party, error) {
	if p := w.party.Load(); p != nil {
		return p, nil
	}
	o := w.self
	o.Members = w.coordinator.Members()
	if err := o.Ready(); err != nil {
		return nil, fmt.Errorf("the party in this home does not run now (%w); the log of its daemon says why", err)
	}
	return nil, errors.New("the party in this home does not run now; the log of its daemon says why")
}
