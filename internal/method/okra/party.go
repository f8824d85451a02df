package okra

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// party is a holder of rows.
type party struct {
	*rows.Party
	total  int // rows of all parties, once the server has said so
	epoch  okra.Seed
	parent protocol.SessionID // of the upload
}

// Party implements [method.Federated].
func (Method) Party(c method.Case, self string, t method.Table) (method.Party, error) {
	p, err := rows.Of(c, self, t)
	if err != nil {
		return nil, err
	}
	return &party{Party: p}, c.Limits.Floors.CheckRows(c.Job.Protocol.Name(), p.Split.Set.X.Rows())
}

// Known implements [method.Member]: the job says all.
func (*party) Known() method.Known { return nil }

// Machine implements [method.Member].
func (p *party) Machine(step string, setup method.Setup) (*method.Run, error) {
	if step == "protocol" {
		return p.uploader(setup.Setup)
	}
	return p.Party.Machine(step, setup)
}

// uploader encodes the party's rows and sends them.
func (p *party) uploader(setup protocol.Setup) (*method.Run, error) {
	params, err := paramsOf(p.Job)
	if err != nil {
		return nil, err
	}
	m, err := okra.NewParty(setup, params, okra.Input{Rows: p.Rows, Labels: p.Split.Set.Labels, Test: p.Split.Test, Grid: p.Grid == method.AllGrid})
	return method.RunOf(m, err, func() error {
		p.total = m.TotalRows()
		p.epoch, p.parent = m.EpochSeed(), setup.Session.ID()
		return nil
	})
}

// Disclose implements [method.Discloser].
func (p *party) Disclose(step string) (method.Release, bool) {
	if step != "protocol" {
		return method.Release{}, false
	}
	return p.Release(method.ReleaseRows), true
}

// Facts implements [method.Grainer]. There are none before the server has counted the
// rows.
func (p *party) Facts() method.Facts {
	if p.total == 0 {
		return method.Facts{}
	}
	facts := method.Facts{Known: true, Grid: p.Grid}
	if p.total >= p.Width() {
		facts.Features = uint32(p.Width())
	}
	return facts
}

// Keep implements [method.Keeper]: it keeps the encoder.
func (p *party) Keep(c method.Closing) (method.Keepsake, error) {
	if p.total == 0 {
		return method.Keepsake{}, errors.New("okra: the job has no upload to ask questions about")
	}
	params, err := paramsOf(p.Job)
	if err != nil {
		return method.Keepsake{}, err
	}
	e := &Kept{
		params, p.epoch, p.parent, p.Scaling, p.Split.Set.Columns, p.Width(),
		learner.ReadingOf(p.Job, c.Classes)}
	return keepsake(p.Job, e.encode()), nil
}
