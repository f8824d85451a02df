package fdsvrg

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdsvrg"
)

// party is the state of a party with columns during a job.
type party struct {
	*columns.Party
	weights *weights         // the party's columns and weights; nil before the training
	trainer *trainer         // nil except at the party with the labels
	outputs *learner.Outputs // nil except at the party with the labels
}

func newParty(c method.Instance, self string, t method.Table) (*party, error) {
	p, err := columns.Of(c, self, t)
	if err != nil {
		return nil, err
	}
	return &party{Party: p}, nil
}

// tell builds the machine with which the label holder sends its report to the coordinator.
func (p *party) tell(setup method.Setup) (*method.Run, error) {
	v, err := p.evaluate()
	if err != nil {
		return nil, err
	}
	return sums.Sender(setup, v.encode(p.Job.Task()))
}

// declare declares the number of the party's columns and a bound on the squared norms of its rows.
// The default learning rate follows from the bounds of all parties.
func (p *party) declare(d *columns.Declaration) error {
	d.Columns.Columns = p.Width()
	rows := p.Training()
	if p.Self == p.Parties[0] {
		rows = WithOnes{rows}
	}
	n, width := rows.Shape()
	row, most := make([]float64, width), 0.0
	for i := range n {
		rows.ReadRow(i, row)
		most = max(most, linalg.Dot(row, row))
	}
	if most-most != 0 {
		return fault.BadInputf(`fdsvrg: the squared norm of a row is %v; scale the columns ("scale: minmax")`, most)
	}
	d.Unit = roundedUp(most)
	return nil
}

// roundedUp returns the smallest power of two that is at least v and whose exponent is a multiple
// of 1/8.
func roundedUp(v float64) float64 {
	if v == 0 {
		return 0
	}
	return math.Exp2(math.Ceil(8*math.Log2(v)) / 8)
}

// worker builds a party's machine for the training session. It starts with weights of zero, also
// after a restart, which replays the steps.
func (p *party) worker(setup method.Setup) (*method.Run, error) {
	params, err := fdsvrg.DecodeParams(setup.Session.Params)
	if err != nil {
		return nil, err
	}
	on, optimizer := learner.OptimizerParamsOf(p.Job)
	loss, err := on.Loss()
	if err != nil {
		return nil, err
	}
	rate := rateOf(p.Job, loss, p.Declared)
	if setup.Session.RoleOf(p.Self) != protocol.RoleLeader {
		p.weights = newWeights(p.Rows, rate, optimizer.Lambda)
		m, err := fdsvrg.NewWorker(setup.Setup, p.weights)
		return method.RunOf(m, err, method.Nothing)
	}
	if p.outputs, err = learner.OutputsOf(p.Job, p.Set.Labels[:params.Spec().Rows]); err != nil {
		return nil, fault.BadInput(err)
	}
	if p.outputs.Y.Rows > 1 {
		return nil, fault.BadInput(errors.New("fdsvrg: the labels have more than two classes, which fd-svrg cannot learn; use protocol fdskl"))
	}
	p.weights = newWeights(WithOnes{p.Rows}, rate, optimizer.Lambda)
	p.trainer = &trainer{loss: loss, y: p.outputs.Y.Row(0)}
	m, err := fdsvrg.NewLeader(setup.Setup, p.weights, p.trainer)
	return method.RunOf(m, err, method.Nothing)
}

// products lists what the party releases in the training. A party without labels releases margins,
// which are sums of products of rows. The party with the labels releases nothing about its columns.
// But the first slopes reveal the labels of all training rows, so this party releases these labels.
func (p *party) products() ([]method.Release, error) {
	list, err := p.Releases(method.ReleaseProducts)
	if p.Self != p.Parties[0] {
		return list, err
	}
	for i := range list {
		list[i] = list[i].WithoutColumns()
	}
	return append(list, method.Release{Kind: method.ReleaseLabels}), err
}

// evaluate computes the report about the trained model on the held-out rows.
func (p *party) evaluate() (outcome, error) {
	t := p.trainer
	train, labels := len(t.y), p.Set.Labels
	held := linalg.Matrix[float64]{Rows: 1, Cols: len(labels) - train, Stride: len(labels) - train, Data: t.decisions[train:]}
	m, err := p.outputs.Measure(held, labels[train:])
	if err != nil {
		return outcome{}, fault.BadInput(err)
	}
	return outcome{m, t.lossChange(), p.hash()}, nil
}

