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

func newParty(c method.Case, self string, t method.Table) (*party, error) {
	p, err := rows.Of(c, self, t)
	if err != nil {
		return nil, err
	}
	own := &party{Party: p}
	p.Lets = own.release
	return own, c.Limits.Floors.CheckRows(c.Job.Protocol.Name(), p.Split.Set.X.Rows())
}

// meet is the party's machine, which meets all others in pairs.
func (p *party) meet(setup method.Setup) (*method.Run, error) {
	m, err := escaped.NewParty(setup.Setup, escaped.Input{Rows: p.Rows, Labels: p.Split.Set.Labels, Test: p.Split.Test})
	return method.RunOf(m, err, func() error {
		p.met = true
		return nil
	})
}

// release states that all rows are let out.
func (p *party) release() ([]method.Release, error) {
	return []method.Release{p.Release(method.ReleaseRows)}, nil
}

// ownFigures reports whether the party's held-out rows are too few for figures over them alone.
func (p *party) ownFigures() error { return rows.CheckOwnFigures(p.Limits.Floors, p.Job, p.Split) }

// facts are none before the session.
func (p *party) facts() method.Facts {
	if !p.met {
		return method.Facts{}
	}
	return method.Facts{Known: true, Grid: p.Grid}
}
