package secureboost

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/learn/boost"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/secureboost"
)

// party is a holder of columns: the guest, or a host.
type party struct {
	*columns.Party
	judge
	training *Training // at the guest
}

// Party implements [method.Federated].
func (Method) Party(c method.Case, self string, t method.Table) (method.Party, error) {
	p, err := columns.Of(c, self, t)
	if err != nil {
		return nil, err
	}
	return &party{Party: p, judge: judge{c.Job}}, nil
}

// Machine implements [method.Member].
func (p *party) Machine(step string, setup method.Setup) (*method.Run, error) {
	switch step {
	case "protocol":
		return p.grower(setup)
	case "learn":
		return p.teller(setup)
	}
	return p.Party.Machine(step, setup, p)
}

// Declare implements [columns.Guest].
func (p *party) Declare(d *columns.Declaration) error {
	d.Columns.Columns = p.Width()
	return nil
}

// Disclose implements [method.Party]: sums over the training rows tell of the party's
// columns and, without encryption, of the guest's labels.
func (p *party) Disclose(step string) (method.Release, bool) {
	if !columns.Tells(step) {
		return p.Party.Disclose(step)
	}
	r, ok := p.Release(method.ReleaseSums)
	if !ok {
		return r, false
	}
	n, _ := p.Training().Shape()
	r.Among = linalg.Range(0, n)
	return r, true
}

// grower is a party's machine of the session that grows trees.
func (p *party) grower(setup method.Setup) (*method.Run, error) {
	in, train := p.input()
	if p.Self != p.Parties[0] {
		m, err := secureboost.NewHost(setup.Setup, in)
		return method.RunOf(m, err, method.Nothing)
	}
	t, err := NewTraining(p.Job, p.Set.Labels, train)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	m, err := secureboost.NewGuest(setup.Setup, in, t)
	return method.RunOf(m, err, func() error {
		p.training = t
		return nil
	})
}

// input returns the party's columns in bins, and how many rows are not held out.
func (p *party) input() (secureboost.Input, int) {
	train, _ := p.Training().Shape()
	binned := boost.Bin(p.Rows, train, learner.TreesOf(p.Job).Bins)
	in := secureboost.Input{Codes: binned.Codes, Alignment: p.Declared.Digest}
	var w wire.Writer
	w.Strings(p.Set.Labels)
	for f, codes := range binned.Codes {
		in.Bins = append(in.Bins, binned.Bins(f))
		w.Bytes32(codes)
	}
	in.Hash = sha256.Sum256(w.Bytes())
	return in, train
}

// Judged implements [method.Judging].
func (p *party) Judged() (*method.Judged, error) {
	t := p.training
	if t == nil {
		return nil, nil
	}
	g, err := p.Judge(t.outputs, t.decisions(), linalg.Range(t.train, len(t.labels)), linalg.Range(0, t.train))
	if g != nil {
		g.Result.Leakage = Leakage(p.Job, len(t.labels))
	}
	return g, err
}

// teller is the guest's machine of the finding.
func (p *party) teller(setup method.Setup) (*method.Run, error) {
	m, err := p.training.Measure()
	if err != nil {
		return nil, err
	}
	return sums.Sender(setup, finding{m, p.training.hash()}.encode())
}
