package escaped

import (
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/protocol/escaped"
)

// party is a holder of rows.
type party struct {
	*rows.Party
	met bool // with all others
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
	if step != "protocol" {
		return p.Party.Machine(step, setup)
	}
	m, err := escaped.NewParty(setup.Setup, escaped.Input{Rows: p.Rows, Labels: p.Split.Set.Labels, Test: p.Split.Test})
	return method.RunOf(m, err, func() error {
		p.met = true
		return nil
	})
}

// Disclose implements [method.Party].
func (p *party) Disclose(step string) (method.Release, bool) {
	if step != "protocol" && !rows.Tells(step) {
		return method.Release{}, false
	}
	return p.Release(method.ReleaseRows), true
}

// OwnFigures reports whether the party's held-out rows are too few for figures over them alone.
func (p *party) OwnFigures() error { return rows.CheckOwnFigures(p.Limits.Floors, p.Job, p.Split) }

// Facts implements [method.Grainer]. There are none before the session.
func (p *party) Facts() method.Facts {
	if !p.met {
		return method.Facts{}
	}
	return method.Facts{Known: true, Grid: p.Grid}
}
