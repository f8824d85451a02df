package secureboost

import (
	"crypto/sha256"
	"errors"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/learn/boost"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/secureboost"
)

// party is the state of a party with columns. The party with the labels is the guest, and every
// other party is a host.
type party struct {
	*columns.Party
	training *Training // nil at the hosts
}

func newParty(c method.Instance, self string, t method.Table) (*party, error) {
	p, err := columns.Of(c, self, t)
	if err != nil {
		return nil, err
	}
	return &party{Party: p}, nil
}

func (p *party) declare(d *columns.Declaration) error {
	d.Columns.Columns = p.Width()
	return nil
}

// releasedSums lists what the party releases: sums over the training rows. These sums reveal
// information about the party's columns and, without encryption, about the guest's labels.
func (p *party) releasedSums() ([]method.Release, error) {
	list, err := p.Releases(method.ReleaseSums)
	for i := range list {
		n, _ := p.Training().Shape()
		list[i].Among = linalg.Range(0, n)
	}
	return list, err
}

// grower builds a party's machine for the session that grows trees.
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

// input returns the party's columns, divided into bins, and the number of training rows.
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

// judged evaluates the guest's decisions on the held-out rows.
func (p *party) judged() (*method.Judged, error) {
	t := p.training
	if t == nil {
		return nil, nil
	}
	g, err := p.Judge(t.outputs, t.decisions(), linalg.Range(t.train, len(t.labels)), linalg.Range(0, t.train))
	if g != nil {
		g.Result.Leakage, g.Result.Exposures = Leakage(p.Job, len(t.labels)), exposures(p.Job)
	}
	return g, err
}

// tell builds the machine with which the guest sends its finding to the coordinator.
func (p *party) tell(setup method.Setup) (*method.Run, error) {
	m, err := p.training.Measure()
	if err != nil {
		return nil, err
	}
	return sums.Sender(setup, finding{m, p.training.hash()}.encode())
}

// Training is the training at the party with the labels. It holds a booster and the classes that
// the booster's scores represent.
type Training struct {
	*boost.Booster
	outputs *learner.Outputs
	labels  []string // the labels of all rows
	train   int
}

// NewTraining returns a training of boosted trees for a job. The first rows are training rows, and
// train is their number. The other rows are held out.
func NewTraining(j *job.Job, labels []string, train int) (*Training, error) {
	out, err := learner.OutputsOf(j, labels[:train])
	if err != nil {
		return nil, err
	}
	if out.Y.Rows > 1 {
		return nil, errors.New("boosted trees need two classes, but the labels have more classes; let the job have two classes")
	}
	y := make([]float64, train)
	for i, v := range out.Y.Row(0) {
		y[i] = max(0, v)
	}
	b, err := boost.New(learner.TreesOf(j).Params, y, len(labels))
	return &Training{Booster: b, outputs: out, labels: labels, train: train}, err
}

// Measure returns the metrics of the trees on the held-out rows.
func (t *Training) Measure() (learner.Metrics, error) {
	return t.outputs.Measure(t.decisions(), t.labels[t.train:])
}

// decisions returns the scores of the held-out rows as a matrix with one row.
func (t *Training) decisions() linalg.Matrix[float64] {
	scores := t.Scores()[t.train:]
	return linalg.Matrix[float64]{Rows: 1, Cols: len(scores), Stride: len(scores), Data: scores}
}

// hash returns a digest of the trees at the party with the labels.
func (t *Training) hash() [sha256.Size]byte {
	var w wire.Writer
	w.String("mercer/v1/secureboost/model")
	for _, tree := range t.Model().Trees {
		w.Uint32(uint32(len(tree)))
		for _, n := range tree {
			w.Uint32(uint32(n.Feature))
			w.Uint32(uint32(n.Bin))
			w.Float64(n.Value)
		}
	}
	return sha256.Sum256(w.Bytes())
}