// judged evaluates the label holder's decisions on the held-out rows.
func (p *party) judged() (*method.Judged, error) {
	if p.trainer == nil || p.trainer.decisions == nil {
		return nil, nil
	}
	train, n := len(p.trainer.y), len(p.Set.Labels)
	held := linalg.Matrix[float64]{Rows: 1, Cols: n - train, Stride: n - train, Data: p.trainer.decisions[train:]}
	g, err := p.Judge(p.outputs, held, linalg.Range(train, n), linalg.Range(0, train))
	if g != nil {
		g.Result.Exposures = exposures(p.Parties)
		g.Result.Warnings, g.Result.Leakage = outcome{lossChange: p.trainer.lossChange()}.warnings(), leakage(p.Instance, n)
	}
	return g, err
}

// hash returns a digest of the model. It covers the label holder's weights, and the decisions in
// place of the other parties' weights.
func (p *party) hash() [sha256.Size]byte {
	var w wire.Writer
	w.String("mercer/v1/fd-svrg/model")
	w.Float64s(p.weights.w)
	w.Float64s(p.trainer.decisions)
	return sha256.Sum256(w.Bytes())
}

// server is the state of the coordinator, which receives the figures of the party with the labels.
type server struct {
	columns.ReportedServer
	outcome outcome
}

func newServer(c method.Instance) (*server, error) {
	return &server{ReportedServer: columns.ReportedServer{Server: columns.Server{Instance: c}}}, nil
}

// hear stores the report of the party with the labels.
func (s *server) hear(body []byte) error {
	v, err := decodeFinding(s.Job.Task(), body)
	if err != nil {
		return protocol.Blame(s.Parties[0], protocol.KindMalformed, err)
	}
	s.outcome, s.Metrics, s.Model = v, v.metrics, v.model
	return nil
}

func (s *server) writeModel(out io.Writer) error { return s.WriteNames(out, "mercer/v1/fd-svrg") }

func (s *server) result() (*method.Result, error) {
	r, err := s.Result(func(rows int) map[string][]string { return leakage(s.Instance, rows) })
	if r != nil {
		r.Warnings, r.Exposures = s.outcome.warnings(), exposures(s.Parties)
	}
	return r, err
}

// Sentences of the leakage statement that say who can reconstruct rows.
const (
	slopesRead    = "If it sends slopes of its choice, it reads any such product."
	latticeReads  = "Products of rows give values on a grid (whole numbers, counts, codes) exactly, by lattice reduction, if rows outnumber the columns. Nobody says whether columns hold such values, so assume that they do."
	serverSees    = "It sees no margin, label, decision or weight."
	labelsShown   = "Every party learns the label of every training row, from the first slopes."
	innerSees     = "A party with others below it in the tree sees, in the clear, the sum of the margins of each branch: of a branch of one party, that party's own margins. It knows the slopes, so these are equations in the products of rows. If that party has a single column, it computes the column up to the sign."
	neighboursSee = "The parties above and below another party in the tree together know that party's own margins."
)

// exposures returns how much of others' rows each role can reconstruct. The member that computes
// the exposures does not know whether the others' columns are on a grid, so it assumes that they
// are. The tree is binary: from four parties on, a party without labels has others below it.
func exposures(parties []string) map[string]protocol.Exposure {
	list := map[string]protocol.Exposure{
		"active":    {Reach: protocol.ReachAll, Why: latticeReads},
		"server":    {Reach: protocol.ReachNone, Why: serverSees},
		"party":     {Reach: protocol.ReachPart, Why: labelsShown},
		"coalition": {Reach: protocol.ReachAll, Why: neighboursSee},
	}
	if len(parties) > 3 {
		list["party"] = protocol.Exposure{Reach: protocol.ReachAll, Why: innerSees}
	}
	return list
}

// leakage describes in plain words what each role learns in this job.
func leakage(c method.Instance, rows int) map[string][]string {
	first := c.Parties[0]
	_, params := learner.OptimizerParamsOf(c.Job)
	active := fmt.Sprintf("%s, who holds the labels, learns the margin of each of %d rows over all columns, of training rows twice in each of %d epochs. Each step's margins tell something of the products of rows over the others' columns. %s %s", first, rows, params.Iterations, slopesRead, latticeReads)
	if len(c.Parties) == 2 {
		active += fmt.Sprintf(" With two parties, these are the margins of %s alone, after taking its own off.", c.Parties[1])
	}
	lines := map[string][]string{
		"active":    {active, columns.KeptScores},
		"server":    {"The server learns the number of common rows, each party's number of columns, a bound on each party's norms, and the figures on held-out rows. " + serverSees},
		"party":     {labelsShown + " " + innerSees, "Every party learns the number of common rows, each other party's number of columns, and the largest squared norm of that party's rows, to within 9 %."},
		"coalition": {neighboursSee + " Protocol fdskl masks the values that it adds up."},
		"broker":    {"The broker sees who sends, when and how much. From the sizes it knows the number of rows."},
	}
	columns.Leakage(lines, c.Job, rows)
	return lines
}
