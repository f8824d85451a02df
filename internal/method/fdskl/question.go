package fdskl

import (
	"fmt"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// writtenForFDSKL reports whether a retained state from an earlier version of the program belongs
// to fdskl. Such a model has directions instead of rows.
func writtenForFDSKL(body []byte) bool {
	rows, ok := columns.RetainedRows(body)
	return ok && rows == 0
}

func openParty(k method.RetainedState, read *job.Reader) (method.Erasable, error) {
	o, err := columns.DecodeModelPart(read, k.Body)
	if err != nil {
		return nil, err
	}
	return method.Opened(answering(&inquirer{columns.Inquirer{ModelPart: o, Basis: o.Basis}})), nil
}

func openServer(_ method.Instance, k method.RetainedState, _ func() ([]byte, error)) (method.Erasable, error) {
	b, _, err := columns.DecodeBasis(k.Body)
	return method.Opened(answering(&inquirer{columns.Inquirer{Basis: b}})), err
}

// inquirer answers queries about new rows in FDSKL sessions.
type inquirer struct{ columns.Inquirer }

// asking is one step of a prediction query.
type asking = method.StepOf[helper, answerer, columns.Declared]

func answering(o *inquirer) method.AnswersOf[inquirer, helper, answerer, columns.Declared] {
	return method.AnswersOf[inquirer, helper, answerer, columns.Declared]{
		Kept:  o,
		Erase: func(o *inquirer) { o.Inquirer.Erase() }, Among: func(o *inquirer, q method.Question) []string { return o.Inquirer.Among(q) },
		Fits: (*inquirer).fits, Steps: (*inquirer).steps, NewParty: (*inquirer).party, NewServer: (*inquirer).server,
		Public: func(h *helper) columns.Declared { return h.Declared }, PublicServer: func(a *answerer) columns.Declared { return a.Declared },
		Answer: func(h *helper) (*method.Prediction, error) { return h.Helper.Answer() },
	}
}

// onlyFirst refuses a query by any party except the first. Only the first party has the
// coefficients.
func onlyFirst(j *job.Job, asker string) error {
	if first := j.Parties()[0]; asker != first {
		return fmt.Errorf("only %s, which has the labels and the model's coefficients, can predict new rows of this job", first)
	}
	return nil
}

func (o *inquirer) fits(q method.Question, set *dataset.Set) error {
	if err := onlyFirst(o.ModelPart.Job, q.Asker); err != nil {
		return err
	}
	return o.Inquirer.Fits(q, set)
}

// steps plans a query. The parties align the new rows, declare them, and add up their phases in all
// directions of the model. Only the party with the labels has the coefficients.
func (o *inquirer) steps(q method.Question) ([]asking, error) {
	if err := o.Asks(q, func(q method.Question) error { return onlyFirst(q.Job, q.Asker) }); err != nil {
		return nil, err
	}
	plan, err := columns.StepsOfNew(q, columns.AsNew[helper, answerer]{
		Helper: func(h *helper) *columns.Helper { return h.Helper }, Server: func(a *answerer) *columns.Server { return &a.Server },
		Declare: (*helper).declare, Usable: usableNew(q.Job), Lets: (*helper).phaseReleases,
	})
	if err != nil {
		return nil, err
	}
	adds := asking{Name: "protocol", Party: (*helper).workerMachine, Releases: (*helper).phaseReleases}
	adds.Session, adds.Follow = summingSession(q.Job, method.Session{Members: q.DataParties(), Purpose: "predict", Parent: o.Basis.Parent})
	return append(plan, adds), nil
}

// usableNew returns a check that refuses declarations from which no phases can be computed. A query
// uses the model's gamma.
func usableNew(j *job.Job) func(columns.Declared) error {
	return func(d columns.Declared) error {
		_, err := paramsOf(j, d)
		return err
	}
}

// helper is the state of a party during a query.
type helper struct{ *columns.Helper }

func (o *inquirer) party(q method.Question, self string, t method.Table) (*helper, error) {
	h, err := o.HelperOf(q, self, t.Set)
	return &helper{h}, err
}

func (h *helper) declare(d *columns.Declaration) error {
	d.Columns.Columns = h.ModelPart.Width
	return nil
}

func (h *helper) phaseReleases() ([]method.Release, error) {
	return releasesOfPhases(h.Job, h.Self, h.Releases)
}

// workerMachine builds a party's machine for the session that adds up the phases of new rows, under
// the model's directions.
func (h *helper) workerMachine(setup method.Setup) (*method.Run, error) {
	params, err := fdskl.DecodeParams(setup.Session.Params)
	if err != nil {
		return nil, err
	}
	spec, directions := params.Spec(), DirectionsOf(h.Job, h.ModelPart.Directions)
	source, err := directions.Phases(h.Rows, spec.Bits)
	if err != nil {
		return nil, err
	}
	in := fdskl.Input{Source: source, Hash: directions.hash(h.Rows), Rows: spec.Rows, Alignment: h.Declared.Digest}
	if h.Self != h.Job.Parties()[0] {
		return workerOf(setup, in, nil, method.Nothing)
	}
	d := newDecider(h.ModelPart, spec)
	return workerOf(setup, in, d, func() error {
		h.Decisions = d.decisions
		return nil
	})
}

func newDecider(o *columns.ModelPart, s fdskl.Spec) *decider {
	size := s.Bits / 8
	atOnce := max(1, min(deciderAtOnce, phasesAtOnce/(s.Directions*size), s.Rows))
	d := &decider{
		coefficients: o.Coefficients, mean: o.Mean, rows: s.Rows, directions: s.Directions, maxDirections: protocol.MaxChunkBytes / size,
		table:     linear.NewPhases[float64](atOnce, s.Directions, s.Bits),
		decisions: linalg.New[float64](s.Rows, o.Coefficients.Rows),
	}
	if keysOf(o.Job).Training != Cached {
		d.table = d.table.Unscaled()
	}
	return d
}

// answerer is the coordinator during a query. It takes part only in the first steps.
type answerer struct{ columns.Server }

func (*inquirer) server(q method.Question) (*answerer, error) {
	return &answerer{columns.Server{Instance: q.Instance}}, nil
}
