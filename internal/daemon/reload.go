package daemon

import (
	"context"
	"encoding/hex"
	"sync"
	"sync/atomic"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/roster"
)

// inForce holds the configuration and the roster in force. A reload replaces each as a whole.
type inForce struct {
	config  atomic.Pointer[Config]
	members atomic.Pointer[roster.Roster]
	// changing is held from the reading of the files until they are in force, so that no older file follows a
	// newer one.
	changing sync.Mutex
}

func newInForce(c *Config, members *roster.Roster) *inForce {
	s := &inForce{}
	s.config.Store(c)
	s.members.Store(members)
	return s
}

// reloads reads the configuration and the roster again whenever the operator asks for it, until ctx ends.
func (h partyHome) reloads(ctx context.Context, o Options, p *party.Party) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.Reload:
		}
		if err := h.reload(ctx, o, p); err != nil && ctx.Err() == nil {
			o.Logger.Error("configuration or roster cannot be used; the catalogue, the policies and the roster stay as they were", "error", err)
		}
	}
}

// reloadRunning calls reload with the party that runs.
func (h partyHome) reloadRunning(ctx context.Context, o Options) error {
	p, err := h.watch.Party()
	if err != nil {
		return err
	}
	return h.reload(ctx, o, p)
}

// reload puts the catalogue, the policies, the roles and the approved roster in force, for what comes from now on:
// all of them, or none if a file has a mistake. Jobs that are open keep the tables that they have read.
func (h partyHome) reload(ctx context.Context, o Options, p *party.Party) error {
	h.settings.changing.Lock()
	defer h.settings.changing.Unlock()
	next, err := h.Config(o.Reader)
	if err != nil {
		return err
	}
	now := h.config()
	if next.Name != now.Name || next.Coordinator != now.Coordinator || next.limits() != now.limits() || next.Metrics != now.Metrics || next.Audit != now.Audit || !next.Page.same(now.Page) {
		return fault.BadInputf("%s has a new value of \"name\", \"coordinator\", \"retention\", \"unclosed\", \"metrics\", \"page\" or \"audit\"; start the daemon again to use it", h.ConfigPath())
	}
	if !next.Roles.SameEntrance(now.Roles) {
		return errEntrance(h.Home)
	}
	members, err := h.nextMembers(next, h.id, h.members())
	if err != nil {
		return err
	}
	changes := roster.Compare(h.members(), members)
	err = p.Adopt(ctx, members, func() error {
		hash := members.Hash()
		if err := h.audit.Append(audit.Event{Kind: audit.Reloaded, Roster: hex.EncodeToString(hash[:])}); err != nil {
			return err
		}
		h.settings.config.Store(next)
		h.settings.members.Store(members)
		return nil
	})
	switch {
	case err != nil && h.members() != members: // the change itself has failed
		return err
	case err != nil:
		o.Logger.Error("the roster is in force, but a session with a member that has changed could not be ended; start the daemon again", "error", err)
	}
	logChanges(o.Logger, changes)
	for _, warning := range next.Warnings() {
		o.Logger.Warn(warning)
	}
	warnOfStrangers(o.Logger, next.Roles)
	o.Logger.Info("the catalogue and the policies were read again", "tables", len(next.Data))
	return nil
}
