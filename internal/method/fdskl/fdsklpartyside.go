package fdskl

import (
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// party is the state of a party with columns, which is a worker of protocol FDSKL.
type party struct {
	*columns.Party
	parent         protocol.SessionID // the id of the session that added up phases
	directions     Directions
	labelBroadcast labelBroadcast // the label counts and classes of the active workers, at an active worker, if labels are spread
	solver         Solver         // the solver of an active worker; nil before the session that adds up phases
	learnt         *Learnt        // the result of the training, at the first party, which reports to the coordinator
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
	if unit := p.Job.Kernel.GammaUnit; unit != "" {
		d.Unit = roundCoarsely(Unit(p.Training(), unit))
	}
	return nil
}

// roundCoarsely rounds a positive number to a power of two whose exponent is a multiple of 1/8. A
// party that receives the rounded number learns the true number only to within 5 %.
func roundCoarsely(v float64) float64 {
	if v == 0 {
		return 0
	}
	return math.Exp2(math.Round(8*math.Log2(v)) / 8)
}

// phaseReleases lists the releases of the phases of the common rows. It returns none before the
// alignment.
func (p *party) phaseReleases() ([]method.Release, error) {
	return releasesOfPhases(p.Job, p.Self, p.Releases)
}

// releasesOfPhases lists the releases of a worker's phases. A single active party releases nothing
// about its columns but what it declares: their number and, if gamma has a unit, this unit.
func releasesOfPhases(j *job.Job, self string, of func(method.ReleaseKind) ([]method.Release, error)) ([]method.Release, error) {
	active := j.Active()
	alone := len(active) == 1 && self == active[0]
	list, err := of(method.ReleasePhases)
	for i := range list {
		list[i].Directions = j.Protocol.Limit("directions")
		if alone {
			list[i] = list[i].WithoutColumns()
		}
	}
	return list, err
}

// workerMachine builds a party's machine for the session that adds up phases.
func (p *party) workerMachine(setup method.Setup) (*method.Run, error) {
	params, err := fdskl.DecodeParams(setup.Session.Params)
	if err != nil {
		return nil, err
	}
	in, err := p.phaseSource(setup, params)
	if err != nil {
		return nil, err
	}
	active := setup.Session.With(protocol.RoleLeader)
	index := slices.Index(active, p.Self)
	if index < 0 {
		return workerOf(setup, in, nil, func() error { return p.recordSession(setup) })
	}
	train, _, err := columns.Sizes(p.Job, params.Spec().Rows)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	if p.solver, err = p.solverOf(index, train, setup.Seed); err != nil {
		return nil, fault.BadInput(err)
	}
	return workerOf(setup, in, p.solver, func() error {
		if err := p.solver.failure(); err != nil {
			return fault.BadInput(err)
		}
		return p.recordSession(setup)
	})
}

// workerOf builds the machine of a worker. A worker with a schedule is active, and a worker without
// one is passive.
func workerOf(setup method.Setup, in fdskl.Input, s fdskl.Schedule, finish func() error) (*method.Run, error) {
	id := fdskl.Identity{Keys: setup.Keys(setup.Session.With(protocol.RoleLeader))}
	if s == nil {
		m, err := fdskl.NewPassive(setup.Setup, in, id)
		return method.RunOf(m, err, finish)
	}
	id.Sign = setup.Sign
	m, err := fdskl.NewActive(setup.Setup, in, id, s)
	return method.RunOf(m, err, finish)
}

// recordSession records the id of the session that adds up phases. The id identifies the model.
func (p *party) recordSession(setup method.Setup) error {
	p.parent = setup.Session.ID()
	return nil
}

// solverOf returns the solver of the active worker with the given index.
func (p *party) solverOf(index, train int, seed [32]byte) (Solver, error) {
	switch {
	case p.Job.Data.Spread:
		return newOwner(p.Job, p.Set.Labels, p.Spread(), p.labelBroadcast, train, index, seed)
	case keysOf(p.Job).Active > 1:
		return newPartner(p.Job, p.Set.Labels, train, index, seed)
	}
	return NewSolver(p.Job, p.Set.Labels, train, seed)
}

// newPartner returns the solver of an active worker if several active workers have all labels. The
// worker with index 0 evaluates the common model and reports to the coordinator.
func newPartner(j *job.Job, labels []string, train, index int, seed [32]byte) (*partner, error) {
	p, err := newProblem(j, labels, train)
	if err != nil {
		return nil, err
	}
	own := columns.Spread{Training: linalg.Range(0, train)}
	if index == 0 {
		own.HeldOut = linalg.Range(train, len(labels))
	}
	return partnerOf(p, index, own, 1, seed)
}

// newOwner returns the solver of an active worker if labels are spread over active workers. The
// worker draws and evaluates the rows whose labels it has.
func newOwner(j *job.Job, labels []string, own columns.Spread, all labelBroadcast, train, index int, seed [32]byte) (*partner, error) {
	out, err := learner.OutputsFor(all.classes, linalg.At(labels, own.Training))
	if err != nil {
		return nil, err
	}
	p, err := problemOf(j, out, train, len(labels))
	if err != nil {
		return nil, err
	}
	return partnerOf(p, index, own, all.weight(index), seed)
}

// phaseSource returns the input with which the party computes its own phases. The random directions
// are secret. In mode paper they are common to all parties and follow from the session's id.
func (p *party) phaseSource(setup method.Setup, params fdskl.Params) (fdskl.Input, error) {
	gamma, err := Gamma(p.Job, jointUnit(p.Declared))
	if err != nil {
		return fdskl.Input{}, err
	}
	d := columns.Directions{Gamma: gamma, Key: prg.Derive(setup.Seed, "fdskl/directions"), Common: setup.Session.ID()}
	if p.Job.Protocol.Mode() == job.Paper {
		d.Key, d.Before = d.Common, p.columnsBefore()
	}
	p.directions = DirectionsOf(p.Job, d)
	source, err := p.directions.Phases(p.Rows, params.Spec().Bits)
	return fdskl.Input{Source: source, Hash: p.directions.hash(p.Rows), Rows: p.Set.X.Rows(), Alignment: p.Declared.Digest}, err
}

// columnsBefore counts the columns of the parties that the job lists before this party.
func (p *party) columnsBefore() int {
	n := 0
	for i, name := range p.Job.Parties() {
		if name == p.Self {
			break
		}
		n += p.Declared.List[i].Columns.Columns
	}
	return n
}

// teller builds the machine with which the label holder sends its report to the coordinator. It
// completes the training while it builds the message.
func (p *party) teller(setup method.Setup) (*method.Run, error) {
	v, err := p.learn(setup.Interrupt)
	if err != nil {
		return nil, err
	}
	return sums.Sender(setup, v.encode(p.Job.Task()))
}

// learn completes the training and, unless labels are spread, evaluates the model on held-out rows. If
// function interrupt returns an error, a training in progress ends early with this error.
func (p *party) learn(interrupt func() error) (learned, error) {
	got, err := p.solver.Learn(interrupt)
	if err != nil {
		return learned{}, fault.BadInput(err)
	}
	p.learnt = got
	if p.Job.Data.Spread { // no worker can evaluate all rows; a later step adds up the evaluations of all workers
		return learned{model: got.hash()}, nil
	}
	labels := p.Set.Labels
	if _, test, err := columns.Sizes(p.Job, len(labels)); err != nil || got.Decisions.Cols != test {
		return learned{}, fmt.Errorf("fdskl: only %d of %d held-out rows are judged, because another active worker has requested the other rows", got.Decisions.Cols, test)
	}
	m, err := p.solver.Outputs().Measure(got.Decisions, labels[len(labels)-got.Decisions.Cols:])
	return learned{Learned{m, got.Left}, got.hash()}, err
}

// judgeDecisions evaluates the decisions on the held-out rows whose labels this party has. It returns nil
// at a party without decisions.
func (p *party) judgeDecisions() (*method.Judged, error) {
	var g *method.Judged
	var err error
	switch {
	case p.solver == nil || !p.Job.Data.Spread && p.learnt == nil:
		return nil, nil
	case p.Job.Data.Spread:
		s, is := p.solver.(*partner)
		if !is {
			return nil, nil
		}
		got, fails := s.Learn(nil)
		if fails != nil {
			return nil, fails
		}
		g, err = p.Judge(s.out, got.Decisions, s.own.HeldOut[:s.judged], s.own.Training)
	default:
		n, train := len(p.Set.Labels), len(p.Set.Labels)-p.learnt.Decisions.Cols
		g, err = p.Judge(p.solver.Outputs(), p.learnt.Decisions, linalg.Range(train, n), linalg.Range(0, train))
	}
	if g != nil {
		rows := p.Set.X.Rows()
		g.Result.Leakage, g.Result.Exposures = Leakage(p.Job, rows, fdskl.Exposure{}), Exposures(p.Job, rows)
	}
	return g, err
}

// retainState returns the party's part of the model as a retained state.
func (p *party) retainState(c method.Closing) (method.RetainedState, error) {
	o, err := p.ModelPart(p.parent, c)
	if err != nil {
		return method.RetainedState{}, err
	}
	o.Directions = p.directions.Directions
	if p.learnt != nil {
		out := p.solver.Outputs()
		o.Output.Classes, o.Mean, o.Coefficients = out.Classes, out.Mean, p.learnt.Coefficients
	}
	return o.RetainedState(), nil
}
