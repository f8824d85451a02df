package daemon

import (
	"context"
	"errors"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/admin"
	"github.com/mercer-fl/mercer/internal/node/party"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/transport/nats"
)

// RunParty serves a federation as one data holder until ctx ends. It dials
// out only, and waits for the coordinator as long as it takes.
func RunParty(ctx context.Context, h Home, o Options) (err error) {
	id, c, err := h.open(o.Reader)
	if err != nil {
		return err
	}
	members, err := h.members(c, id)
	if err != nil {
		return err
	}
	if members.Coordinator().Name == c.Name {
		return fault.BadInputf("%s is the coordinator of this federation; use mercer coordinator", c.Name)
	}
	if c.Coordinator == "" {
		return fault.BadInputf("%s: coordinator is missing; write coordinator: nats://HOST:4222", h.ConfigPath())
	}
	lock, err := h.take()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	key, err := h.splitKey()
	if err != nil {
		return err
	}
	kept, err := h.vault(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	estate, err := vault.OpenEstate(h.keepsakes(), id.KEMKey())
	if err != nil {
		return err
	}
	for _, warning := range c.Warnings() {
		o.Logger.Warn(warning)
	}
	o.Logger.Info("connecting", "party", c.Name, "coordinator", c.Coordinator)
	conn, err := nats.Dial(ctx, c.Coordinator, c.Name, id.NKey(), nats.Options{Logger: o.Logger})
	if err != nil && ctx.Err() != nil {
		return nil //nolint:nilerr // told to stop before the coordinator answered
	}
	if err != nil {
		return refusedTwin(err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	p := party.New(party.Config{
		Name: c.Name, Reader: o.Reader, Identity: id, Roster: members, Conn: conn, Vault: kept, Keepsake: estate.Keepsake(),
		Policy:   func(table string) (party.Policy, error) { return c.policy(h, table) },
		Releases: h.Releases(), Seed: o.seed(), Usage: Usage, Logger: o.Logger,
		Aligned: keepAlignment(estate), Recommended: keepRecommendations(estate), Limits: c.limits(),
		Load: func(d job.Data) (method.Table, error) { return h.load(c, d, key) },
	})
	return h.otherBuild(refusedTwin(serve(ctx, h, o, c.Coordinator, admin.Party(p, o.Logger), p.Run)))
}

// refusedTwin makes it the operator's matter that another daemon has this home's
// identity, as one in the same home would be.
func refusedTwin(err error) error {
	var twin *nats.TwinError
	if errors.As(err, &twin) {
		return fault.BadInput(err)
	}
	return err
}

// load reads the table that a job names, as the catalogue offers it. Which of its
// rows are held out is the party's own choice.
func (h Home) load(c *Config, d job.Data, key dataset.SplitKey) (method.Table, error) {
	t := method.Table{Key: key}
	s, err := c.source(h, d.Source)
	if err != nil {
		return t, err
	}
	library := catalogue.New("") // a job names catalogue entries, never paths
	if d.Partition.By == job.Devices {
		t.Ratings, err = library.Ratings(s.Path)
		return t, err
	}
	if err := d.LeavesRows(); err != nil {
		return t, fault.Forbidden(err)
	}
	columns, err := s.pick(d.Source, d, c.Name)
	if err != nil {
		return t, err
	}
	if t.Set, err = library.Load(s.Path, columns); err != nil {
		return t, err
	}
	if t.Set.Labels != nil {
		t.Label = columns.Label
	}
	if s.ID == "" {
		t.Set.IDs = nil // a column may be called so, and nobody offered it
	}
	return t, nil
}
