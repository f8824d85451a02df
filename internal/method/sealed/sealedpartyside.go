package sealed

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/randommodel"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol/sealed"
)

// party is the state of a party with rows during a job.
type party struct {
	*rows.Party
	declared declared
	token    token
	drawn    [32]byte
	solution *moments.Solution      // the solution for the features that directions returns; nil before the weights are opened
	opened   linalg.Matrix[float64] // the weights as the keepers open them, of scaled features
}

func newParty(c method.Instance, self string, t method.Table) (*party, error) {
	p, err := rows.Of(c, self, t)
	if err != nil {
		return nil, err
	}
	if err := p.CheckLimits(); err != nil {
		return nil, err
	}
	if n := p.Count(false); n < sealed.LeastRows {
		return nil, method.TooFew("protocol sealed needs at least %d training rows from each party, and this table has %d", sealed.LeastRows, n)
	}
	if n := max(p.Count(false), p.Count(true)); n > sealed.MaxRows {
		return nil, fault.BadInputf("this table has %d training or held-out rows, and protocol sealed takes at most %d; leave some out", n, sealed.MaxRows)
	}
	own := &party{Party: p}
	p.Lets = own.release
	return own, nil
}

func (p *party) public() public {
	k := p.declared.public()
	k.drawn = p.drawn
	return k
}

// release returns one release, which says that the model is trained on the party's training rows, too. With privacy see
// noiseRelease.
func (p *party) release() ([]method.Release, error) {
	if p.Job.Data.Private {
		return p.noiseRelease(), nil
	}
	r := p.Release(method.ReleaseModels)
	r.Classes = p.Job.Task().Classes
	if r.Blocks == nil {
		r.Among = p.Split.Rows(false)
	}
	r.Numbers, r.Cells = p.numbers()
	return []method.Release{r}, nil
}

// noiseRelease states the one release of a job with privacy: everything that follows from the party's rows has noise.
// Held-out rows have the same guarantee as training rows, so all rows are in it.
func (p *party) noiseRelease() []method.Release {
	g := privacyOf(p.Job).Guarantee
	r := p.Release(method.ReleaseNoise)
	r.Classes, r.Rho, r.Epsilon, r.Delta = p.Job.Task().Classes, g.Rho(), g.Epsilon, g.Delta
	return []method.Release{r}
}

// numbers returns how many numbers the job's model has and how many table cells the training rows
// have. Before all parties have declared their rows, it takes the party's own rows: with more rows,
// a model has fewer numbers for each cell.
func (p *party) numbers() (numbers, cells int64) {
	k := p.public()
	if k.rows == nil {
		k = public{rows: []int{p.Count(false)}, columns: p.Width()}
	}
	return int64(k.features(p.Job)) * int64(targetOf(p.Job).columns()), int64(k.total()) * int64(k.columns)
}

// declarer builds the machine that declares the party's training rows and columns to all members, and commits to its
// token.
func (p *party) declarer(setup method.Setup) (*method.Run, error) {
	p.token = drawToken(setup.Setup)
	own := declaration{rows: p.Count(false), columns: p.Width(), commitment: p.token.commitment(setup.Session.ID(), p.Self)}
	return sums.AllGatherer(setup, own.encode(), func(statements [][]byte) error {
		all, err := readDeclarations(p.Instance, setup.Session.ID(), statements)
		if err != nil {
			return err
		}
		p.declared = all
		return p.checkDeclared()
	})
}

// checkDeclared checks the declared rows against the party's own limits. A party cannot verify that they are real rows.
func (p *party) checkDeclared() error {
	k := p.public()
	list := make([]int64, len(k.rows))
	for i, n := range k.rows {
		list[i] = int64(n)
	}
	if err := p.Limits.CheckShares(list); err != nil {
		return err
	}
	m := k.features(p.Job)
	if most := p.Limits.Directions; most > 0 && m > most {
		return fault.Forbiddenf("for the parties' %d training rows the model has %d features; this party allows at most %d (max_directions in its policy)", k.total(), m, most)
	}
	if p.Job.Data.Private { // how many people have a class decides nothing
		return nil
	}
	return p.CheckClassCells(m)
}

// drawer builds the machine that shows the party's token.
func (p *party) drawer(setup method.Setup) (*method.Run, error) {
	return sums.AllGatherer(setup, p.token[:], func(statements [][]byte) error {
		var err error
		p.drawn, err = p.declared.open(p.Parties, statements)
		return err
	})
}

