package ppsvmv

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/ppsvmv"
)

// party is a holder of columns: a site of the ring.
type party struct {
	*columns.Party
	columns.Products
}

func newParty(c method.Case, self string, t method.Table) (*party, error) {
	p, err := columns.Of(c, self, t)
	if err != nil {
		return nil, err
	}
	return &party{p, matrix(c.Job)}, nil
}

func (p *party) holder() *columns.Party { return p.Party }

// site is the party's machine of the ring.
func (p *party) site(setup method.Setup) (*method.Run, error) {
	part, err := p.PartOf(p.Declared, slices.Index(p.Job.Parties(), p.Self), p.Rows)
	if err != nil {
		return nil, err
	}
	if setup.Session.RoleOf(p.Self) == protocol.RoleLeader {
		m, err := ppsvmv.NewLeader(setup.Setup, part)
		return method.RunOf(m, err, method.Nothing)
	}
	m, err := ppsvmv.NewSite(setup.Setup, part)
	return method.RunOf(m, err, method.Nothing)
}

func (p *party) declare(d *columns.Declaration) error {
	d.Labels = len(columns.EncodeLabels(p.Set.Labels))
	return columns.DeclareProducts(d, p.Rows)
}

// products states the products of the common rows, once they are known.
func (p *party) products() ([]method.Release, error) { return p.Releases(method.ReleaseProducts) }
