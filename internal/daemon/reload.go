package daemon

import (
	"context"
	"sync/atomic"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/party"
)

// inForce holds the configuration in force. A reload replaces it as a whole.
type inForce struct{ atomic.Pointer[Config] }

func newInForce(c *Config) *inForce {
	s := &inForce{}
	s.Store(c)
	return s
}

// reloads reads the configuration again whenever the operator asks for it, until ctx ends.
func (h partyHome) reloads(ctx context.Context, o Options, p *party.Party) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.Reload:
		}
		if err := h.reload(ctx, o, p); err != nil && ctx.Err() == nil {
			o.Logger.Error("the configuration cannot be used; the catalogue and the policies stay as they were", "error", err)
		}
	}
}

// reload puts the catalogue and the policies of the configuration file in force, for the proposals from
// now on. Jobs that are open keep the tables that they have read.
func (h partyHome) reload(ctx context.Context, o Options, p *party.Party) error {
	next, err := h.Config(o.Reader)
	if err != nil {
		return err
	}
	now := h.config()
	if next.Name != now.Name || next.Coordinator != now.Coordinator || next.limits() != now.limits() || next.Metrics != now.Metrics {
		return fault.BadInputf("%s changes name, coordinator, retention, unclosed or metrics, for which the daemon must be started again", h.ConfigPath())
	}
	err = p.Between(ctx, func() error {
		if err := h.audit.Append(audit.Event{Kind: audit.Reloaded}); err != nil {
			return err
		}
		h.settings.Store(next)
		return nil
	})
	if err != nil {
		return err
	}
	for _, warning := range next.Warnings() {
		o.Logger.Warn(warning)
	}
	o.Logger.Info("the catalogue and the policies were read again", "tables", len(next.Data))
	return nil
}
