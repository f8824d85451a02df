package daemon

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"os"
	"reflect"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/tally"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/access"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/coordinator"
	"github.com/mercer-fl/mercer/internal/node/invitation"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/transport/nats"
)

// membership changes a federation's members while its coordinator runs, and answers newcomers who have an
// invitation.
type membership struct {
	home   Home
	reader *job.Reader
	config *Config // as the daemon read it at its start; only its roles are read again
	id     *identity.Identity
	log    *slog.Logger

	changing sync.Mutex // held from the reading of the files until they are in force, so that no older roster follows a newer one

	mu         sync.Mutex
	members    *roster.Roster            // the roster in force
	roles      access.Rules              // the setting "roles" in force
	open       map[string]openInvitation // by the name of the invited party
	complaints tally.Tally               // counts refused claims
}

// newMembership returns the membership of a coordinator that starts with the given roster.
func (h Home) newMembership(reader *job.Reader, c *Config, id *identity.Identity, members *roster.Roster, log *slog.Logger) *membership {
	m := &membership{home: h, reader: reader, config: c, roles: c.Roles, id: id, log: log, members: members}
	m.open = opened(m.invited(), nil, time.Now())
	return m
}

// invited returns the invitations of the home. If it cannot read their files, it returns none and logs the error, so
// that a new roster comes into force all the same.
func (m *membership) invited() []invitation.Invitation {
	list, err := m.home.Invitations().List(time.Now())
	if err != nil {
		m.log.Error("the invitations cannot be used; none is open", "error", err)
		return nil
	}
	return list
}

// rules returns the setting "roles" in force.
func (m *membership) rules() access.Rules {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.roles
}

// nextRoles reads the setting "roles" of the home. The other settings of the file must be those in force.
func (m *membership) nextRoles() (access.Rules, error) {
	c, err := m.home.Config(m.reader)
	if err != nil {
		return access.Rules{}, err
	}
	if !c.Roles.SameEntrance(m.config.Roles) {
		return access.Rules{}, errEntrance(m.home)
	}
	next, now := *c, *m.config
	next.Roles, now.Roles = access.Rules{}, access.Rules{}
	if !reflect.DeepEqual(next, now) {
		return access.Rules{}, fault.BadInputf("%s has new values of settings other than \"roles\"; start the coordinator again to use them", m.home.ConfigPath())
	}
	return c.Roles, nil
}

// present returns the roster in force, and the guests of the open invitations.
func (m *membership) present() (*roster.Roster, []nats.Member) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var guests []nats.Member
	for name, i := range m.open {
		guests = append(guests, nats.Member{Name: name, Key: i.Key})
	}
	return m.members, guests
}

// running holds the parts of a coordinator that a change of the members has to reach.
type running struct {
	broker *nats.Server
	co     *coordinator.Coordinator
	record *audit.Log
}

// keep reads the roster again whenever the operator asks for it, and ends invitations that
// expire, until ctx ends.
func (m *membership) keep(ctx context.Context, ask <-chan os.Signal, at running) {
	often := time.NewTicker(lookAtInvitations)
	defer often.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-ask:
			err = m.reload(ctx, at)
		case <-often.C:
			err = m.expire(ctx, at)
		}
		if err != nil && ctx.Err() == nil {
			m.log.Error("the roster cannot be used; the members stay as they were", "error", err)
		}
	}
}

// lookAtInvitations is the time between two looks for invitations that have expired. An expired invitation is not
// accepted, even before such a look.
const lookAtInvitations = 20 * time.Second

// expire ends invitations that have expired.
func (m *membership) expire(ctx context.Context, at running) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	if !m.anyOver() {
		return nil
	}
	now, _ := m.present()
	return m.adopt(ctx, at, now)
}

// reload puts the roles, the approved roster and the invitations of the home in force. If the configuration or the
// roster has a mistake, everything stays as it was. If the invitations cannot be read, none is open. The audit record
// has the reload before it takes effect.
func (m *membership) reload(ctx context.Context, at running) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	now, _ := m.present()
	next, err := m.home.nextMembers(m.config, m.id, now)
	if err != nil {
		return err
	}
	roles, err := m.nextRoles()
	if err != nil {
		return err
	}
	hash := next.Hash()
	if err := at.record.Append(audit.Event{Kind: audit.Reloaded, Roster: hex.EncodeToString(hash[:])}); err != nil {
		return err
	}
	if err := m.adopt(ctx, at, next); err != nil {
		return err
	}
	m.mu.Lock()
	m.roles = roles
	m.mu.Unlock()
	warnOfStrangers(m.log, roles)
	m.log.Info("the roster was read again", "members", len(next.Members))
	return nil
}

// adopt puts a roster and the open invitations in force. Before it returns, the broker has disconnected the members
// whom the roster removes. m.changing must be held.
func (m *membership) adopt(ctx context.Context, at running, next *roster.Roster) error {
	list := m.invited()
	var guests []nats.Member
	for _, i := range list {
		guests = append(guests, nats.Member{Name: i.Name, Key: i.Key})
	}
	var leftover *nats.LeftoverError
	err := at.broker.Change(ctx, loginsOf(next), guests)
	if errors.As(err, &leftover) {
		m.log.Warn("the roster is in force, but the broker could not tidy up", "error", err)
	} else if err != nil {
		return err
	}
	m.mu.Lock()
	changes := roster.Compare(m.members, next)
	m.members, m.open = next, opened(list, m.open, time.Now())
	m.mu.Unlock()
	if len(changes) == 0 {
		return nil
	}
	logChanges(m.log, changes)
	if err := at.co.ChangeRoster(next); err != nil {
		m.log.Error("the roster is in force, but a job of a member that has changed could not be aborted", "error", err)
	}
	return nil
}

// loginsOf returns the members of a roster as the broker knows them.
func loginsOf(members *roster.Roster) (list []nats.Member) {
	for _, m := range members.Members {
		list = append(list, nats.Member{Name: m.Name, Key: m.NKey})
	}
	return list
}

// logChanges writes a line for each change of the roster.
func logChanges(log *slog.Logger, changes []roster.Change) {
	for _, c := range changes {
		log.Info("the roster has changed", "member", c.Name, "what", string(c.What), "fingerprint", c.Fingerprint, "signed_by_earlier_key", string(c.Signed))
	}
}

// nextMembers reads the approved roster of a home whose daemon runs with the roster now.
func (h Home) nextMembers(c *Config, id *identity.Identity, now *roster.Roster) (*roster.Roster, error) {
	next, err := h.readMembers(c, id)
	if err != nil {
		return nil, err
	}
	before, after := now.Coordinator(), next.Coordinator()
	switch {
	case next.Federation != now.Federation:
		return nil, fault.BadInputf("%s is of federation %s, and this daemon runs for %s; start the daemon again if that is right", h.RosterPath(), next.Federation, now.Federation)
	case before.Name != after.Name, before.Fingerprint() != after.Fingerprint(), !bytes.Equal(before.TLS, after.TLS):
		return nil, fault.BadInputf("%s has another coordinator than before, or other keys of it; start all daemons again", h.RosterPath())
	}
	return next, nil
}