// computer builds the machine that shares the party's sums, computes if the party is a keeper, and receives the
// weights.
func (p *party) computer(setup method.Setup) (*method.Run, error) {
	problem, err := p.public().problem(p.Job)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	own, err := p.sums(problem)
	if err != nil {
		return nil, err
	}
	m, err := sealed.NewMachine(setup.Setup, own)
	return method.RunOf(m, err, func() error {
		p.opened = m.Weights()
		solution := solutionOf(p.Job, problem, p.opened)
		p.solution = &solution
		p.NoticeCommon()
		return nil
	})
}

// sums adds up the party's training rows.
func (p *party) sums(problem sealed.Problem) (*sealed.Sums, error) {
	features, err := directions(p.Job, p.drawn, problem.Features, p.Width())
	if err != nil {
		return nil, err
	}
	all, err := sealed.NewAccumulator(problem)
	if err != nil {
		return nil, err
	}
	to := targetOf(p.Job)
	err = p.Each(false, func(rows linalg.Rows, labels []string) error { return addRows(all, p.Job, features, to, rows, labels) })
	if err != nil {
		return nil, fault.BadInput(err)
	}
	outer, cross := all.Sums()
	return &sealed.Sums{Outer: outer, Cross: cross}, nil
}

// solutionOf converts weights of the scaled features of the protocol to weights of the job's features.
func solutionOf(j *job.Job, problem sealed.Problem, weights linalg.Matrix[float64]) moments.Solution {
	scale := problem.RowScale() * unitOf(j, problem.Features)
	scaled := linalg.New[float64](weights.Rows, weights.Cols)
	for i := range weights.Rows {
		for k, v := range weights.Row(i) {
			scaled.Row(i)[k] = scale * v
		}
	}
	s := targetOf(j).solution(scaled)
	s.Alpha = problem.Alpha()
	return s
}

var errNoModel = errors.New("sealed: this party has not received the job's model")

// errorSummand builds the machine that adds the model's errors on the party's held-out rows to the secure sum.
func (p *party) errorSummand(setup method.Setup) (*method.Run, error) {
	if p.solution == nil {
		return nil, errNoModel
	}
	features, err := directions(p.Job, p.drawn, p.solution.Weights.Cols, p.Width())
	if err != nil {
		return nil, err
	}
	to, n := targetOf(p.Job), p.Count(true)
	figures := make([]int64, to.errorSums())
	err = p.Each(true, func(rows linalg.Rows, labels []string) error {
		part, err := to.measure(features, *p.solution, rows, labels)
		for i, v := range part {
			figures[i] += v
		}
		return err
	})
	if err != nil {
		return nil, fault.BadInput(err)
	}
	figures = to.round(figures, n)
	if err := blurErrors(p.Job, figures, setup.Setup); err != nil {
		return nil, err
	}
	return sums.Client(setup, sums.Vector{{int64(n)}, figures}, func() {})
}

// retainedState returns the model and the party's scaling, as state for later queries.
func (p *party) retainedState(method.Closing) (method.RetainedState, error) {
	if p.solution == nil {
		return method.RetainedState{}, errNoModel
	}
	m, err := p.model()
	if err != nil {
		return method.RetainedState{}, err
	}
	return randommodel.Keep("sealed", m, p.Party)
}

// model returns the job's model: the weights, and the settings and the seed that determine the features.
func (p *party) model() (model.RandomSpec, error) {
	r := model.RandomSpec{Kernel: p.Job.Kernel.Spec(), Seed: p.drawn, Solution: *p.solution, Scaled: p.Job.Data.Scale != job.None}
	if p.Job.Kernel.Name == job.Linear {
		of, err := directions(p.Job, p.drawn, p.solution.Weights.Cols, p.Width())
		if err != nil {
			return r, err
		}
		r.Seed, r.Bound = [32]byte{}, of.(feature.Linear).Bound
	}
	r.Output = learner.OutputOf(p.Job, job.As[*Keys](p.Job.Protocol).Classes)
	if isProcess(p.Job) {
		r.Output.Kind = model.Ridge // the mean alone has no deviations
	}
	return r, nil
}

func openParty(k method.RetainedState, _ *job.Reader) (method.Erasable, error) {
	return randommodel.Open(k), nil
}
