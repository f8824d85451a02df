package ppsvmv

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/ppsvmv"
)

// party is a holder of columns: a site of the ring.
type party struct {
	*columns.Party
	judge
}

// Party implements [method.Federated].
func (Method) Party(c method.Case, self string, t method.Table) (method.Party, error) {
	p, err := columns.Of(c, self, t)
	if err != nil {
		return nil, err
	}
	return &party{p, judge{matrix(c.Job)}}, nil
}

// Machine implements [method.Member].
func (p *party) Machine(step string, setup method.Setup) (*method.Run, error) {
	switch step {
	case "protocol":
		return p.site(setup)
	case "labels":
		return sums.Sender(setup, columns.EncodeLabels(p.Set.Labels))
	}
	return p.Party.Machine(step, setup, p)
}

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

// Declare implements [columns.Guest].
func (p *party) Declare(d *columns.Declaration) error {
	d.Labels = len(columns.EncodeLabels(p.Set.Labels))
	return columns.DeclareProducts(d, p.Rows)
}

// Disclose implements [method.Party].
func (p *party) Disclose(step string) (method.Release, bool) {
	if columns.Tells(step) {
		return p.Release(method.ReleaseProducts)
	}
	return p.Party.Disclose(step)
}
