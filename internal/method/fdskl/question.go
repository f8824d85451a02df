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

// Left implements [method.Answering]: the model is over directions and not over rows.
func (Method) Left(body []byte) bool {
	rows, ok := columns.Left(body)
	return ok && rows == 0
}

// OpenParty implements [method.Answering].
func (Method) OpenParty(k method.Keepsake, read *job.Reader) (method.Erasable, error) {
	o, err := columns.DecodePortion(read, k.Body)
	if err != nil {
		return nil, err
	}
	return &inquirer{columns.Inquirer{Portion: o, Basis: o.Basis}}, nil
}

// OpenServer implements [method.Answering].
func (Method) OpenServer(_ method.Case, k method.Keepsake, _ func() ([]byte, error)) (method.Erasable, error) {
	b, _, err := columns.DecodeBasis(k.Body)
	return &inquirer{columns.Inquirer{Basis: b}}, err
}

// inquirer answers questions by the phases of new rows.
type inquirer struct{ columns.Inquirer }

// onlyFirst: where one party has the coefficients, nobody else gets decisions.
func onlyFirst(j *job.Job, asker string) error {
	if first := j.Parties()[0]; asker != first {
		return fmt.Errorf("only %s, which has the labels and the model's coefficients, can ask about new rows of this job", first)
	}
	return nil
}

// Fits implements [method.Inquirer].
func (o *inquirer) Fits(q method.Question, set *dataset.Set) error {
	if err := onlyFirst(o.Portion.Job, q.Asker); err != nil {
		return err
	}
	return o.Inquirer.Fits(q, set)
}

// Plan implements [method.Inquirer]: align, declare, and one pass up the tree in all
// directions of the model, whose coefficients the label holder alone has.
func (o *inquirer) Plan(q method.Question) ([]method.Step, error) {
	return o.PlanOf(q, func(q method.Question) ([]method.Step, error) {
		return []method.Step{phasesStep(q.Job, method.Session{Members: q.Holders(), Purpose: "predict", Parent: o.Basis.Parent})}, onlyFirst(q.Job, q.Asker)
	})
}

// helper is a party of a question.
type helper struct{ *columns.Helper }

// Party implements [method.Inquirer].
func (o *inquirer) Party(q method.Question, self string, t method.Table) (method.Party, error) {
	h, err := o.HelperOf(q, self, t.Set)
	return &helper{h}, err
}

// Machine implements [method.Member].
func (h *helper) Machine(step string, setup method.Setup) (*method.Run, error) {
	if step == "protocol" {
		return h.worker(setup)
	}
	return h.Helper.Machine(step, setup, h)
}

// Declare implements [columns.Guest].
func (h *helper) Declare(d *columns.Declaration) error {
	d.Columns.Columns = h.Portion.Width
	return nil
}

// Usable implements [columns.Judge]: gamma is the model's.
func (h *helper) Usable(d columns.Declared) error {
	_, err := paramsOf(h.Job, d)
	return err
}

// Disclose implements [method.Party].
func (h *helper) Disclose(step string) (method.Release, bool) {
	if step != "protocol" {
		return h.Helper.Disclose(step)
	}
	return phasesReleased(h.Job, h.Self, h.Release)
}

// worker is a party's machine of the session that adds up new rows' phases, under the
// directions of the model.
func (h *helper) worker(setup method.Setup) (*method.Run, error) {
	params, err := fdskl.DecodeParams(setup.Session.Params)
	if err != nil {
		return nil, err
	}
	spec, directions := params.Spec(), DirectionsOf(h.Job, h.Portion.Directions)
	source, err := directions.Phases(h.Rows, spec.Bits)
	if err != nil {
		return nil, err
	}
	in := fdskl.Input{Source: source, Hash: directions.hash(h.Rows), Rows: spec.Rows, Alignment: h.Declared.Digest}
	if h.Self != h.Job.Parties()[0] {
		return workerOf(setup, in, nil, method.Nothing)
	}
	d := newDecider(h.Portion, spec)
	return workerOf(setup, in, d, func() error {
		h.Decisions = d.decisions
		return nil
	})
}

func newDecider(o *columns.Portion, s fdskl.Spec) *decider {
	size := s.Bits / 8
	atOnce := max(1, min(deciderAtOnce, phasesAtOnce/(s.Directions*size), s.Rows))
	d := &decider{
		coefficients: o.Coefficients, mean: o.Mean, rows: s.Rows, directions: s.Directions, most: protocol.MaxChunkBytes / size,
		table:     linear.NewPhases[float64](atOnce, s.Directions, s.Bits),
		decisions: linalg.New[float64](s.Rows, o.Coefficients.Rows),
	}
	if keysOf(o.Job).Training != Cached {
		d.table = d.table.Unscaled()
	}
	return d
}

// answerer is the coordinator of a question, which takes part in the first steps only.
type answerer struct {
	columns.Server
	columns.Silent
}

// Server implements [method.Inquirer].
func (*inquirer) Server(q method.Question) (method.Server, error) {
	return &answerer{Server: columns.Server{Case: q.Case}}, nil
}

// Machine implements [method.Member].
func (a *answerer) Machine(step string, setup method.Setup) (*method.Run, error) {
	return a.MachineOfNew(step, setup, a)
}

// Usable implements [columns.Judge].
func (a *answerer) Usable(d columns.Declared) error {
	_, err := paramsOf(a.Job, d)
	return err
}
