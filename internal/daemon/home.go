// Package daemon makes running processes of a home folder: it reads the
// identity, the roster and the configuration, opens the vault and the
// connection, and runs the coordinator or a party until it is told to stop.
//
//	HOME/identity      the 32-byte seed of the process's keys, mode 0600
//	HOME/member.yaml   its public half, for the roster
//	HOME/config.yaml   name, addresses; for a party: catalogue and policy
//	HOME/roster.yaml   the members of the federation
//	HOME/approvals     rosters whose fingerprints the operator has compared
//	HOME/vault         sessions and their journals
//	HOME/keepsakes     what jobs with open predictions left here, sealed
//	HOME/jobs          the coordinator's jobs
//	HOME/queues        the coordinator's broker
//	HOME/control.sock  the operator's commands
package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mercer-fl/mercer/internal/disk"
	"github.com/mercer-fl/mercer/internal/identity"
	"github.com/mercer-fl/mercer/internal/roster"
	"github.com/mercer-fl/mercer/internal/session"
)

// Home is a process's folder.
type Home string

func (h Home) path(name string) string { return filepath.Join(string(h), name) }

// IdentityPath is where the seed of the process's keys lies.
func (h Home) IdentityPath() string { return h.path("identity") }

// MemberPath is where the public half of the identity lies.
func (h Home) MemberPath() string { return h.path("member.yaml") }

// ConfigPath is where the configuration lies.
func (h Home) ConfigPath() string { return h.path("config.yaml") }

// RosterPath is where the roster lies.
func (h Home) RosterPath() string { return h.path("roster.yaml") }

// Socket is where the operator's commands arrive.
func (h Home) Socket() string { return h.path("control.sock") }

// Jobs is the coordinator's folder of jobs.
func (h Home) Jobs() string { return h.path("jobs") }

func (h Home) approvals() roster.Approvals { return roster.Approvals(h.path("approvals")) }

// Create makes a home with the configuration and an identity of the given
// seed, and writes its member file.
func (h Home) Create(c *Config, role roster.Role, seed [32]byte) (roster.Member, error) {
	if err := os.MkdirAll(string(h), 0o700); err != nil {
		return roster.Member{}, fmt.Errorf("daemon: %w", err)
	}
	id, err := identity.CreateFrom(h.IdentityPath(), seed)
	if errors.Is(err, fs.ErrExist) {
		return roster.Member{}, session.BadInput(fmt.Errorf("%s holds an identity already; choose another --home", h))
	}
	if err != nil {
		return roster.Member{}, err
	}
	m := roster.Member{Name: c.Name, Role: role, Public: id.Public()}
	if err := c.save(h.ConfigPath()); err != nil {
		return m, err
	}
	b, err := roster.MarshalMember(m)
	if err != nil {
		return m, err
	}
	return m, disk.Replace(h.MemberPath(), b)
}

// Join installs a roster whose fingerprints the operator has approved.
func (h Home) Join(r *roster.Roster) error {
	id, c, err := h.open()
	if err != nil {
		return err
	}
	m, ok := r.Lookup(c.Name)
	if !ok || m.Fingerprint() != id.Public().Fingerprint() {
		return session.BadInput(fmt.Errorf("the roster does not hold %s with the identity in %s; send its operator %s", c.Name, h, h.MemberPath()))
	}
	if err := r.Save(h.RosterPath()); err != nil {
		return err
	}
	return h.approvals().Approve(r.Hash())
}

// open reads the identity and the configuration.
func (h Home) open() (*identity.Identity, *Config, error) {
	id, err := identity.Load(h.IdentityPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, session.BadInput(fmt.Errorf("%s holds no identity; create one with mercer federation init --home %s", h, h))
	}
	if err != nil {
		return nil, nil, err
	}
	c, err := loadConfig(h.ConfigPath())
	return id, c, err
}

// members reads the roster and checks that the operator approved it.
func (h Home) members() (*roster.Roster, error) {
	r, err := roster.Load(h.RosterPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, session.BadInput(fmt.Errorf("%s has joined no federation; use mercer federation join --home %s ROSTER", h, h))
	}
	if err != nil {
		return nil, session.BadInput(err)
	}
	ok, err := h.approvals().Approved(r.Hash())
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, session.Forbidden(fmt.Errorf("%s is not approved; compare its fingerprints and use mercer federation join --home %s %s", h.RosterPath(), h, h.RosterPath()))
	}
	return r, nil
}
