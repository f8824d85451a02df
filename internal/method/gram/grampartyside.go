package gram

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// party is the state of a party with columns during a job.
type party struct {
	*columns.Party
	arithmetic
	facts   method.Facts       // the party's facts for the leakage statement; none before the party has added to the sum
	parent  protocol.SessionID // the id of the session that added up the matrices
	support []int              // places of the model's rows among the training rows, for open predictions
	outputs int
}

func (p *party) holder() *columns.Party { return p.Party }

func newParty(c method.Instance, self string, t method.Table) (*party, error) {
	p, err := columns.Of(c, self, t)
	if err != nil {
		return nil, err
	}
	return &party{Party: p, arithmetic: trainingArithmetic(c.Job)}, nil
}

func (p *party) sum(setup method.Setup) (*method.Run, error) {
	return p.adder(setup, p.Declared, slices.Index(p.Job.Parties(), p.Self), p.Rows, func() {
		p.parent, p.facts = setup.Session.ID(), method.Facts{Known: true, Grid: method.GridOf(p.Set)}
	})
}

// hear builds the machine with which a party learns which rows are in the model.
func (p *party) hear(setup method.Setup) (*method.Run, error) {
	return sums.Receiver(setup, func(body []byte) error {
		if err := p.takeSupport(body); err != nil {
			return protocol.Blame(p.Coordinator, protocol.KindInconsistent, fmt.Errorf("gram: %w", err))
		}
		return nil
	})
}

func (p *party) declare(d *columns.Declaration) error {
	d.Labels = len(columns.EncodeLabels(p.Set.Labels))
	return columns.DeclareProducts(d, p.Rows)
}

// products lists what the party releases: inner products of the common rows. It returns none before
// the alignment.
func (p *party) products() ([]method.Release, error) {
	return p.Releases(method.ReleaseProducts)
}

// takeSupport records which rows are in the model, because the party keeps its columns of these
// rows.
func (p *party) takeSupport(body []byte) error {
	r := wire.NewReader(body)
	outputs, bits := int(r.Uint32()), r.Rest()
	if err := r.Close("support"); err != nil {
		return err
	}
	var places []int
	for i := range 8 * len(bits) {
		if bits[i/8]>>(i%8)&1 == 1 {
			places = append(places, i)
		}
	}
	if n := trainingRows(p.Job, p.Declared); len(places) == 0 || places[len(places)-1] >= n || outputs < 1 || outputs > columns.MaxOutputs {
		return fmt.Errorf("the model has %d outputs and uses %d of %d training rows; it must have 1 to %d outputs and use at least one training row and no other row", outputs, len(places), n, columns.MaxOutputs)
	}
	p.support, p.outputs = places, outputs
	return nil
}

func (p *party) keep(c method.Closing) (method.RetainedState, error) {
	o, err := p.ModelPart(p.parent, c)
	if err != nil {
		return method.RetainedState{}, err
	}
	o.Basis.Rows, o.Basis.Outputs = len(p.support), p.outputs
	o.Rows = linalg.New[float64](o.Basis.Rows, o.Width)
	linalg.Gather(o.Rows, linalg.Pick(p.Rows, p.support), 0)
	return o.RetainedState(), nil
}
